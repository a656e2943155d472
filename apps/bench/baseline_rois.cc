// Regions without packing: each an inference of its own, or all at one size in a grid.
#include <algorithm>
#include <cmath>

#include "baseline_feed.h"
#include "baselines.h"

namespace sparing::bench {
namespace {

// The paper's largest input.
constexpr int kLargestGrid = 1280;
constexpr int kLeastInput = 128;

void add_whole(const Patch& patch, std::size_t index, const VideoFrame* view, Network& network,
               PatchJobs& work) {
  const Size input = network.nearest_input(patch.rect.width, patch.rect.height);
  work.jobs.push_back({input, {{view, patch.rect, {0, 0, input.width, input.height}}}, {}});
  work.owners.push_back({index});
}

// The rectangle at its scale, grown to what the input holds.
PatchJobs one_by_one(const std::vector<Patch>& patches, const std::vector<const VideoFrame*>& views,
                     Network& network, int) {
  PatchJobs work;
  for (std::size_t i = 0; i < patches.size(); ++i) {
    const Patch& patch = patches[i];
    const VideoFrame* view = views[patch.stream];
    if (patch.whole) {
      add_whole(patch, i, view, network, work);
      continue;
    }
    // Half a step more, so that the nearest size is not smaller.
    const Size input =
        network.nearest_input(std::max<double>(kLeastInput, patch.rect.width * patch.scale + 15),
                              std::max<double>(kLeastInput, patch.rect.height * patch.scale + 15));
    const Rect rect = grow_rect(patch.rect, input.width / patch.scale, input.height / patch.scale,
                                display_size(*view));
    work.jobs.push_back({input, {{view, rect, {0, 0, input.width, input.height}}}, {}});
    work.owners.push_back({i});
  }
  return work;
}

// Cells in rows on inputs of at most the largest grid, cropped to the cells in use.
PatchJobs in_cells(const std::vector<Patch>& patches, const std::vector<const VideoFrame*>& views,
                   Network& network, int cell) {
  PatchJobs work;
  std::vector<std::size_t> small;
  for (std::size_t i = 0; i < patches.size(); ++i) {
    if (patches[i].whole) {
      add_whole(patches[i], i, views[patches[i].stream], network, work);
    } else {
      small.push_back(i);
    }
  }
  const auto most_columns = static_cast<std::size_t>(kLargestGrid / cell);
  for (std::size_t first = 0; first < small.size(); first += most_columns * most_columns) {
    const std::size_t count = std::min(most_columns * most_columns, small.size() - first);
    const std::size_t columns = std::min(
        most_columns, static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(count)))));
    const std::size_t rows = (count + columns - 1) / columns;
    InputJob job;
    job.size = {static_cast<int>(columns) * cell, static_cast<int>(rows) * cell};
    std::vector<std::size_t> owners;
    for (std::size_t c = 0; c < count; ++c) {
      const std::size_t index = small[first + c];
      const VideoFrame* view = views[patches[index].stream];
      const double side = std::max(patches[index].rect.width, patches[index].rect.height);
      const Rect rect = grow_rect(patches[index].rect, side, side, display_size(*view));
      // A square, unless the frame is too small for it.
      const double scale = cell / std::max(rect.width, rect.height);
      const PixelRect place{static_cast<int>(c % columns) * cell,
                            static_cast<int>(c / columns) * cell,
                            std::max(1, static_cast<int>(std::lround(rect.width * scale))),
                            std::max(1, static_cast<int>(std::lround(rect.height * scale)))};
      job.drawings.push_back({view, rect, place});
      owners.push_back(index);
    }
    work.jobs.push_back(std::move(job));
    work.owners.push_back(std::move(owners));
  }
  return work;
}

class Regions : public Approach {
 public:
  Regions(int cell, int every) : cell_(cell), every_(every) {}
  std::string method() const override { return cell_ > 0 ? "emulated batching" : "ROI-wise"; }
  std::string settings() const override {
    const std::string size = cell_ > 0 ? std::to_string(cell_) + " px cells" : "own scale";
    return size + ", " + every_text(every_);
  }
  Result<Outcome> run(const Clip& clip, Network& network) override {
    RegionRival rival;
    rival.every = every_;
    // Joined regions would shrink in cells of one size.
    if (cell_ > 0) rival.merge.joint_factor = 0;
    return run_regions(clip, network, rival, cell_ > 0 ? in_cells : one_by_one, cell_);
  }

 private:
  int cell_;  // 0: each on its own
  int every_;
};

}  // namespace

std::unique_ptr<Approach> roi_wise(int every) { return std::make_unique<Regions>(0, every); }

std::unique_ptr<Approach> emulated_batching(int cell, int every) {
  return std::make_unique<Regions>(cell, every);
}

}  // namespace sparing::bench

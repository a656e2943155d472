#include "baseline_squares.h"

#include <algorithm>
#include <cmath>

#include "baseline_feed.h"
#include "baselines.h"

namespace sparing::bench {
namespace {

// Frigate's, for models of 320 px and more.
constexpr int kLeastRegion = 320;

class MotionSquares : public Approach {
 public:
  MotionSquares(int input, int every) : input_(input), every_(every) {}
  std::string method() const override { return "motion squares"; }
  std::string settings() const override {
    return std::to_string(input_) + " px, " + every_text(every_);
  }

  Result<Outcome> run(const Clip& clip, Network& network) override {
    Outcome outcome;
    std::vector<StreamLooks> looks(clip.streams.size());
    for (std::size_t s = 0; s < looks.size(); ++s) {
      SPARING_RETURN_IF_ERROR(run_stream(clip, clip.streams[s], network, looks[s], outcome.spend));
    }
    SPARING_ASSIGN_OR_RETURN(outcome.boxes, fill_clip(clip, looks));
    return outcome;
  }

 private:
  // Motion against the last frames and a running average. Objects are the tracker's business.
  static RoiOptions motion_options() {
    RoiOptions options;
    options.flow = false;
    return options;
  }

  Status run_stream(const Clip& clip, const ClipStream& stream, Network& network,
                    StreamLooks& looks, Spend& spend) const {
    SPARING_ASSIGN_OR_RETURN(RegionFeed feed, RegionFeed::create(motion_options()));
    RegionGrid grid(clip.size, kLeastRegion);
    looks.resize(stream.frames.size());
    for (std::size_t f = 0; f < looks.size(); ++f) {
      const VideoFrame& view = stream.frames[f].frame.view();
      SPARING_ASSIGN_OR_RETURN(const FrameRois motion, feed.add(view));
      if (f % static_cast<std::size_t>(every_) != 0) continue;
      const std::vector<Box> regions = choose(clip.size, feed, view.timestamp, motion, grid);
      std::vector<InputJob> jobs;
      for (const Box& region : regions) jobs.push_back(job(view, clip.size, region));
      SPARING_ASSIGN_OR_RETURN(const Spend spent, network.run(jobs));
      spend += spent;
      std::vector<SquareDetection> found;
      for (std::size_t r = 0; r < regions.size(); ++r) {
        for (const RoiDetection& d : jobs[r].found[0]) found.push_back({d.detection, regions[r]});
      }
      looks[f] = reduce_detections(found, clip.size);
      for (const Detection& detection : *looks[f]) {
        if (detection.score >= kFollowScore) grid.add(detection.box);
      }
      SPARING_RETURN_IF_ERROR(feed.found(view.timestamp, *looks[f]));
    }
    return {};
  }

  static std::vector<Box> choose(Size frame, const RegionFeed& feed, const Timestamp& time,
                                 const FrameRois& motion, const RegionGrid& grid) {
    std::vector<Box> objects;
    for (const TrackedDetection& object : feed.tracker().predict(time)) {
      const Box box = clip(object.detection.box, frame.width, frame.height);
      if (box.area() > 0) objects.push_back(box);
    }
    std::vector<Box> regions;
    for (const auto& cluster : cluster_boxes(frame, kLeastRegion, objects)) {
      regions.push_back(cluster_square(frame, kLeastRegion, cluster, objects));
    }
    std::vector<Box> alone;
    for (const Roi& roi : motion.rois) {
      const Box box{static_cast<float>(roi.rect.x), static_cast<float>(roi.rect.y),
                    static_cast<float>(roi.rect.right()), static_cast<float>(roi.rect.bottom())};
      const bool covered = std::any_of(regions.begin(), regions.end(), [&](const Box& region) {
        return box.x0 >= region.x0 && box.y0 >= region.y0 && box.x1 <= region.x1 &&
               box.y1 <= region.y1;
      });
      if (!covered) alone.push_back(box);
    }
    for (const auto& cluster : cluster_boxes(frame, kLeastRegion, alone)) {
      Box all = alone[cluster.front()];
      for (const std::size_t index : cluster) {
        all = {std::min(all.x0, alone[index].x0), std::min(all.y0, alone[index].y0),
               std::max(all.x1, alone[index].x1), std::max(all.y1, alone[index].y1)};
      }
      regions.push_back(grid.region(all));
    }
    return regions;
  }

  // A region that reaches outside the frame is drawn with a border there.
  InputJob job(const VideoFrame& view, Size frame, const Box& region) const {
    const Rect whole{region.x0, region.y0, region.width(), region.height()};
    const Rect inside = intersect(
        whole, {0, 0, static_cast<double>(frame.width), static_cast<double>(frame.height)});
    const double scale = input_ / whole.width;
    const PixelRect place{static_cast<int>(std::lround((inside.x - whole.x) * scale)),
                          static_cast<int>(std::lround((inside.y - whole.y) * scale)),
                          std::max(1, static_cast<int>(std::lround(inside.width * scale))),
                          std::max(1, static_cast<int>(std::lround(inside.height * scale)))};
    return {{input_, input_}, {{&view, inside, place}}, {}};
  }

  int input_;
  int every_;
};

}  // namespace

std::unique_ptr<Approach> motion_squares(int input, int every) {
  return std::make_unique<MotionSquares>(input, every);
}

}  // namespace sparing::bench

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "sparing/models/head.h"

namespace sparing {
namespace {

// The kept boxes of one class, coordinate by coordinate, so that comparing a candidate with all of
// them is straight vector code.
class KeptBoxes {
 public:
  void clear() {
    for (std::vector<float>* values : {&x0_, &y0_, &x1_, &y1_, &area_}) values->clear();
  }

  void add(const Box& box) {
    x0_.push_back(box.x0);
    y0_.push_back(box.y0);
    x1_.push_back(box.x1);
    y1_.push_back(box.y1);
    area_.push_back(box.area());
  }

  // Whether some kept box has a higher IoU with `box`; the arithmetic is that of iou().
  bool any_overlaps(const Box& box, float threshold) const {
    const float area = box.area();
    // Blocks, so that a hit among the first spares the rest.
    constexpr std::size_t kBlock = 64;
    for (std::size_t first = 0; first < x0_.size(); first += kBlock) {
      const std::size_t end = std::min(first + kBlock, x0_.size());
      int any = 0;
      for (std::size_t i = first; i < end; ++i) {
        const float width = std::min(box.x1, x1_[i]) - std::max(box.x0, x0_[i]);
        const float height = std::min(box.y1, y1_[i]) - std::max(box.y0, y0_[i]);
        const float common = width * height;
        const float overlap = common / (area_[i] + area - common);
        any |= static_cast<int>(width > 0) & static_cast<int>(height > 0) &
               static_cast<int>(overlap > threshold);
      }
      if (any != 0) return true;
    }
    return false;
  }

 private:
  std::vector<float> x0_, y0_, x1_, y1_, area_;
};

}  // namespace

void non_maximum_suppression(std::vector<Detection>& detections, const NmsOptions& options) {
  const auto limit = static_cast<std::size_t>(std::max(options.max_detections, 0));
  std::vector<std::uint32_t> order(detections.size());
  std::iota(order.begin(), order.end(), 0u);
  const auto better = [&](std::uint32_t a, std::uint32_t b) {
    return detections[a].score != detections[b].score ? detections[a].score > detections[b].score
                                                      : a < b;
  };
  const auto group = [&](std::uint32_t i) {
    return options.class_agnostic ? 0 : detections[i].class_id;
  };
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return group(a) != group(b) ? group(a) < group(b) : better(a, b);
  });

  std::vector<std::uint32_t> survivors;
  KeptBoxes kept;
  std::size_t kept_of_group = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i > 0 && group(order[i]) != group(order[i - 1])) {
      kept.clear();
      kept_of_group = 0;
    }
    if (kept_of_group == limit) continue;  // this class alone fills the result with better ones
    const Box& box = detections[order[i]].box;
    if (kept.any_overlaps(box, options.iou_threshold)) continue;
    kept.add(box);
    survivors.push_back(order[i]);
    ++kept_of_group;
  }

  std::sort(survivors.begin(), survivors.end(), better);
  survivors.resize(std::min(survivors.size(), limit));
  std::vector<Detection> result;
  result.reserve(survivors.size());
  for (const std::uint32_t index : survivors) result.push_back(detections[index]);
  detections = std::move(result);
}

}  // namespace sparing

#include "baseline_slices.h"

#include <algorithm>
#include <numeric>

namespace sparing::bench {
namespace {

// Where slices start along an axis.
std::vector<int> slice_starts(int length, int side, int overlap) {
  std::vector<int> starts;
  for (int start = 0;; start += side - overlap) {
    if (start + side >= length) {
      starts.push_back(std::max(0, length - side));
      return starts;
    }
    starts.push_back(start);
  }
}

std::vector<std::size_t> best_first(std::span<const Detection> detections) {
  std::vector<std::size_t> order(detections.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return detections[a].score > detections[b].score;
  });
  return order;
}

}  // namespace

std::vector<Rect> slice_rects(Size frame, int side, double overlap) {
  const int shared = static_cast<int>(overlap * side);
  std::vector<Rect> rects;
  for (const int y : slice_starts(frame.height, side, shared)) {
    for (const int x : slice_starts(frame.width, side, shared)) {
      rects.push_back({static_cast<double>(x), static_cast<double>(y),
                       static_cast<double>(std::min(side, frame.width)),
                       static_cast<double>(std::min(side, frame.height))});
    }
  }
  return rects;
}

float intersection_over_smaller(const Box& a, const Box& b) {
  const float width = std::min(a.x1, b.x1) - std::max(a.x0, b.x0);
  const float height = std::min(a.y1, b.y1) - std::max(a.y0, b.y0);
  const float smaller = std::min(a.area(), b.area());
  return width > 0 && height > 0 && smaller > 0 ? width * height / smaller : 0;
}

std::vector<Detection> merge_greedily(std::span<const Detection> detections, float threshold) {
  const std::vector<std::size_t> order = best_first(detections);
  std::vector<char> taken(detections.size(), 0);
  std::vector<Detection> merged;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (taken[order[i]]) continue;
    const Detection& best = detections[order[i]];
    Detection grown = best;
    for (std::size_t j = i + 1; j < order.size(); ++j) {
      const Detection& other = detections[order[j]];
      if (taken[order[j]] || other.class_id != best.class_id) continue;
      // Those that match the box as it was found are gone; those that match what it became are
      // part of it.
      if (intersection_over_smaller(best.box, other.box) < threshold) continue;
      taken[order[j]] = 1;
      if (intersection_over_smaller(grown.box, other.box) < threshold) continue;
      grown.box = {std::min(grown.box.x0, other.box.x0), std::min(grown.box.y0, other.box.y0),
                   std::max(grown.box.x1, other.box.x1), std::max(grown.box.y1, other.box.y1)};
    }
    merged.push_back(grown);
  }
  return merged;
}

std::vector<Detection> suppress_greedily(std::span<const Detection> detections, float threshold) {
  std::vector<Detection> kept;
  for (const std::size_t index : best_first(detections)) {
    const Detection& candidate = detections[index];
    const bool covered = std::any_of(kept.begin(), kept.end(), [&](const Detection& other) {
      return other.class_id == candidate.class_id &&
             intersection_over_smaller(other.box, candidate.box) >= threshold;
    });
    if (!covered) kept.push_back(candidate);
  }
  return kept;
}

}  // namespace sparing::bench

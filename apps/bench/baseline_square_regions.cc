#include <algorithm>
#include <cmath>

#include "baseline_squares.h"

namespace sparing::bench {
namespace {

constexpr double kClusterMultiplier = 1.35;
constexpr double kMotionMultiplier = 2;

Box bounds(std::span<const std::size_t> cluster, std::span<const Box> boxes) {
  Box all = boxes[cluster.front()];
  for (const std::size_t index : cluster) {
    const Box& box = boxes[index];
    all = {std::min(all.x0, box.x0), std::min(all.y0, box.y0), std::max(all.x1, box.x1),
           std::max(all.y1, box.y1)};
  }
  return all;
}

// How far a box's companions may reach: the box is a tenth of the largest region.
Box reach(const Box& box, int least) {
  const double largest = std::max<double>(least, std::sqrt(box.area() / 0.1));
  const double dx = largest - box.width() / 2 * 1.1;
  const double dy = largest - box.height() / 2 * 1.1;
  const double x = box.x0 + box.width() / 2;
  const double y = box.y0 + box.height() / 2;
  return {static_cast<float>(x - dx), static_cast<float>(y - dy), static_cast<float>(x + dx),
          static_cast<float>(y + dy)};
}

bool holds(const Box& outer, const Box& inner) {
  return inner.x0 >= outer.x0 && inner.y0 >= outer.y0 && inner.x1 <= outer.x1 &&
         inner.y1 <= outer.y1;
}

// Whether a box ends at its region's edge, though the frame goes on.
bool is_clipped(const Box& box, const Box& region, Size frame) {
  constexpr float kMargin = 5;
  return (region.x0 > 0 && box.x0 - region.x0 <= kMargin) ||
         (region.y0 > 0 && box.y0 - region.y0 <= kMargin) ||
         (region.x1 < static_cast<float>(frame.width) && region.x1 - box.x1 <= kMargin) ||
         (region.y1 < static_cast<float>(frame.height) && region.y1 - box.y1 <= kMargin);
}

float shared_area(const Box& a, const Box& b) {
  const float width = std::min(a.x1, b.x1) - std::max(a.x0, b.x0);
  const float height = std::min(a.y1, b.y1) - std::max(a.y0, b.y0);
  return width > 0 && height > 0 ? width * height : 0;
}

}  // namespace

Box square_region(Size frame, const Box& box, int least, double multiplier) {
  const double longest = std::max(box.width(), box.height());
  const int size = std::max(least, static_cast<int>(std::floor(longest * multiplier / 4)) * 4);
  const auto place = [size](double low, double high, int length) {
    const int offset = static_cast<int>((high - low) / 2 + low - size / 2.0);
    return std::clamp(offset, 0, std::max(0, length - size));
  };
  const int x = place(box.x0, box.x1, frame.width);
  const int y = place(box.y0, box.y1, frame.height);
  return {static_cast<float>(x), static_cast<float>(y), static_cast<float>(x + size),
          static_cast<float>(y + size)};
}

std::vector<std::vector<std::size_t>> cluster_boxes(Size frame, int least,
                                                    std::span<const Box> boxes) {
  std::vector<std::vector<std::size_t>> clusters;
  std::vector<char> used(boxes.size(), 0);
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    if (used[i]) continue;
    used[i] = 1;
    std::vector<std::size_t> cluster = {i};
    const Box near = reach(boxes[i], least);
    for (std::size_t j = 0; j < boxes.size(); ++j) {
      if (used[j] || !holds(near, boxes[j])) continue;
      cluster.push_back(j);
      const Box region = cluster_square(frame, least, cluster, boxes);
      const bool tiny = region.width() > static_cast<float>(least) &&
                        std::any_of(cluster.begin(), cluster.end(), [&](std::size_t index) {
                          return boxes[index].area() < 0.05f * region.area();
                        });
      if (tiny) {
        cluster.pop_back();
      } else {
        used[j] = 1;
      }
    }
    clusters.push_back(std::move(cluster));
  }
  return clusters;
}

Box cluster_square(Size frame, int least, std::span<const std::size_t> cluster,
                   std::span<const Box> boxes) {
  return square_region(frame, bounds(cluster, boxes), least, kClusterMultiplier);
}

std::size_t RegionGrid::index(double x, double y) const {
  const int column = std::clamp(static_cast<int>(x / frame_.width * kCells), 0, kCells - 1);
  const int row = std::clamp(static_cast<int>(y / frame_.height * kCells), 0, kCells - 1);
  return static_cast<std::size_t>(row * kCells + column);
}

void RegionGrid::add(const Box& object) {
  const Box region = square_region(frame_, object, least_, kClusterMultiplier);
  Cell& place = cells_[index(object.x0 + object.width() / 2, object.y0 + object.height() / 2)];
  const double share = region.width() / frame_.width;
  place.count += 1;
  place.sum += share;
  place.squares += share * share;
}

Box RegionGrid::region(const Box& motion) const {
  const Box box = square_region(frame_, motion, least_, kMotionMultiplier);
  const double x = box.x0 + (std::min<double>(frame_.width, box.x1) - box.x0) / 2;
  const double y = box.y0 + (std::min<double>(frame_.height, box.y1) - box.y0) / 2;
  const Cell& seen = cells_[index(x, y)];
  if (seen.count == 0) return box;
  const double mean = seen.sum / seen.count;
  const double deviation = std::sqrt(std::max(0.0, seen.squares / seen.count - mean * mean));
  if (box.width() / frame_.width >= mean - deviation) return box;
  const double size = mean * frame_.width;
  const Box expected{static_cast<float>(std::max(0.0, x - size / 2)),
                     static_cast<float>(std::max(0.0, y - size / 2)),
                     static_cast<float>(std::min<double>(frame_.width, x + size / 2)),
                     static_cast<float>(std::min<double>(frame_.height, y + size / 2))};
  return square_region(frame_, expected, least_, kMotionMultiplier);
}

std::vector<Detection> reduce_detections(std::span<const SquareDetection> detections, Size frame) {
  constexpr float kSuppress = 0.4f;
  constexpr float kClippedWeight = 0.6f;
  constexpr float kInside = 0.9f;
  constexpr float kComparable = 0.05f;
  const auto rank = [&](const SquareDetection& d) {
    return d.detection.score *
           (is_clipped(d.detection.box, d.region, frame) ? kClippedWeight : 1.0f);
  };
  std::vector<SquareDetection> order(detections.begin(), detections.end());
  std::stable_sort(order.begin(), order.end(),
                   [&](const auto& a, const auto& b) { return rank(a) > rank(b); });
  std::vector<Detection> kept;
  for (const SquareDetection& candidate : order) {
    const bool covered = std::any_of(kept.begin(), kept.end(), [&](const Detection& other) {
      return other.class_id == candidate.detection.class_id &&
             iou(other.box, candidate.detection.box) > kSuppress;
    });
    if (!covered) kept.push_back(candidate.detection);
  }
  std::vector<Detection> reduced;
  for (const Detection& small : kept) {
    const bool inside = std::any_of(kept.begin(), kept.end(), [&](const Detection& large) {
      return &large != &small && large.class_id == small.class_id &&
             small.box.area() < large.box.area() &&
             small.box.area() >= kComparable * large.box.area() &&
             shared_area(small.box, large.box) > kInside * small.box.area();
    });
    if (!inside) reduced.push_back(small);
  }
  return reduced;
}

}  // namespace sparing::bench

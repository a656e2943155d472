#include "sparing/streams/canvas_labels.h"

#include <algorithm>

#include "sparing/packing/scale_features.h"

namespace sparing {
namespace {

constexpr float kSameObject = 0.5f;
constexpr float kLeastShown = 0.5f;
constexpr float kExpectedObject = 0.3f;

Box box_of(const Rect& rect) {
  return {static_cast<float>(rect.x), static_cast<float>(rect.y), static_cast<float>(rect.right()),
          static_cast<float>(rect.bottom())};
}

Box common(const Box& a, const Box& b) {
  return {std::max(a.x0, b.x0), std::max(a.y0, b.y0), std::min(a.x1, b.x1), std::min(a.y1, b.y1)};
}

bool contains(const Box& box, float x, float y) {
  return box.x0 <= x && x <= box.x1 && box.y0 <= y && y <= box.y1;
}

}  // namespace

void FrameObjects::add(const CanvasRegion& region, double score) {
  if (region.purpose == DrawPurpose::kProbe) return;
  auto& here = found_[{region.stream, region.frame}];
  for (const Detection& detection : region.detections) {
    if (detection.score >= score) here.push_back(detection);
  }
}

std::vector<Detection> FrameObjects::of(int stream, std::int64_t frame) const {
  std::vector<Detection> objects;
  const auto found = found_.find({stream, frame});
  if (found == found_.end()) return objects;
  std::vector<Detection> best_first = found->second;
  std::stable_sort(best_first.begin(), best_first.end(),
                   [](const Detection& a, const Detection& b) { return a.score > b.score; });
  for (const Detection& detection : best_first) {
    const bool again = std::any_of(objects.begin(), objects.end(), [&](const Detection& object) {
      return object.class_id == detection.class_id && iou(object.box, detection.box) > kSameObject;
    });
    if (!again) objects.push_back(detection);
  }
  return objects;
}

std::vector<Detection> region_labels(const CanvasRegion& region, std::span<const Detection> objects,
                                     bool center_only) {
  std::vector<Detection> labels;
  if (region.to_frame.determinant() == 0) return labels;
  const Affine to_canvas = inverse(region.to_frame);
  const Box shown = box_of(region.roi.rect);
  const Box place{static_cast<float>(region.place.x), static_cast<float>(region.place.y),
                  static_cast<float>(region.place.x + region.place.width),
                  static_cast<float>(region.place.y + region.place.height)};
  const bool expected = has_object(region.roi);
  const float center_x = (shown.x0 + shown.x1) / 2, center_y = (shown.y0 + shown.y1) / 2;
  const Detection* center = nullptr;
  float best = expected ? kExpectedObject : 0;
  for (const Detection& object : objects) {
    if (!(common(shown, object.box).area() >= kLeastShown * object.box.area())) continue;
    const float rank = expected ? iou(region.roi.object, object.box)
                       : contains(object.box, center_x, center_y) ? object.score
                                                                  : -1.0f;
    if (center_only) {
      if (rank > best) {
        best = rank;
        center = &object;
      }
      continue;
    }
    labels.push_back(object);
  }
  if (center != nullptr) labels.push_back(*center);
  for (Detection& label : labels) label.box = common(map_box(to_canvas, label.box), place);
  std::erase_if(labels, [](const Detection& label) { return label.box.area() <= 0; });
  return labels;
}

}  // namespace sparing

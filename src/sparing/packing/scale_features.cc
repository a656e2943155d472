#include "sparing/packing/scale_features.h"

#include <algorithm>
#include <cmath>

#include "sparing/base/check.h"

namespace sparing {
namespace {

struct Extent {
  double width;
  double height;
};

Extent extent_of(const Roi& roi) {
  if (!has_object(roi)) return {roi.rect.width, roi.rect.height};
  const Box& box = roi.object;
  return {static_cast<double>(box.x1) - box.x0, static_cast<double>(box.y1) - box.y0};
}

}  // namespace

std::optional<std::size_t> scale_feature_from_name(std::string_view name) {
  for (std::size_t i = 0; i < kScaleFeatures.size(); ++i) {
    if (kScaleFeatures[i].name == name) return i;
  }
  return std::nullopt;
}

bool has_object(const Roi& roi) { return is_finite(roi.object) && roi.object.area() > 0; }

bool is_scalable(const Roi& roi) {
  const FlowFeatures& flow = roi.flow;
  const Extent extent = extent_of(roi);
  return is_finite(roi.rect) && is_finite(roi.object) && extent.width > 0 && extent.height > 0 &&
         std::isfinite(extent.width * extent.height) && extent.width * extent.height > 0 &&
         std::isfinite(roi.confidence) && std::isfinite(flow.mean_shift) &&
         std::isfinite(flow.shift_deviation) && std::isfinite(flow.tracking_error) &&
         std::isfinite(flow.shift_correlation);
}

ScaleFeatures scale_features(const Roi& roi) {
  SPARING_CHECK(is_scalable(roi));
  const Extent extent = extent_of(roi);
  ScaleFeatures features;
  features.area = extent.width * extent.height;
  features.max_edge = std::max(extent.width, extent.height);
  features.aspect_ratio = extent.width / extent.height;
  features.mean_shift = roi.flow.mean_shift;
  features.tracking_error = roi.flow.tracking_error;
  features.shift_deviation = roi.flow.shift_deviation;
  features.shift_correlation = roi.flow.shift_correlation;
  features.height = extent.height;
  // A confidence without its object would vouch for another box.
  features.confidence = has_object(roi) ? std::clamp<double>(roi.confidence, 0, 1) : 0;
  return features;
}

}  // namespace sparing

#include "sparing/metrics/temporal.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "sparing/metrics/same_size.h"

namespace sparing {
namespace {

Error invalid(std::string thing, std::string problem, std::string fix) {
  return Error{ErrorCode::kInvalidArgument, std::move(thing), std::move(problem), std::move(fix)};
}

Status check_count(const char* what, std::size_t values, std::size_t pixels) {
  if (values == pixels) return {};
  return invalid(what, std::to_string(values) + " values for " + std::to_string(pixels) + " pixels",
                 "give one a pixel of the labels");
}

Status check_pair(const LabelClasses& classes, const LabelMap& before, const LabelMap& after) {
  SPARING_RETURN_IF_ERROR(classes.check(before, "labels of the frame before"));
  SPARING_RETURN_IF_ERROR(classes.check(after, "labels of the frame"));
  return check_same_size(before.size, "those before", after.size, "labels of the frame");
}

}  // namespace

Status warp_labels(const LabelMap& labels, const FlowView& flow, LabelMap& out) {
  const auto width = static_cast<std::size_t>(std::max(labels.size.width, 0));
  const std::size_t pixels = width * static_cast<std::size_t>(std::max(labels.size.height, 0));
  SPARING_RETURN_IF_ERROR(check_count("labels to warp", labels.labels.size(), pixels));
  SPARING_RETURN_IF_ERROR(check_count("horizontal flow", flow.dx.size(), pixels));
  SPARING_RETURN_IF_ERROR(check_count("vertical flow", flow.dy.size(), pixels));
  LabelMap warped;
  warped.labels.swap(out.labels);  // its memory
  warped.resize(labels.size);
  const auto right = static_cast<float>(labels.size.width);
  const auto bottom = static_cast<float>(labels.size.height);
  std::size_t i = 0;
  for (int y = 0; y < labels.size.height; ++y) {
    for (int x = 0; x < labels.size.width; ++x, ++i) {
      const float u = static_cast<float>(x) + 0.5f + flow.dx[i];
      const float v = static_cast<float>(y) + 0.5f + flow.dy[i];
      // False for NaN, too.
      const bool inside = u >= 0 && v >= 0 && u < right && v < bottom;
      warped.labels[i] =
          inside ? labels.labels[static_cast<std::size_t>(v) * width + static_cast<std::size_t>(u)]
                 : kIgnoreLabel;
    }
  }
  out = std::move(warped);
  return {};
}

Status FlowConsistency::add(const LabelMap& before, const LabelMap& after, const FlowView& flow,
                            std::span<const std::uint8_t> visible) {
  const LabelClasses& classes = total_.classes();
  SPARING_RETURN_IF_ERROR(check_pair(classes, before, after));
  if (!visible.empty()) {
    SPARING_RETURN_IF_ERROR(check_count("visible pixels", visible.size(), before.labels.size()));
  }
  SPARING_RETURN_IF_ERROR(warp_labels(after, flow, warped_));
  ConfusionMatrix pair(classes);
  for (std::size_t i = 0; i < before.labels.size(); ++i) {
    if (!visible.empty() && visible[i] == 0) continue;
    const std::uint8_t a = before.labels[i];
    const std::uint8_t b = warped_.labels[i];
    if (classes.is_class(a) && classes.is_class(b)) pair.count(a, b);
  }
  total_.add(pair);
  last_ = std::move(pair);
  ++pairs_;
  return {};
}

Status Flicker::add(const LabelMap& before, const LabelMap& after,
                    std::span<const std::uint8_t> still) {
  SPARING_RETURN_IF_ERROR(check_pair(classes_, before, after));
  SPARING_RETURN_IF_ERROR(check_count("static pixels", still.size(), before.labels.size()));
  last_ = {};
  for (std::size_t i = 0; i < before.labels.size(); ++i) {
    const std::uint8_t a = before.labels[i];
    const std::uint8_t b = after.labels[i];
    if (still[i] == 0 || !classes_.is_class(a) || !classes_.is_class(b)) continue;
    ++last_.pixels;
    if (a != b) ++last_.changed;
  }
  total_.pixels += last_.pixels;
  total_.changed += last_.changed;
  return {};
}

}  // namespace sparing

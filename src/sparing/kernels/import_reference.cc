// The definition of docs/import.md, as plainly as it can be written: one output value at a time, in
// double. Nothing here is shared with the fast paths but the plan (import_plan.h) and the colour
// constants, which have tests of their own.
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "sparing/kernels/color.h"
#include "sparing/kernels/element.h"
#include "sparing/kernels/import.h"
#include "sparing/kernels/import_plan.h"

namespace sparing {
namespace {

using internal::ImportPlan;
using internal::SampleAxis;
using internal::SampleGrid;

// The two taps around a position on an axis.
struct Taps {
  int at0;
  int at1;
  double weight1;
};

Taps taps(const SampleAxis& axis, double coded) {
  const double position =
      std::clamp(coded * axis.scale - axis.offset, static_cast<double>(axis.first),
                 static_cast<double>(axis.last));
  const int at0 = static_cast<int>(std::floor(position));
  return {at0, std::min(at0 + 1, axis.last), position - at0};
}

double sample(const VideoFrame& frame, std::size_t component, const SampleGrid& grid, Point coded) {
  const ComponentLayout& layout = info(frame.format).components[component];
  const Plane& plane = frame.planes[static_cast<std::size_t>(layout.plane)];
  const Taps x = taps(grid.x, coded.x);
  const Taps y = taps(grid.y, coded.y);
  const auto at = [&](int column, int row) {
    return static_cast<double>(
        plane.data[row * plane.stride + static_cast<std::ptrdiff_t>(column) * layout.step +
                   layout.offset]);
  };
  const double upper = at(x.at0, y.at0) * (1 - x.weight1) + at(x.at1, y.at0) * x.weight1;
  const double lower = at(x.at0, y.at1) * (1 - x.weight1) + at(x.at1, y.at1) * x.weight1;
  return upper * (1 - y.weight1) + lower * y.weight1;
}

double scaled(double value, const internal::RangeScale& scale) {
  return (value - scale.offset) * scale.scale;
}

using Rgb = std::array<double, 3>;

// Not clamped yet.
Rgb rgb_at(const VideoFrame& frame, const ImportPlan& plan, Point coded) {
  const internal::RangeScale luma = internal::luma_scale(plan.color.range);
  const double first = scaled(sample(frame, 0, plan.luma, coded), luma);
  switch (info(frame.format).model) {
    case ColorModel::kGray: return {first, first, first};
    case ColorModel::kRgb:
      return {first, scaled(sample(frame, 1, plan.luma, coded), luma),
              scaled(sample(frame, 2, plan.luma, coded), luma)};
    case ColorModel::kYuv: break;
  }
  const internal::RangeScale chroma = internal::chroma_scale(plan.color.range);
  const internal::ChromaGains gains =
      internal::chroma_gains(internal::luma_weights(plan.color.matrix));
  const double u = scaled(sample(frame, 1, plan.chroma, coded), chroma);
  const double v = scaled(sample(frame, 2, plan.chroma, coded), chroma);
  return {first + gains.r_v * v, first + gains.g_u * u + gains.g_v * v, first + gains.b_u * u};
}

double luma_at(const VideoFrame& frame, const ImportPlan& plan, Point coded) {
  if (info(frame.format).model == ColorModel::kRgb) {
    const Rgb rgb = rgb_at(frame, plan, coded);
    const internal::LumaWeights weights = internal::luma_weights(plan.color.matrix);
    return weights.kr * rgb[0] + weights.kg() * rgb[1] + weights.kb * rgb[2];
  }
  return scaled(sample(frame, 0, plan.luma, coded), internal::luma_scale(plan.color.range));
}

Rgb channels_at(const VideoFrame& frame, const ImportPlan& plan, Point coded, int channels,
                ChannelOrder order) {
  if (channels == 1) return {luma_at(frame, plan, coded), 0, 0};
  Rgb values = rgb_at(frame, plan, coded);
  if (order == ChannelOrder::kBgr) std::swap(values[0], values[2]);
  return values;
}

}  // namespace

Result<Affine> import_frame_reference(const VideoFrame& frame, const ImportOptions& options,
                                      const TensorView& destination) {
  SPARING_ASSIGN_OR_RETURN(const ImportPlan plan,
                           internal::plan_import(frame, options, destination));
  internal::fill_border(plan, options, destination);
  for (int j = 0; j < plan.content.height; ++j) {
    for (int i = 0; i < plan.content.width; ++i) {
      const Point display{internal::display_x(plan, i), internal::display_y(plan, j)};
      const Point coded = plan.display_to_coded(display);
      const Rgb pixel = channels_at(frame, plan, coded, destination.channels, options.order);
      for (int c = 0; c < destination.channels; ++c) {
        const auto channel = static_cast<std::size_t>(c);
        const double value =
            (std::clamp(pixel[channel], 0.0, 255.0) - options.mean[channel]) / options.std[channel];
        internal::store_element(destination.type, value,
                                internal::element_address(destination, options.batch_index, c,
                                                          plan.content.y + j, plan.content.x + i));
      }
    }
  }
  return plan.tensor_to_display;
}

}  // namespace sparing

#include "sparing/kernels/color_transform.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "sparing/kernels/color.h"
#include "sparing/kernels/element.h"

namespace sparing::internal {
namespace {

// Outside these the folded float arithmetic could lose the promised precision.
constexpr double kMaxOffset = 1e4;  // of mean, and of the zero point in steps
constexpr double kMinScale = 1e-4;  // of std, and of std times the quantisation's scale
constexpr double kMaxScale = 1e6;

// One row: value = factor . samples + offset, samples as stored, on 0..255.
struct Row {
  std::array<double, 3> factor{};
  double offset = 0;
};

Row scaled(std::array<double, 3> weights, const RangeScale& first, const RangeScale& others) {
  Row row;
  for (std::size_t k = 0; k < 3; ++k) {
    const RangeScale& scale = k == 0 ? first : others;
    row.factor[k] = weights[k] * scale.scale;
    row.offset -= weights[k] * scale.scale * scale.offset;
  }
  return row;
}

// Red, green and blue, or luma in the first row.
std::array<Row, 3> pixel_rows(const ImportPlan& plan, const PixelFormatInfo& format, int channels) {
  const int bits = format.sample.bits;
  const RangeScale luma = luma_scale(plan.color.range, bits);
  const LumaWeights weights = luma_weights(plan.color.matrix);
  if (format.model == ColorModel::kRgb) {
    if (channels == 1) return {scaled({weights.kr, weights.kg(), weights.kb}, luma, luma)};
    return {scaled({1, 0, 0}, luma, luma), scaled({0, 1, 0}, luma, luma),
            scaled({0, 0, 1}, luma, luma)};
  }
  if (format.model == ColorModel::kGray || channels == 1) {
    const Row row = scaled({1, 0, 0}, luma, luma);
    return {row, row, row};
  }
  const RangeScale chroma = chroma_scale(plan.color.range, bits);
  const ChromaGains gains = chroma_gains(weights);
  return {scaled({1, 0, gains.r_v}, luma, chroma), scaled({1, gains.g_u, gains.g_v}, luma, chroma),
          scaled({1, gains.b_u, 0}, luma, chroma)};
}

struct Limits {
  double low;
  double high;
};

// Of the floats that round to a value of the type.
Limits type_limits(DataType type) {
  switch (type) {
    case DataType::kUint8: return {0, 255};
    case DataType::kInt8: return {-128, 127};
    case DataType::kInt32: return {-2147483648.0, 2147483520.0};
    default: return {-std::numeric_limits<float>::max(), std::numeric_limits<float>::max()};
  }
}

bool in_range(double value, double low, double high) {
  return std::fabs(value) >= low && std::fabs(value) <= high;
}

}  // namespace

int line_count(PixelFormat format, int channels) {
  const ColorModel model = info(format).model;
  if (model == ColorModel::kGray) return 1;
  return model == ColorModel::kYuv && channels == 1 ? 1 : 3;
}

std::optional<ColorTransform> make_color_transform(const ImportPlan& plan, PixelFormat format,
                                                   const ImportOptions& options,
                                                   const TensorView& tensor,
                                                   const LineScale (&lines)[3]) {
  const PixelFormatInfo& row = info(format);
  const std::array<Row, 3> pixel = pixel_rows(plan, row, tensor.channels);
  const double scale = options.quantization.scale;
  const double zero = options.quantization.zero_point;
  const Limits limits = type_limits(tensor.type);
  const double sample_unit = 1.0 / (1 << row.sample.shift);
  if (!in_range(zero, 0, kMaxOffset)) return std::nullopt;

  ColorTransform color;
  const int colors = std::min(tensor.channels, 3);
  for (int c = 0; c < colors; ++c) {
    const auto channel = static_cast<std::size_t>(c);
    const double mean = options.mean[channel];
    const double std = options.std[channel] * scale;
    if (!in_range(mean, 0, kMaxOffset) || !in_range(options.std[channel], kMinScale, kMaxScale) ||
        !in_range(std, kMinScale, kMaxScale)) {
      return std::nullopt;
    }
    const bool reversed = options.order == ChannelOrder::kBgr && colors == 3;
    const Row& source = pixel[reversed ? 2 - channel : channel];
    double bias = source.offset - mean;
    for (int k = 0; k < line_count(format, tensor.channels); ++k) {
      const double factor = source.factor[static_cast<std::size_t>(k)] * sample_unit;
      color.matrix[c][k] = static_cast<float>(factor / lines[k].unit / std);
      bias += factor * lines[k].offset;
    }
    color.bias[c] = static_cast<float>(bias / std + zero);
    // std may be negative.
    const auto [low, high] = std::minmax({-mean / std + zero, (255 - mean) / std + zero});
    color.low[c] = static_cast<float>(std::clamp(low, limits.low, limits.high));
    color.high[c] = static_cast<float>(std::clamp(high, limits.low, limits.high));
  }
  // Rounded here, from the exact value; as a float it might lie on the other side of a half.
  double alpha = options.alpha / scale + zero;
  if (is_integer(tensor.type)) alpha = std::nearbyint(alpha);
  // Not every whole number beyond is a float.
  if (tensor.type == DataType::kInt32 && !in_range(alpha, 0, 1 << 24)) return std::nullopt;
  color.alpha = static_cast<float>(std::clamp(alpha, limits.low, limits.high));
  return color;
}

}  // namespace sparing::internal

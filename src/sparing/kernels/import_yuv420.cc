#include "sparing/kernels/import_yuv420.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "sparing/kernels/color.h"
#include "sparing/kernels/element.h"

namespace sparing::internal {
namespace {

// Outside these the folded float arithmetic could lose the promised precision.
constexpr float kMaxMean = 1e4f;
constexpr float kMinStd = 1e-4f;
constexpr float kMaxStd = 1e6f;
constexpr int kWordBytes = 4;  // of one gathered word

Yuv420Source make_source(const VideoFrame& frame) {
  Yuv420Source source;
  source.luma = frame.planes[0];
  source.u = frame.planes[1];
  source.v = frame.planes[2];
  source.luma_row_bytes = plane_extent(frame.format, 0, frame.coded_size).row_bytes;
  source.chroma_row_bytes = plane_extent(frame.format, 1, frame.coded_size).row_bytes;
  return source;
}

// Where red, green and blue (0, 1, 2) lie in the tensor.
std::size_t tensor_channel(ChannelOrder order, std::size_t rgb) {
  return order == ChannelOrder::kRgb ? rgb : 2 - rgb;
}

ColorTransform make_color(const ColorSpace& space, const ImportOptions& options) {
  const RangeScale luma = luma_scale(space.range);
  const RangeScale chroma = chroma_scale(space.range);
  const ChromaGains gains = chroma_gains(luma_weights(space.matrix));
  const double u[3] = {0, gains.g_u, gains.b_u};
  const double v[3] = {gains.r_v, gains.g_v, 0};
  ColorTransform color;
  for (std::size_t c = 0; c < 3; ++c) {
    const std::size_t channel = tensor_channel(options.order, c);
    const double mean = options.mean[channel];
    const double std = options.std[channel];
    const double bias = -luma.offset * luma.scale - chroma.offset * chroma.scale * (u[c] + v[c]);
    color.y[c] = static_cast<float>(luma.scale / std);
    color.u[c] = static_cast<float>(chroma.scale * u[c] / std);
    color.v[c] = static_cast<float>(chroma.scale * v[c] / std);
    color.bias[c] = static_cast<float>((bias - mean) / std);
    // std may be negative.
    const auto [low, high] = std::minmax({(0 - mean) / std, (255 - mean) / std});
    color.low[c] = static_cast<float>(low);
    color.high[c] = static_cast<float>(high);
  }
  return color;
}

void fill_taps(Yuv420Tile& tile, int first_column, ColumnTaps& taps) {
  const int chroma_step = tile.interleaved ? 2 : 1;
  tile.unshifted_columns = 0;
  for (int i = 0; i < tile.columns; ++i) {
    const double coded = coded_column(*tile.plan, first_column + i);
    const LinearTap luma = linear_tap(tile.plan->luma.x, coded);
    const LinearTap chroma = linear_tap(tile.plan->chroma.x, coded);
    taps.luma_offset[i] = luma.at0;
    taps.luma_weight[i] = luma.weight1;
    taps.chroma_offset[i] = chroma.at0 * chroma_step;
    taps.chroma_weight[i] = chroma.weight1;
    if (taps.luma_offset[i] + kWordBytes <= tile.source->luma_row_bytes &&
        taps.chroma_offset[i] + kWordBytes <= tile.source->chroma_row_bytes) {
      tile.unshifted_columns = i + 1;  // offsets never fall
    }
  }
  for (int i = tile.columns; i < tile.columns + kMaxLanes; ++i) {
    taps.luma_offset[i] = 0;
    taps.luma_weight[i] = 0;
    taps.chroma_offset[i] = 0;
    taps.chroma_weight[i] = 0;
  }
}

bool is_straight(const ImportPlan& plan) {
  const Point coded = plan.display_to_coded({plan.source.x, plan.source.y});
  const Rect& source = plan.source;
  const int x = static_cast<int>(std::clamp(coded.x, -1.0, 1e6));
  const int y = static_cast<int>(std::clamp(coded.y, -1.0, 1e6));
  return source.width == plan.content.width && source.height == plan.content.height &&
         coded.x == x && coded.y == y && x >= plan.luma.x.first && y >= plan.luma.y.first &&
         x + plan.content.width - 1 <= plan.luma.x.last &&
         y + plan.content.height - 1 <= plan.luma.y.last;
}

StraightColumns straight_columns(const ImportPlan& plan, int first_column) {
  StraightColumns columns;
  double position[2];
  for (int i = 0; i < 2; ++i) {
    const SampleAxis& axis = plan.chroma.x;  // without its limits: the line buffer has them
    position[i] = coded_column(plan, first_column + i) * axis.scale - axis.offset;
    columns.weight[i] = static_cast<float>(position[i] - std::floor(position[i]));
  }
  columns.luma_first = static_cast<int>(coded_column(plan, first_column));
  columns.chroma_first = static_cast<int>(std::floor(position[0]));
  columns.step = static_cast<int>(std::floor(position[1])) - columns.chroma_first;
  return columns;
}

bool in_range(float value, float low, float high) {
  return std::fabs(value) >= low && std::fabs(value) <= high;
}

}  // namespace

bool fits_yuv420(const VideoFrame& frame, const ImportOptions& options, const TensorView& tensor) {
  if (std::endian::native != std::endian::little) return false;  // gathered words are taken apart
  if (frame.format != PixelFormat::kI420 && frame.format != PixelFormat::kNv12) return false;
  if (frame.rotation != Rotation::k0 || frame.flip) return false;
  if (tensor.type != DataType::kFloat32 || tensor.channels != 3 ||
      tensor.stride_x != sizeof(float)) {
    return false;
  }
  for (std::size_t c = 0; c < 3; ++c) {
    if (!in_range(options.mean[c], 0, kMaxMean)) return false;
    if (!in_range(options.std[c], kMinStd, kMaxStd)) return false;
  }
  // Each row must hold the 4 bytes of a gathered word.
  return plane_extent(frame.format, 0, frame.coded_size).row_bytes >= kWordBytes &&
         plane_extent(frame.format, 1, frame.coded_size).row_bytes >= kWordBytes;
}

void import_yuv420(const ImportPlan& plan, const VideoFrame& frame, const ImportOptions& options,
                   const TensorView& tensor) {
  const Yuv420Source source = make_source(frame);
  const ColorTransform color = make_color(plan.color, options);
  const bool straight = is_straight(plan);
  ColumnTaps taps;
  StraightColumns columns;
  Yuv420Tile tile{};
  tile.source = &source;
  tile.plan = &plan;
  tile.color = &color;
  tile.interleaved = frame.format == PixelFormat::kNv12;
  tile.stride_y = tensor.stride_y;
  for (int first = 0; first < plan.content.width; first += kTileColumns) {
    tile.columns = std::min(kTileColumns, plan.content.width - first);
    for (std::size_t c = 0; c < 3; ++c) {
      const int channel = static_cast<int>(tensor_channel(options.order, c));
      tile.channels[c] = reinterpret_cast<float*>(element_address(
          tensor, options.batch_index, channel, plan.content.y, plan.content.x + first));
    }
    if (straight) {
      columns = straight_columns(plan, first);
      tile.straight = &columns;
    } else {
      fill_taps(tile, first, taps);
      tile.taps = &taps;
    }
    import_yuv420_tile(tile);
  }
}

}  // namespace sparing::internal

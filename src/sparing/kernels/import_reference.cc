// The definition of docs/import.md, as plainly as it can be written: one output value at a time, in
// double. Nothing here is shared with the fast paths but the plan (import_plan.h), the colour
// constants (color.h) and the rounding of one element (element.h), which have tests of their own.
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
using internal::PixelAxis;
using internal::SampleAxis;
using internal::SampleGrid;

// Where one tensor pixel lies on the samples of one axis of a grid: its centre, and how many
// samples it covers.
struct Footprint {
  double center;
  double width;
};

Footprint footprint(const PixelAxis& pixels, const SampleAxis& samples, int k) {
  return {internal::coded_position(pixels, k) * samples.scale - samples.offset,
          std::fabs(pixels.step) * samples.scale};
}

// The weight of sample k, not normalised. Samples farther than reach() from the centre have none.
double weight(Filter filter, const Footprint& pixel, int k) {
  const double distance = std::fabs(k - pixel.center);
  switch (filter) {
    case Filter::kNearest: return k == std::floor(pixel.center + 0.5) ? 1 : 0;
    case Filter::kArea:
      if (pixel.width >= 1) {
        const double begin = std::max(k - 0.5, pixel.center - pixel.width / 2);
        const double end = std::min(k + 0.5, pixel.center + pixel.width / 2);
        return std::max(0.0, end - begin);
      }
      break;
    case Filter::kTriangle: return std::max(0.0, 1 - distance / std::max(pixel.width, 1.0));
    case Filter::kBilinear:
    case Filter::kAuto: break;
  }
  return std::max(0.0, 1 - distance);
}

double reach(Filter filter, const Footprint& pixel) {
  return filter == Filter::kArea || filter == Filter::kTriangle ? std::max(pixel.width, 1.0) : 1.0;
}

// The weighted mean of value(k) over the samples of an axis that may be seen.
template <class Value>
double filtered(Filter filter, const Footprint& pixel, const SampleAxis& axis, const Value& value) {
  const double first = axis.first;
  const double last = axis.last;
  const double begin = std::floor(pixel.center - reach(filter, pixel));
  const double end = std::ceil(pixel.center + reach(filter, pixel));
  double sum = 0;
  double total = 0;
  for (int k = static_cast<int>(std::clamp(begin, first, last)); k <= last && k <= end; ++k) {
    const double w = weight(filter, pixel, k);
    if (w <= 0) continue;
    sum += w * value(k);
    total += w;
  }
  if (total > 0) return sum / total;
  return value(pixel.center < first ? axis.first : axis.last);
}

// The value of a stored sample, on 0 .. 2^bits - 1.
double sample_at(const VideoFrame& frame, std::size_t component, int x, int y) {
  const PixelFormatInfo& format = info(frame.format);
  const ComponentLayout& layout = format.components[component];
  const Plane& plane = frame.planes[static_cast<std::size_t>(layout.plane)];
  const std::uint8_t* const bytes =
      plane.data + y * plane.stride + static_cast<std::ptrdiff_t>(x) * layout.step + layout.offset;
  const int stored = format.sample.bytes == 1 ? bytes[0] : bytes[0] + 256 * bytes[1];
  return static_cast<double>(stored) / (1 << format.sample.shift);
}

// One job: everything that is the same for all its values.
struct Job {
  const VideoFrame& frame;
  const ImportOptions& options;
  const ImportPlan& plan;

  // Component at column i, row j of the content, on its own scale.
  double component(std::size_t index, int i, int j) const {
    const PixelFormatInfo& format = info(frame.format);
    const bool chroma = format.model == ColorModel::kYuv && index > 0;
    const bool replicate = chroma && options.chroma == ChromaUpsampling::kReplicate;
    const SampleGrid& grid = chroma && !replicate ? plan.chroma : plan.luma;
    const int shift_x = replicate ? format.chroma_shift_x : 0;
    const int shift_y = replicate ? format.chroma_shift_y : 0;
    const Footprint x = footprint(plan.x, grid.x, plan.transposed ? j : i);
    const Footprint y = footprint(plan.y, grid.y, plan.transposed ? i : j);
    return filtered(plan.y.filter, y, grid.y, [&](int row) {
      return filtered(plan.x.filter, x, grid.x, [&](int column) {
        return sample_at(frame, index, column >> shift_x, row >> shift_y);
      });
    });
  }
};

double scaled(double value, const internal::RangeScale& scale) {
  return (value - scale.offset) * scale.scale;
}

// Y, R, G, B or grey on 0..255; may be beyond.
double full_range(const Job& job, std::size_t component, int i, int j) {
  const int bits = info(job.frame.format).sample.bits;
  return scaled(job.component(component, i, j), internal::luma_scale(job.plan.color.range, bits));
}

using Rgb = std::array<double, 3>;

// Not clamped yet.
Rgb rgb_at(const Job& job, int i, int j) {
  const PixelFormatInfo& format = info(job.frame.format);
  const double first = full_range(job, 0, i, j);
  if (format.model == ColorModel::kGray) return {first, first, first};
  if (format.model == ColorModel::kRgb) {
    return {first, full_range(job, 1, i, j), full_range(job, 2, i, j)};
  }
  const internal::RangeScale chroma =
      internal::chroma_scale(job.plan.color.range, format.sample.bits);
  const internal::ChromaGains gains =
      internal::chroma_gains(internal::luma_weights(job.plan.color.matrix));
  const double u = scaled(job.component(1, i, j), chroma);
  const double v = scaled(job.component(2, i, j), chroma);
  return {first + gains.r_v * v, first + gains.g_u * u + gains.g_v * v, first + gains.b_u * u};
}

double luma_at(const Job& job, int i, int j) {
  if (info(job.frame.format).model != ColorModel::kRgb) return full_range(job, 0, i, j);
  const Rgb rgb = rgb_at(job, i, j);
  const internal::LumaWeights weights = internal::luma_weights(job.plan.color.matrix);
  return weights.kr * rgb[0] + weights.kg() * rgb[1] + weights.kb * rgb[2];
}

// The value of each channel of the tensor.
std::array<double, 4> values_at(const Job& job, int channels, int i, int j) {
  Rgb pixel{};
  if (channels == 1) {
    pixel[0] = luma_at(job, i, j);
  } else {
    pixel = rgb_at(job, i, j);
    if (job.options.order == ChannelOrder::kBgr) std::swap(pixel[0], pixel[2]);
  }
  std::array<double, 4> values{0, 0, 0, job.options.alpha};
  for (std::size_t c = 0; c < static_cast<std::size_t>(std::min(channels, 3)); ++c) {
    values[c] = (std::clamp(pixel[c], 0.0, 255.0) - job.options.mean[c]) / job.options.std[c];
  }
  return values;
}

}  // namespace

Result<Affine> import_frame_reference(const VideoFrame& frame, const ImportOptions& options,
                                      const TensorView& destination) {
  SPARING_ASSIGN_OR_RETURN(const ImportPlan plan,
                           internal::plan_import(frame, options, destination));
  internal::fill_border(plan, options, destination);
  const Job job{frame, options, plan};
  for (int j = 0; j < plan.content.height; ++j) {
    for (int i = 0; i < plan.content.width; ++i) {
      const std::array<double, 4> values = values_at(job, destination.channels, i, j);
      for (int c = 0; c < destination.channels; ++c) {
        const double stored = internal::quantized(
            destination.type, values[static_cast<std::size_t>(c)], options.quantization);
        internal::store_element(destination.type, stored,
                                internal::element_address(destination, options.batch_index, c,
                                                          plan.content.y + j, plan.content.x + i));
      }
    }
  }
  return plan.tensor_to_display;
}

}  // namespace sparing

// Plain loops, which the compiler turns into vectors of each instruction set: Highway only compiles
// the file once for each and chooses when it runs.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "sparing/train/kernels.h"
#include "sparing/train/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sparing/train/kernels_simd.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
// clang-format off: highway.h must come after foreach_target.h
#include "hwy/highway.h"
#include "sparing/train/simd_math-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace sparing::train {
namespace HWY_NAMESPACE {

// Pixels of a block whose sums fit float32, and which stays in the first cache.
constexpr std::size_t kBlock = 128;

// NaN passes, as it must: it is looked for at the end.
HWY_INLINE float clamp(float value, Range range) {
  value = value < range.low ? range.low : value;
  return value > range.high ? range.high : value;
}

void add(float* HWY_RESTRICT out, const float* HWY_RESTRICT a, const float* HWY_RESTRICT b,
         std::size_t count, Range range) {
  for (std::size_t i = 0; i < count; ++i) out[i] = clamp(a[i] + b[i], range);
}

void add_channels(float* HWY_RESTRICT out, const float* HWY_RESTRICT a, const float* HWY_RESTRICT b,
                  std::size_t pixels, int channels, Range range) {
  const auto n = static_cast<std::size_t>(channels);
  for (std::size_t p = 0; p < pixels; ++p, out += n, a += n) {
    for (std::size_t c = 0; c < n; ++c) out[c] = clamp(a[c] + b[c], range);
  }
}

void multiply(float* HWY_RESTRICT out, const float* HWY_RESTRICT a, const float* HWY_RESTRICT b,
              std::size_t count, bool accumulate) {
  if (accumulate) {
    for (std::size_t i = 0; i < count; ++i) out[i] += a[i] * b[i];
  } else {
    for (std::size_t i = 0; i < count; ++i) out[i] = a[i] * b[i];
  }
}

void multiply_channels(float* HWY_RESTRICT out, const float* HWY_RESTRICT a,
                       const float* HWY_RESTRICT b, std::size_t pixels, int channels,
                       bool accumulate) {
  const auto n = static_cast<std::size_t>(channels);
  for (std::size_t p = 0; p < pixels; ++p, out += n, a += n) {
    if (accumulate) {
      for (std::size_t c = 0; c < n; ++c) out[c] += a[c] * b[c];
    } else {
      for (std::size_t c = 0; c < n; ++c) out[c] = a[c] * b[c];
    }
  }
}

void accumulate(float* HWY_RESTRICT out, const float* HWY_RESTRICT a, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) out[i] += a[i];
}

void affine(float* HWY_RESTRICT out, const float* HWY_RESTRICT a, const float* HWY_RESTRICT scale,
            const float* HWY_RESTRICT offset, std::size_t pixels, int channels, Range range) {
  const auto n = static_cast<std::size_t>(channels);
  for (std::size_t p = 0; p < pixels; ++p, out += n, a += n) {
    for (std::size_t c = 0; c < n; ++c) out[c] = clamp(a[c] * scale[c] + offset[c], range);
  }
}

void blend(float* HWY_RESTRICT out, const float* HWY_RESTRICT a, const float* HWY_RESTRICT x,
           const float* const coefficients[3], std::size_t pixels, int channels, bool accumulate) {
  const auto n = static_cast<std::size_t>(channels);
  const float* HWY_RESTRICT scale = coefficients[0];
  const float* HWY_RESTRICT factor = coefficients[1];
  const float* HWY_RESTRICT offset = coefficients[2];
  for (std::size_t p = 0; p < pixels; ++p, out += n, a += n, x += n) {
    if (accumulate) {
      for (std::size_t c = 0; c < n; ++c) out[c] += a[c] * scale[c] + x[c] * factor[c] + offset[c];
    } else {
      for (std::size_t c = 0; c < n; ++c) out[c] = a[c] * scale[c] + x[c] * factor[c] + offset[c];
    }
  }
}

// Calls add(sums, first_channel, channels, pixel) for each pixel of blocks of kBlock, and adds the
// float32 sums of each block to the double ones.
template <class Add>
HWY_INLINE void sum_blocks(std::size_t pixels, std::size_t channels, double* total,
                           const Add& add_pixel) {
  constexpr std::size_t kGroup = 64;
  for (std::size_t first = 0; first < channels; first += kGroup) {
    const std::size_t n = std::min(kGroup, channels - first);
    for (std::size_t begin = 0; begin < pixels; begin += kBlock) {
      const std::size_t end = std::min(pixels, begin + kBlock);
      float sums[kGroup] = {};
      for (std::size_t p = begin; p < end; ++p) add_pixel(sums, p * channels + first, first, n);
      for (std::size_t c = 0; c < n; ++c) total[first + c] += static_cast<double>(sums[c]);
    }
  }
}

void channel_sums(const float* HWY_RESTRICT a, const float* HWY_RESTRICT b, std::size_t pixels,
                  int channels, double* HWY_RESTRICT a_sum, double* HWY_RESTRICT product) {
  const auto n = static_cast<std::size_t>(channels);
  if (a_sum != nullptr) {
    sum_blocks(pixels, n, a_sum,
               [a](float* HWY_RESTRICT sums, std::size_t at, std::size_t, std::size_t count) {
                 for (std::size_t c = 0; c < count; ++c) sums[c] += a[at + c];
               });
  }
  if (product != nullptr) {
    sum_blocks(pixels, n, product,
               [a, b](float* HWY_RESTRICT sums, std::size_t at, std::size_t, std::size_t count) {
                 for (std::size_t c = 0; c < count; ++c) sums[c] += a[at + c] * b[at + c];
               });
  }
}

void channel_squares(const float* HWY_RESTRICT a, const float* HWY_RESTRICT mean,
                     std::size_t pixels, int channels, double* HWY_RESTRICT sum) {
  sum_blocks(
      pixels, static_cast<std::size_t>(channels), sum,
      [a, mean](float* HWY_RESTRICT sums, std::size_t at, std::size_t first, std::size_t count) {
        for (std::size_t c = 0; c < count; ++c) {
          const float difference = a[at + c] - mean[first + c];
          sums[c] += difference * difference;
        }
      });
}

void activate(const Activation& activation, const float* HWY_RESTRICT x, float* HWY_RESTRICT y,
              std::size_t count) {
  const Range range{activation.low, activation.high};
  const float slope = activation.slope;
  const float offset = activation.offset;
  const Range unit{0, 1};
  switch (activation.kind) {
    case ActivationKind::kClamp:
      for (std::size_t i = 0; i < count; ++i) y[i] = clamp(x[i], range);
      break;
    case ActivationKind::kLeaky:
      for (std::size_t i = 0; i < count; ++i) y[i] = x[i] < 0 ? slope * x[i] : x[i];
      break;
    case ActivationKind::kHardSwish:
      for (std::size_t i = 0; i < count; ++i) y[i] = x[i] * clamp(slope * x[i] + offset, unit);
      break;
    case ActivationKind::kHardSigmoid:
      for (std::size_t i = 0; i < count; ++i) y[i] = clamp(slope * x[i] + offset, unit);
      break;
    case ActivationKind::kSigmoid:
      for (std::size_t i = 0; i < count; ++i) y[i] = sigmoid(x[i]);
      break;
    case ActivationKind::kPrelu: break;  // has kernels of its own
  }
}

template <class Derivative>
HWY_INLINE void chain(const float* HWY_RESTRICT x, const float* HWY_RESTRICT dy,
                      float* HWY_RESTRICT dx, std::size_t count, bool accumulate,
                      const Derivative& derivative) {
  if (accumulate) {
    for (std::size_t i = 0; i < count; ++i) dx[i] += dy[i] * derivative(x[i]);
  } else {
    for (std::size_t i = 0; i < count; ++i) dx[i] = dy[i] * derivative(x[i]);
  }
}

void activate_back(const Activation& activation, const float* x, const float* dy, float* dx,
                   std::size_t count, bool accumulate) {
  const float low = activation.low;
  const float high = activation.high;
  const float slope = activation.slope;
  const float offset = activation.offset;
  switch (activation.kind) {
    case ActivationKind::kClamp:
      return chain(x, dy, dx, count, accumulate,
                   [low, high](float v) { return v > low ? (v < high ? 1.0f : 0.0f) : 0.0f; });
    case ActivationKind::kLeaky:
      return chain(x, dy, dx, count, accumulate, [slope](float v) { return v > 0 ? 1.0f : slope; });
    case ActivationKind::kHardSwish:
      return chain(x, dy, dx, count, accumulate, [slope, offset](float v) {
        const float gate = slope * v + offset;
        const float inside = gate + slope * v;
        return gate > 0 ? (gate < 1 ? inside : 1.0f) : 0.0f;
      });
    case ActivationKind::kHardSigmoid:
      return chain(x, dy, dx, count, accumulate, [slope, offset](float v) {
        const float gate = slope * v + offset;
        return gate > 0 ? (gate < 1 ? slope : 0.0f) : 0.0f;
      });
    case ActivationKind::kSigmoid:
      return chain(x, dy, dx, count, accumulate, [](float v) {
        const float y = sigmoid(v);
        return y * (1.0f - y);
      });
    case ActivationKind::kPrelu: break;
  }
}

void mask(const Activation& activation, const float* HWY_RESTRICT y, float* HWY_RESTRICT dy,
          std::size_t count) {
  if (activation.kind == ActivationKind::kLeaky) {
    const float slope = activation.slope;
    for (std::size_t i = 0; i < count; ++i) dy[i] = y[i] > 0 ? dy[i] : slope * dy[i];
    return;
  }
  const float low = activation.low;
  const float high = activation.high;
  for (std::size_t i = 0; i < count; ++i) {
    const float above = y[i] > low ? dy[i] : 0.0f;
    dy[i] = y[i] < high ? above : 0.0f;
  }
}

void prelu(const float* HWY_RESTRICT x, const float* HWY_RESTRICT slope, float* HWY_RESTRICT y,
           std::size_t pixels, int channels) {
  const auto n = static_cast<std::size_t>(channels);
  for (std::size_t p = 0; p < pixels; ++p, x += n, y += n) {
    for (std::size_t c = 0; c < n; ++c) y[c] = x[c] < 0 ? slope[c] * x[c] : x[c];
  }
}

void prelu_back(const float* HWY_RESTRICT x, const float* HWY_RESTRICT dy,
                const float* HWY_RESTRICT slope, float* HWY_RESTRICT dx, std::size_t pixels,
                int channels, bool accumulate, double* HWY_RESTRICT slope_sum) {
  const auto n = static_cast<std::size_t>(channels);
  sum_blocks(pixels, n, slope_sum,
             [x, dy](float* HWY_RESTRICT sums, std::size_t at, std::size_t, std::size_t count) {
               for (std::size_t c = 0; c < count; ++c) {
                 sums[c] += x[at + c] < 0 ? dy[at + c] * x[at + c] : 0.0f;
               }
             });
  if (dx == nullptr) return;
  for (std::size_t p = 0; p < pixels; ++p, x += n, dy += n, dx += n) {
    for (std::size_t c = 0; c < n; ++c) {
      const float gradient = x[c] < 0 ? slope[c] * dy[c] : dy[c];
      dx[c] = accumulate ? dx[c] + gradient : gradient;
    }
  }
}

void blend_rows(float* HWY_RESTRICT out, const float* HWY_RESTRICT a, const float* HWY_RESTRICT b,
                float weight, std::size_t count) {
  const float rest = 1.0f - weight;
  for (std::size_t i = 0; i < count; ++i) out[i] = a[i] * weight + b[i] * rest;
}

void spread_row(float* HWY_RESTRICT out, const float* HWY_RESTRICT row, const Taps::Tap* taps,
                std::size_t count, int channels) {
  const auto n = static_cast<std::size_t>(channels);
  if (n == 1) {
    for (std::size_t i = 0; i < count; ++i) {
      out[i] = row[taps[i].first] * taps[i].weight + row[taps[i].second] * (1.0f - taps[i].weight);
    }
    return;
  }
  for (std::size_t i = 0; i < count; ++i, out += n) {
    const float* HWY_RESTRICT first = row + static_cast<std::size_t>(taps[i].first) * n;
    const float* HWY_RESTRICT second = row + static_cast<std::size_t>(taps[i].second) * n;
    const float weight = taps[i].weight;
    const float rest = 1.0f - weight;
    for (std::size_t c = 0; c < n; ++c) out[c] = first[c] * weight + second[c] * rest;
  }
}

void gather_row(float* row, const float* HWY_RESTRICT in, const Taps::Tap* taps, std::size_t count,
                int channels) {
  const auto n = static_cast<std::size_t>(channels);
  for (std::size_t i = 0; i < count; ++i, in += n) {
    float* HWY_RESTRICT first = row + static_cast<std::size_t>(taps[i].first) * n;
    float* HWY_RESTRICT second = row + static_cast<std::size_t>(taps[i].second) * n;
    const float weight = taps[i].weight;
    const float rest = 1.0f - weight;
    for (std::size_t c = 0; c < n; ++c) first[c] += weight * in[c];
    if (rest == 0) continue;
    for (std::size_t c = 0; c < n; ++c) second[c] += rest * in[c];
  }
}

void add_scaled(float* HWY_RESTRICT out, const float* HWY_RESTRICT in, float weight,
                std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) out[i] += weight * in[i];
}

void to_planes(float* HWY_RESTRICT planes, std::size_t stride, const float* HWY_RESTRICT picture,
               std::size_t pixels, int channels) {
  const auto n = static_cast<std::size_t>(channels);
  for (std::size_t begin = 0; begin < pixels; begin += kBlock) {
    const std::size_t end = std::min(pixels, begin + kBlock);
    for (std::size_t c = 0; c < n; ++c) {
      float* HWY_RESTRICT plane = planes + c * stride;
      for (std::size_t p = begin; p < end; ++p) plane[p] = picture[p * n + c];
    }
  }
}

void from_planes(float* HWY_RESTRICT picture, const float* HWY_RESTRICT planes, std::size_t stride,
                 std::size_t pixels, int channels, bool accumulate) {
  const auto n = static_cast<std::size_t>(channels);
  if (n == 3 && !accumulate) {
    for (std::size_t p = 0; p < pixels; ++p) {
      picture[3 * p] = planes[p];
      picture[3 * p + 1] = planes[stride + p];
      picture[3 * p + 2] = planes[2 * stride + p];
    }
    return;
  }
  for (std::size_t begin = 0; begin < pixels; begin += kBlock) {
    const std::size_t end = std::min(pixels, begin + kBlock);
    for (std::size_t c = 0; c < n; ++c) {
      const float* HWY_RESTRICT plane = planes + c * stride;
      if (accumulate) {
        for (std::size_t p = begin; p < end; ++p) picture[p * n + c] += plane[p];
      } else {
        for (std::size_t p = begin; p < end; ++p) picture[p * n + c] = plane[p];
      }
    }
  }
}

// Sums in 16 columns, which the compiler may keep in vectors without reordering anything.
template <class Term>
HWY_INLINE double sum_of(std::size_t count, const Term& term) {
  constexpr std::size_t kColumns = 16;
  double total = 0;
  for (std::size_t begin = 0; begin < count; begin += kBlock * kColumns) {
    const std::size_t end = std::min(count, begin + kBlock * kColumns);
    float sums[kColumns] = {};
    std::size_t i = begin;
    for (; i + kColumns <= end; i += kColumns) {
      for (std::size_t c = 0; c < kColumns; ++c) sums[c] += term(i + c);
    }
    for (; i < end; ++i) sums[0] += term(i);
    for (const float sum : sums) total += static_cast<double>(sum);
  }
  return total;
}

double squared_norm(const float* HWY_RESTRICT values, std::size_t count) {
  return sum_of(count, [values](std::size_t i) { return values[i] * values[i]; });
}

double squared_distance(const float* HWY_RESTRICT a, const float* HWY_RESTRICT b,
                        std::size_t count) {
  return sum_of(count, [a, b](std::size_t i) { return (a[i] - b[i]) * (a[i] - b[i]); });
}

void sgd(const UpdateJob& job) {
  float* HWY_RESTRICT w = job.weights;
  float* HWY_RESTRICT m = job.moment;
  const float* HWY_RESTRICT g = job.gradient;
  for (std::size_t i = 0; i < job.count; ++i) {
    m[i] = job.beta1 * m[i] + (g[i] + job.decay * w[i]);
    w[i] -= job.rate * m[i];
  }
}

void adam(const UpdateJob& job) {
  float* HWY_RESTRICT w = job.weights;
  float* HWY_RESTRICT m = job.moment;
  float* HWY_RESTRICT v = job.square;
  const float* HWY_RESTRICT g = job.gradient;
  for (std::size_t i = 0; i < job.count; ++i) {
    const float gradient = g[i] + job.decay * w[i];
    m[i] += (1.0f - job.beta1) * (gradient - m[i]);
    v[i] = job.beta2 * v[i] + (1.0f - job.beta2) * gradient * gradient;
    w[i] -= job.rate * m[i] / (std::sqrt(v[i]) + job.epsilon);
  }
}

const Kernels& table() {
  static constexpr Kernels kTable{
      .add = add,
      .add_channels = add_channels,
      .multiply = multiply,
      .multiply_channels = multiply_channels,
      .accumulate = accumulate,
      .affine = affine,
      .blend = blend,
      .channel_sums = channel_sums,
      .channel_squares = channel_squares,
      .activate = activate,
      .activate_back = activate_back,
      .mask = mask,
      .prelu = prelu,
      .prelu_back = prelu_back,
      .blend_rows = blend_rows,
      .spread_row = spread_row,
      .gather_row = gather_row,
      .add_scaled = add_scaled,
      .to_planes = to_planes,
      .from_planes = from_planes,
      .squared_norm = squared_norm,
      .squared_distance = squared_distance,
      .sgd = sgd,
      .adam = adam,
  };
  return kTable;
}

}  // namespace HWY_NAMESPACE
}  // namespace sparing::train
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sparing::train {

HWY_EXPORT(table);

const Kernels& kernels() { return HWY_DYNAMIC_DISPATCH(table)(); }

}  // namespace sparing::train
#endif  // HWY_ONCE

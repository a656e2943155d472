// See kernels_simd.cc: plain loops, compiled once for each instruction set.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "sparing/train/losses.h"
#include "sparing/train/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sparing/train/losses_simd.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
// clang-format off: highway.h must come after foreach_target.h
#include "hwy/highway.h"
#include "sparing/train/simd_math-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace sparing::train {
namespace HWY_NAMESPACE {

// Pixels of a block, which stays in the first cache with all its classes.
constexpr std::size_t kBlock = 128;

// Softmax of up to kBlock pixels: e^(z - most) into `out`, their sum, and the largest logit.
HWY_INLINE void exponentials(const float* HWY_RESTRICT logits, float* HWY_RESTRICT out,
                             std::size_t stride, int classes, std::size_t n,
                             float* HWY_RESTRICT most, float* HWY_RESTRICT sum) {
  for (std::size_t p = 0; p < n; ++p) most[p] = logits[p];
  for (int c = 1; c < classes; ++c) {
    const float* HWY_RESTRICT z = logits + static_cast<std::size_t>(c) * stride;
    for (std::size_t p = 0; p < n; ++p) most[p] = z[p] > most[p] ? z[p] : most[p];
  }
  for (std::size_t p = 0; p < n; ++p) sum[p] = 0;
  for (int c = 0; c < classes; ++c) {
    const float* HWY_RESTRICT z = logits + static_cast<std::size_t>(c) * stride;
    float* HWY_RESTRICT e = out + static_cast<std::size_t>(c) * stride;
    for (std::size_t p = 0; p < n; ++p) {
      e[p] = exponential(z[p] - most[p]);
      sum[p] += e[p];
    }
  }
}

void softmax(const float* logits, float* out, std::size_t stride, int classes, std::size_t pixels) {
  float most[kBlock];
  float sum[kBlock];
  for (std::size_t begin = 0; begin < pixels; begin += kBlock) {
    const std::size_t n = std::min(kBlock, pixels - begin);
    exponentials(logits + begin, out + begin, stride, classes, n, most, sum);
    for (std::size_t p = 0; p < n; ++p) sum[p] = 1.0f / sum[p];
    for (int c = 0; c < classes; ++c) {
      float* HWY_RESTRICT e = out + static_cast<std::size_t>(c) * stride + begin;
      for (std::size_t p = 0; p < n; ++p) e[p] *= sum[p];
    }
  }
}

HWY_INLINE double cross_entropy_block(const LossJob& job, std::size_t begin, std::size_t n) {
  float most[kBlock];
  float sum[kBlock];
  float weight[kBlock];
  float* const gradient = job.gradient + begin;
  const float* const logits = job.logits + begin;
  const std::uint8_t* const labels = job.labels + begin;
  exponentials(logits, gradient, job.stride, job.classes, n, most, sum);
  for (std::size_t p = 0; p < n; ++p) weight[p] = job.class_weights[labels[p]];
  if (job.pixel_weights != nullptr) {
    for (std::size_t p = 0; p < n; ++p) weight[p] *= job.pixel_weights[begin + p];
  }
  // Sums are 1 or more, but for NaN, which the logarithm would take for a number.
  float log_sum[kBlock];
  float scale[kBlock];
  for (std::size_t p = 0; p < n; ++p) {
    log_sum[p] = (sum[p] >= 1 ? logarithm(sum[p]) : sum[p]) + most[p];
    scale[p] = weight[p] * job.share / sum[p];
  }
  double loss = 0;
  for (std::size_t p = 0; p < n; ++p) {
    // An ignored pixel counts nothing, whatever its logits: not even NaN.
    if (weight[p] == 0) continue;
    const float z = logits[static_cast<std::size_t>(labels[p]) * job.stride + p];
    loss += static_cast<double>(weight[p] * (log_sum[p] - z));
  }
  for (int c = 0; c < job.classes; ++c) {
    float* HWY_RESTRICT g = gradient + static_cast<std::size_t>(c) * job.stride;
    for (std::size_t p = 0; p < n; ++p) g[p] = weight[p] == 0 ? 0.0f : g[p] * scale[p];
  }
  for (std::size_t p = 0; p < n; ++p) {
    if (weight[p] == 0) continue;
    gradient[static_cast<std::size_t>(labels[p]) * job.stride + p] -= weight[p] * job.share;
  }
  return loss;
}

HWY_INLINE double entropy_block(const LossJob& job, std::size_t begin, std::size_t n) {
  float most[kBlock];
  float sum[kBlock];
  float log_sum[kBlock];
  float entropy[kBlock];
  float weight[kBlock];
  float* const gradient = job.gradient + begin;
  const float* const logits = job.logits + begin;
  exponentials(logits, gradient, job.stride, job.classes, n, most, sum);
  for (std::size_t p = 0; p < n; ++p) {
    log_sum[p] = logarithm(sum[p]) + most[p];
    sum[p] = 1.0f / sum[p];
    entropy[p] = log_sum[p];
    weight[p] = job.pixel_weights == nullptr ? 1.0f : job.pixel_weights[begin + p];
  }
  // H = log sum e^z - sum of p z, and dH/dz = -p (log p + H).
  for (int c = 0; c < job.classes; ++c) {
    const std::size_t at = static_cast<std::size_t>(c) * job.stride;
    const float* HWY_RESTRICT z = logits + at;
    float* HWY_RESTRICT g = gradient + at;
    for (std::size_t p = 0; p < n; ++p) {
      g[p] *= sum[p];
      entropy[p] -= g[p] * z[p];
    }
  }
  double loss = 0;
  for (std::size_t p = 0; p < n; ++p) {
    if (weight[p] != 0) loss += static_cast<double>(weight[p] * entropy[p]);
  }
  for (int c = 0; c < job.classes; ++c) {
    const std::size_t at = static_cast<std::size_t>(c) * job.stride;
    const float* HWY_RESTRICT z = logits + at;
    float* HWY_RESTRICT g = gradient + at;
    for (std::size_t p = 0; p < n; ++p) {
      const float value = -g[p] * (z[p] - log_sum[p] + entropy[p]) * weight[p] * job.share;
      g[p] = weight[p] == 0 ? 0.0f : value;
    }
  }
  return loss;
}

double loss(const LossJob& job) {
  double total = 0;
  for (std::size_t begin = 0; begin < job.pixels; begin += kBlock) {
    const std::size_t n = std::min(kBlock, job.pixels - begin);
    total +=
        job.labels != nullptr ? cross_entropy_block(job, begin, n) : entropy_block(job, begin, n);
  }
  return total;
}

const LossKernels& loss_table() {
  static constexpr LossKernels kTable{.loss = loss, .softmax = softmax};
  return kTable;
}

}  // namespace HWY_NAMESPACE
}  // namespace sparing::train
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sparing::train {

HWY_EXPORT(loss_table);

const LossKernels& losses() { return HWY_DYNAMIC_DISPATCH(loss_table)(); }

}  // namespace sparing::train
#endif  // HWY_ONCE

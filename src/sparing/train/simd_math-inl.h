// Exponential and logarithm without branches, so that loops over them become vectors. Included once
// for each instruction set, after Highway.
#if defined(SPARING_TRAIN_SIMD_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SPARING_TRAIN_SIMD_MATH_INL_H_
#undef SPARING_TRAIN_SIMD_MATH_INL_H_
#else
#define SPARING_TRAIN_SIMD_MATH_INL_H_
#endif

#include <bit>
#include <cstdint>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace sparing::train {
namespace HWY_NAMESPACE {

// e^x to 2 units in the last place, NaN for NaN. Outside +-87 it is that of the limit.
HWY_INLINE float exponential(float x) {
  const float limited = x > 87.0f ? 87.0f : (x < -87.0f ? -87.0f : x);
  constexpr float kRounder = 12582912.0f;  // 1.5 * 2^23: leaves the whole number in the low bits
  const float shifted = limited * 1.44269504f + kRounder;
  const float whole = shifted - kRounder;
  const float r = (limited - whole * 0.693359375f) + whole * 2.12194440e-4f;
  float poly = 1.9875691500e-4f;
  poly = poly * r + 1.3981999507e-3f;
  poly = poly * r + 8.3334519073e-3f;
  poly = poly * r + 4.1665795894e-2f;
  poly = poly * r + 1.6666665459e-1f;
  poly = poly * r + 5.0000001201e-1f;
  const float fraction = poly * r * r + r + 1.0f;
  const auto bits = std::bit_cast<std::int32_t>(shifted) - std::bit_cast<std::int32_t>(kRounder);
  return fraction * std::bit_cast<float>((bits + 127) << 23);
}

// Natural logarithm of a number of 1e-37 or more.
HWY_INLINE float logarithm(float x) {
  const auto bits = std::bit_cast<std::int32_t>(x);
  // Mantissa in [sqrt(1/2), sqrt(2)).
  const std::int32_t exponent = (bits - 0x3f3504f3) >> 23;
  const float m = std::bit_cast<float>(bits - (exponent << 23)) - 1.0f;
  float poly = 7.0376836292e-2f;
  poly = poly * m - 1.1514610310e-1f;
  poly = poly * m + 1.1676998740e-1f;
  poly = poly * m - 1.2420140846e-1f;
  poly = poly * m + 1.4249322787e-1f;
  poly = poly * m - 1.6668057665e-1f;
  poly = poly * m + 2.0000714765e-1f;
  poly = poly * m - 2.4999993993e-1f;
  poly = poly * m + 3.3333331174e-1f;
  const auto e = static_cast<float>(exponent);
  const float square = m * m;
  return m + (poly * m * square + e * -2.12194440e-4f - 0.5f * square) + e * 0.693359375f;
}

HWY_INLINE float sigmoid(float x) { return 1.0f / (1.0f + exponential(-x)); }

}  // namespace HWY_NAMESPACE
}  // namespace sparing::train
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard

#include "sparing/kernels/element.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace sparing::internal {
namespace {

template <class T>
void store(T value, std::byte* address) {
  std::memcpy(address, &value, sizeof value);
}

template <class T>
T round_to_integer(double value) {
  const double rounded = std::nearbyint(value);  // half to even in the default rounding mode
  // The upper limit of int64 is not a double: compare with the power of two above it.
  constexpr double kEnd = -static_cast<double>(std::numeric_limits<T>::min());
  if constexpr (std::numeric_limits<T>::is_signed) {
    if (rounded >= kEnd) return std::numeric_limits<T>::max();
    if (rounded < -kEnd) return std::numeric_limits<T>::min();
    return static_cast<T>(rounded);
  } else {
    return static_cast<T>(
        std::clamp(rounded, 0.0, static_cast<double>(std::numeric_limits<T>::max())));
  }
}

}  // namespace

std::uint16_t encode_small_float(double value, int exponent_bits, int mantissa_bits) {
  const int least_exponent = 2 - (1 << (exponent_bits - 1));
  const auto sign = static_cast<std::uint32_t>(std::signbit(value))
                    << (exponent_bits + mantissa_bits);
  const std::uint32_t infinity = ((1u << exponent_bits) - 1) << mantissa_bits;
  const double magnitude = std::fabs(value);
  if (magnitude == 0) return static_cast<std::uint16_t>(sign);
  if (std::isinf(magnitude)) return static_cast<std::uint16_t>(sign | infinity);
  const int exponent = std::max(std::ilogb(magnitude), least_exponent);
  if (exponent > -least_exponent + 1) return static_cast<std::uint16_t>(sign | infinity);
  // In units of the last place; below 2^mantissa_bits it is subnormal, and a carry into
  // 2^(mantissa_bits + 1) lands in the exponent field as it should.
  const double units = std::nearbyint(std::ldexp(magnitude, mantissa_bits - exponent));
  const std::uint32_t bits =
      (static_cast<std::uint32_t>(exponent - least_exponent) << mantissa_bits) +
      static_cast<std::uint32_t>(units);
  return static_cast<std::uint16_t>(sign | std::min(bits, infinity));
}

void store_element(DataType type, double value, std::byte* address) {
  switch (type) {
    case DataType::kFloat32: return store(static_cast<float>(value), address);
    case DataType::kFloat16: return store(encode_small_float(value, 5, 10), address);
    case DataType::kBfloat16: return store(encode_small_float(value, 8, 7), address);
    case DataType::kUint8: return store(round_to_integer<std::uint8_t>(value), address);
    case DataType::kInt8: return store(round_to_integer<std::int8_t>(value), address);
    case DataType::kInt32: return store(round_to_integer<std::int32_t>(value), address);
    case DataType::kInt64: return store(round_to_integer<std::int64_t>(value), address);
  }
}

}  // namespace sparing::internal

// Writing one value as an element of a tensor, rounded once.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sparing/base/tensor_view.h"
#include "sparing/kernels/import.h"

namespace sparing::internal {

inline std::byte* element_address(const TensorView& tensor, int n, int c, int y, int x) {
  return tensor.data + n * tensor.stride_n + c * tensor.stride_c + y * tensor.stride_y +
         x * tensor.stride_x;
}

constexpr bool is_integer(DataType type) {
  return type != DataType::kFloat32 && type != DataType::kFloat16 && type != DataType::kBfloat16;
}

// What an element that stands for `value` holds, before rounding. Floating-point types hold the
// value itself.
inline double quantized(DataType type, double value, const Quantization& quantization) {
  return is_integer(type) ? value / quantization.scale + quantization.zero_point : value;
}

// Rounds `value` to the type, half to even, in one step, and writes it to `address`, which needs no
// alignment. Integers saturate; floating-point types overflow to infinity. Precondition: not NaN.
void store_element(DataType type, double value, std::byte* address);

// The IEEE 754 binary float of 1 + exponent_bits + mantissa_bits <= 16 bits nearest to `value`.
std::uint16_t encode_small_float(double value, int exponent_bits, int mantissa_bits);

}  // namespace sparing::internal

#include "sparing/kernels/element.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

namespace sparing::internal {
namespace {

template <class T>
T stored(DataType type, double value) {
  std::byte bytes[9] = {};
  store_element(type, value, bytes + 1);  // at an odd address
  T result;
  std::memcpy(&result, bytes + 1, sizeof result);
  return result;
}

TEST(StoreElement, IntegersRoundHalfToEvenAndSaturate) {
  const struct {
    double value;
    int u8;
    int i8;
  } cases[] = {{0.5, 0, 0},       {1.5, 2, 2},       {2.5, 2, 2},
               {-0.5, 0, 0},      {-1.5, 0, -2},     {254.5, 254, 127},
               {255.5, 255, 127}, {1e300, 255, 127}, {-1e300, 0, -128},
               {126.5, 126, 126}, {-128.5, 0, -128}, {0.49999999999999994, 0, 0}};
  for (const auto& c : cases) {
    EXPECT_EQ(stored<std::uint8_t>(DataType::kUint8, c.value), c.u8) << c.value;
    EXPECT_EQ(stored<std::int8_t>(DataType::kInt8, c.value), c.i8) << c.value;
  }
  EXPECT_EQ(stored<std::int32_t>(DataType::kInt32, 2147483647.5), 2147483647);
  EXPECT_EQ(stored<std::int32_t>(DataType::kInt32, -3e9), std::numeric_limits<std::int32_t>::min());
  EXPECT_EQ(stored<std::int32_t>(DataType::kInt32, -2.5), -2);
  EXPECT_EQ(stored<std::int64_t>(DataType::kInt64, 9.3e18),
            std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(stored<std::int64_t>(DataType::kInt64, -9.3e18),
            std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(stored<std::int64_t>(DataType::kInt64, 4294967296.5), 4294967296);
}

TEST(StoreElement, Float32RoundsOnce) {
  EXPECT_EQ(stored<float>(DataType::kFloat32, 0.1), 0.1f);
  EXPECT_EQ(stored<float>(DataType::kFloat32, 1 + std::ldexp(1.0, -24)), 1.0f);
}

// What the 16 bits mean, from the definition of the format.
double decode(std::uint32_t bits, int exponent_bits, int mantissa_bits) {
  const std::uint32_t exponent = bits >> mantissa_bits & ((1u << exponent_bits) - 1);
  const std::uint32_t mantissa = bits & ((1u << mantissa_bits) - 1);
  const int bias = (1 << (exponent_bits - 1)) - 1;
  if (exponent == 0) {
    return std::ldexp(static_cast<double>(mantissa), 1 - bias - mantissa_bits);
  }
  return std::ldexp(static_cast<double>(mantissa + (1u << mantissa_bits)),
                    static_cast<int>(exponent) - bias - mantissa_bits);
}

// Every finite value encodes to itself, and between two neighbours the nearer, or the even, wins.
void check_small_float(int exponent_bits, int mantissa_bits) {
  const std::uint32_t infinity = ((1u << exponent_bits) - 1) << mantissa_bits;
  const auto encode = [&](double v) { return encode_small_float(v, exponent_bits, mantissa_bits); };
  for (std::uint32_t bits = 0; bits < infinity; ++bits) {
    const double value = decode(bits, exponent_bits, mantissa_bits);
    ASSERT_EQ(encode(value), bits);
    ASSERT_EQ(encode(-value), bits | 0x8000u);
    // The value after the largest counts as the next power of two.
    const double next = decode(bits + 1, exponent_bits, mantissa_bits);
    const double middle = value + (next - value) / 2;
    ASSERT_EQ(encode(middle), bits % 2 == 0 ? bits : bits + 1);
    ASSERT_EQ(encode(std::nextafter(middle, 0)), bits);
    ASSERT_EQ(encode(std::nextafter(middle, 1e300)), bits + 1);
  }
  EXPECT_EQ(encode(1e300), infinity);
  EXPECT_EQ(encode(-std::numeric_limits<double>::infinity()), infinity | 0x8000u);
  EXPECT_EQ(encode(std::numeric_limits<double>::denorm_min()), 0u);
}

TEST(StoreElement, Float16EveryValueAndMidpoint) { check_small_float(5, 10); }
TEST(StoreElement, Bfloat16EveryValueAndMidpoint) { check_small_float(8, 7); }

TEST(StoreElement, KnownSixteenBitPatterns) {
  EXPECT_EQ(stored<std::uint16_t>(DataType::kFloat16, 1.0), 0x3C00);
  EXPECT_EQ(stored<std::uint16_t>(DataType::kFloat16, -2.0), 0xC000);
  EXPECT_EQ(stored<std::uint16_t>(DataType::kFloat16, 65504.0), 0x7BFF);
  EXPECT_EQ(stored<std::uint16_t>(DataType::kBfloat16, 1.0), 0x3F80);
  EXPECT_EQ(stored<std::uint16_t>(DataType::kBfloat16, 255.0), 0x437F);
}

// Rounding through float32 first would round twice: just above a tie of float16, float32 drops the
// rest and the tie goes to even, downwards.
TEST(StoreElement, Float16IsNotRoundedTwice) {
  const double above_tie = 1 + std::ldexp(1.0, -11) + std::ldexp(1.0, -40);
  EXPECT_EQ(stored<std::uint16_t>(DataType::kFloat16, above_tie), 0x3C01);
}

}  // namespace
}  // namespace sparing::internal

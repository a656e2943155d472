#include "sparing/compose/blend.h"

namespace sparing {

// Sums fit 16 bits, in which twice as many are blended at once. (t + (t >> 8)) >> 8 with t = x +
// 128 is x / 255 to the nearest for all x up to 255 * 255.
void blend_row(std::uint8_t* __restrict top, const std::uint8_t* __restrict alpha,
               const std::uint8_t* __restrict bottom, int count) {
  for (int i = 0; i < count; ++i) {
    const auto a = static_cast<std::uint16_t>(alpha[i]);
    const auto sum = static_cast<std::uint16_t>(
        static_cast<std::uint16_t>(a * top[i]) +
        static_cast<std::uint16_t>(static_cast<std::uint16_t>(255 - a) * bottom[i]) + 128);
    top[i] = static_cast<std::uint8_t>(
        static_cast<std::uint16_t>(sum + static_cast<std::uint16_t>(sum >> 8)) >> 8);
  }
}

void halve_alpha(const std::uint8_t* __restrict upper, const std::uint8_t* __restrict lower,
                 int width, std::uint8_t* __restrict out) {
  const int pairs = width / 2;
  for (int i = 0; i < pairs; ++i) {
    out[i] = static_cast<std::uint8_t>(
        (upper[2 * i] + upper[2 * i + 1] + lower[2 * i] + lower[2 * i + 1] + 2) >> 2);
  }
  if (width % 2 != 0) {
    out[pairs] = static_cast<std::uint8_t>((2 * upper[width - 1] + 2 * lower[width - 1] + 2) >> 2);
  }
}

}  // namespace sparing

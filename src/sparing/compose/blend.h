// Rows of samples blended in whole numbers, each rounded to the nearest. Private to compose.
#pragma once

#include <cstdint>

namespace sparing {

// top[i] = (alpha[i] * top[i] + (255 - alpha[i]) * bottom[i]) / 255, rounded to nearest: exactly
// bottom at alpha 0, as it was at 255. The rows do not overlap.
void blend_row(std::uint8_t* top, const std::uint8_t* alpha, const std::uint8_t* bottom, int count);

// out[i] is the mean alpha, rounded to nearest (half up), of the 2x2 pixels that chroma sample i
// stands for; of an odd `width` the last ones count twice. `upper` and `lower` may be one row.
void halve_alpha(const std::uint8_t* upper, const std::uint8_t* lower, int width,
                 std::uint8_t* out);

}  // namespace sparing

// Changes of the picture as a whole, which are no objects: light, and motion of the camera.
#pragma once

#include <array>

#include "sparing/flow/luma_image.h"

namespace sparing::roi {

// Level v of one picture has become curve[v] in the other: means over the picture,
// interpolated where a level does not occur.
std::array<float, 256> tone_curve(const LumaImage& from, const LumaImage& to);

// Translation from one picture to the other, to a fraction of a pixel, at most about kMaxShift
// along each axis: that of the least difference, searched from coarse to fine.
struct Shift {
  double x = 0;
  double y = 0;
};
inline constexpr int kMaxShift = 24;
Shift camera_shift(const LumaImage& from, const LumaImage& to);

// Shares of pixels, of a grid of samples, that differ by more than the threshold: as the pictures
// are, with the tone curve applied, and with the shift undone.
struct Explanation {
  double plain = 0;
  double tone = 0;
  double shifted = 0;
  std::array<float, 256> curve{};
  Shift shift;
};
Explanation explain(const LumaImage& from, const LumaImage& to, double threshold);

}  // namespace sparing::roi

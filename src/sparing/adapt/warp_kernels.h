// The inner loops of the warp. Private to adapt.
#pragma once

#include <cstddef>

#include "sparing/base/geometry.h"

namespace sparing::adapt {

// Classes are kept in fours, four after four: class 4 g + k of pixel i at values[(g * pixels + i) *
// 4 + k].
inline constexpr std::size_t kQuad = 4;

// `count` values of four planes, which become those of one four, and back. A plane that is nullptr
// stands for zeros, and is left out on the way back.
void to_quads(const float* const planes[kQuad], std::size_t count, float* quads);
void from_quads(const float* quads, std::size_t count, float* const planes[kQuad]);

struct WarpJob {
  const float* past = nullptr;
  float* out = nullptr;
  std::size_t quads = 0;
  Size size;
  const float* dx = nullptr;  // where each pixel was: its place plus (dx, dy)
  const float* dy = nullptr;
  // How much of the past a pixel of `out` becomes, the rest stays; nullptr: all of it.
  const float* weights = nullptr;
};
// Bilinear, places outside taken to the nearest pixel, those that are no number to the first.
void warp_quads(const WarpJob& job);

}  // namespace sparing::adapt

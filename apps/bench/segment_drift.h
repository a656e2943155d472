// Drifts: how a picture changes when a camera, its link or the light does, as a network trained on
// good pictures has never seen it.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "sparing/base/geometry.h"

namespace sparing::bench {

// 8-bit R, G, B, row by row, dense.
struct RgbPixels {
  Size size;
  std::vector<std::uint8_t> values;
};

// `strength` in [0, 1]: 0 leaves the picture as it is. `seed`: of what is random, by frame.
using DriftFunction = void (*)(RgbPixels& picture, double strength, std::uint64_t seed);

struct Drift {
  std::string_view name;
  std::string_view description;  // at full strength
  DriftFunction apply;
};
// One ordered table; tests and the benchmark walk it.
std::span<const Drift> drifts();

// The strength of frame `index` of `frames`: grows evenly over the first half, then stays at 1.
double drift_strength(int index, int frames);

}  // namespace sparing::bench

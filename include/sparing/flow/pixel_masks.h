// Which pixels of a frame are seen in the next one, and which do not change. Plain functions
// without state; thread-safe.
#pragma once

#include <cstdint>
#include <vector>

#include "sparing/base/result.h"
#include "sparing/flow/dense_flow.h"
#include "sparing/flow/luma_image.h"

namespace sparing {

// 1 for each pixel of the first picture that the second one shows, too, 0 where it is covered there
// or has left the picture: the flow forth, f, and that back from where it leads, b (bilinear),
// cancel out, |f + b|^2 <= 0.01 (|f|^2 + |b|^2) + 0.5 (Sundaram, Brox, Keutzer: "Dense Point
// Trajectories by GPU-accelerated Large Displacement Optical Flow", ECCV 2010, section 3).
// `forward` leads from the first picture to the second, `backward` from the second to the first.
// kInvalidArgument: fields that are empty or of different sizes.
Status find_visible(const FlowField& forward, const FlowField& backward,
                    std::vector<std::uint8_t>& visible);

struct StillOptions {
  int radius = 3;              // of the square window around a pixel, 0..64 pixels
  double most_difference = 3;  // mean absolute difference in it, grey levels, 0..255
};

// 1 for each pixel around which two pictures of one size are the same but for noise, else 0. At the
// edges the window is cut. kInvalidArgument: pictures that are empty or of different sizes, options
// out of range.
Status find_still(const LumaImage& before, const LumaImage& after, std::vector<std::uint8_t>& still,
                  const StillOptions& options = {});

}  // namespace sparing

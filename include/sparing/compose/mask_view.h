// Soft foreground masks as networks give them.
#pragma once

#include <cstdint>
#include <span>

#include "sparing/base/geometry.h"

namespace sparing {

// How much each pixel belongs to the foreground, at any resolution: view, no ownership. It covers
// the whole picture, or `region` of it does; between mask pixels it is linear, pixel centres at .5,
// and beyond the outermost centres (of the region's pixels' own neighbours, where there are any)
// constant.
struct MaskView {
  MaskView() = default;
  // 0 background, 255 foreground. Precondition of use: size.width * size.height values.
  MaskView(Size mask_size, std::span<const std::uint8_t> values) : size(mask_size), bytes(values) {}
  // 0 background, 1 foreground; what is outside is clamped, NaN is background.
  MaskView(Size mask_size, std::span<const float> values) : size(mask_size), floats(values) {}

  Size size;
  std::span<const std::uint8_t> bytes;  // one of the two
  std::span<const float> floats;
  // The part of the mask, in its pixels, that covers the picture (a letterboxed network's); the
  // whole mask when empty.
  Rect region;
};

}  // namespace sparing

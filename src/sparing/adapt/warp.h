// Sampling pictures where motion points, and class probabilities laid out for it. Private to adapt.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "sparing/base/class_map.h"
#include "sparing/flow/dense_flow.h"
#include "sparing/flow/luma_image.h"

namespace sparing::adapt {

// Pixel centres are at whole numbers here, as in flow fields. A point that is not finite is
// outside.
inline bool is_inside(float x, float y, Size size) {
  return x >= -0.5f && y >= -0.5f && x <= static_cast<float>(size.width) - 0.5f &&
         y <= static_cast<float>(size.height) - 0.5f;
}

// Neighbours of a point and their weights, clamped to the picture.
struct Bilinear {
  std::size_t x0, x1, y0, y1;
  float fx, fy;
};
inline Bilinear bilinear(float x, float y, Size size) {
  const auto last_x = static_cast<float>(size.width - 1);
  const auto last_y = static_cast<float>(size.height - 1);
  // NaN becomes 0: std::max returns its first argument then.
  const float cx = std::min(std::max(0.0f, x), last_x);
  const float cy = std::min(std::max(0.0f, y), last_y);
  Bilinear b;
  b.x0 = static_cast<std::size_t>(cx);
  b.y0 = static_cast<std::size_t>(cy);
  b.x1 = std::min(b.x0 + 1, static_cast<std::size_t>(size.width - 1));
  b.y1 = std::min(b.y0 + 1, static_cast<std::size_t>(size.height - 1));
  b.fx = cx - static_cast<float>(b.x0);
  b.fy = cy - static_cast<float>(b.y0);
  return b;
}

inline float sample_luma(const LumaImage& luma, float x, float y) {
  const Bilinear b = bilinear(x, y, luma.size());
  const auto columns = static_cast<std::size_t>(luma.width());
  const std::uint8_t* above = luma.data() + b.y0 * columns;
  const std::uint8_t* below = luma.data() + b.y1 * columns;
  const float top =
      static_cast<float>(above[b.x0]) * (1 - b.fx) + static_cast<float>(above[b.x1]) * b.fx;
  const float bottom =
      static_cast<float>(below[b.x0]) * (1 - b.fx) + static_cast<float>(below[b.x1]) * b.fx;
  return top * (1 - b.fy) + bottom * b.fy;
}

// Probabilities laid out for a warp, the classes of a pixel side by side in fours: where a warp
// reads four pixels it reads short runs of memory, not four places in each class's plane. The last
// four is filled up with zeros.
class PixelClasses {
 public:
  void from_planes(const ProbabilityMap& planes);
  void to_planes(ProbabilityMap& planes) const;
  // All pixels of `past` at the motion's end points, at edges the nearest; `back` is of this size.
  void warp(const PixelClasses& past, const FlowField& back);
  // The same, blended: this = this * (1 - w) + warped * w, w = weights[pixel].
  void blend_warped(const PixelClasses& past, const FlowField& back,
                    std::span<const float> weights);

  bool empty() const { return values_.empty(); }
  int classes() const { return classes_; }
  Size size() const { return size_; }
  void clear();

 private:
  void resize(int classes, Size size);
  std::size_t pixels() const {
    return static_cast<std::size_t>(size_.width) * static_cast<std::size_t>(size_.height);
  }
  int classes_ = 0;
  std::size_t quads_ = 0;  // of a pixel
  Size size_;
  std::vector<float> values_;
};

}  // namespace sparing::adapt

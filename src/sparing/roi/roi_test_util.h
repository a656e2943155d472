// Scenes of known content for the tests of roi: a textured ground with squares on it, and noise.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "sparing/flow/luma_image.h"
#include "sparing/flow/texture_test_util.h"
#include "sparing/frame/video_frame.h"

namespace sparing::testing {

inline void add_noise(LumaImage& image, double sigma, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> noise(0, sigma);
  for (int y = 0; y < image.height(); ++y) {
    for (std::uint8_t& v : image.row(y)) {
      v = static_cast<std::uint8_t>(std::clamp(std::lround(v + noise(random)), 0l, 255l));
    }
  }
}

// Pixels of `area` lie `step` higher than they were, within 0..255.
inline void brighten(LumaImage& image, const PixelRect& area, int step) {
  for (int y = std::max(area.y, 0); y < std::min(area.y + area.height, image.height()); ++y) {
    for (int x = std::max(area.x, 0); x < std::min(area.x + area.width, image.width()); ++x) {
      std::uint8_t& v = image.row(y)[static_cast<std::size_t>(x)];
      v = static_cast<std::uint8_t>(std::clamp(v + step, 0, 255));
    }
  }
}

// A grey frame with the picture's pixels, shown at 10 frames a second.
inline SharedFrame to_frame(const LumaImage& image, int index) {
  SharedFrame frame = std::move(allocate_frame(PixelFormat::kGray8, image.size())).value();
  for (int y = 0; y < image.height(); ++y) {
    std::memcpy(mutable_plane(frame, 0) + y * frame.view().planes[0].stride, image.row(y).data(),
                static_cast<std::size_t>(image.width()));
  }
  frame.view().timestamp = {index, {1, 10}};
  return frame;
}

inline Rect to_rect(const PixelRect& r) {
  return {static_cast<double>(r.x), static_cast<double>(r.y), static_cast<double>(r.width),
          static_cast<double>(r.height)};
}

// The largest share of `object` that one of the rectangles covers.
inline double coverage(const Rect& object, std::span<const Rect> rects) {
  double best = 0;
  for (const Rect& rect : rects) {
    best = std::max(best, intersect(rect, object).area() / object.area());
  }
  return best;
}

}  // namespace sparing::testing

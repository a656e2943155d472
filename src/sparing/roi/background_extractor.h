// What stands still: the difference from a slow running average of the picture.
#pragma once

#include <array>
#include <cstdint>
#include <opencv2/core/mat.hpp>
#include <span>
#include <vector>

#include "sparing/flow/luma_image.h"
#include "sparing/roi/mask.h"

namespace sparing::roi {

struct BackgroundOptions {
  double seconds = 3.3;   // time constant of the average
  double threshold = 16;  // grey levels
  // Where something stands the average follows slower, by this factor, so that it is not taken for
  // background while the detector still sees to it.
  double foreground_rate = 0.1;
};

// Not thread-safe. All pictures must have one size.
class BackgroundExtractor {
 public:
  explicit BackgroundExtractor(const BackgroundOptions& options) : options_(options) {}

  // Compares a blurred picture with the background, then learns it; `seconds` have passed since the
  // picture before. Returns the share of pixels that differ; the first picture is the background.
  double add(const LumaImage& blurred, double seconds);
  // The boxes of the last comparison, in pixels of the picture; without those that `known` explains
  // (see drop_explained).
  MaskBoxes boxes(double min_extent, std::span<const Rect> known = {}, double share = 1);

  // The light changed: level v of the background has become curve[v].
  void apply_curve(const std::array<float, 256>& curve);
  // The picture moved by so many pixels, and is `blurred` now. Whole pixels are applied, the rest
  // is kept for later; what came into sight is taken from the picture.
  void shift(double dx, double dy, const LumaImage& blurred);
  void restart() { average_.clear(); }

 private:
  double rate(double seconds);
  void move_by(int dx, int dy, const LumaImage& blurred);

  BackgroundOptions options_;
  Size size_;
  std::vector<std::int16_t> average_;  // grey levels x 128; empty: none yet
  std::vector<std::int16_t> moved_;
  int learnt_ = 0;                  // pictures, up to kEarly
  double rest_x_ = 0, rest_y_ = 0;  // shift not yet applied
  cv::Mat mask_, scratch_;
};

}  // namespace sparing::roi

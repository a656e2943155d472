// Masks of changed pixels, and the boxes around them.
#pragma once

#include <opencv2/core/mat.hpp>
#include <span>
#include <vector>

#include "sparing/base/geometry.h"
#include "sparing/flow/luma_image.h"

namespace sparing::roi {

// Means of 3 x 3 pixels: less noise, and no edges from shifts by a fraction of a pixel.
void blur(const LumaImage& image, LumaImage& out);

// 255 where |a - b| > threshold, else 0; returns the share of the former.
double difference_mask(const LumaImage& a, const LumaImage& b, double threshold, cv::Mat& mask);

struct MaskBoxes {
  std::vector<Rect> boxes;  // pixels of the mask, largest first
  int too_small = 0;
  int explained = 0;
};
// The boxes around the connected parts of the mask, gaps of up to 4 pixels closed; those smaller
// than min_extent on both sides are only counted. `scratch` saves allocations.
MaskBoxes mask_boxes(const cv::Mat& mask, double min_extent, cv::Mat& scratch);

// Drops the boxes of whose mask pixels at least `share` lie in one or the other of `known` (pixels
// of the mask): they tell nothing new. Counts them as explained.
void drop_explained(const cv::Mat& mask, std::span<const Rect> known, double share,
                    MaskBoxes& found, cv::Mat& scratch);

}  // namespace sparing::roi

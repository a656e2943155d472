// What a picture looks like, on a grid over it: the features that the perceptual consistency of
// this project compares (docs/metrics.md). Made by hand and fixed, so that figures of all machines,
// models and times can be compared: no network is needed.
#pragma once

#include <memory>
#include <vector>

#include "sparing/base/geometry.h"
#include "sparing/base/result.h"
#include "sparing/frame/video_frame.h"
#include "sparing/metrics/perceptual.h"

namespace sparing {

struct FeatureGrid {
  int channels = 0;
  Size size;                  // in cells
  std::vector<float> values;  // plane by plane (channel, row, column)
  FeatureView view() const { return {channels, size, values}; }
};

// Extracts them and keeps the memory for the next frame. Not thread-safe.
//
// The picture, upright, is drawn to at most 480 pixels on its longer side, and cut into cells of
// 4x4 pixels (120x90 of a 4:3 picture). Around each cell, in squares of 1, 5 and 13 cells, there
// are the histograms of luma (8 bins), of both colour differences (6 bins each) and of the
// direction of edges (6 bins by strength, and one for the absence of any). Each histogram is a unit
// vector of square roots, so that the product of two is the overlap of the histograms
// (Bhattacharyya's coefficient), and the correlation of two cells the mean of these overlaps. 81
// channels; all values in [0, 1].
class PerceptualFeatures {
 public:
  static constexpr int kLongSide = 120;  // most cells on the longer side

  PerceptualFeatures();
  PerceptualFeatures(PerceptualFeatures&&) noexcept;
  PerceptualFeatures& operator=(PerceptualFeatures&&) noexcept;
  ~PerceptualFeatures();

  // kInvalidArgument, kNotSupported: as import_frame.
  Status extract(const VideoFrame& frame, FeatureGrid& out);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sparing

// The background blurred as if the foreground were not there. Private to compose.
#pragma once

#include <array>
#include <vector>

#include "sparing/compose/cell_grid.h"
#include "sparing/compose/raster.h"
#include "sparing/io/picture.h"

namespace sparing {

// A Gaussian over the background alone (normalised convolution: sums of weighted samples over sums
// of weights), at a resolution that suffices for its width. A cell of the reduced picture counts
// with (1 - alpha)^2 of the largest alpha in it and near it, so that what a mask misses of the
// foreground's edge does not glow into the background. Where nothing of the background is near, it
// is its mean colour.
class BackgroundBlur {
 public:
  // Reads the picture before it is changed. `sigma` in pixels; below 1 it is 1. Preconditions:
  // alpha has the picture's size.
  void prepare(const Picture& picture, const ByteRaster& alpha, double sigma);
  // Sample row y of the plane. Precondition: prepare() was called; rows of a plane come in order
  // after begin().
  void begin(int plane);
  const std::uint8_t* row(int y);

 private:
  void weigh(const Picture& picture, const ByteRaster& alpha);
  void spread(double sigma);
  void divide();

  int factor_ = 2;
  Size size_;
  ByteRaster maxima_;
  ByteRaster dilated_;
  std::array<FloatRaster, 3> cells_;  // first means, then the blurred background
  FloatRaster sums_;                  // luma, 2 x chroma and weight of each cell, side by side
  FloatRaster across_;
  std::vector<float> padded_;
  std::array<float, 3> mean_{};
  CellRows rows_;
  std::vector<std::uint8_t> row_;
};

}  // namespace sparing

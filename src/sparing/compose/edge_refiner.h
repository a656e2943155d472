// Masks made finer by the picture: guided upsampling. Private to compose.
#pragma once

#include <array>

#include "sparing/compose/alpha_plane.h"
#include "sparing/compose/cell_grid.h"
#include "sparing/compose/raster.h"
#include "sparing/io/picture.h"

namespace sparing {

// The guided filter (He, Sun, Tang: Guided Image Filtering, ECCV 2010, section 3.1) with luma as
// its guide, computed on reduced pictures and applied at full resolution (He, Sun: Fast Guided
// Filter, 2015): in each window alpha is a line over luma, and the lines' coefficients are
// interpolated. Windows make edges softer, so some contrast belongs to it. Where the mask is the
// same all over the window, it stays exactly as it is.
class EdgeRefiner {
 public:
  // Whether the mask is so much coarser than the picture that there is something to gain.
  static bool helps(const MaskView& mask, Size picture);
  // 0..255 for each pixel, after its distance from 1/2 was multiplied by `contrast`. Precondition:
  // validate(mask) is ok.
  void refine(const MaskView& mask, const Picture& picture, float contrast, ByteRaster& alpha);

 private:
  void fit(int radius);
  // The mean within `radius` cells in both directions, of cells that exist.
  void mean(FloatRaster& cells, int radius);

  MaskSampler sampler_;
  FloatRaster guide_;   // luma, 0..1
  FloatRaster target_;  // the mask, 0..1
  FloatRaster slope_;   // of alpha over luma
  FloatRaster base_;
  FloatRaster scratch_;
  std::vector<float> line_;
  CellRows slopes_;
  CellRows bases_;
};

}  // namespace sparing

// A mask of any resolution as alpha for each pixel. Private to compose.
#pragma once

#include <array>
#include <vector>

#include "sparing/base/result.h"
#include "sparing/compose/mask_view.h"
#include "sparing/compose/raster.h"

namespace sparing {

// kInvalidArgument: no pixels, a number of values that does not fit, a region that reaches outside.
Status validate(const MaskView& mask);

// The mask at the centres of a picture's pixels (or of a grid of cells over it), bilinear. Keeps
// tables from mask to mask.
class MaskSampler {
 public:
  // 0..255, rounded to nearest, after its distance from 1/2 was multiplied by `contrast` (>= 1).
  // Precondition of all: validate(mask) is ok, `size` positive.
  void sample(const MaskView& mask, Size size, float contrast, ByteRaster& alpha);
  // 0..1. Each cell is `factor` x `factor` pixels of a picture of `size`, the last ones fewer, but
  // sampled as if they were whole.
  void sample_cells(const MaskView& mask, Size size, int factor, FloatRaster& alpha);

 private:
  struct Column {
    int left, right;  // mask columns
    float weight;     // of the right one
  };
  // A mask row at the output's columns, 0..scale; kept while it is asked for again.
  const float* expanded(const MaskView& mask, int row, float scale);
  void prepare(const MaskView& mask, double step, double first, int count);

  std::vector<Column> columns_;
  std::vector<float> values_;  // of one mask row
  struct Expanded {
    int row = -1;
    std::vector<float> values;
  };
  std::array<Expanded, 2> rows_;
};

}  // namespace sparing

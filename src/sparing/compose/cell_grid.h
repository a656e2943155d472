// Planes reduced to means of square cells, and cells interpolated back to pixels. Private to
// compose.
#pragma once

#include <cstdint>
#include <vector>

#include "sparing/compose/raster.h"

namespace sparing {

// Cells of a plane of `size`: each side divided by the factor, rounded up.
Size cell_count(Size size, int factor);

// Cell (x, y) is the mean of the samples [x f, (x + 1) f) x [y f, (y + 1) f) that exist.
// Precondition: 1 <= factor <= 128.
void cell_means(const std::uint8_t* plane, std::ptrdiff_t stride, Size size, int factor,
                FloatRaster& cells);
// The largest of the same samples.
void cell_maxima(const std::uint8_t* plane, std::ptrdiff_t stride, Size size, int factor,
                 ByteRaster& cells);

// Rows of pixels between cells, linear, cell centres in the middle of their factor x factor pixels,
// constant beyond the outermost centres. Rows must be asked for in ascending order.
class CellRows {
 public:
  // `cells` must stay as it is while rows are asked for.
  void begin(const FloatRaster& cells, int factor, int width);
  // The two cell rows around pixel row y, at the pixels' columns, and the weight of the second.
  struct Pair {
    const float* upper;
    const float* lower;
    float weight;
  };
  Pair at(int y);

 private:
  const float* expanded(int row);

  const FloatRaster* cells_ = nullptr;
  int factor_ = 1;
  int width_ = 0;
  struct Expanded {
    int row = -1;
    std::vector<float> values;
  };
  Expanded rows_[2];
};

}  // namespace sparing

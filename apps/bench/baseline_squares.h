// Frigate's square regions (github.com/blakeblackshear/frigate: util/object.py, util/image.py,
// video.py): clusters of boxes, the squares around them, the grid of sizes seen before, and how
// overlapping detections are reduced. Boxes are in pixels of the frame.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "sparing/base/geometry.h"

namespace sparing::bench {

// A square of the box's longer side times `multiplier`, a multiple of 4, at least `least`, around
// the box, moved into the frame; it reaches outside where it is larger than the frame.
Box square_region(Size frame, const Box& box, int least, double multiplier);

// Indices of the boxes that fit one region together: each box belongs to one cluster. Boxes join
// when they lie near and none of them would be tiny in the common region.
std::vector<std::vector<std::size_t>> cluster_boxes(Size frame, int least,
                                                    std::span<const Box> boxes);
Box cluster_square(Size frame, int least, std::span<const std::size_t> cluster,
                   std::span<const Box> boxes);

// Sizes of the regions that objects had, by place: motion in a place gets the size that objects
// there have, where it is smaller.
class RegionGrid {
 public:
  static constexpr int kCells = 8;  // along each side
  RegionGrid(Size frame, int least) : frame_(frame), least_(least) {}
  void add(const Box& object);
  Box region(const Box& motion) const;

 private:
  struct Cell {
    double count = 0, sum = 0, squares = 0;  // of widths as shares of the frame's
  };
  std::size_t index(double x, double y) const;

  Size frame_;
  int least_;
  std::array<Cell, kCells * kCells> cells_{};
};

struct SquareDetection {
  Detection detection;
  Box region;
};
// Non-maximum suppression (boxes at a region's edge rank lower), then boxes that lie in a larger
// one of their class go.
std::vector<Detection> reduce_detections(std::span<const SquareDetection> detections, Size frame);

}  // namespace sparing::bench

// Slices of a frame and the merging of what is found in them, as SAHI has them
// (github.com/obss/sahi: slicing.get_slice_bboxes, postprocess.combine.GreedyNMMPostprocess). Plain
// functions, thread-safe.
#pragma once

#include <span>
#include <vector>

#include "sparing/base/geometry.h"

namespace sparing::bench {

// Row by row; each starts `side` minus the overlap after the one before, the last of a row or
// column is moved back into the frame. Preconditions: side > 0, overlap in [0, 1).
std::vector<Rect> slice_rects(Size frame, int side, double overlap);

// Intersection over the smaller area; 0 when either has none.
float intersection_over_smaller(const Box& a, const Box& b);

// Greedy non-maximum merging, class by class: the best box takes all that overlap it by at least
// `threshold` (intersection over the smaller), and grows to hold them one after the other as long
// as they still overlap the grown one. Best first.
std::vector<Detection> merge_greedily(std::span<const Detection> detections, float threshold);

// Greedy non-maximum suppression, class by class, by the same measure. Best first.
std::vector<Detection> suppress_greedily(std::span<const Detection> detections, float threshold);

}  // namespace sparing::bench

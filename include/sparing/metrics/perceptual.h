// Perceptual consistency of segmentations: whether pixels that look alike have the same class.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "sparing/base/class_map.h"
#include "sparing/base/geometry.h"
#include "sparing/base/result.h"
#include "sparing/metrics/label_classes.h"

namespace sparing {

// What a picture looks like at each cell of a grid over it: plane by plane (channel, row, column).
// A view of the caller's memory.
struct FeatureView {
  int channels = 0;
  Size size;
  std::span<const float> values;  // channels * size.width * size.height, finite
};

// A frame's features, and its labels at any size.
struct LabelledFeatures {
  FeatureView features;
  const LabelMap& labels;
};

struct PerceptualConsistency {
  double value = 0;  // the smaller one of the two
  // Of each frame: the mean over its cells, at most 1, less than 0 where classes contradict the
  // looks.
  double before = 0;
  double after = 0;
};

// PC (Zhang et al., "Perceptual Consistency in Video Segmentation", WACV 2022, equations 1 to 3).
// For each cell of one frame: c, the highest correlation (cosine of the features) with any cell of
// the other frame; s, the highest with a cell of the same class, 0 where there is none; m, the mean
// over all cells. Its consistency is (s - m) / (c - m), and 1 or 0 (whether there is a cell of the
// class) where all cells of the other frame look the same. Cells take the label of the pixel under
// their centre; those whose label is ignored are left out on both sides.
//
// Exact: every pair of cells is compared; memory grows with the cells, not the pairs. Work is
// divided over `parallel_for` (calls body(0) .. body(count - 1) on whichever threads and returns
// when all are done; empty: the calling thread) and gives the same result whatever the threads.
// Thread-safe. None: a frame without a cell that counts. kInvalidArgument: features that are not
// dense or not finite, different numbers of channels, labels as LabelClasses::check.
Result<std::optional<PerceptualConsistency>> perceptual_consistency(
    const LabelledFeatures& before, const LabelledFeatures& after, const LabelClasses& classes,
    const std::function<void(int count, const std::function<void(int)>& body)>& parallel_for = {});

}  // namespace sparing

// From labelled regions to a scale model: the paper's decision tree and the height predictor, both
// learnt on the earlier part of each clip and judged on the later (Mondrian, sections 4.2.2 and
// 5.3.1). OpenCV's tree learner stays inside.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sparing/base/result.h"
#include "sparing/packing/scale_labels.h"
#include "sparing/packing/scale_predictor.h"

namespace sparing::cli {

struct ScaleTrainingOptions {
  int levels = 5;
  // Share of the training samples that must not be drawn too small: of each leaf of the tree, and
  // by the height predictor.
  double quantile = 0.9;
  // Share of under-estimates up to which a predictor is chosen by what it spends.
  double most_under = 0.1;
  int depth = 6;
  int leaf_samples = 10;
};

// The tree: OpenCV's classifier splits by the paper's seven features; a leaf's level is the least
// that `quantile` of its training samples do with, where the majority's would draw up to half of
// them too small. kInvalidArgument: no samples.
Result<ScaleTreeData> train_scale_tree(std::span<const ScaleSample> samples,
                                       const ScaleTrainingOptions& options);

struct ScaleTrainingResult {
  ScaleModel model;  // with both predictors, and the better one chosen
  ScaleErrors height;
  ScaleErrors tree;
  ScaleErrors defaults;  // HeightParameters{} on the same samples
  std::int64_t train_samples = 0;
};

// Trains on `train` and judges on `test`. The better predictor is the one that spends less area, of
// those with at most `most_under` under-estimates; of none, the one with fewer.
// kInvalidArgument: no training sample whose object was detected before.
Result<ScaleTrainingResult> train_scales(std::span<const ScaleSample> train,
                                         std::span<const ScaleSample> test,
                                         const ScaleTrainingOptions& options = {});

}  // namespace sparing::cli

// From labelled regions to a scale model: the paper's decision tree and the height predictor, both
// learnt on the earlier part of each clip and judged on the later (Mondrian, sections 4.2.2 and
// 5.3.1). OpenCV's tree learner stays inside.
#pragma once

#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "sparing/base/options.h"
#include "sparing/base/result.h"
#include "sparing/packing/scale_labels.h"
#include "sparing/packing/scale_predictor.h"

namespace sparing::cli {

struct ScaleTrainingOptions {
  int levels = 5;
  double quantile = 0.9;
  double most_under = 0.1;
  int depth = 6;
  int leaf_samples = 10;

  static constexpr auto fields() {
    return std::tuple{
        option("levels", &ScaleTrainingOptions::levels)
            .help("levels of area that the decision tree chooses from")
            .range(2, 100),
        option("safe-share", &ScaleTrainingOptions::quantile)
            .help("share of the training objects that each leaf of the tree, and the rule by "
                  "height, must not draw too small")
            .range(0.01, 1),
        option("most-under", &ScaleTrainingOptions::most_under)
            .help("share of objects drawn too small up to which the predictor that draws less is "
                  "the better one")
            .range(0, 1),
        option("tree-depth", &ScaleTrainingOptions::depth)
            .help("of the decision tree")
            .range(1, 20),
        option("leaf-samples", &ScaleTrainingOptions::leaf_samples)
            .help("a node of the tree is divided when it has twice as many objects")
            .range(1, 100000),
    };
  }
};

// The tree: OpenCV's classifier splits by the paper's seven features; a leaf's level is the least
// that a share `quantile` of its training samples do with, where the majority's would draw up to
// half of them too small. kInvalidArgument: no samples.
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
// those with at most `most_under` under-estimates; of none, the one with fewer. A tree that draws
// more than half as much again as the height rule is never the better one.
// kInvalidArgument: an option out of range, no training sample whose object was detected before.
Result<ScaleTrainingResult> train_scales(std::span<const ScaleSample> train,
                                         std::span<const ScaleSample> test,
                                         const ScaleTrainingOptions& options = {});

}  // namespace sparing::cli

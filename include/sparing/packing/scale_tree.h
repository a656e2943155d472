// The proactive scale predictor as published: a small decision tree that gives the safe area of an
// object as one of a few levels (Mondrian, section 4.2.2). Evaluation only; it is trained
// elsewhere, for one model and precision, and comes as plain numbers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sparing/base/result.h"
#include "sparing/packing/scale_features.h"

namespace sparing {

// A tree as it is stored. Node 0 is the root; the five arrays have one entry a node. An inner node
// sends an object left when its feature is at most the threshold, else right.
struct ScaleTreeData {
  std::vector<std::string> features;  // names from kScaleFeatures, that `feature` refers to
  std::vector<int> feature;           // index into `features`; -1: a leaf
  std::vector<double> threshold;      // in the feature's unit; not used in a leaf
  std::vector<int> left;              // node indices; -1 in a leaf
  std::vector<int> right;
  std::vector<int> level;  // of a leaf: index into level_areas; -1 in an inner node
  // The safe area that each level stands for: square pixels of the object as drawn, the level's
  // upper end, ascending. Five in the paper, at the quantiles of the labels (margin included); the
  // last one, which has no upper end there, is the area that large ones are drawn with.
  std::vector<double> level_areas;
  friend bool operator==(const ScaleTreeData&, const ScaleTreeData&) = default;
};

// A checked tree. Immutable, thread-safe.
class ScaleTree {
 public:
  // kModel, naming the node: arrays of different lengths, no node, an unknown feature or one that
  // is named twice, an index out of range, a threshold that is not finite, a node that is reached
  // twice (a cycle among them) or not at all, a leaf without level, level areas that are not
  // positive, finite and ascending.
  static Result<ScaleTree> create(ScaleTreeData data);

  // 0 .. levels() - 1. Precondition: the features are finite.
  int level(const ScaleFeatures& features) const;
  int levels() const { return static_cast<int>(data_.level_areas.size()); }
  // Square pixels of the object as drawn. Precondition: 0 <= level < levels().
  double level_area(int level) const { return data_.level_areas[static_cast<std::size_t>(level)]; }

  const ScaleTreeData& data() const { return data_; }

 private:
  struct Node {
    double threshold;
    double ScaleFeatures::* feature;  // null: a leaf
    std::int32_t left;                // of a leaf: its level
    std::int32_t right;
  };

  explicit ScaleTree(ScaleTreeData data);

  ScaleTreeData data_;
  std::vector<Node> nodes_;
};

}  // namespace sparing

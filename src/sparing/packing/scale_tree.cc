#include "sparing/packing/scale_tree.h"

#include <cmath>
#include <cstddef>
#include <limits>
#include <set>
#include <utility>

namespace sparing {
namespace {

constexpr const char* kFix = "train the scale estimator again";

Error bad_tree(const std::string& problem) {
  return {ErrorCode::kModel, "scale tree", problem, kFix};
}

Error bad_node(std::size_t node, const std::string& problem) {
  return {ErrorCode::kModel, "scale tree node " + std::to_string(node), problem, kFix};
}

std::string known_features() {
  std::string names;
  for (const ScaleFeatureInfo& info : kScaleFeatures) {
    names += (names.empty() ? "" : ", ") + std::string(info.name);
  }
  return names;
}

Status check_features(const ScaleTreeData& data) {
  std::set<std::string> seen;
  for (const std::string& name : data.features) {
    if (!scale_feature_from_name(name)) {
      return Error{ErrorCode::kModel, "scale tree", "unknown feature '" + name + "'",
                   "use features from: " + known_features()};
    }
    if (!seen.insert(name).second) return bad_tree("feature '" + name + "' is named twice");
  }
  return {};
}

Status check_levels(const ScaleTreeData& data) {
  if (data.level_areas.empty()) return bad_tree("has no level areas");
  double previous = 0;
  for (const double area : data.level_areas) {
    if (!(std::isfinite(area) && area > previous)) {
      return bad_tree("level area " + std::to_string(area) +
                      " is not finite, or not above the one before, " + std::to_string(previous));
    }
    previous = area;
  }
  return {};
}

Status check_lengths(const ScaleTreeData& data) {
  const std::size_t count = data.feature.size();
  if (count == 0) return bad_tree("has no node");
  if (count > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
    return bad_tree(std::to_string(count) + " nodes are too many");
  }
  const std::pair<const char*, std::size_t> others[] = {{"threshold", data.threshold.size()},
                                                        {"left", data.left.size()},
                                                        {"right", data.right.size()},
                                                        {"level", data.level.size()}};
  for (const auto& [name, length] : others) {
    if (length != count) {
      return bad_tree("'" + std::string(name) + "' has " + std::to_string(length) +
                      " entries, 'feature' " + std::to_string(count));
    }
  }
  return {};
}

bool in_range(int index, std::size_t size) {
  return index >= 0 && static_cast<std::size_t>(index) < size;
}

Status check_node(const ScaleTreeData& data, std::size_t i) {
  if (data.feature[i] == -1) {
    if (!in_range(data.level[i], data.level_areas.size())) {
      return bad_node(i, "level " + std::to_string(data.level[i]) + " is not one of " +
                             std::to_string(data.level_areas.size()));
    }
    if (data.left[i] != -1 || data.right[i] != -1) return bad_node(i, "a leaf with children");
    return {};
  }
  if (!in_range(data.feature[i], data.features.size())) {
    return bad_node(i, "feature " + std::to_string(data.feature[i]) + " is not one of " +
                           std::to_string(data.features.size()));
  }
  if (!std::isfinite(data.threshold[i])) return bad_node(i, "the threshold is not a finite number");
  if (data.level[i] != -1) return bad_node(i, "an inner node with a level");
  for (const int child : {data.left[i], data.right[i]}) {
    if (!in_range(child, data.feature.size())) {
      return bad_node(i, "child " + std::to_string(child) + " is not one of " +
                             std::to_string(data.feature.size()) + " nodes");
    }
  }
  return {};
}

// Each node has exactly one way from the root: then there is no cycle, and evaluation ends.
Status check_shape(const ScaleTreeData& data) {
  std::vector<bool> reached(data.feature.size(), false);
  std::vector<std::size_t> open{0};
  reached[0] = true;
  while (!open.empty()) {
    const std::size_t node = open.back();
    open.pop_back();
    if (data.feature[node] == -1) continue;
    for (const int child : {data.left[node], data.right[node]}) {
      const auto next = static_cast<std::size_t>(child);
      if (reached[next]) return bad_node(next, "is reached twice: a cycle, or a shared branch");
      reached[next] = true;
      open.push_back(next);
    }
  }
  for (std::size_t i = 0; i < reached.size(); ++i) {
    if (!reached[i]) return bad_node(i, "is never reached");
  }
  return {};
}

}  // namespace

Result<ScaleTree> ScaleTree::create(ScaleTreeData data) {
  SPARING_RETURN_IF_ERROR(check_features(data));
  SPARING_RETURN_IF_ERROR(check_levels(data));
  SPARING_RETURN_IF_ERROR(check_lengths(data));
  for (std::size_t i = 0; i < data.feature.size(); ++i) {
    SPARING_RETURN_IF_ERROR(check_node(data, i));
  }
  SPARING_RETURN_IF_ERROR(check_shape(data));
  return ScaleTree(std::move(data));
}

ScaleTree::ScaleTree(ScaleTreeData data) : data_(std::move(data)) {
  nodes_.reserve(data_.feature.size());
  for (std::size_t i = 0; i < data_.feature.size(); ++i) {
    if (data_.feature[i] == -1) {
      nodes_.push_back({0, nullptr, data_.level[i], -1});
      continue;
    }
    const auto index =
        *scale_feature_from_name(data_.features[static_cast<std::size_t>(data_.feature[i])]);
    nodes_.push_back(
        {data_.threshold[i], kScaleFeatures[index].member, data_.left[i], data_.right[i]});
  }
}

int ScaleTree::level(const ScaleFeatures& features) const {
  const Node* node = nodes_.data();
  while (node->feature != nullptr) {
    const bool go_left = features.*(node->feature) <= node->threshold;
    node = &nodes_[static_cast<std::size_t>(go_left ? node->left : node->right)];
  }
  return node->left;
}

}  // namespace sparing

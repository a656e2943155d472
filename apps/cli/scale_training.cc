#include "scale_training.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>

#include <opencv2/ml.hpp>

namespace sparing::cli {
namespace {

// The paper's seven features, by their place in kScaleFeatures.
std::vector<std::size_t> paper_features() {
  std::vector<std::size_t> indices;
  for (std::size_t i = 0; i < kScaleFeatures.size(); ++i) {
    if (kScaleFeatures[i].in_paper) indices.push_back(i);
  }
  return indices;
}

cv::Ptr<cv::ml::DTrees> grow(std::span<const ScaleSample> samples,
                             const std::vector<std::size_t>& features,
                             const std::vector<int>& levels, const ScaleTrainingOptions& options) {
  const int rows = static_cast<int>(samples.size());
  const int columns = static_cast<int>(features.size());
  cv::Mat values(rows, columns, CV_32F);
  cv::Mat classes(rows, 1, CV_32S);
  for (int row = 0; row < rows; ++row) {
    const ScaleFeatures& sample = samples[static_cast<std::size_t>(row)].features;
    for (int column = 0; column < columns; ++column) {
      const auto& info = kScaleFeatures[features[static_cast<std::size_t>(column)]];
      values.at<float>(row, column) = static_cast<float>(sample.*info.member);
    }
    classes.at<int>(row, 0) = levels[static_cast<std::size_t>(row)];
  }
  auto tree = cv::ml::DTrees::create();
  tree->setMaxDepth(options.depth);
  tree->setMinSampleCount(2 * options.leaf_samples);
  tree->setCVFolds(0);
  tree->setUseSurrogates(false);
  tree->train(cv::ml::TrainData::create(values, cv::ml::ROW_SAMPLE, classes));
  return tree;
}

// OpenCV's nodes as ours; leaves get a level of 0.
ScaleTreeData copy_tree(const cv::ml::DTrees& tree, const std::vector<std::size_t>& features) {
  const std::vector<cv::ml::DTrees::Node>& nodes = tree.getNodes();
  const std::vector<cv::ml::DTrees::Split>& splits = tree.getSplits();
  ScaleTreeData data;
  for (const std::size_t feature : features) {
    data.features.emplace_back(kScaleFeatures[feature].name);
  }
  // Depth first from the root; pruned nodes are left behind.
  const auto copy = [&](const auto& self, int index) -> int {
    const int here = static_cast<int>(data.feature.size());
    const cv::ml::DTrees::Node& node = nodes[static_cast<std::size_t>(index)];
    const bool leaf = node.split < 0 || node.left < 0 || node.right < 0;
    data.feature.push_back(-1);
    data.threshold.push_back(0);
    data.left.push_back(-1);
    data.right.push_back(-1);
    data.level.push_back(leaf ? 0 : -1);
    if (leaf) return here;
    const cv::ml::DTrees::Split& split = splits[static_cast<std::size_t>(node.split)];
    const auto at = static_cast<std::size_t>(here);
    data.feature[at] = split.varIdx;
    data.threshold[at] = static_cast<double>(split.c);
    // An inverted split sends what is above the threshold left.
    const int left = self(self, split.inversed ? node.right : node.left);
    const int right = self(self, split.inversed ? node.left : node.right);
    data.left[at] = left;
    data.right[at] = right;
    return here;
  };
  copy(copy, tree.getRoots()[0]);
  return data;
}

std::size_t leaf_of(const ScaleTreeData& tree, const ScaleFeatures& features) {
  std::size_t node = 0;
  while (tree.feature[node] >= 0) {
    const auto name = tree.features[static_cast<std::size_t>(tree.feature[node])];
    const double value = features.*kScaleFeatures[*scale_feature_from_name(name)].member;
    node = static_cast<std::size_t>(value <= tree.threshold[node] ? tree.left[node]
                                                                  : tree.right[node]);
  }
  return node;
}

// Each leaf's level by the samples that reach it.
void set_levels(ScaleTreeData& tree, std::span<const ScaleSample> samples,
                const std::vector<int>& levels, double quantile) {
  std::vector<std::vector<int>> of_leaf(tree.feature.size());
  for (std::size_t i = 0; i < samples.size(); ++i) {
    of_leaf[leaf_of(tree, samples[i].features)].push_back(levels[i]);
  }
  for (std::size_t node = 0; node < of_leaf.size(); ++node) {
    std::vector<int>& here = of_leaf[node];
    if (tree.level[node] < 0) continue;
    if (here.empty()) {  // by the rounding of a threshold
      tree.level[node] = static_cast<int>(tree.level_areas.size()) - 1;
      continue;
    }
    std::sort(here.begin(), here.end());
    const double rank = quantile * static_cast<double>(here.size());
    const auto index = static_cast<std::size_t>(std::max(0.0, std::ceil(rank - 1e-9) - 1));
    tree.level[node] = here[std::min(index, here.size() - 1)];
  }
}

// What draws everything larger is safe, too; that is worth half as much again, and no more.
constexpr double kMostForSafety = 1.5;

bool tree_is_better(const ScaleErrors& tree, const ScaleErrors& height, double most_under) {
  const bool tree_safe = tree.under_rate <= most_under;
  const bool height_safe = height.under_rate <= most_under;
  if (tree.area_share > kMostForSafety * height.area_share) return false;
  if (tree_safe != height_safe) return tree_safe;
  return tree_safe ? tree.area_share < height.area_share : tree.under_rate < height.under_rate;
}

}  // namespace

Result<ScaleTreeData> train_scale_tree(std::span<const ScaleSample> samples,
                                       const ScaleTrainingOptions& options) {
  std::vector<double> areas;
  for (const ScaleSample& sample : samples) areas.push_back(sample.safe.label_area);
  SPARING_ASSIGN_OR_RETURN(std::vector<double> level_areas, quantile_levels(areas, options.levels));
  std::vector<int> levels;
  for (const double area : areas) levels.push_back(level_of_area(area, level_areas));
  const std::vector<std::size_t> features = paper_features();
  ScaleTreeData tree;
  try {
    tree = copy_tree(*grow(samples, features, levels, options), features);
  } catch (const cv::Exception& error) {
    return Error{ErrorCode::kInternal, "the tree learner", error.err, "report it"};
  }
  tree.level_areas = std::move(level_areas);
  set_levels(tree, samples, levels, options.quantile);
  return tree;
}

Result<ScaleTrainingResult> train_scales(std::span<const ScaleSample> train,
                                         std::span<const ScaleSample> test,
                                         const ScaleTrainingOptions& options) {
  SPARING_RETURN_IF_ERROR(validate_options(options));
  ScaleTrainingResult result;
  ScaleModel& model = result.model;
  result.train_samples = std::ssize(train);
  const auto judge = [&](const char* predictor) -> Result<ScaleErrors> {
    model.predictor = predictor;
    SPARING_ASSIGN_OR_RETURN(const ScalePredictor made, ScalePredictor::create(model));
    return evaluate_scales(made, test);
  };
  SPARING_ASSIGN_OR_RETURN(result.defaults, judge("height"));
  SPARING_ASSIGN_OR_RETURN(model.height, fit_heights(train, options.quantile));
  SPARING_ASSIGN_OR_RETURN(model.tree, train_scale_tree(train, options));
  SPARING_ASSIGN_OR_RETURN(result.height, judge("height"));
  SPARING_ASSIGN_OR_RETURN(result.tree, judge("tree"));
  model.height_under_rate = result.height.under_rate;
  model.tree_under_rate = result.tree.under_rate;
  model.predictor =
      tree_is_better(result.tree, result.height, options.most_under) ? "tree" : "height";
  return result;
}

}  // namespace sparing::cli

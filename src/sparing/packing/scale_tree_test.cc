#include "sparing/packing/scale_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <memory>
#include <random>

namespace sparing {
namespace {

using ::testing::HasSubstr;

// height <= 40 ? (confidence <= 0.5 ? 4 : 2) : 0
ScaleTreeData small_tree() {
  ScaleTreeData data;
  data.features = {"confidence", "height"};
  data.feature = {1, 0, -1, -1, -1};
  data.threshold = {40, 0.5, 0, 0, 0};
  data.left = {1, 3, -1, -1, -1};
  data.right = {2, 4, -1, -1, -1};
  data.level = {-1, -1, 0, 4, 2};
  data.level_areas = {369, 459, 559, 848, 2000};
  return data;
}

TEST(ScaleTree, FollowsItsThresholds) {
  const ScaleTree tree = ScaleTree::create(small_tree()).value();
  ScaleFeatures f;
  const auto level = [&](double height, double confidence) {
    f.height = height;
    f.confidence = confidence;
    return tree.level(f);
  };
  EXPECT_EQ(level(41, 0), 0);
  EXPECT_EQ(level(40, 0.5), 4) << "at the threshold it goes left";
  EXPECT_EQ(level(40, 0.6), 2);
  EXPECT_EQ(level(-1e300, 1), 2);
  EXPECT_EQ(tree.levels(), 5);
  EXPECT_EQ(tree.level_area(3), 848);
  EXPECT_EQ(tree.data(), small_tree());
}

TEST(ScaleTree, OneLeafIsATree) {
  ScaleTreeData data;
  data.feature = {-1};
  data.threshold = {std::numeric_limits<double>::quiet_NaN()};  // not used in a leaf
  data.left = data.right = {-1};
  data.level = {1};
  data.level_areas = {10, 20};
  const auto tree = ScaleTree::create(data);
  ASSERT_TRUE(tree.ok());
  EXPECT_EQ(tree.value().level({}), 1);
}

struct BadTree {
  const char* name;
  std::function<void(ScaleTreeData&)> spoil;
  const char* message;
};

TEST(ScaleTree, RefusesWhatIsNoTree) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const BadTree cases[] = {
      {"empty", [](auto& d) { d.feature = d.left = d.right = d.level = {}, d.threshold = {}; },
       "has no node"},
      {"unknown feature", [](auto& d) { d.features[0] = "colour"; }, "'colour'"},
      {"feature twice", [](auto& d) { d.features[0] = "height"; }, "named twice"},
      {"short array", [](auto& d) { d.left.pop_back(); }, "'left' has 4 entries, 'feature' 5"},
      {"long array", [](auto& d) { d.threshold.push_back(1); }, "'threshold' has 6"},
      {"feature index", [](auto& d) { d.feature[1] = 2; }, "node 1: feature 2"},
      {"negative feature", [](auto& d) { d.feature[1] = -2; }, "node 1: feature -2"},
      {"NaN", [&](auto& d) { d.threshold[0] = kNan; }, "node 0: the threshold"},
      {"infinite", [&](auto& d) { d.threshold[1] = -kInf; }, "node 1: the threshold"},
      {"child index", [](auto& d) { d.right[1] = 5; }, "node 1: child 5"},
      {"negative child", [](auto& d) { d.left[0] = -1; }, "node 0: child -1"},
      {"cycle to the root", [](auto& d) { d.left[1] = 0; }, "node 0: is reached twice"},
      {"cycle to itself", [](auto& d) { d.left[1] = 1; }, "node 1: is reached twice"},
      {"shared branch", [](auto& d) { d.right[1] = 3; }, "node 3: is reached twice"},
      {"leaf with a child", [](auto& d) { d.right[2] = 3; }, "node 2: a leaf with children"},
      {"level index", [](auto& d) { d.level[3] = 5; }, "node 3: level 5 is not one of 5"},
      {"leaf without level", [](auto& d) { d.level[3] = -1; }, "node 3: level -1"},
      {"inner level", [](auto& d) { d.level[0] = 1; }, "node 0: an inner node with a level"},
      {"no levels", [](auto& d) { d.level_areas = {}; }, "no level areas"},
      {"equal levels", [](auto& d) { d.level_areas[1] = 369; }, "level area 369"},
      {"NaN level", [&](auto& d) { d.level_areas[4] = kNan; }, "level area nan"},
      {"zero level", [](auto& d) { d.level_areas[0] = 0; }, "level area 0"},
  };
  for (const BadTree& bad : cases) {
    ScaleTreeData data = small_tree();
    bad.spoil(data);
    const auto result = ScaleTree::create(data);
    ASSERT_FALSE(result.ok()) << bad.name;
    EXPECT_EQ(result.error().code, ErrorCode::kModel) << bad.name;
    EXPECT_THAT(result.error().to_string(), HasSubstr(bad.message)) << bad.name;
  }
}

TEST(ScaleTree, RefusesNodesThatAreNeverReached) {
  ScaleTreeData data = small_tree();
  data.feature.push_back(-1);
  data.threshold.push_back(0);
  data.left.push_back(-1);
  data.right.push_back(-1);
  data.level.push_back(0);
  const auto result = ScaleTree::create(data);
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(result.error().to_string(), HasSubstr("node 5: is never reached"));
}

// --- against a tree of pointers
// --------------------------------------------------------------------

struct Branch {
  std::size_t feature = 0;
  double threshold = 0;
  int level = -1;  // >= 0: a leaf
  std::unique_ptr<Branch> left, right;
};

std::unique_ptr<Branch> grow(std::mt19937& random, int depth) {
  auto branch = std::make_unique<Branch>();
  if (depth == 0 || random() % 5 == 0) {
    branch->level = static_cast<int>(random() % 5);
    return branch;
  }
  branch->feature = random() % kScaleFeatures.size();
  branch->threshold = static_cast<double>(random() % 9);
  branch->left = grow(random, depth - 1);
  branch->right = grow(random, depth - 1);
  return branch;
}

int store(const Branch& branch, ScaleTreeData& data) {
  const auto node = data.feature.size();
  data.feature.push_back(branch.level >= 0 ? -1 : static_cast<int>(branch.feature));
  data.threshold.push_back(branch.threshold);
  data.left.push_back(-1);
  data.right.push_back(-1);
  data.level.push_back(branch.level);
  if (branch.level < 0) {
    const int right = store(*branch.right, data);
    const int left = store(*branch.left, data);
    data.left[node] = left;
    data.right[node] = right;
  }
  return static_cast<int>(node);
}

int evaluate(const Branch& branch, const ScaleFeatures& features) {
  if (branch.level >= 0) return branch.level;
  const double value = features.*(kScaleFeatures[branch.feature].member);
  return evaluate(value <= branch.threshold ? *branch.left : *branch.right, features);
}

TEST(ScaleTree, AgreesWithATreeOfPointers) {
  std::mt19937 random(4);
  for (int i = 0; i < 100; ++i) {
    const auto root = grow(random, 8);
    ScaleTreeData data;
    for (const ScaleFeatureInfo& info : kScaleFeatures) data.features.emplace_back(info.name);
    data.level_areas = {1, 2, 3, 4, 5};
    store(*root, data);
    const ScaleTree tree = ScaleTree::create(data).value();
    for (int k = 0; k < 200; ++k) {
      ScaleFeatures f;
      for (const ScaleFeatureInfo& info : kScaleFeatures) {
        f.*(info.member) = static_cast<double>(random() % 20) / 2;
      }
      ASSERT_EQ(tree.level(f), evaluate(*root, f));
    }
  }
}

TEST(ScaleTree, DeepTreesNeedNoStack) {
  constexpr int kDepth = 200000;
  ScaleTreeData data;
  data.features = {"height"};
  data.level_areas = {1, 2};
  for (int i = 0; i < kDepth; ++i) {  // node 2i, with the leaf 2i + 1 at its right
    data.feature.insert(data.feature.end(), {0, -1});
    data.threshold.insert(data.threshold.end(), {static_cast<double>(kDepth - i), 0});
    data.left.insert(data.left.end(), {2 * i + 2, -1});
    data.right.insert(data.right.end(), {2 * i + 1, -1});
    data.level.insert(data.level.end(), {-1, 0});
  }
  data.feature.push_back(-1);
  data.threshold.push_back(0);
  data.left.push_back(-1);
  data.right.push_back(-1);
  data.level.push_back(1);
  const auto tree = ScaleTree::create(data);
  ASSERT_TRUE(tree.ok()) << tree.error().to_string();
  EXPECT_EQ(tree.value().level({}), 1);
}

}  // namespace
}  // namespace sparing

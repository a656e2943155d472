#include "sparing/metrics/confusion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <initializer_list>
#include <random>
#include <set>
#include <vector>

namespace sparing {
namespace {

using ::testing::HasSubstr;

LabelMap map_of(Size size, std::initializer_list<int> labels) {
  LabelMap map;
  map.size = size;
  for (const int label : labels) map.labels.push_back(static_cast<std::uint8_t>(label));
  return map;
}

LabelClasses classes_of(int count, std::initializer_list<std::uint8_t> ignored = {}) {
  auto classes = LabelClasses::create(count, std::vector<std::uint8_t>(ignored));
  EXPECT_TRUE(classes.ok());
  return *classes;
}

TEST(LabelClasses, TellClassesFromIgnoredAndUnknownLabels) {
  const LabelClasses classes = classes_of(3, {1, 7});
  for (int label = 0; label < 256; ++label) {
    const auto value = static_cast<std::uint8_t>(label);
    EXPECT_EQ(classes.is_class(value), label == 0 || label == 2) << label;
    EXPECT_EQ(classes.is_ignored(value), label == 1 || label == 7 || label == 255) << label;
  }
  EXPECT_EQ(classes.count(), 3);
}

TEST(LabelClasses, RefuseImpossibleNumbersAndMaps) {
  EXPECT_FALSE(LabelClasses::create(0).ok());
  EXPECT_FALSE(LabelClasses::create(256).ok());
  EXPECT_TRUE(LabelClasses::create(255).ok());
  EXPECT_FALSE(LabelClasses::create(2, std::array<std::uint8_t, 2>{0, 1}).ok());
  const LabelClasses classes = classes_of(3, {7});
  EXPECT_TRUE(classes.check(map_of({2, 2}, {0, 2, 7, 255}), "labels").ok());
  const auto text = [&](const LabelMap& map) {
    const Status status = classes.check(map, "labels of frame 3");
    EXPECT_FALSE(status.ok());
    if (status.ok()) return std::string();
    EXPECT_EQ(status.error().code, ErrorCode::kInvalidArgument);
    return status.error().to_string();
  };
  EXPECT_THAT(text(map_of({2, 2}, {0, 1, 2, 3})),
              HasSubstr("labels of frame 3: label 3 at (1, 1) is none of the 3 classes"));
  EXPECT_THAT(text(map_of({2, 2}, {0, 1, 2})), HasSubstr("are 3 for 2x2 pixels"));
  EXPECT_THAT(text(map_of({0, 2}, {})), HasSubstr("have 0x2 pixels"));
}

TEST(ConfusionMatrix, GivesTheKnownScoresOfACaseDoneByHand) {
  //   truth  0 0 0 1 1 2 - -      (255: unknown, 9: ignored)
  //   found  0 0 1 1 - 0 0 2
  ConfusionMatrix matrix(classes_of(4, {9}));
  ASSERT_TRUE(matrix
                  .add(map_of({4, 2}, {0, 0, 0, 1, 1, 2, 255, 9}),
                       map_of({4, 2}, {0, 0, 1, 1, 255, 0, 0, 2}))
                  .ok());
  const SegmentationScores scores = matrix.scores();
  EXPECT_EQ(scores.pixels, 6);
  ASSERT_EQ(scores.iou.size(), 4u);
  EXPECT_DOUBLE_EQ(*scores.iou[0], 2.0 / 4);  // 3 true, 3 found, 2 both
  EXPECT_DOUBLE_EQ(*scores.iou[1], 1.0 / 3);  // 2 true, 2 found, 1 both
  EXPECT_DOUBLE_EQ(*scores.iou[2], 0);        // 1 true, none found where the truth is known
  EXPECT_FALSE(scores.iou[3].has_value());    // neither true nor found
  EXPECT_DOUBLE_EQ(*scores.miou, (0.5 + 1.0 / 3 + 0) / 3);
  EXPECT_DOUBLE_EQ(*scores.pixel_accuracy, 3.0 / 6);
  EXPECT_DOUBLE_EQ(*scores.mean_accuracy, (2.0 / 3 + 1.0 / 2 + 0) / 3);
}

TEST(ConfusionMatrix, CountsAClassThatIsOnlyFoundAsAMistake) {
  ConfusionMatrix matrix(classes_of(3));
  ASSERT_TRUE(matrix.add(map_of({2, 1}, {0, 0}), map_of({2, 1}, {0, 2})).ok());
  const SegmentationScores scores = matrix.scores();
  EXPECT_DOUBLE_EQ(*scores.miou, (0.5 + 0) / 2);
  EXPECT_DOUBLE_EQ(*scores.mean_accuracy, 0.5);  // of the classes of the truth
}

TEST(ConfusionMatrix, HasNoScoresWithoutPixels) {
  ConfusionMatrix matrix(classes_of(2));
  EXPECT_FALSE(matrix.scores().miou);
  ASSERT_TRUE(matrix.add(map_of({2, 1}, {255, 255}), map_of({2, 1}, {0, 1})).ok());
  const SegmentationScores scores = matrix.scores();
  EXPECT_EQ(scores.pixels, 0);
  EXPECT_FALSE(scores.miou || scores.pixel_accuracy || scores.mean_accuracy || scores.iou[0]);
}

LabelMap random_map(Size size, const std::vector<std::uint8_t>& labels, std::mt19937& random) {
  LabelMap map;
  map.resize(size);
  for (std::uint8_t& label : map.labels) label = labels[random() % labels.size()];
  return map;
}

// Sets of pixels, class by class.
TEST(ConfusionMatrix, AgreesWithSetsOfPixelsOverManyFrames) {
  std::mt19937 random(11);
  const LabelClasses classes = classes_of(6, {4, 11});
  const std::vector<std::uint8_t> labels{0, 0, 1, 2, 3, 4, 11, 255};  // 5 does not occur
  ConfusionMatrix all(classes), sum(classes);
  std::vector<std::set<int>> truth(6), found(6);
  int known = 0, right = 0;
  for (int frame = 0; frame < 5; ++frame) {
    const LabelMap t = random_map({13, 7}, labels, random);
    const LabelMap p = random_map({13, 7}, labels, random);
    ASSERT_TRUE(all.add(t, p).ok());
    ConfusionMatrix one(classes);
    ASSERT_TRUE(one.add(t, p).ok());
    sum.add(one);
    for (std::size_t i = 0; i < t.labels.size(); ++i) {
      const int id = frame * 1000 + static_cast<int>(i);
      if (!classes.is_class(t.labels[i])) continue;
      ++known;
      right += t.labels[i] == p.labels[i] ? 1 : 0;
      truth[t.labels[i]].insert(id);
      if (classes.is_class(p.labels[i])) found[p.labels[i]].insert(id);
    }
  }
  const SegmentationScores scores = all.scores();
  double ious = 0, accuracies = 0;
  int with_union = 0, with_truth = 0;
  for (std::size_t c = 0; c < 6; ++c) {
    std::set<int> both, either = found[c];
    for (const int id : truth[c]) {
      if (found[c].contains(id)) both.insert(id);
      either.insert(id);
    }
    ASSERT_EQ(scores.iou[c].has_value(), !either.empty()) << c;
    if (either.empty()) continue;
    const double iou = static_cast<double>(both.size()) / static_cast<double>(either.size());
    EXPECT_DOUBLE_EQ(*scores.iou[c], iou) << c;
    ious += iou;
    ++with_union;
    if (truth[c].empty()) continue;
    accuracies += static_cast<double>(both.size()) / static_cast<double>(truth[c].size());
    ++with_truth;
  }
  EXPECT_EQ(with_union, 4);
  EXPECT_NEAR(*scores.miou, ious / with_union, 1e-12);
  EXPECT_NEAR(*scores.mean_accuracy, accuracies / with_truth, 1e-12);
  EXPECT_DOUBLE_EQ(*scores.pixel_accuracy, static_cast<double>(right) / known);
  EXPECT_EQ(scores.pixels, known);
  EXPECT_DOUBLE_EQ(*sum.scores().miou, *scores.miou);
}

TEST(ConfusionMatrix, RefusesMapsThatCannotBeCompared) {
  ConfusionMatrix matrix(classes_of(2));
  const LabelMap good = map_of({2, 1}, {0, 1});
  const auto text = [&](const LabelMap& truth, const LabelMap& predicted) {
    const Status status = matrix.add(truth, predicted);
    EXPECT_FALSE(status.ok());
    return status.ok() ? "" : status.error().to_string();
  };
  EXPECT_THAT(text(good, map_of({1, 2}, {0, 1})),
              HasSubstr("have 1x2 pixels, and true labels 2x1"));
  EXPECT_THAT(text(map_of({2, 1}, {0, 2}), good), HasSubstr("true labels: label 2 at (1, 0)"));
  EXPECT_THAT(text(good, map_of({2, 1}, {77, 1})), HasSubstr("predicted labels: label 77"));
  EXPECT_FALSE(matrix.scores().miou) << "something was counted";
}

}  // namespace
}  // namespace sparing

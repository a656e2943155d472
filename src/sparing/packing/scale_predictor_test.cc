#include "sparing/packing/scale_predictor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace sparing {
namespace {

using ::testing::HasSubstr;

ScaleFeatures object(double width, double height, double confidence) {
  ScaleFeatures f;
  f.area = width * height;
  f.max_edge = std::max(width, height);
  f.aspect_ratio = width / height;
  f.height = height;
  f.confidence = confidence;
  return f;
}

ScaleModel model_by_height() {
  ScaleModel model;
  model.model = "nanodet";
  model.precision = "int8";
  model.height = {.unsure_height = 60,
                  .sure_height = 40,
                  .new_height = 70,
                  .unsure_confidence = 0.3,
                  .sure_confidence = 0.8,
                  .new_share = 0.7};
  return model;
}

ScaleModel model_by_tree() {
  ScaleModel model = model_by_height();
  model.predictor = "tree";
  // By height alone: up to 50 px the largest level, above the smallest.
  model.tree = ScaleTreeData{.features = {"height"},
                             .feature = {0, -1, -1},
                             .threshold = {50, 0, 0},
                             .left = {1, -1, -1},
                             .right = {2, -1, -1},
                             .level = {-1, 4, 0},
                             .level_areas = {400, 500, 600, 800, 900}};
  return model;
}

TEST(ScaleLevel, IsTheFirstThatIsEnough) {
  EXPECT_EQ(scale_level(0.01), 0);
  for (std::size_t i = 0; i < kScaleLevels.size(); ++i) {
    EXPECT_EQ(scale_level(kScaleLevels[i]), static_cast<int>(i));
    EXPECT_TRUE(i == 0 || kScaleLevels[i - 1] < kScaleLevels[i]);
  }
  EXPECT_EQ(kScaleLevels[static_cast<std::size_t>(scale_level(0.41))], 0.5);
  EXPECT_EQ(scale_level(99), static_cast<int>(kScaleLevels.size()) - 1);
  EXPECT_EQ(kScaleLevels.back(), 2.0) << "tiny objects are enlarged up to 200 %";
}

TEST(ScalePredictor, DrawsObjectsWithTheirSafeHeight) {
  const ScalePredictor p = ScalePredictor::create(model_by_height()).value();
  EXPECT_DOUBLE_EQ(p.predict(object(40, 80, 0.9)).scale, 0.5);
  EXPECT_DOUBLE_EQ(p.predict(object(40, 80, 0.3)).scale, 0.75);
  EXPECT_DOUBLE_EQ(p.predict(object(40, 80, 0.55)).scale, 0.625) << "half way";
  EXPECT_DOUBLE_EQ(p.predict(object(40, 80, 0.1)).scale, 0.75);
  EXPECT_DOUBLE_EQ(p.predict(object(40, 200, 0)).scale, 0.5) << "new: 70 px for 0.7 of the region";
  EXPECT_DOUBLE_EQ(p.predict(object(10, 25, 0.9)).scale, 1.6) << "enlarged";
  EXPECT_DOUBLE_EQ(p.predict(object(5, 10, 0.9)).scale, 2.0) << "but not by more than max_scale";
  EXPECT_DOUBLE_EQ(p.predict(object(500, 1000, 0.9)).scale, 0.1);
}

TEST(ScalePredictor, LevelIsThatOfTheScale) {
  const ScalePredictor p = ScalePredictor::create(model_by_height()).value();
  for (double height = 10; height < 800; height *= 1.07) {
    const ProactiveScale scale = p.predict(object(10, height, 0.9));
    EXPECT_EQ(scale.level, scale_level(scale.scale));
  }
}

TEST(ScalePredictor, SnapRaisesToTheLevel) {
  ScaleModel model = model_by_height();
  model.height.snap = true;
  const ScalePredictor p = ScalePredictor::create(model).value();
  EXPECT_DOUBLE_EQ(p.predict(object(40, 80, 0.9)).scale, 0.5) << "on a level";
  EXPECT_DOUBLE_EQ(p.predict(object(40, 79, 0.9)).scale, 0.64);
  EXPECT_DOUBLE_EQ(p.predict(object(4, 4, 0.9)).scale, 2.0);
}

TEST(ScalePredictor, MoreConfidenceNeverDrawsLarger) {
  const ScalePredictor p = ScalePredictor::create(model_by_height()).value();
  double before = 1e9;
  for (double confidence = 0.01; confidence <= 1; confidence += 0.01) {
    const double scale = p.predict(object(30, 70, confidence)).scale;
    EXPECT_LE(scale, before);
    before = scale;
  }
}

TEST(ScalePredictor, TreeGivesSafeAreas) {
  const ScalePredictor p = ScalePredictor::create(model_by_tree()).value();
  const ProactiveScale small = p.predict(object(25, 50, 0.9));
  EXPECT_EQ(small.level, 4);
  EXPECT_DOUBLE_EQ(small.scale, std::sqrt(900.0 / 1250));
  const ProactiveScale large = p.predict(object(40, 100, 0.9));
  EXPECT_EQ(large.level, 0);
  EXPECT_NEAR(40 * large.scale * 100 * large.scale, 400, 1e-9) << "as drawn";
  EXPECT_DOUBLE_EQ(p.predict(object(2, 2, 0)).scale, 2.0) << "within the limits";
}

TEST(ScalePredictor, RefusesBadModels) {
  const auto message = [](auto&& spoil) {
    ScaleModel model = model_by_tree();
    spoil(model);
    const auto result = ScalePredictor::create(model);
    return result.ok() ? std::string("none") : result.error().to_string();
  };
  EXPECT_EQ(message([](ScaleModel&) {}), "none");
  EXPECT_THAT(message([](ScaleModel& m) { m.predictor = "forest"; }), HasSubstr("'forest'"));
  EXPECT_THAT(message([](ScaleModel& m) { m.tree.reset(); }),
              HasSubstr("scale model of 'nanodet' in int8: has no tree"));
  EXPECT_THAT(message([](ScaleModel& m) { m.tree->left[0] = 0; }),
              HasSubstr("'nanodet' in int8, scale tree node 0: is reached twice"));
  EXPECT_THAT(message([](ScaleModel& m) { m.min_scale = 0; }), HasSubstr("no range"));
  EXPECT_THAT(message([](ScaleModel& m) { m.max_scale = 0.05; }), HasSubstr("no range"));
  EXPECT_THAT(message([](ScaleModel& m) { m.max_scale = std::nan(""); }), HasSubstr("no range"));
  EXPECT_THAT(message([](ScaleModel& m) { m.height.sure_height = 0; }),
              HasSubstr("sure-height: 0 is out of range"));
  EXPECT_THAT(message([](ScaleModel& m) { m.height.sure_confidence = 0.3; }),
              HasSubstr("not above"));
}

}  // namespace
}  // namespace sparing

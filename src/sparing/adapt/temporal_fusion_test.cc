#include "sparing/adapt/temporal_fusion.h"

#include <cmath>

#include <gtest/gtest.h>

namespace sparing {
namespace {

constexpr Size kSize{8, 6};

TemporalFusion make(double weight, double error) {
  FusionOptions options;
  options.weight = weight;
  options.error = error;
  return std::move(TemporalFusion::create(options)).value();
}

// Two classes, the first with probability p everywhere.
ProbabilityMap flat(float p, Size size = kSize) {
  ProbabilityMap map;
  map.resize(2, size);
  for (float& v : map.plane(0)) v = p;
  for (float& v : map.plane(1)) v = 1 - p;
  return map;
}

PictureMotion standing(float error = 0, Size size = kSize) {
  PictureMotion motion;
  motion.event = SceneEvent::kNone;
  motion.back.resize(size);
  motion.error.assign(motion.back.dx.size(), error);
  return motion;
}

PictureMotion event(SceneEvent what) {
  PictureMotion motion;
  motion.event = what;
  return motion;
}

TEST(TemporalFusionTest, AveragesExponentially) {
  TemporalFusion fusion = make(0.75, 0);
  ProbabilityMap map = flat(1);
  fusion.fuse(event(SceneEvent::kFirst), map);
  EXPECT_FLOAT_EQ(map.plane(0)[5], 1);
  double expected = 1;
  for (const float p : {0.0f, 0.5f, 0.0f, 1.0f}) {
    map = flat(p);
    fusion.fuse(standing(), map);
    expected = 0.25 * p + 0.75 * expected;
    for (std::size_t i = 0; i < map.pixels(); ++i) {
      EXPECT_NEAR(map.plane(0)[i], expected, 1e-6);
      EXPECT_NEAR(map.plane(1)[i], 1 - expected, 1e-6);
    }
  }
}

TEST(TemporalFusionTest, ErrorTakesWeightFromThePast) {
  FusionOptions options;
  options.weight = 0.8;
  options.error = 10;
  EXPECT_FLOAT_EQ(fusion_weight(options, 0), 0.8f);
  EXPECT_FLOAT_EQ(fusion_weight(options, 10), 0.4f);
  EXPECT_FLOAT_EQ(fusion_weight(options, 30), 0.08f);
  EXPECT_EQ(fusion_weight(options, PictureMotion::kOutside), 0);
  options.error = 0;
  EXPECT_FLOAT_EQ(fusion_weight(options, 100), 0.8f);
  EXPECT_EQ(fusion_weight(options, PictureMotion::kOutside), 0);

  TemporalFusion fusion = make(0.8, 10);
  ProbabilityMap map = flat(1);
  fusion.fuse(event(SceneEvent::kFirst), map);
  PictureMotion motion = standing();
  motion.error[3] = 10;
  motion.error[4] = PictureMotion::kOutside;
  map = flat(0);
  fusion.fuse(motion, map);
  EXPECT_NEAR(map.plane(0)[0], 0.8, 1e-6);
  EXPECT_NEAR(map.plane(0)[3], 0.4, 1e-6);
  EXPECT_EQ(map.plane(0)[4], 0);
}

TEST(TemporalFusionTest, ThePastMovesWithThePicture) {
  TemporalFusion fusion = make(0.5, 0);
  ProbabilityMap map = flat(0);
  map.plane(0)[2 * 8 + 3] = 1;  // at (3, 2)
  map.plane(1)[2 * 8 + 3] = 0;
  fusion.fuse(event(SceneEvent::kFirst), map);
  PictureMotion motion = standing();
  for (float& v : motion.back.dx) v = -2;  // everything moved to the right by 2
  for (float& v : motion.back.dy) v = -1;
  ProbabilityMap moved;
  ASSERT_TRUE(fusion.predict(motion, moved));
  EXPECT_FLOAT_EQ(moved.plane(0)[3 * 8 + 5], 1);
  EXPECT_FLOAT_EQ(moved.plane(0)[2 * 8 + 3], 0);
  // And again, from where it is now.
  ASSERT_TRUE(fusion.predict(motion, moved));
  EXPECT_FLOAT_EQ(moved.plane(0)[4 * 8 + 7], 1);
  map = flat(0);
  fusion.fuse(standing(), map);
  EXPECT_FLOAT_EQ(map.plane(0)[4 * 8 + 7], 0.5f);
}

TEST(TemporalFusionTest, MotionIsScaledToTheProbabilities) {
  TemporalFusion fusion = make(0.5, 5);
  const Size large{16, 12};
  ProbabilityMap map = flat(0, large);
  map.plane(0)[6 * 16 + 6] = 1;
  fusion.fuse(event(SceneEvent::kFirst), map);
  PictureMotion motion = standing();  // at half of the size
  for (float& v : motion.back.dx) v = -1;
  ProbabilityMap moved;
  ASSERT_TRUE(fusion.predict(motion, moved));
  EXPECT_FLOAT_EQ(moved.plane(0)[6 * 16 + 8], 1);
  // Weights as well: half way between an error of 0 and one of 5 between the centres of two pixels.
  motion = standing();
  for (std::size_t i = 0; i < motion.error.size(); ++i) motion.error[i] = i % 8 < 4 ? 0.0f : 5.0f;
  TemporalFusion other = make(0.5, 5);
  map = flat(1, large);
  other.fuse(event(SceneEvent::kFirst), map);
  map = flat(0, large);
  other.fuse(motion, map);
  EXPECT_NEAR(map.plane(0)[0], 0.5, 1e-6);
  EXPECT_NEAR(map.plane(0)[15], 0.25, 1e-6);
  EXPECT_NEAR(map.plane(0)[7], 0.5 - 0.25 * 0.25, 1e-6);
  EXPECT_NEAR(map.plane(0)[8], 0.5 - 0.75 * 0.25, 1e-6);
}

TEST(TemporalFusionTest, ACutEndsThePast) {
  for (const SceneEvent what : {SceneEvent::kCut, SceneEvent::kFirst}) {
    TemporalFusion fusion = make(0.9, 0);
    ProbabilityMap map = flat(1);
    fusion.fuse(event(SceneEvent::kFirst), map);
    ProbabilityMap moved;
    EXPECT_FALSE(fusion.predict(event(what), moved));
    map = flat(0.25f);
    fusion.fuse(event(what), map);
    EXPECT_FLOAT_EQ(map.plane(0)[0], 0.25f);
    map = flat(0);
    fusion.fuse(standing(), map);
    EXPECT_NEAR(map.plane(0)[0], 0.9 * 0.25, 1e-6);  // of the new scene's past
  }
}

TEST(TemporalFusionTest, ABlankFrameLeavesThePastAsItWas) {
  TemporalFusion fusion = make(0.5, 0);
  ProbabilityMap map = flat(1);
  fusion.fuse(event(SceneEvent::kFirst), map);
  map = flat(0);
  fusion.fuse(event(SceneEvent::kBlank), map);
  EXPECT_FLOAT_EQ(map.plane(0)[0], 0);
  ProbabilityMap shown;
  ASSERT_TRUE(fusion.predict(event(SceneEvent::kBlank), shown));
  EXPECT_FLOAT_EQ(shown.plane(0)[0], 1);
  map = flat(0);
  fusion.fuse(standing(), map);
  EXPECT_FLOAT_EQ(map.plane(0)[0], 0.5f);
}

TEST(TemporalFusionTest, AnotherSizeOrOtherClassesBeginAnew) {
  TemporalFusion fusion = make(0.9, 0);
  ProbabilityMap map = flat(1);
  fusion.fuse(event(SceneEvent::kFirst), map);
  map = flat(0, {4, 3});
  fusion.fuse(standing(), map);
  EXPECT_FLOAT_EQ(map.plane(0)[0], 0);
  EXPECT_EQ(map.size, (Size{4, 3}));
  ProbabilityMap three;
  three.resize(3, {4, 3});
  fusion.fuse(standing(), three);
  EXPECT_EQ(three.classes, 3);
  EXPECT_FLOAT_EQ(three.values[0], 0);
}

TEST(TemporalFusionTest, NothingBeforeTheFirstAndAfterAReset) {
  TemporalFusion fusion = make(0.5, 0);
  ProbabilityMap map;
  EXPECT_FALSE(fusion.has_past());
  EXPECT_FALSE(fusion.predict(standing(), map));
  map = flat(1);
  fusion.fuse(standing(), map);
  EXPECT_TRUE(fusion.has_past());
  fusion.reset();
  EXPECT_FALSE(fusion.predict(standing(), map));
}

TEST(TemporalFusionTest, RefusesOptionsOutOfRange) {
  FusionOptions options;
  options.weight = 1;
  EXPECT_EQ(TemporalFusion::create(options).error().code, ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace sparing

#include "sparing/track/motion.h"

#include <gtest/gtest.h>

#include <random>

namespace sparing {
namespace {

constexpr Rational kMs{1, 1000};

Timestamp ms(std::int64_t ticks) { return {ticks, kMs}; }
TimedDetection seen(const Box& box, std::int64_t at_ms, float score = 0.5f, int class_id = 0) {
  return {{box, score, class_id}, ms(at_ms)};
}

TEST(Interpolate, IsLinearInCornersAndScore) {
  const TimedDetection a = seen({10, 20, 30, 60}, 1000, 0.4f);
  const TimedDetection b = seen({50, 20, 90, 100}, 1400, 0.8f);
  const Detection quarter = interpolate(a, b, ms(1100));
  EXPECT_EQ(quarter.box, (Box{20, 20, 45, 70}));
  EXPECT_FLOAT_EQ(quarter.score, 0.5f);
  const Detection late = interpolate(a, b, ms(1300));
  EXPECT_EQ(late.box, (Box{40, 20, 75, 90}));
  EXPECT_FLOAT_EQ(late.score, 0.7f);
}

TEST(Interpolate, GoesByTimeAndNotByFrames) {
  // Frames at 0, 40 and 400 ms: the middle one is a tenth of the way.
  const Detection middle =
      interpolate(seen({0, 0, 10, 10}, 0), seen({100, 0, 110, 10}, 400), ms(40));
  EXPECT_EQ(middle.box, (Box{10, 0, 20, 10}));
  // Other time bases mean the same.
  TimedDetection b = seen({100, 0, 110, 10}, 400);
  b.time = {36000, {1, 90000}};
  EXPECT_EQ(interpolate(seen({0, 0, 10, 10}, 0), b, {1, {1, 25}}).box, middle.box);
}

TEST(Interpolate, EndsAreTheDetectionsThemselves) {
  const TimedDetection a = seen({0.1f, 0.2f, 0.3f, 0.7f}, 1, 0.1f, 3);
  const TimedDetection b = seen({7.1f, 9.2f, 11.3f, 12.7f}, 4, 0.3f, 4);
  EXPECT_EQ(interpolate(a, b, ms(1)), a.detection);
  EXPECT_EQ(interpolate(a, b, ms(4)), b.detection);
}

TEST(Interpolate, ClassIsThatOfTheSurer) {
  EXPECT_EQ(interpolate(seen({}, 0, 0.5f, 1), seen({}, 9, 0.6f, 2), ms(1)).class_id, 2);
  EXPECT_EQ(interpolate(seen({}, 0, 0.6f, 1), seen({}, 9, 0.5f, 2), ms(8)).class_id, 1);
  EXPECT_EQ(interpolate(seen({}, 0, 0.5f, 1), seen({}, 9, 0.5f, 2), ms(8)).class_id, 1);
}

TEST(Interpolate, StaysBetweenTheEnds) {
  std::mt19937 random(2);
  std::uniform_real_distribution<float> place(0, 1920);
  for (int i = 0; i < 10000; ++i) {
    const float x0 = place(random), x1 = place(random);
    const Box first{x0, x0, x0 + place(random), x0 + place(random)};
    const Box second{x1, x1, x1 + place(random), x1 + place(random)};
    const auto end = static_cast<std::int64_t>(2 + random() % 100);
    const auto at = static_cast<std::int64_t>(1 + random() % static_cast<unsigned>(end - 1));
    const Box box = interpolate(seen(first, 0), seen(second, end), ms(at)).box;
    ASSERT_GE(box.x0, std::min(first.x0, second.x0));
    ASSERT_LE(box.x0, std::max(first.x0, second.x0));
    ASSERT_GE(box.y1, std::min(first.y1, second.y1));
    ASSERT_LE(box.y1, std::max(first.y1, second.y1));
  }
}

TEST(InterpolateDeathTest, TimesOutsideAreABug) {
  EXPECT_DEATH((void)interpolate(seen({}, 5), seen({}, 9), ms(4)), "invariant");
  EXPECT_DEATH((void)interpolate(seen({}, 5), seen({}, 5), ms(5)), "invariant");
}

TEST(Motion, StandsStillUntilSeenTwice) {
  const Motion motion(seen({1, 2, 3, 4}, 0, 0.9f, 7));
  EXPECT_EQ(motion.at(ms(5000)), (Detection{{1, 2, 3, 4}, 0.9f, 7}));
  EXPECT_EQ(motion.velocity(), Point{});
}

TEST(Motion, CarriesOnAtConstantVelocity) {
  Motion motion(seen({0, 0, 20, 40}, 0));
  motion.update(seen({10, -5, 30, 35}, 100), 0.5);
  EXPECT_DOUBLE_EQ(motion.velocity().x, 100);
  EXPECT_DOUBLE_EQ(motion.velocity().y, -50);
  EXPECT_EQ(motion.at(ms(100)).box, (Box{10, -5, 30, 35}));
  EXPECT_EQ(motion.at(ms(300)).box, (Box{30, -15, 50, 25}));
  EXPECT_EQ(motion.at(ms(0)).box, (Box{0, 0, 20, 40})) << "backwards, too";
}

TEST(Motion, FollowsAnyStraightTrajectoryAtIrregularTimes) {
  std::mt19937 random(3);
  Motion motion(seen({100, 100, 140, 200}, 0));
  std::int64_t now = 0;
  const auto place = [](std::int64_t at) {
    const auto t = static_cast<float>(at) / 1000;
    return Box{100 + 70 * t, 100 - 30 * t, 140 + 72 * t, 200 - 26 * t};
  };
  for (int i = 0; i < 50; ++i) {
    now += 1 + static_cast<std::int64_t>(random() % 120);
    motion.update(seen(place(now), now), 0.4);
    const Box expected = place(now + 200);
    const Box box = motion.at(ms(now + 200)).box;
    ASSERT_NEAR(box.x0, expected.x0, 0.1);
    ASSERT_NEAR(box.y0, expected.y0, 0.1);
    ASSERT_NEAR(box.x1, expected.x1, 0.1);
    ASSERT_NEAR(box.y1, expected.y1, 0.1);
  }
}

TEST(Motion, WeightSaysHowSoonItTurns) {
  const auto turned = [](double weight) {
    Motion motion(seen({0, 0, 10, 10}, 0));
    motion.update(seen({10, 0, 20, 10}, 100), weight);
    motion.update(seen({10, 0, 20, 10}, 200), weight);
    return motion.velocity().x;
  };
  EXPECT_DOUBLE_EQ(turned(1), 0);
  EXPECT_DOUBLE_EQ(turned(0.25), 75);
}

TEST(Motion, ExtentNeitherVanishesNorExplodes) {
  Motion shrinking(seen({0, 0, 100, 100}, 0));
  shrinking.update(seen({40, 40, 60, 60}, 100), 1);
  const Box small = shrinking.at(ms(10000)).box;
  EXPECT_FLOAT_EQ(small.width(), 10);
  EXPECT_FLOAT_EQ(small.height(), 10);
  Motion growing(seen({40, 40, 60, 60}, 0));
  growing.update(seen({0, 0, 100, 100}, 100), 1);
  EXPECT_FLOAT_EQ(growing.at(ms(10000)).box.width(), 200);
}

TEST(Motion, StaysFinite) {
  Motion motion(seen({0, 0, 10, 10}, 0));
  motion.update({{{1e30f, 1e30f, 2e30f, 2e30f}, 0.5f, 0}, {1, {1, 1000000}}}, 1);
  EXPECT_TRUE(is_finite(motion.at(ms(1000000000)).box));
}

TEST(Motion, VelocitiesOverNoTimeAreNotUsed) {
  Motion motion(seen({0, 0, 10, 10}, 0));
  motion.update({{{1, 0, 11, 10}, 0.5f, 0}, {1, {1, 1000000000}}}, 1);
  EXPECT_EQ(motion.velocity(), Point{});
  EXPECT_EQ(motion.at(ms(1000)).box, (Box{1, 0, 11, 10}));
}

TEST(MotionDeathTest, GoingBackIsABug) {
  Motion motion(seen({}, 5));
  EXPECT_DEATH(motion.update(seen({}, 5), 1), "invariant");
  EXPECT_DEATH(motion.update(seen({}, 6), 0), "invariant");
}

}  // namespace
}  // namespace sparing

#include "sparing/packing/latency_profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace sparing {
namespace {

LatencyProfile profile_of(std::vector<LatencyPoint> points, const LatencyOptions& options = {}) {
  auto profile = LatencyProfile::create({"nanodet", "cpu:int8:1"}, std::move(points), options);
  EXPECT_TRUE(profile.ok());
  return std::move(profile).value();
}

// 0.1 ms per 1000 pixels and nothing fixed: a CPU.
const std::vector<LatencyPoint> kLinear = {
    {640, 640, 40.96}, {320, 320, 10.24}, {1280, 640, 81.92}};
// A GPU, the fuller the faster.
const std::vector<LatencyPoint> kCurved = {{300, 100, 10}, {1000, 100, 12}, {2000, 100, 20}};

TEST(LatencyProfile, TakesALineWhereItFits) {
  const LatencyProfile profile = profile_of(kLinear);
  ASSERT_TRUE(profile.line().has_value());
  EXPECT_NEAR(profile.line()->fixed, 0, 1e-9);
  EXPECT_NEAR(profile.line()->per_pixel, 1e-7, 1e-12);
  EXPECT_NEAR(profile.estimate({1000, 500}), 0.05, 1e-9);
  EXPECT_NEAR(profile.estimate({64, 32}), 2048e-7, 1e-9);
  EXPECT_FALSE(profile_of(kCurved).line().has_value());
}

TEST(LatencyProfile, ALineHasNoNegativeFixedCost) {
  const LatencyProfile profile = profile_of({{100, 100, 0.98}, {200, 100, 2.0}, {400, 100, 4.05}});
  ASSERT_TRUE(profile.line().has_value());
  EXPECT_GE(profile.line()->fixed, 0);
  EXPECT_NEAR(profile.estimate({400, 100}), 0.004, 0.0001);
}

TEST(LatencyProfile, InterpolatesInArea) {
  const LatencyProfile profile = profile_of(kCurved);
  EXPECT_NEAR(profile.estimate({300, 100}), 0.010, 1e-12);
  EXPECT_NEAR(profile.estimate({2000, 100}), 0.020, 1e-12);
  EXPECT_NEAR(profile.estimate({1500, 100}), 0.016, 1e-12);
  EXPECT_NEAR(profile.estimate({300, 500}), 0.016, 1e-12);  // the same area
  EXPECT_NEAR(profile.estimate({3000, 100}), 0.028, 1e-12);
  // The first line meets the axis at 10 - 2 x 3/7 = 9.14 ms.
  EXPECT_NEAR(profile.estimate({1, 1}), 0.064 / 7, 1e-6);
  EXPECT_NEAR(profile.estimate({150, 100}), (0.064 / 7 + 0.010) / 2, 1e-6);
}

TEST(LatencyProfile, StaysPositiveWhateverTheNoise) {
  // Falling, and steeper than through the origin.
  for (const auto& points : {std::vector<LatencyPoint>{{100, 100, 5}, {200, 200, 1}},
                             std::vector<LatencyPoint>{{100, 100, 0.1}, {110, 110, 9}},
                             std::vector<LatencyPoint>{{100, 100, 7}}}) {
    const LatencyProfile profile = profile_of(points);
    for (int side = 1; side < 3000; side = side * 3 / 2 + 1) {
      EXPECT_GT(profile.estimate({side, side}), 0) << side;
      EXPECT_TRUE(std::isfinite(profile.estimate({side, side})));
    }
  }
}

TEST(LatencyProfile, OnePointIsScaledByArea) {
  EXPECT_NEAR(profile_of({{100, 100, 2}}).estimate({200, 100}), 0.004, 1e-12);
}

TEST(LatencyProfile, PointsOfOneAreaAreAveraged) {
  EXPECT_NEAR(profile_of({{100, 400, 2}, {200, 200, 4}, {400, 400, 50}}).estimate({200, 200}),
              0.003, 1e-12);
}

TEST(LatencyProfile, KnowsTheLargestTemplate) {
  EXPECT_EQ(profile_of(kLinear).largest(), (Size{1280, 640}));
  const auto profile = LatencyProfile::create({"nanodet", "npu:int8", 768, 512}, kLinear);
  ASSERT_TRUE(profile.ok());
  EXPECT_TRUE(profile->runs({768, 512}));
  EXPECT_FALSE(profile->runs({768, 513}));
  EXPECT_FALSE(profile->runs({769, 512}));
}

TEST(LatencyProfile, ObservationsAreSmoothedExponentially) {
  LatencyProfile profile = profile_of(kLinear);
  const Size shape{640, 640};
  const double before = profile.estimate(shape);
  ASSERT_TRUE(profile.observe(shape, 2 * before).ok());
  EXPECT_NEAR(profile.estimate(shape), 1.2 * before, 1e-9);
  ASSERT_TRUE(profile.observe(shape, 2 * before).ok());
  EXPECT_NEAR(profile.estimate(shape), 1.36 * before, 1e-9);
  EXPECT_NEAR(profile.profiled(shape), before, 1e-12);
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(profile.observe(shape, before).ok());
  EXPECT_NEAR(profile.estimate(shape), before, 1e-9);
}

TEST(LatencyProfile, ShapesNotInUseFollowThoseInUse) {
  LatencyProfile profile = profile_of(kLinear);
  const Size small{320, 320}, large{1280, 1280}, between{640, 640};
  for (int i = 0; i < 60; ++i) {
    ASSERT_TRUE(profile.observe(small, profile.profiled(small) * 1.5).ok());
    ASSERT_TRUE(profile.observe(large, profile.profiled(large) * 2.5).ok());
  }
  EXPECT_NEAR(profile.estimate(between) / profile.profiled(between), 2.0, 0.01);
  EXPECT_NEAR(profile.estimate({64, 64}) / profile.profiled({64, 64}), 1.5, 0.01);
  // The large one is used no more and forgotten: the small one speaks for all.
  for (int i = 0; i < 60; ++i) {
    ASSERT_TRUE(profile.observe(small, profile.profiled(small) * 1.5).ok());
  }
  EXPECT_NEAR(profile.estimate(large) / profile.profiled(large), 1.5, 0.01);
}

TEST(LatencyProfile, OneWildTimeDoesLittle) {
  LatencyProfile profile = profile_of(kLinear);
  const Size shape{640, 640};
  const double before = profile.estimate(shape);
  ASSERT_TRUE(profile.observe(shape, 1e6).ok());
  EXPECT_LE(profile.estimate(shape), 1.61 * before);
  EXPECT_FALSE(profile.observe(shape, 0).ok());
  EXPECT_FALSE(profile.observe(shape, NAN).ok());
  EXPECT_FALSE(profile.observe({0, 4}, 1).ok());
}

TEST(LatencyProfile, SmoothingOfZeroKeepsTheProfile) {
  LatencyOptions options;
  options.smoothing = 0;
  LatencyProfile profile = profile_of(kLinear, options);
  ASSERT_TRUE(profile.observe({640, 640}, 1).ok());
  EXPECT_EQ(profile.estimate({640, 640}), profile.profiled({640, 640}));
}

TEST(LatencyProfile, CurrentPointsMakeTheSameProfileAgain) {
  LatencyProfile profile = profile_of(kCurved);
  for (int i = 0; i < 30; ++i) ASSERT_TRUE(profile.observe({300, 100}, 0.015).ok());
  const LatencyProfile again = profile_of(profile.current_points());
  for (const LatencyPoint& point : kCurved) {
    const Size shape{point.width, point.height};
    EXPECT_NEAR(again.estimate(shape), profile.estimate(shape), 1e-9);
  }
}

TEST(LatencyProfile, BadProfilesAreNamed) {
  const auto empty = LatencyProfile::create({"nanodet", "gpu"}, {});
  ASSERT_FALSE(empty.ok());
  EXPECT_THAT(empty.error().to_string(), testing::HasSubstr("'nanodet' on 'gpu'"));
  EXPECT_FALSE(LatencyProfile::create({}, {{100, 100, 0}}).ok());
  EXPECT_FALSE(LatencyProfile::create({}, {{0, 100, 1}}).ok());
  EXPECT_FALSE(LatencyProfile::create({"", "", -1, 0}, {{10, 100, 1}}).ok());
}

}  // namespace
}  // namespace sparing

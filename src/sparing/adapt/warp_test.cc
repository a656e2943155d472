#include "sparing/adapt/warp.h"

#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

namespace sparing::adapt {
namespace {

ProbabilityMap random_map(int classes, Size size, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> unit(0, 1);
  ProbabilityMap map;
  map.resize(classes, size);
  for (float& v : map.values) v = unit(random);
  return map;
}

FlowField random_flow(Size size, float reach, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> step(-reach, reach);
  FlowField flow;
  flow.resize(size);
  for (float& v : flow.dx) v = step(random);
  for (float& v : flow.dy) v = step(random);
  return flow;
}

// Bilinear sampling by its definition, in double precision.
double sample(const ProbabilityMap& map, int c, double x, double y) {
  x = std::min(std::max(x, 0.0), map.size.width - 1.0);
  y = std::min(std::max(y, 0.0), map.size.height - 1.0);
  double sum = 0;
  for (int v = 0; v < map.size.height; ++v) {
    for (int u = 0; u < map.size.width; ++u) {
      const double weight = std::max(0.0, 1 - std::abs(x - u)) * std::max(0.0, 1 - std::abs(y - v));
      sum += weight * map.plane(c)[static_cast<std::size_t>(v * map.size.width + u)];
    }
  }
  return sum;
}

class WarpTest : public ::testing::TestWithParam<int> {};

TEST_P(WarpTest, EqualsTheDefinition) {
  const int classes = GetParam();
  const Size size{13, 9};
  const ProbabilityMap past = random_map(classes, size, 1);
  // Some vectors leave the picture: the nearest pixel of the edge counts then.
  const FlowField flow = random_flow(size, 8, 2);
  PixelClasses from, to;
  from.from_planes(past);
  to.warp(from, flow);
  ProbabilityMap result;
  to.to_planes(result);
  ASSERT_EQ(result.classes, classes);
  ASSERT_EQ(result.size, size);
  for (int c = 0; c < classes; ++c) {
    for (int y = 0; y < size.height; ++y) {
      for (int x = 0; x < size.width; ++x) {
        const auto i = static_cast<std::size_t>(y * size.width + x);
        EXPECT_NEAR(result.plane(c)[i],
                    sample(past, c, static_cast<double>(x) + flow.dx[i],
                           static_cast<double>(y) + flow.dy[i]),
                    2e-6);
      }
    }
  }
}

TEST_P(WarpTest, BlendsByPixelWeights) {
  const int classes = GetParam();
  const Size size{10, 7};
  const ProbabilityMap past = random_map(classes, size, 3);
  const ProbabilityMap now = random_map(classes, size, 4);
  const FlowField flow = random_flow(size, 3, 5);
  std::vector<float> weights(past.pixels());
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<float>(i % 5) / 4;
  PixelClasses from, to;
  from.from_planes(past);
  to.from_planes(now);
  to.blend_warped(from, flow, weights);
  ProbabilityMap result;
  to.to_planes(result);
  for (int c = 0; c < classes; ++c) {
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const auto x = static_cast<double>(i % 10) + flow.dx[i];
      const auto y = static_cast<double>(i / 10) + flow.dy[i];
      const double w = weights[i];
      EXPECT_NEAR(result.plane(c)[i], now.plane(c)[i] * (1 - w) + sample(past, c, x, y) * w, 2e-6);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Classes, WarpTest, ::testing::Values(1, 2, 4, 5, 11, 19));

TEST(WarpTest, KeepsSumsOfOne) {
  ProbabilityMap map;
  map.resize(3, {16, 8});
  for (std::size_t i = 0; i < map.pixels(); ++i) {
    map.plane(0)[i] = static_cast<float>(i % 7) / 7;
    map.plane(1)[i] = (1 - map.plane(0)[i]) / 3;
    map.plane(2)[i] = 1 - map.plane(0)[i] - map.plane(1)[i];
  }
  PixelClasses from, to;
  from.from_planes(map);
  to.warp(from, random_flow(map.size, 20, 6));
  to.to_planes(map);
  for (std::size_t i = 0; i < map.pixels(); ++i) {
    EXPECT_NEAR(map.plane(0)[i] + map.plane(1)[i] + map.plane(2)[i], 1, 1e-5);
  }
}

TEST(WarpTest, PlanesComeBackAsTheyWere) {
  for (const Size size : {Size{1, 1}, Size{255, 3}, Size{37, 29}}) {
    const ProbabilityMap map = random_map(11, size, 7);
    PixelClasses pixels;
    pixels.from_planes(map);
    ProbabilityMap back;
    pixels.to_planes(back);
    EXPECT_EQ(back.values, map.values);
  }
}

TEST(WarpTest, VectorsThatAreNotFiniteStayInThePicture) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  for (const float v : {nan, infinity, -infinity, 1e30f, -1e30f}) {
    const Bilinear b = bilinear(v, v, {5, 4});
    EXPECT_LT(b.x1, 5u);
    EXPECT_LT(b.y1, 4u);
    EXPECT_GE(b.fx, 0);
    EXPECT_LE(b.fx, 1);
    EXPECT_FALSE(is_inside(v, 0, {5, 4}));
  }
}

TEST(WarpTest, InsideReachesToTheEdgesOfPixels) {
  EXPECT_TRUE(is_inside(-0.5f, -0.5f, {5, 4}));
  EXPECT_TRUE(is_inside(4.5f, 3.5f, {5, 4}));
  EXPECT_FALSE(is_inside(4.6f, 3, {5, 4}));
  EXPECT_FALSE(is_inside(0, -0.6f, {5, 4}));
}

TEST(WarpTest, LumaIsBilinear) {
  LumaImage luma;
  luma.fill({2, 2}, 1, 0);
  luma.row(0)[1] = 100;
  luma.row(1)[0] = 200;
  EXPECT_FLOAT_EQ(sample_luma(luma, 0, 0), 0);
  EXPECT_FLOAT_EQ(sample_luma(luma, 1, 0), 100);
  EXPECT_FLOAT_EQ(sample_luma(luma, 0.5f, 0), 50);
  EXPECT_FLOAT_EQ(sample_luma(luma, 0, 0.25f), 50);
  EXPECT_FLOAT_EQ(sample_luma(luma, 0.5f, 0.5f), 75);
  EXPECT_FLOAT_EQ(sample_luma(luma, 9, -3), 100);
}

}  // namespace
}  // namespace sparing::adapt

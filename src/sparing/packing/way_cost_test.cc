#include "sparing/packing/way_cost.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace sparing {
namespace {

using testing::ElementsAre;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

LatencyProfile profile_of(double milliseconds, int largest = 4000) {
  auto profile = LatencyProfile::create({"m", "p", largest, largest}, {{100, 100, milliseconds}});
  EXPECT_TRUE(profile.ok());
  return std::move(profile).value();
}

TEST(TileInFrame, IsWhatATileShowsAndNoMoreThanTheFrame) {
  EXPECT_EQ(tile_in_frame({1920, 1080}, {640, 640}, 1), (Size{640, 640}));
  EXPECT_EQ(tile_in_frame({1920, 1080}, {640, 640}, 0.5), (Size{1280, 1080}));
  EXPECT_EQ(tile_in_frame({1920, 1080}, {640, 320}, 3), (Size{213, 107}));
  EXPECT_EQ(tile_in_frame({1920, 1080}, {64, 64}, 1000), (Size{1, 1}));
  EXPECT_EQ(tile_in_frame({1920, 1080}, {640, 640}, 1e-9), (Size{1920, 1080}));
}

TEST(WholeFrameInput, RoundsUpToTheStride) {
  EXPECT_EQ(whole_frame_input({768, 576}, 1, 32), (Size{768, 576}));
  EXPECT_EQ(whole_frame_input({768, 576}, 0.51, 32), (Size{416, 320}));
  EXPECT_EQ(whole_frame_input({1920, 1080}, 1.0 / 3, 32), (Size{640, 384}));
  EXPECT_EQ(whole_frame_input({1920, 1080}, 640.0 / 1920, 1), (Size{640, 360}));
  EXPECT_EQ(whole_frame_input({10, 10}, 0.001, 32), (Size{32, 32}));
}

TEST(TileGrid, SpreadsTilesEvenly) {
  const auto tiles = tile_grid({1000, 320}, {400, 400}, 0.2);
  ASSERT_TRUE(tiles.ok());
  // Steps of 320 at most over the 600 to go: two of 300.
  EXPECT_THAT(*tiles,
              ElementsAre(Rect{0, 0, 400, 320}, Rect{300, 0, 400, 320}, Rect{600, 0, 400, 320}));
  const auto exact = tile_grid({640, 640}, {320, 320}, 0);
  ASSERT_TRUE(exact.ok());
  EXPECT_EQ(exact->size(), 4u);
}

TEST(TileGrid, CoversEveryPixelWithTheOverlapAskedFor) {
  std::mt19937 random(1);
  const auto any = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  for (int round = 0; round < 2000; ++round) {
    const Size frame{any(1, 3000), any(1, 2000)}, tile{any(1, 800) + 10, any(1, 800) + 10};
    const double overlap = any(0, 90) / 100.0;
    const auto tiles = tile_grid(frame, tile, overlap);
    ASSERT_TRUE(tiles.ok());
    ASSERT_EQ(tile_count(frame, tile, overlap), static_cast<std::int64_t>(tiles->size()));
    double right = 0;
    for (std::size_t i = 0; i < tiles->size() && (*tiles)[i].y == 0; ++i) {
      const Rect& rect = (*tiles)[i];
      ASSERT_LE(rect.right(), frame.width + 1e-9);
      if (i > 0) {
        ASSERT_GE(right - rect.x, overlap * tile.width - 1e-6);
      }
      right = rect.right();
    }
    ASSERT_NEAR(right, frame.width, 1e-9);
    ASSERT_NEAR(tiles->back().bottom(), frame.height, 1e-9);
  }
  EXPECT_FALSE(tile_grid({0, 1}, {1, 1}, 0).ok());
  EXPECT_FALSE(tile_grid({10, 10}, {1, 0}, 0).ok());
  EXPECT_FALSE(tile_grid({10, 10}, {1, 1}, 1).ok());
}

TEST(InputCost, TakesTheCheapestProcessorThatRunsIt) {
  const LatencyProfile slow = profile_of(3), fast = profile_of(1, 200);
  const std::vector<const LatencyProfile*> both = {&slow, &fast}, one = {&fast};
  EXPECT_NEAR(input_cost(std::vector{Size{100, 100}, Size{300, 100}}, both), 0.001 + 0.009, 1e-12);
  EXPECT_EQ(input_cost(std::vector{Size{300, 100}}, one), kInfinity);
  EXPECT_EQ(input_cost({}, one), 0);
}

TEST(PackedCost, IsNearWhatAPlanCosts) {
  const LatencyProfile profile = profile_of(1);
  const std::vector<const LatencyProfile*> processors = {&profile};
  const CanvasOptions canvas;
  const auto shapes = canvas_shapes(canvas);
  ASSERT_TRUE(shapes.ok());
  const std::vector<double> budgets = {kInfinity}, tight = {0.001};
  std::mt19937 random(2);
  std::uniform_real_distribution<double> side(40, 140);
  for (int round = 0; round < 50; ++round) {
    std::vector<RoiRequest> requests(200);
    for (RoiRequest& request : requests) request.roi.rect = {0, 0, side(random), side(random)};
    const PlanResources resources{processors, budgets, *shapes, canvas, {}};
    const auto cost = packed_cost(requests, resources);
    const auto plan = plan_window(requests, resources);
    ASSERT_TRUE(cost.ok() && plan.ok());
    EXPECT_NEAR(*cost / plan->cost, 1, 0.15);
    const auto unaffordable =
        packed_cost(requests, PlanResources{processors, tight, *shapes, canvas, {}});
    ASSERT_TRUE(unaffordable.ok());
    EXPECT_EQ(*unaffordable, kInfinity);
    EXPECT_EQ(*packed_cost({}, resources), 0);
    EXPECT_FALSE(packed_cost(requests, resources, 0).ok());
    requests[7].scale = -1;
    EXPECT_FALSE(packed_cost(requests, resources).ok());
  }
}

}  // namespace
}  // namespace sparing

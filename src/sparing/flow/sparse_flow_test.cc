#include "sparing/flow/sparse_flow.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <limits>
#include <utility>
#include <vector>

#include "sparing/flow/texture_test_util.h"

namespace sparing {
namespace {

using ::testing::HasSubstr;
using testing::Texture;

FlowPyramid pyramid(const LumaImage& image, int levels = 4) {
  FlowPyramid result;
  const Status status = result.build(image, levels);
  EXPECT_TRUE(status.ok());
  return result;
}

std::vector<FlowPoint> grid(Size size, int margin) {
  std::vector<FlowPoint> points;
  for (int y = margin; y < size.height - margin; y += 11) {
    for (int x = margin; x < size.width - margin; x += 13) {
      points.push_back({static_cast<float>(x) + 0.3f, static_cast<float>(y) + 0.6f});
    }
  }
  return points;
}

TEST(SparseFlow, FollowsSubPixelShiftsWithinATenthOfAPixel) {
  const Size size{160, 120};
  const Texture texture(3);
  const FlowPyramid before = pyramid(texture.draw(size, {}));
  for (const auto& [dx, dy] :
       {std::pair{0.0, 0.0}, {0.25, -0.4}, {1.5, 0.75}, {-3.3, 2.1}, {7.6, -5.2}, {-14.25, 11.5}}) {
    const FlowPyramid after = pyramid(texture.draw(size, {1, dx, dy}));
    const auto points = grid(size, 30);
    const auto tracks = track_points(before, after, points);
    ASSERT_TRUE(tracks.ok());
    std::size_t found = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
      const FlowTrack& track = (*tracks)[i];
      if (!track.found) continue;
      ++found;
      EXPECT_NEAR(track.to.x - points[i].x, dx, 0.1) << dx << "," << dy << " point " << i;
      EXPECT_NEAR(track.to.y - points[i].y, dy, 0.1) << dx << "," << dy << " point " << i;
      EXPECT_GT(track.correlation, 0.97f);
      EXPECT_LT(track.error, 3.0f);
      EXPECT_LE(track.round_trip, 0.5f);
    }
    EXPECT_GE(found, points.size() * 3 / 4) << dx << "," << dy;
  }
}

// A patch that grows is not a shifted one: single points may be a little off, their mean not.
TEST(SparseFlow, FollowsScaling) {
  const Size size{160, 120};
  const Texture texture(4);
  const LumaImage picture = texture.draw(size, {});
  const FlowPyramid before = pyramid(picture);
  const auto corners = find_corners(picture, {20, 20, 120, 80}, 40, 6);
  ASSERT_TRUE(corners.ok());
  for (const double scale : {0.96, 1.04}) {
    const FlowPyramid after = pyramid(texture.draw(size, {scale, 1.5, -2}));
    const auto tracks = track_points(before, after, *corners);
    ASSERT_TRUE(tracks.ok());
    double sum_x = 0, sum_y = 0, squares = 0;
    int found = 0;
    for (std::size_t i = 0; i < corners->size(); ++i) {
      if (!(*tracks)[i].found) continue;
      ++found;
      const double x = static_cast<double>((*tracks)[i].to.x) - ((*corners)[i].x * scale + 1.5);
      const double y = static_cast<double>((*tracks)[i].to.y) - ((*corners)[i].y * scale - 2);
      sum_x += x;
      sum_y += y;
      squares += x * x + y * y;
    }
    EXPECT_GE(found, 30) << scale;
    EXPECT_NEAR(sum_x / found, 0, 0.04) << scale;
    EXPECT_NEAR(sum_y / found, 0, 0.04) << scale;
    EXPECT_LT(std::sqrt(squares / (2 * found)), 0.1) << scale;
  }
}

TEST(SparseFlow, AGuessReachesShiftsThatThePyramidDoesNot) {
  const Size size{200, 120};
  const Texture texture(5);
  const FlowPyramid before = pyramid(texture.draw(size, {}), 1);
  const FlowPyramid after = pyramid(texture.draw(size, {1, 40.3, 0.2}), 1);
  const std::vector<FlowPoint> points{{60, 60}, {70, 40}, {80, 70}};
  std::vector<FlowPoint> guess;
  for (const FlowPoint& p : points) guess.push_back({p.x + 39, p.y});
  const auto blind = track_points(before, after, points);
  const auto guided = track_points(before, after, points, guess);
  ASSERT_TRUE(blind.ok() && guided.ok());
  for (std::size_t i = 0; i < points.size(); ++i) {
    EXPECT_FALSE((*blind)[i].found && std::abs((*blind)[i].to.x - points[i].x - 40.3f) < 0.1f);
    EXPECT_TRUE((*guided)[i].found);
    EXPECT_NEAR((*guided)[i].to.x - points[i].x, 40.3, 0.1);
  }
}

TEST(SparseFlow, WhatIsGoneOrFlatIsNotFound) {
  const Size size{120, 90};
  LumaImage flat;
  flat.fill(size, 1, 128);
  const auto points = grid(size, 20);
  const auto in_flat = track_points(pyramid(flat), pyramid(flat), points);
  ASSERT_TRUE(in_flat.ok());
  for (const FlowTrack& track : *in_flat) EXPECT_FALSE(track.found);

  const auto other =
      track_points(pyramid(Texture(6).draw(size, {})), pyramid(Texture(77).draw(size, {})), points);
  ASSERT_TRUE(other.ok());
  std::size_t found = 0;
  for (const FlowTrack& track : *other) found += track.found;
  EXPECT_LE(found, points.size() / 5) << "of " << points.size();
}

TEST(SparseFlow, PointsOutsideAreNotFound) {
  const Size size{64, 48};
  const FlowPyramid picture = pyramid(Texture(8).draw(size, {}));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<FlowPoint> points{{-1, 5},  {64, 5},       {5, 48},
                                      {nan, 5}, {5, infinity}, {1e9f, 1e9f}};
  const auto tracks = track_points(picture, picture, points);
  ASSERT_TRUE(tracks.ok());
  for (const FlowTrack& track : *tracks) EXPECT_FALSE(track.found);
  // Corners and edges of the picture are inside, and safe to look around.
  const std::vector<FlowPoint> edges{{0, 0}, {63.9f, 47.9f}, {0, 47.9f}, {32, 0}};
  EXPECT_TRUE(track_points(picture, picture, edges).ok());
}

TEST(SparseFlow, PicturesOfAnySizeHaveAPyramid) {
  for (const Size size : {Size{1, 1}, Size{1, 40}, Size{40, 1}, Size{7, 5}, Size{33, 31}}) {
    const LumaImage image = Texture(9).draw(size, {});
    FlowPyramid picture;
    ASSERT_TRUE(picture.build(image, 5).ok());
    const std::vector<FlowPoint> points{{0.5f, 0.5f}};
    EXPECT_TRUE(track_points(picture, picture, points).ok());
    ASSERT_TRUE(picture.build(Texture(9).draw({50, 50}, {}), 5).ok()) << "another size";
    EXPECT_EQ(picture.size(), (Size{50, 50}));
  }
}

TEST(SparseFlow, RefusesWrongArguments) {
  const LumaImage image = Texture(10).draw({40, 40}, {});
  FlowPyramid built = pyramid(image);
  FlowPyramid empty;
  EXPECT_FALSE(empty.build(LumaImage{}, 3).ok());
  EXPECT_FALSE(empty.build(image, 0).ok());
  EXPECT_FALSE(empty.build(image, 6).ok());
  const std::vector<FlowPoint> points{{5, 5}};
  EXPECT_FALSE(track_points(built, FlowPyramid{}, points).ok());
  EXPECT_FALSE(track_points(built, pyramid(Texture(1).draw({41, 40}, {})), points).ok());
  EXPECT_FALSE(track_points(built, built, {}, points).ok());
  for (SparseFlowOptions options :
       {SparseFlowOptions{2}, SparseFlowOptions{16}, SparseFlowOptions{9, 0},
        SparseFlowOptions{9, 10, 0}, SparseFlowOptions{9, 10, 0.1, -1}}) {
    const auto result = track_points(built, built, points, {}, options);
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().code, ErrorCode::kInvalidArgument);
  }
  EXPECT_FALSE(find_corners(image, {0, 0, 40, 40}, 0, 1).ok());
  EXPECT_FALSE(find_corners(image, {0, 0, 40, 40}, 5, -1).ok());
}

TEST(FindCorners, FindsTheCornersOfASquare) {
  LumaImage image;
  image.fill({80, 60}, 1, 40);
  for (int y = 20; y < 40; ++y) {
    for (int x = 30; x < 55; ++x) image.row(y)[static_cast<std::size_t>(x)] = 200;
  }
  const auto corners = find_corners(image, {5, 5, 70, 50}, 10, 3);
  ASSERT_TRUE(corners.ok());
  ASSERT_EQ(corners->size(), 4u);
  for (const FlowPoint& expected : {FlowPoint{30, 20}, {55, 20}, {30, 40}, {55, 40}}) {
    EXPECT_TRUE(std::any_of(
        corners->begin(), corners->end(),
        [&](const FlowPoint& p) { return std::hypot(p.x - expected.x, p.y - expected.y) < 1.6f; }))
        << expected.x << "," << expected.y;
  }
  const auto left = find_corners(image, {-50, -50, 95, 500}, 10, 3);  // reaches outside
  ASSERT_TRUE(left.ok());
  EXPECT_EQ(left->size(), 2u);
  const auto outside = find_corners(image, {200, 5, 10, 10}, 10, 3);
  ASSERT_TRUE(outside.ok());
  EXPECT_TRUE(outside->empty());
}

// Needs no more threads than ours: OpenCV's own would fight with those of the engine.
TEST(SparseFlow, StartsNoThreads) {
  const auto threads = [] {
    const std::filesystem::directory_iterator tasks("/proc/self/task");
    return std::distance(begin(tasks), end(tasks));
  };
  if (!std::filesystem::exists("/proc/self/task")) GTEST_SKIP() << "no /proc here";
  const auto before = threads();
  const Size size{640, 480};
  const Texture texture(11);
  const LumaImage image = texture.draw(size, {});
  const FlowPyramid a = pyramid(image);
  const FlowPyramid b = pyramid(texture.draw(size, {1, 2, 1}));
  ASSERT_TRUE(track_points(a, b, grid(size, 20)).ok());
  ASSERT_TRUE(find_corners(image, {0, 0, 640, 480}, 500, 4).ok());
  EXPECT_EQ(threads(), before);
}

}  // namespace
}  // namespace sparing

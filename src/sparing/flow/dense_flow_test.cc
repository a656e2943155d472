#include "sparing/flow/dense_flow.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <limits>
#include <thread>
#include <utility>
#include <vector>

#include "sparing/flow/texture_test_util.h"

namespace sparing {
namespace {

using ::testing::HasSubstr;
using testing::Texture;

constexpr std::array kAllPresets = {DenseFlowPreset::kUltrafast, DenseFlowPreset::kFast,
                                    DenseFlowPreset::kMedium};

FlowField flow_of(const LumaImage& from, const LumaImage& to,
                  DenseFlowPreset preset = DenseFlowPreset::kMedium) {
  FlowField field;
  const Status status = DenseFlow(preset).compute(from, to, field);
  EXPECT_TRUE(status.ok()) << (status.ok() ? "" : status.error().to_string());
  return field;
}

bool same(const FlowField& a, const FlowField& b) {
  return a.size == b.size && a.dx == b.dx && a.dy == b.dy;
}

// The share of pixels, those at the edges left out, whose vector is the true one to `tolerance`.
template <class Truth>
double share_right(const FlowField& field, int margin, double tolerance, const Truth& truth) {
  int right = 0, all = 0;
  for (int y = margin; y < field.size.height - margin; ++y) {
    for (int x = margin; x < field.size.width - margin; ++x) {
      const auto i = static_cast<std::size_t>(y * field.size.width + x);
      const auto [dx, dy] = truth(x + 0.5, y + 0.5);
      ++all;
      if (std::hypot(field.dx[i] - dx, field.dy[i] - dy) <= tolerance) ++right;
    }
  }
  return static_cast<double>(right) / all;
}

std::size_t threads_of_process() {
  return static_cast<std::size_t>(
      std::distance(std::filesystem::directory_iterator("/proc/self/task"), {}));
}

// First of all tests of this file: later nothing would be seen, were threads there already.
TEST(DenseFlow, StartsNoThreads) {
  const Texture texture(1);
  const LumaImage from = texture.draw({480, 360}, {});
  const LumaImage to = texture.draw({480, 360}, {1, 2.5, 1});
  const std::size_t before = threads_of_process();
  flow_of(from, to);
  EXPECT_EQ(threads_of_process(), before);
}

TEST(DenseFlow, FindsShiftsWithinHalfAPixelInBothDirectionsOfBothAxes) {
  const Texture texture(3);
  const LumaImage from = texture.draw({240, 176}, {});
  for (const DenseFlowPreset preset : kAllPresets) {
    for (const auto& [dx, dy] :
         {std::pair{0.0, 0.0}, {1.5, -0.75}, {-3.25, 2.0}, {6.5, 5.0}, {-9.0, -7.5}}) {
      const LumaImage to = texture.draw({240, 176}, {1, dx, dy});
      const FlowField field = flow_of(from, to, preset);
      const double share = share_right(
          field, 24, 0.5, [dx = dx, dy = dy](double, double) { return std::pair{dx, dy}; });
      EXPECT_GE(share, 0.95) << to_string(preset) << " " << dx << "," << dy;
    }
  }
}

TEST(DenseFlow, FindsAGrowingPicture) {
  const Texture texture(4);
  const FlowField field =
      flow_of(texture.draw({240, 176}, {}), texture.draw({240, 176}, {1.04, -2, 1}));
  // A point p of the first picture is at 1.04 p + (-2, 1) in the second.
  EXPECT_GE(share_right(field, 24, 0.5,
                        [](double x, double y) { return std::pair{0.04 * x - 2, 0.04 * y + 1}; }),
            0.95);
}

TEST(DenseFlow, GivesTheSameWhateverItComputedBefore) {
  const Texture texture(5);
  const LumaImage from = texture.draw({120, 96}, {});
  const LumaImage to = texture.draw({120, 96}, {1, 2, -1});
  const LumaImage small_from = texture.draw({40, 33}, {});
  const LumaImage small_to = texture.draw({40, 33}, {1, 1, 0});
  for (const DenseFlowPreset preset : kAllPresets) {
    const FlowField expected = flow_of(from, to, preset);
    const FlowField expected_small = flow_of(small_from, small_to, preset);
    DenseFlow flow(preset);
    FlowField field;
    ASSERT_TRUE(flow.compute(to, from, field).ok());
    ASSERT_TRUE(flow.compute(from, to, field).ok());
    EXPECT_TRUE(same(field, expected)) << "the same size before";
    ASSERT_TRUE(flow.compute(small_from, small_to, field).ok());
    EXPECT_TRUE(same(field, expected_small)) << "a larger one before";
    ASSERT_TRUE(flow.compute(from, to, field).ok());
    EXPECT_TRUE(same(field, expected)) << "a smaller one before";
    std::fill(field.dx.begin(), field.dx.end(), 11.0f);
    ASSERT_TRUE(flow.compute(from, to, field, true).ok());
    ASSERT_TRUE(flow.compute(from, to, field).ok());
    EXPECT_TRUE(same(field, expected)) << "a warm start before";
  }
}

TEST(DenseFlow, GivesTheSameInSeveralThreadsAtOnce) {
  const Texture texture(6);
  const LumaImage from = texture.draw({200, 150}, {});
  const LumaImage to = texture.draw({200, 150}, {1, -4, 3});
  const FlowField expected = flow_of(from, to);
  std::array<int, 4> wrong{};
  std::vector<std::thread> threads;
  for (int& count : wrong) {
    threads.emplace_back([&] {
      DenseFlow flow;
      FlowField field;
      for (int i = 0; i < 5; ++i) {
        if (!flow.compute(from, to, field).ok() || !same(field, expected)) ++count;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const int count : wrong) EXPECT_EQ(count, 0);
}

// A shift that is too large for a picture of this size, found with a hint only.
TEST(DenseFlow, BeginsAtTheFieldItIsGiven) {
  const Texture texture(7);
  const LumaImage from = texture.draw({160, 128}, {});
  const LumaImage to = texture.draw({160, 128}, {1, 46, 30});
  const auto truth = [](double, double) { return std::pair{46.0, 30.0}; };
  const auto share = [&](const FlowField& field) {
    // Only what lies in both pictures has a truth.
    int right = 0, all = 0;
    for (int y = 8; y < 128 - 40; ++y) {
      for (int x = 8; x < 160 - 56; ++x) {
        const auto i = static_cast<std::size_t>(y * 160 + x);
        ++all;
        if (std::hypot(field.dx[i] - truth(0, 0).first, field.dy[i] - truth(0, 0).second) < 1)
          ++right;
      }
    }
    return static_cast<double>(right) / all;
  };
  FlowField field = flow_of(from, to);
  const double cold = share(field);
  field.resize({160, 128});
  std::fill(field.dx.begin(), field.dx.end(), 45.0f);
  std::fill(field.dy.begin(), field.dy.end(), 31.0f);
  DenseFlow flow;
  ASSERT_TRUE(flow.compute(from, to, field, true).ok());
  EXPECT_GE(share(field), 0.9);
  EXPECT_LT(cold, 0.6) << "the hint is not needed: the test shows nothing";
}

TEST(DenseFlow, ComputesEverySizeFromTheLeastOnWithoutAFlaw) {
  const Texture texture(8);
  for (const DenseFlowPreset preset : kAllPresets) {
    DenseFlow flow(preset);
    FlowField field;
    for (const Size size : {Size{32, 32},
                            {33, 47},
                            {32, 400},
                            {400, 32},
                            {45, 46},
                            {63, 64},
                            {90, 33},
                            {91, 91},
                            {127, 129},
                            {320, 33},
                            {33, 321}}) {
      const LumaImage from = texture.draw(size, {});
      const LumaImage to = texture.draw(size, {1, 1, 0.5});
      ASSERT_TRUE(flow.compute(from, to, field).ok());
      ASSERT_EQ(field.size, size);
      const auto finite = [](float value) { return std::isfinite(value); };
      EXPECT_TRUE(std::all_of(field.dx.begin(), field.dx.end(), finite));
      EXPECT_TRUE(std::all_of(field.dy.begin(), field.dy.end(), finite));
      EXPECT_GE(share_right(field, 8, 1, [](double, double) { return std::pair{1.0, 0.5}; }), 0.8)
          << to_string(preset) << " " << size.width << "x" << size.height;
    }
  }
}

TEST(DenseFlow, PicturesWithoutTextureStandStill) {
  LumaImage grey;
  grey.fill({64, 48}, 1, 90);
  for (const DenseFlowPreset preset : kAllPresets) {
    const FlowField field = flow_of(grey, grey, preset);
    EXPECT_EQ(share_right(field, 0, 0, [](double, double) { return std::pair{0.0, 0.0}; }), 1);
  }
}

TEST(DenseFlow, RefusesPicturesItCannotCompare) {
  const Texture texture(9);
  const LumaImage good = texture.draw({64, 48}, {});
  const LumaImage other = texture.draw({64, 50}, {});
  const LumaImage small = texture.draw({64, 31}, {});
  LumaImage empty, large;
  large.fill({16385, 32}, 1, 0);
  DenseFlow flow;
  FlowField field;
  ASSERT_TRUE(flow.compute(good, good, field).ok());
  const FlowField before = field;
  const auto expect = [&](const LumaImage& a, const LumaImage& b, const char* text, bool warm) {
    const Status status = flow.compute(a, b, field, warm);
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(status.error().to_string(), HasSubstr(text));
  };
  expect(empty, good, "is empty", false);
  expect(good, empty, "is empty", false);
  expect(good, other, "64x48 and 64x50", false);
  expect(small, small, "64x31 is out of range", false);
  expect(large, large, "16385x32 is out of range", false);
  expect(other, other, "64x48 pixels; give one of the pictures' size, 64x50", true);
  EXPECT_TRUE(same(field, before));
  field.dx[17] = std::numeric_limits<float>::quiet_NaN();
  expect(good, good, "not finite", true);
  field.dx[17] = 0;
  field.dy.pop_back();
  expect(good, good, "give one of the pictures' size", true);
}

TEST(ResizeFlow, ScalesALinearFieldExactlyInsideAndItsVectorsAlong) {
  FlowField from;
  from.resize({6, 4});
  for (int y = 0; y < 4; ++y) {
    for (int x = 0; x < 6; ++x) {
      const auto i = static_cast<std::size_t>(y * 6 + x);
      from.dx[i] = static_cast<float>(0.5 * (x + 0.5) - 0.25 * (y + 0.5) + 1);
      from.dy[i] = static_cast<float>(-0.125 * (x + 0.5) + 0.75 * (y + 0.5));
    }
  }
  FlowField to;
  resize_flow(from, {18, 8}, to);
  ASSERT_EQ(to.size, (Size{18, 8}));
  for (int y = 0; y < 8; ++y) {
    for (int x = 0; x < 18; ++x) {
      // At the edges the value of the outermost centre holds.
      const double u = std::clamp((x + 0.5) / 3, 0.5, 5.5);
      const double v = std::clamp((y + 0.5) / 2, 0.5, 3.5);
      const auto i = static_cast<std::size_t>(y * 18 + x);
      EXPECT_NEAR(to.dx[i], 3 * (0.5 * u - 0.25 * v + 1), 1e-5) << x << "," << y;
      EXPECT_NEAR(to.dy[i], 2 * (-0.125 * u + 0.75 * v), 1e-5) << x << "," << y;
    }
  }
}

TEST(ResizeFlow, KeepsAFieldOfTheSameSize) {
  FlowField from, to;
  from.resize({5, 3});
  for (std::size_t i = 0; i < from.dx.size(); ++i) {
    from.dx[i] = static_cast<float>(i * i) - 20;
    from.dy[i] = 3 - static_cast<float>(i);
  }
  resize_flow(from, {5, 3}, to);
  EXPECT_TRUE(same(from, to));
}

}  // namespace
}  // namespace sparing

#include "sparing/flow/pixel_masks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <random>
#include <vector>

namespace sparing {
namespace {

using ::testing::HasSubstr;

FlowField constant(Size size, float dx, float dy) {
  FlowField field;
  field.resize(size);
  std::fill(field.dx.begin(), field.dx.end(), dx);
  std::fill(field.dy.begin(), field.dy.end(), dy);
  return field;
}

TEST(FindVisible, LosesWhatLeavesThePicture) {
  std::vector<std::uint8_t> visible;
  ASSERT_TRUE(find_visible(constant({6, 4}, 2, -1), constant({6, 4}, -2, 1), visible).ok());
  for (int y = 0; y < 4; ++y) {
    for (int x = 0; x < 6; ++x) {
      EXPECT_EQ(visible[static_cast<std::size_t>(y * 6 + x)], x < 4 && y > 0 ? 1 : 0)
          << x << "," << y;
    }
  }
}

// A patch moves 3 pixels to the right over a background that stands still: the flow back, where the
// patch now lies, leads to where it was, and not to the background that it covered.
TEST(FindVisible, LosesWhatIsCovered) {
  const Size size{12, 3};
  FlowField forward = constant(size, 0, 0);
  FlowField backward = constant(size, 0, 0);
  for (std::size_t y = 0; y < 3; ++y) {
    for (std::size_t x = 2; x < 5; ++x) forward.dx[y * 12 + x] = 3;
    for (std::size_t x = 5; x < 8; ++x) backward.dx[y * 12 + x] = -3;
  }
  std::vector<std::uint8_t> visible;
  ASSERT_TRUE(find_visible(forward, backward, visible).ok());
  for (std::size_t x = 0; x < 12; ++x) {
    EXPECT_EQ(visible[12 + x], x >= 5 && x < 8 ? 0 : 1) << x;
  }
}

// |f + b|^2 against 0.01 (|f|^2 + |b|^2) + 0.5.
TEST(FindVisible, AllowsAGapThatGrowsWithTheMotion) {
  std::vector<std::uint8_t> visible;
  const auto middle = [&](float fx, float bx) {
    EXPECT_TRUE(find_visible(constant({101, 3}, fx, 0), constant({101, 3}, bx, 0), visible).ok());
    return visible[101 + 50];
  };
  EXPECT_EQ(middle(0, 0.707f), 1);   // 0.49985 <= 0.50500
  EXPECT_EQ(middle(0, 0.712f), 0);   // 0.50694 > 0.50507
  EXPECT_EQ(middle(20, -18.0f), 1);  // 4 <= 7.74
  EXPECT_EQ(middle(20, -17.0f), 0);  // 9 > 7.39
  EXPECT_EQ(middle(std::numeric_limits<float>::quiet_NaN(), 0), 0);
  EXPECT_EQ(middle(0, std::numeric_limits<float>::quiet_NaN()), 0);
  EXPECT_EQ(middle(std::numeric_limits<float>::infinity(), 0), 0);
}

TEST(FindVisible, RefusesFieldsThatDoNotBelongTogether) {
  std::vector<std::uint8_t> visible;
  for (const auto& status :
       {find_visible({}, {}, visible),
        find_visible(constant({4, 4}, 0, 0), constant({4, 5}, 0, 0), visible)}) {
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().code, ErrorCode::kInvalidArgument);
  }
}

TEST(FindStill, IsTheMeanDifferenceInAWindowCutAtTheEdges) {
  std::mt19937 random(2);
  std::uniform_int_distribution<int> value(100, 107);
  LumaImage before, after;
  before.fill({23, 17}, 1, 0);
  after.fill({23, 17}, 1, 0);
  for (int y = 0; y < 17; ++y) {
    for (std::size_t x = 0; x < 23; ++x) {
      before.row(y)[x] = static_cast<std::uint8_t>(value(random));
      after.row(y)[x] = static_cast<std::uint8_t>(value(random));
    }
  }
  after.row(8)[11] = 0;
  for (const int radius : {0, 1, 3, 40}) {
    StillOptions options;
    options.radius = radius;
    options.most_difference = 2.5;
    std::vector<std::uint8_t> still;
    ASSERT_TRUE(find_still(before, after, still, options).ok());
    int ones = 0;
    for (int y = 0; y < 17; ++y) {
      for (int x = 0; x < 23; ++x) {
        double sum = 0;
        int pixels = 0;
        for (int v = y - radius; v <= y + radius; ++v) {
          for (int u = x - radius; u <= x + radius; ++u) {
            if (u < 0 || v < 0 || u >= 23 || v >= 17) continue;
            const auto i = static_cast<std::size_t>(u);
            sum += std::abs(before.row(v)[i] - after.row(v)[i]);
            ++pixels;
          }
        }
        const int expected = sum / pixels <= 2.5 ? 1 : 0;
        ones += expected;
        EXPECT_EQ(still[static_cast<std::size_t>(y * 23 + x)], expected) << x << "," << y;
      }
    }
    if (radius < 40) {
      EXPECT_TRUE(ones > 0 && ones < 23 * 17) << "shows nothing";
    }
  }
}

TEST(FindStill, RefusesWhatItCannotCompare) {
  LumaImage a, b;
  a.fill({8, 8}, 1, 0);
  b.fill({8, 9}, 1, 0);
  std::vector<std::uint8_t> still;
  const auto text = [&](const Status& status) {
    EXPECT_FALSE(status.ok());
    return status.ok() ? "" : status.error().to_string();
  };
  EXPECT_THAT(text(find_still(a, b, still)), HasSubstr("different sizes"));
  EXPECT_THAT(text(find_still({}, {}, still)), HasSubstr("empty"));
  EXPECT_THAT(text(find_still(a, a, still, {-1, 3})), HasSubstr("-1 is out of range"));
  EXPECT_THAT(text(find_still(a, a, still, {65, 3})), HasSubstr("65 is out of range"));
  EXPECT_THAT(text(find_still(a, a, still, {3, 256})), HasSubstr("out of range"));
  EXPECT_THAT(text(find_still(a, a, still, {3, std::numeric_limits<double>::quiet_NaN()})),
              HasSubstr("out of range"));
}

}  // namespace
}  // namespace sparing

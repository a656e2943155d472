#include "sparing/metrics/temporal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <initializer_list>
#include <limits>
#include <map>
#include <random>
#include <utility>
#include <vector>

namespace sparing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

LabelMap map_of(Size size, std::initializer_list<int> labels) {
  LabelMap map;
  map.size = size;
  for (const int label : labels) map.labels.push_back(static_cast<std::uint8_t>(label));
  return map;
}

LabelClasses classes_of(int count, std::vector<std::uint8_t> ignored = {}) {
  auto classes = LabelClasses::create(count, ignored);
  EXPECT_TRUE(classes.ok());
  return *classes;
}

struct Flow {
  std::vector<float> dx, dy;
  FlowView view() const { return {dx, dy}; }
};

Flow constant(std::size_t pixels, float dx, float dy) {
  return {std::vector<float>(pixels, dx), std::vector<float>(pixels, dy)};
}

std::string error_of(const Status& status) {
  EXPECT_FALSE(status.ok());
  if (status.ok()) return "";
  EXPECT_EQ(status.error().code, ErrorCode::kInvalidArgument);
  return status.error().to_string();
}

TEST(WarpLabels, TakesTheLabelOfTheNearestPixel) {
  const LabelMap labels = map_of({4, 2}, {0, 1, 2, 3, 4, 5, 6, 7});
  LabelMap out;
  ASSERT_TRUE(warp_labels(labels, constant(8, 1, 0).view(), out).ok());
  EXPECT_EQ(out, map_of({4, 2}, {1, 2, 3, 255, 5, 6, 7, 255}));
  ASSERT_TRUE(warp_labels(labels, constant(8, 0.49f, -0.49f).view(), out).ok());
  EXPECT_EQ(out, labels);
  ASSERT_TRUE(warp_labels(labels, constant(8, -0.51f, 0.51f).view(), out).ok());
  EXPECT_EQ(out, map_of({4, 2}, {255, 4, 5, 6, 255, 255, 255, 255}));
  Flow odd = constant(8, 0, 0);
  odd.dx[1] = std::numeric_limits<float>::quiet_NaN();
  odd.dy[2] = std::numeric_limits<float>::infinity();
  odd.dx[3] = -3;
  odd.dx[4] = -1e30f;
  ASSERT_TRUE(warp_labels(labels, odd.view(), out).ok());
  EXPECT_EQ(out, map_of({4, 2}, {0, 255, 255, 0, 255, 5, 6, 7}));
}

TEST(WarpLabels, RefusesAnotherSize) {
  LabelMap out;
  const LabelMap labels = map_of({2, 1}, {0, 1});
  Flow flow = constant(2, 0, 0);
  flow.dy.pop_back();
  EXPECT_THAT(error_of(warp_labels(labels, flow.view(), out)),
              HasSubstr("vertical flow: 1 values for 2 pixels"));
  EXPECT_THAT(error_of(warp_labels(map_of({3, 1}, {0, 1}), constant(3, 0, 0).view(), out)),
              HasSubstr("labels to warp"));
}

// Everything moves one pixel to the right.
//   t-1:  0 0 1 1     t:  0 0 0 1      t seen from t-1:  0 0 1 -
//         1 1 1 0         1 1 0 1                        1 0 1 -
TEST(FlowConsistency, GivesTheKnownScoreOfACaseDoneByHand) {
  const LabelMap before = map_of({4, 2}, {0, 0, 1, 1, 1, 1, 1, 0});
  const LabelMap after = map_of({4, 2}, {0, 0, 0, 1, 1, 1, 0, 1});
  FlowConsistency measure(classes_of(2));
  EXPECT_FALSE(measure.total() || measure.last());
  ASSERT_TRUE(measure.add(before, after, constant(8, 1, 0).view()).ok());
  // Class 0: both in 2, either in 3 pixels; class 1: both 3, either 4.
  EXPECT_DOUBLE_EQ(*measure.total(), (2.0 / 3 + 3.0 / 4) / 2);
  // A pair in which nothing changes: 6 and 2 pixels more of both.
  const LabelMap still = map_of({4, 2}, {0, 0, 0, 0, 0, 0, 1, 1});
  ASSERT_TRUE(measure.add(still, still, constant(8, 0, 0).view()).ok());
  EXPECT_DOUBLE_EQ(*measure.last(), 1);
  EXPECT_DOUBLE_EQ(*measure.total(), (8.0 / 9 + 5.0 / 6) / 2) << "sums, not the mean of pairs";
  EXPECT_EQ(measure.pairs(), 2);
}

TEST(FlowConsistency, LeavesOutWhatIsIgnoredOrNotVisible) {
  const LabelClasses classes = classes_of(2, {9});
  FlowConsistency measure(classes);
  ASSERT_TRUE(measure
                  .add(map_of({4, 1}, {0, 255, 1, 1}), map_of({4, 1}, {0, 0, 9, 1}),
                       constant(4, 0, 0).view())
                  .ok());
  EXPECT_DOUBLE_EQ(*measure.total(), 1);
  FlowConsistency masked(classes);
  const std::vector<std::uint8_t> visible{1, 0, 1, 0};
  ASSERT_TRUE(masked
                  .add(map_of({4, 1}, {0, 0, 1, 1}), map_of({4, 1}, {0, 1, 0, 0}),
                       constant(4, 0, 0).view(), visible)
                  .ok());
  // Left are (0, 0) and (1, 0).
  EXPECT_DOUBLE_EQ(*masked.total(), (1.0 / 2 + 0) / 2);
  const std::vector<std::uint8_t> nothing(4, 0);
  ASSERT_TRUE(masked
                  .add(map_of({4, 1}, {0, 0, 1, 1}), map_of({4, 1}, {0, 1, 0, 0}),
                       constant(4, 0, 0).view(), nothing)
                  .ok());
  EXPECT_FALSE(masked.last());
  EXPECT_DOUBLE_EQ(*masked.total(), 0.25);
}

// In double precision, with sums by class in a map.
TEST(FlowConsistency, AgreesWithThePlainDefinition) {
  std::mt19937 random(5);
  std::uniform_real_distribution<float> shift(-3, 3);
  FlowConsistency measure(classes_of(5, {4}));
  std::map<int, std::pair<double, double>> sums;  // intersection, union
  for (int frame = 0; frame < 6; ++frame) {
    LabelMap before, after;
    before.resize({19, 11});
    after.resize({19, 11});
    for (auto& label : before.labels) label = static_cast<std::uint8_t>(random() % 5);
    for (auto& label : after.labels) label = static_cast<std::uint8_t>(random() % 5);
    Flow flow = constant(19 * 11, 0, 0);
    std::vector<std::uint8_t> visible(19 * 11);
    for (std::size_t i = 0; i < visible.size(); ++i) {
      flow.dx[i] = shift(random);
      flow.dy[i] = shift(random);
      visible[i] = random() % 4 != 0;
    }
    ASSERT_TRUE(measure.add(before, after, flow.view(), visible).ok());
    for (int y = 0; y < 11; ++y) {
      for (int x = 0; x < 19; ++x) {
        const auto i = static_cast<std::size_t>(y * 19 + x);
        const double u = std::floor(x + 0.5 + flow.dx[i]);
        const double v = std::floor(y + 0.5 + flow.dy[i]);
        if (visible[i] == 0 || u < 0 || v < 0 || u >= 19 || v >= 11) continue;
        const int a = before.labels[i];
        const int b = after.labels[static_cast<std::size_t>(v * 19 + u)];
        if (a == 4 || b == 4) continue;
        sums[a].second += 1;
        if (a == b) {
          sums[a].first += 1;
        } else {
          sums[b].second += 1;
        }
      }
    }
  }
  double expected = 0;
  for (const auto& [label, sum] : sums) expected += sum.first / sum.second / 4;
  ASSERT_EQ(sums.size(), 4u);
  EXPECT_NEAR(*measure.total(), expected, 1e-12);
}

TEST(FlowConsistency, RefusesWhatDoesNotFit) {
  FlowConsistency measure(classes_of(2));
  const LabelMap good = map_of({2, 1}, {0, 1});
  const Flow flow = constant(2, 0, 0);
  EXPECT_THAT(error_of(measure.add(good, map_of({1, 2}, {0, 1}), flow.view())),
              HasSubstr("1x2 pixels"));
  EXPECT_THAT(error_of(measure.add(map_of({2, 1}, {0, 5}), good, flow.view())),
              HasSubstr("label 5"));
  EXPECT_THAT(error_of(measure.add(good, good, constant(3, 0, 0).view())),
              HasSubstr("3 values for 2 pixels"));
  EXPECT_THAT(error_of(measure.add(good, good, flow.view(), std::vector<std::uint8_t>{1})),
              HasSubstr("visible pixels"));
  EXPECT_EQ(measure.pairs(), 0);
}

TEST(Flicker, IsTheShareOfStaticPixelsThatChange) {
  Flicker flicker(classes_of(3, {9}));
  EXPECT_FALSE(flicker.total());
  // Static are all but the third; the last two have no class in one frame.
  const std::vector<std::uint8_t> still{1, 1, 0, 1, 1, 1};
  ASSERT_TRUE(
      flicker.add(map_of({6, 1}, {0, 1, 0, 2, 9, 1}), map_of({6, 1}, {0, 2, 1, 2, 0, 255}), still)
          .ok());
  EXPECT_DOUBLE_EQ(*flicker.last(), 1.0 / 3);
  const LabelMap same = map_of({6, 1}, {0, 0, 0, 0, 0, 0});
  ASSERT_TRUE(flicker.add(same, same, still).ok());
  EXPECT_DOUBLE_EQ(*flicker.last(), 0);
  EXPECT_DOUBLE_EQ(*flicker.total(), 1.0 / 8);
  EXPECT_EQ(flicker.pixels(), 8);
  ASSERT_TRUE(flicker.add(same, same, std::vector<std::uint8_t>(6, 0)).ok());
  EXPECT_FALSE(flicker.last());
  EXPECT_THAT(error_of(flicker.add(same, same, std::vector<std::uint8_t>(5, 1))),
              HasSubstr("static pixels: 5 values for 6 pixels"));
  EXPECT_THAT(error_of(flicker.add(same, map_of({1, 1}, {0}), still)), HasSubstr("1x1"));
  EXPECT_EQ(flicker.pixels(), 8);
}

}  // namespace
}  // namespace sparing

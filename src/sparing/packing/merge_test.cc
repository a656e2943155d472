#include "sparing/packing/merge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace sparing {
namespace {

using testing::ElementsAre;

constexpr Size kFrame{640, 480};

ScaledRoi region(Rect rect, double scale = 1, float confidence = 0) {
  ScaledRoi scaled;
  scaled.roi.rect = rect;
  scaled.roi.confidence = confidence;
  scaled.scale = scale;
  return scaled;
}

MergeOptions no_padding() {
  MergeOptions options;
  options.min_pad = 0;
  options.pad_share = 0;
  return options;
}

TEST(PadRect, HasAFloorGrowsWithTheAreaAndStaysInTheFrame) {
  MergeOptions options;
  options.pad_share = 0.3;
  // 0.3 x sqrt(20 x 20) = 6 is below the floor of 16; 0.3 x sqrt(100 x 100) = 30 is above.
  EXPECT_EQ(pad_rect({100, 100, 20, 20}, kFrame, options), (Rect{84, 84, 52, 52}));
  EXPECT_EQ(pad_rect({100, 100, 100, 100}, kFrame, options), (Rect{70, 70, 160, 160}));
  EXPECT_EQ(pad_rect({5, 470, 20, 10}, kFrame, options), (Rect{0, 454, 41, 26}));
}

TEST(MergeRois, RedundantRegionsBecomeOneOfTheBestKnownObject) {
  // Overlap 90 x 100 of 110 x 100: IoU .82.
  const std::vector<ScaledRoi> rois = {region({100, 100, 100, 100}, 0.5, 0),
                                       region({110, 100, 100, 100}, 0.4, 0.9f)};
  MergeOptions options = no_padding();
  options.joint_factor = 0;
  const auto merged = merge_rois(rois, kFrame, options);
  ASSERT_TRUE(merged.ok());
  ASSERT_EQ(merged->size(), 1u);
  EXPECT_EQ((*merged)[0].roi.rect, (Rect{100, 100, 110, 100}));
  EXPECT_EQ((*merged)[0].roi.confidence, 0.9f);
  EXPECT_EQ((*merged)[0].scale, 0.5);
  EXPECT_THAT((*merged)[0].members, ElementsAre(0, 1));
}

TEST(MergeRois, RedundancyIsDecidedWithoutContext) {
  // Side by side: with 16 px of context each, they overlap by more than half.
  MergeOptions options;
  options.joint_factor = 0;
  const auto merged = merge_rois(
      std::vector{region({100, 100, 10, 10}), region({110, 100, 10, 10})}, kFrame, options);
  ASSERT_TRUE(merged.ok());
  EXPECT_EQ(merged->size(), 2u);
}

TEST(MergeRois, NeighboursJoinBelowTheFactorOnly) {
  // Two squares of 100 with 50 between them: 250 x 100 against 200 x 100: 1.25.
  const std::vector<ScaledRoi> rois = {region({0, 0, 100, 100}, 1, 0.3f),
                                       region({150, 0, 100, 100}, 1, 0.2f)};
  MergeOptions options = no_padding();
  auto merged = merge_rois(rois, kFrame, options);
  ASSERT_TRUE(merged.ok());
  ASSERT_EQ(merged->size(), 1u);
  EXPECT_EQ((*merged)[0].roi.rect, (Rect{0, 0, 250, 100}));
  EXPECT_EQ((*merged)[0].roi.confidence, 0.2f);  // the one that is known least
  options.joint_factor = 1.25;
  merged = merge_rois(rois, kFrame, options);
  ASSERT_TRUE(merged.ok());
  EXPECT_EQ(merged->size(), 2u);
}

TEST(MergeRois, AreasAreCountedAsDrawn) {
  // The small one inside the large one, at 4 times the scale: joined, all would be drawn at 1.
  const std::vector<ScaledRoi> rois = {region({0, 0, 400, 400}, 0.25), region({10, 10, 40, 40}, 1)};
  auto merged = merge_rois(rois, kFrame, no_padding());
  ASSERT_TRUE(merged.ok());
  EXPECT_EQ(merged->size(), 2u);  // 160000 against 10000 + 1600
  merged = merge_rois(std::vector{rois[0], region({10, 10, 40, 40}, 0.25)}, kFrame, no_padding());
  ASSERT_TRUE(merged.ok());
  EXPECT_EQ(merged->size(), 1u);
}

TEST(MergeRois, TheBestPairGoesFirst) {
  // The middle one could join either; the right one is nearer.
  const std::vector<ScaledRoi> rois = {region({0, 0, 100, 100}), region({140, 0, 100, 100}),
                                       region({260, 0, 100, 100})};
  MergeOptions options = no_padding();
  options.joint_factor = 1.11;  // 240/200 and 220/200; all three: 360/320 = 1.125
  const auto merged = merge_rois(rois, kFrame, options);
  ASSERT_TRUE(merged.ok());
  ASSERT_EQ(merged->size(), 2u);
  EXPECT_THAT((*merged)[0].members, ElementsAre(0));
  EXPECT_THAT((*merged)[1].members, ElementsAre(1, 2));
}

TEST(MergeRois, WholeFramesStayAlone) {
  ScaledRoi whole = region({0, 0, 640, 480}, 0.5);
  whole.roi.source = RoiSource::kWholeFrame;
  const auto merged = merge_rois(
      std::vector{whole, region({10, 10, 600, 400}), region({20, 20, 600, 400})}, kFrame);
  ASSERT_TRUE(merged.ok());
  ASSERT_EQ(merged->size(), 2u);
  EXPECT_EQ((*merged)[0].roi.rect, (Rect{0, 0, 640, 480}));
  EXPECT_THAT((*merged)[1].members, ElementsAre(1, 2));
}

TEST(MergeRois, BadRegionsAreNamed) {
  const auto outside = merge_rois(std::vector{region({600, 0, 100, 10})}, kFrame);
  ASSERT_FALSE(outside.ok());
  EXPECT_THAT(outside.error().to_string(), testing::HasSubstr("region 0"));
  EXPECT_FALSE(merge_rois(std::vector{region({0, 0, 0, 10})}, kFrame).ok());
  EXPECT_FALSE(merge_rois(std::vector{region({0, 0, 10, 10}, 0)}, kFrame).ok());
  EXPECT_FALSE(merge_rois(std::vector{region({0, 0, NAN, 10})}, kFrame).ok());
  EXPECT_FALSE(merge_rois({}, Size{0, 10}).ok());
  MergeOptions options;
  options.redundant_iou = 2;
  EXPECT_FALSE(merge_rois({}, kFrame, options).ok());
}

// The definition, pair by pair over everything: what the bookkeeping must equal.
std::vector<Rect> join_plainly(std::vector<Rect> rects, double factor) {
  for (;;) {
    std::size_t first = 0, second = 0;
    double least = factor;
    for (std::size_t i = 0; i < rects.size(); ++i) {
      for (std::size_t j = i + 1; j < rects.size(); ++j) {
        const double x = std::min(rects[i].x, rects[j].x);
        const double y = std::min(rects[i].y, rects[j].y);
        const double w = std::max(rects[i].right(), rects[j].right()) - x;
        const double h = std::max(rects[i].bottom(), rects[j].bottom()) - y;
        const double ratio = w * h / (rects[i].area() + rects[j].area());
        if (ratio < least) least = ratio, first = i, second = j;
      }
    }
    if (second == 0) return rects;
    Rect& a = rects[first];
    const Rect b = rects[second];
    const double x = std::min(a.x, b.x), y = std::min(a.y, b.y);
    a = {x, y, std::max(a.right(), b.right()) - x, std::max(a.bottom(), b.bottom()) - y};
    rects.erase(rects.begin() + static_cast<std::ptrdiff_t>(second));
  }
}

TEST(MergeRois, EqualsThePlainDefinition) {
  std::mt19937 random(1);
  // Multiples of 1/1024, whose sums do not round.
  std::uniform_int_distribution<int> whole(0, 1023);
  const auto unit = [&](std::mt19937& r) { return whole(r) / 1024.0; };
  MergeOptions options = no_padding();
  options.redundant_iou = 1;  // never
  for (int round = 0; round < 500; ++round) {
    std::vector<ScaledRoi> rois;
    std::vector<Rect> rects;
    for (int i = 0; i < 30; ++i) {
      const double w = 5 + 100 * unit(random), h = 5 + 100 * unit(random);
      rects.push_back({unit(random) * 500, unit(random) * 350, w, h});
      rois.push_back(region(rects.back()));
    }
    const auto merged = merge_rois(rois, kFrame, options);
    ASSERT_TRUE(merged.ok());
    std::vector<Rect> got;
    for (const MergedRoi& roi : *merged) got.push_back(roi.roi.rect);
    EXPECT_THAT(got, testing::UnorderedElementsAreArray(
                         join_plainly(std::move(rects), options.joint_factor)));
  }
}

TEST(MergeRois, CoversEveryRegionOnceWhateverIsGiven) {
  std::mt19937 random(2);
  std::uniform_real_distribution<double> unit(0, 1);
  for (int round = 0; round < 2000; ++round) {
    std::vector<ScaledRoi> rois;
    const int count = static_cast<int>(unit(random) * 40);
    for (int i = 0; i < count; ++i) {
      const double w = 1 + 200 * unit(random), h = 1 + 200 * unit(random);
      rois.push_back(region({unit(random) * (640 - w), unit(random) * (480 - h), w, h},
                            0.1 + unit(random), static_cast<float>(unit(random))));
    }
    const auto merged = merge_rois(rois, kFrame);
    ASSERT_TRUE(merged.ok());
    std::vector<int> seen(rois.size());
    for (const MergedRoi& roi : *merged) {
      const Rect& r = roi.roi.rect;
      EXPECT_TRUE(r.x >= 0 && r.y >= 0 && r.right() <= 640 + 1e-9 && r.bottom() <= 480 + 1e-9);
      for (const int member : roi.members) {
        const ScaledRoi& given = rois[static_cast<std::size_t>(member)];
        ++seen[static_cast<std::size_t>(member)];
        EXPECT_NEAR(intersect(r, given.roi.rect).area(), given.roi.rect.area(), 1e-6);
        EXPECT_GE(roi.scale, given.scale);
      }
    }
    EXPECT_TRUE(std::all_of(seen.begin(), seen.end(), [](int n) { return n == 1; }));
  }
}

}  // namespace
}  // namespace sparing

// The rivals' own arithmetic, against plain restatements of what it should do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "baseline_slices.h"
#include "baseline_squares.h"

namespace sparing::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

TEST(Slices, CoverTheFrameAndOverlapAsAskedFor) {
  for (const Size frame : {Size{768, 576}, Size{1200, 720}, Size{640, 480}, Size{300, 900}}) {
    for (const int side : {128, 320, 640}) {
      const std::vector<Rect> slices = slice_rects(frame, side, 0.2);
      std::vector<int> columns(static_cast<std::size_t>(frame.width), 0);
      std::vector<int> rows(static_cast<std::size_t>(frame.height), 0);
      for (const Rect& slice : slices) {
        EXPECT_GE(slice.x, 0);
        EXPECT_GE(slice.y, 0);
        EXPECT_LE(slice.right(), frame.width);
        EXPECT_LE(slice.bottom(), frame.height);
        EXPECT_EQ(slice.width, std::min(side, frame.width));
        EXPECT_EQ(slice.height, std::min(side, frame.height));
        for (int x = static_cast<int>(slice.x); x < slice.right(); ++x) {
          ++columns[static_cast<std::size_t>(x)];
        }
        for (int y = static_cast<int>(slice.y); y < slice.bottom(); ++y) {
          ++rows[static_cast<std::size_t>(y)];
        }
      }
      EXPECT_THAT(columns, ::testing::Each(::testing::Ge(1)));
      EXPECT_THAT(rows, ::testing::Each(::testing::Ge(1)));
    }
  }
}

// The positions that SAHI gives for 768x576 and slices of 320 that overlap by 0.2.
TEST(Slices, LieWhereSahiPutsThem) {
  std::vector<std::pair<double, double>> corners;
  for (const Rect& slice : slice_rects({768, 576}, 320, 0.2)) corners.push_back({slice.x, slice.y});
  using P = std::pair<double, double>;
  EXPECT_THAT(corners,
              ElementsAre(P{0, 0}, P{256, 0}, P{448, 0}, P{0, 256}, P{256, 256}, P{448, 256}));
}

Box random_box(std::mt19937& random) {
  std::uniform_real_distribution<float> place(0, 60);
  std::uniform_real_distribution<float> extent(2, 30);
  const float x = place(random);
  const float y = place(random);
  return {x, y, x + extent(random), y + extent(random)};
}

// The rule as it reads: again and again the best of what is left takes its matches away.
std::vector<Detection> merge_by_rule(std::vector<Detection> left, float threshold) {
  std::vector<Detection> merged;
  while (!left.empty()) {
    const auto best =
        std::max_element(left.begin(), left.end(),
                         [](const Detection& a, const Detection& b) { return a.score < b.score; });
    Detection grown = *best;
    const Box as_found = best->box;
    left.erase(best);
    while (true) {
      auto next = left.end();
      for (auto it = left.begin(); it != left.end(); ++it) {
        if (it->class_id != grown.class_id) continue;
        if (intersection_over_smaller(as_found, it->box) < threshold) continue;
        if (next == left.end() || it->score > next->score) next = it;
      }
      if (next == left.end()) break;
      if (intersection_over_smaller(grown.box, next->box) >= threshold) {
        grown.box.x0 = std::min(grown.box.x0, next->box.x0);
        grown.box.y0 = std::min(grown.box.y0, next->box.y0);
        grown.box.x1 = std::max(grown.box.x1, next->box.x1);
        grown.box.y1 = std::max(grown.box.y1, next->box.y1);
      }
      left.erase(next);
    }
    merged.push_back(grown);
  }
  return merged;
}

TEST(GreedyMerging, AgreesWithTheRule) {
  std::mt19937 random(7);
  for (int round = 0; round < 500; ++round) {
    std::vector<Detection> detections;
    const int count = static_cast<int>(random() % 15);
    for (int i = 0; i < count; ++i) {
      // Scores without ties, so that the order is that of the scores alone.
      const float score = (static_cast<float>(random() % 1000) + static_cast<float>(i) / 20) / 1001;
      detections.push_back({random_box(random), score, static_cast<int>(random() % 2)});
    }
    EXPECT_EQ(merge_greedily(detections, 0.5f), merge_by_rule(detections, 0.5f));
  }
}

TEST(GreedyMerging, JoinsHalvesOfOneObjectWithTheWhole) {
  const std::vector<Detection> merged = merge_greedily(
      std::vector<Detection>{
          {{0, 0, 10, 20}, 0.9f, 0}, {{0, 10, 10, 30}, 0.6f, 0}, {{50, 50, 60, 60}, 0.5f, 0}},
      0.5f);
  ASSERT_THAT(merged, SizeIs(2));
  EXPECT_EQ(merged[0], (Detection{{0, 0, 10, 30}, 0.9f, 0}));
}

TEST(GreedyMerging, KeepsClassesApart) {
  const std::vector<Detection> two = {{{0, 0, 10, 10}, 0.9f, 0}, {{0, 0, 10, 10}, 0.8f, 1}};
  EXPECT_THAT(merge_greedily(two, 0.5f), SizeIs(2));
}

TEST(GreedySuppression, KeepsTheBestOfThoseThatMatch) {
  std::mt19937 random(5);
  for (int round = 0; round < 200; ++round) {
    std::vector<Detection> detections;
    for (int i = 0; i < 12; ++i) {
      const float score = (static_cast<float>(random() % 1000) + static_cast<float>(i) / 20) / 1001;
      detections.push_back({random_box(random), score, static_cast<int>(random() % 2)});
    }
    const std::vector<Detection> kept = suppress_greedily(detections, 0.5f);
    const auto is_kept = [&](const Detection& d) {
      return std::find(kept.begin(), kept.end(), d) != kept.end();
    };
    // One is kept exactly if no better one that is kept matches it.
    for (const Detection& d : detections) {
      const bool covered = std::any_of(kept.begin(), kept.end(), [&](const Detection& other) {
        return other.score > d.score && other.class_id == d.class_id &&
               intersection_over_smaller(other.box, d.box) >= 0.5f;
      });
      EXPECT_NE(is_kept(d), covered);
    }
  }
}

TEST(Overlap, IsMeasuredOnTheSmallerBox) {
  EXPECT_FLOAT_EQ(intersection_over_smaller({0, 0, 10, 10}, {5, 5, 7, 7}), 1);
  EXPECT_FLOAT_EQ(intersection_over_smaller({0, 0, 10, 10}, {9, 0, 11, 10}), 0.5f);
  EXPECT_FLOAT_EQ(intersection_over_smaller({0, 0, 10, 10}, {10, 0, 20, 10}), 0);
  EXPECT_FLOAT_EQ(intersection_over_smaller({0, 0, 10, 10}, {3, 3, 3, 8}), 0);
}

TEST(Squares, AreSquareOfTheLeastSizeAndInsideTheFrame) {
  std::mt19937 random(11);
  std::uniform_real_distribution<float> x(0, 700);
  std::uniform_real_distribution<float> y(0, 500);
  std::uniform_real_distribution<float> extent(1, 300);
  for (int i = 0; i < 500; ++i) {
    const float left = x(random);
    const float top = y(random);
    const Box box{left, top, std::min(768.f, left + extent(random)),
                  std::min(576.f, top + extent(random))};
    const Box region = square_region({768, 576}, box, 320, 1.35);
    EXPECT_EQ(region.width(), region.height());
    EXPECT_GE(region.width(), 320);
    EXPECT_EQ(static_cast<int>(region.width()) % 4, 0);
    EXPECT_GE(region.x0, 0);
    EXPECT_GE(region.y0, 0);
    if (region.width() <= 576) {
      EXPECT_LE(region.x1, 768);
      EXPECT_LE(region.y1, 576);
      // Rounding to whole pixels may cut a fraction.
      EXPECT_LE(region.x0, box.x0 + 1);
      EXPECT_GE(region.x1, box.x1 - 1);
    }
  }
}

TEST(Squares, ReachOutsideAFrameThatIsTooSmall) {
  const Box region = square_region({768, 576}, {0, 0, 768, 576}, 320, 1.35);
  EXPECT_EQ(region, (Box{0, 0, 1036, 1036}));
}

TEST(Clusters, HoldEachBoxOnce) {
  std::mt19937 random(13);
  for (int round = 0; round < 100; ++round) {
    std::vector<Box> boxes;
    for (int i = 0; i < 20; ++i) {
      Box box = random_box(random);
      const auto dx = static_cast<float>(random() % 600);
      const auto dy = static_cast<float>(random() % 450);
      boxes.push_back({box.x0 + dx, box.y0 + dy, box.x1 + dx, box.y1 + dy});
    }
    std::vector<int> seen(boxes.size(), 0);
    for (const auto& cluster : cluster_boxes({768, 576}, 320, boxes)) {
      for (const std::size_t index : cluster) ++seen[index];
    }
    EXPECT_THAT(seen, ::testing::Each(1));
  }
}

TEST(Clusters, JoinNeighboursAndPartThoseFarAway) {
  const std::vector<Box> boxes = {{100, 100, 120, 150}, {130, 100, 150, 150}, {700, 500, 720, 550}};
  const auto clusters = cluster_boxes({768, 576}, 320, boxes);
  EXPECT_THAT(clusters, UnorderedElementsAre(UnorderedElementsAre(0, 1), ElementsAre(2)));
}

TEST(Grid, GivesMotionTheSizeThatObjectsHadThere) {
  RegionGrid grid({1600, 1600}, 320);
  const Box motion{790, 790, 810, 810};
  EXPECT_EQ(grid.region(motion).width(), 320);
  // Objects of 500 have regions of 1.35 times that: larger than motion's own.
  for (int i = 0; i < 5; ++i) grid.add({550, 550, 1050, 1050});
  const Box region = grid.region(motion);
  EXPECT_GT(region.width(), 600);
  EXPECT_LE(region.x0, motion.x0);
  EXPECT_GE(region.x1, motion.x1);
  // Elsewhere nothing was seen.
  EXPECT_EQ(grid.region({100, 100, 120, 120}).width(), 320);
}

TEST(Reduction, PrefersWholeBoxesToCutOnes) {
  const Box left{0, 0, 320, 320};
  const Box right{200, 0, 520, 320};
  // The same person: cut at the left region's edge, whole in the right one.
  const std::vector<SquareDetection> found = {{{{290, 100, 318, 200}, 0.8f, 0}, left},
                                              {{{290, 100, 340, 200}, 0.7f, 0}, right}};
  const std::vector<Detection> reduced = reduce_detections(found, {768, 576});
  ASSERT_THAT(reduced, SizeIs(1));
  EXPECT_EQ(reduced[0], found[1].detection);
  EXPECT_THAT(reduce_detections({}, {768, 576}), IsEmpty());
}

}  // namespace
}  // namespace sparing::bench

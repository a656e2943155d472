#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "sparing/models/head.h"

namespace sparing {
namespace {

// The textbook: the full matrix of overlaps, in double, best first.
std::vector<Detection> brute_force(const std::vector<Detection>& all, const NmsOptions& options) {
  const std::size_t n = all.size();
  const auto overlap = [&](std::size_t a, std::size_t b) {
    const auto side = [](double low, double high) { return high > low ? high - low : 0.0; };
    const Box& p = all[a].box;
    const Box& q = all[b].box;
    const double common = side(std::max(p.x0, q.x0), std::min(p.x1, q.x1)) *
                          side(std::max(p.y0, q.y0), std::min(p.y1, q.y1));
    const double both = side(p.x0, p.x1) * side(p.y0, p.y1) + side(q.x0, q.x1) * side(q.y0, q.y1);
    return common > 0 ? common / (both - common) : 0.0;
  };
  std::vector<std::vector<char>> suppresses(n, std::vector<char>(n));
  for (std::size_t a = 0; a < n; ++a) {
    for (std::size_t b = 0; b < n; ++b) {
      const bool related = options.class_agnostic || all[a].class_id == all[b].class_id;
      suppresses[a][b] = related && overlap(a, b) > options.iou_threshold;
    }
  }
  std::vector<char> alive(n, 1);
  std::vector<Detection> kept;
  for (;;) {
    std::size_t best = n;
    for (std::size_t i = 0; i < n; ++i) {
      if (alive[i] && (best == n || all[i].score > all[best].score)) best = i;
    }
    if (best == n || kept.size() == static_cast<std::size_t>(options.max_detections)) return kept;
    kept.push_back(all[best]);
    alive[best] = 0;
    for (std::size_t i = 0; i < n; ++i) alive[i] = alive[i] && !suppresses[best][i];
  }
}

// Boxes on a coarse grid, so that equal boxes, touching boxes, empty boxes and equal scores abound;
// overlaps are then ratios of small integers, and thresholds that are none of those make float and
// double agree.
std::vector<Detection> random_detections(std::mt19937& random, int count, int classes,
                                         int score_levels) {
  std::vector<Detection> all;
  for (int i = 0; i < count; ++i) {
    const auto x = static_cast<float>(random() % 24), y = static_cast<float>(random() % 24);
    const auto w = static_cast<float>(random() % 9), h = static_cast<float>(random() % 9);
    all.push_back({{x, y, x + w, y + h},
                   static_cast<float>(random() % score_levels) / static_cast<float>(score_levels),
                   static_cast<int>(random() % classes) * 1000 - 1000});
  }
  return all;
}

TEST(Nms, EqualsBruteForce) {
  std::mt19937 random(3);
  for (int round = 0; round < 400; ++round) {
    const int count = static_cast<int>(random() % 200);
    const int classes = 1 + static_cast<int>(random() % 5);
    const int levels = round % 3 == 0 ? 4 : 100000;
    const std::vector<Detection> all = random_detections(random, count, classes, levels);
    for (const float threshold : {0.0f, 0.1234f, 0.4567f, 0.7071f, 1.0f}) {
      for (const bool agnostic : {false, true}) {
        for (const int limit : {1, 10, 1000}) {
          const NmsOptions options{threshold, agnostic, limit};
          std::vector<Detection> found = all;
          non_maximum_suppression(found, options);
          ASSERT_EQ(found, brute_force(all, options))
              << "round " << round << " threshold " << threshold << " agnostic " << agnostic;
        }
      }
    }
  }
}

TEST(Nms, ManyBoxesOfOneClass) {
  std::mt19937 random(5);
  std::uniform_real_distribution<float> place(0, 700), side(10, 80), score(0, 1);
  std::vector<Detection> all;
  for (int i = 0; i < 3000; ++i) {
    const float x = place(random), y = place(random);
    all.push_back({{x, y, x + side(random), y + side(random)}, score(random), 0});
  }
  const NmsOptions options{0.5f, false, 3000};
  std::vector<Detection> found = all;
  non_maximum_suppression(found, options);
  EXPECT_EQ(found, brute_force(all, options));
  EXPECT_GT(found.size(), 200u);  // more than one block of kept boxes
}

TEST(Nms, TiesGoToTheEarlier) {
  std::vector<Detection> all{
      {{0, 0, 10, 10}, 0.5f, 0}, {{1, 0, 11, 10}, 0.5f, 0}, {{50, 50, 60, 60}, 0.5f, 0}};
  const std::vector<Detection> expected{all[0], all[2]};
  non_maximum_suppression(all, {0.5f, false, 10});
  EXPECT_EQ(all, expected);
}

TEST(Nms, AnOverlapEqualToTheThresholdStays) {
  // Overlap 50 / 150: exactly one third in neither, so use one half: 4x4 with 4x2 inside.
  std::vector<Detection> all{{{0, 0, 4, 4}, 0.9f, 0}, {{0, 0, 4, 2}, 0.8f, 0}};
  std::vector<Detection> same = all;
  non_maximum_suppression(same, {0.5f, false, 10});
  EXPECT_EQ(same, all);
  non_maximum_suppression(same, {0.49f, false, 10});
  EXPECT_EQ(same.size(), 1u);
}

TEST(Nms, BoxesWithoutAreaNeitherSuppressNorVanish) {
  const std::vector<Detection> all{{{5, 5, 5, 5}, 0.9f, 0},
                                   {{5, 5, 5, 5}, 0.8f, 0},
                                   {{0, 0, 10, 0}, 0.7f, 0},
                                   {{0, 0, 10, 10}, 0.6f, 0}};
  std::vector<Detection> kept = all;
  non_maximum_suppression(kept, {0.0f, true, 10});
  EXPECT_EQ(kept, all);
}

TEST(Nms, EmptyAndLimits) {
  std::vector<Detection> none;
  non_maximum_suppression(none, {});
  EXPECT_TRUE(none.empty());
  std::vector<Detection> one{{{0, 0, 1, 1}, 0.5f, 0}};
  non_maximum_suppression(one, {0.5f, false, 0});
  EXPECT_TRUE(one.empty());
}

}  // namespace
}  // namespace sparing

#include "sparing/track/assignment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace sparing::track {
namespace {

// Every way to give each row a column or none.
double best_by_trying(const PairWeights& weights, int row, std::vector<bool>& taken) {
  if (row == weights.rows()) return 0;
  double best = best_by_trying(weights, row + 1, taken);
  for (int c = 0; c < weights.columns(); ++c) {
    const auto column = static_cast<std::size_t>(c);
    if (taken[column] || !(weights.at(row, c) > 0)) continue;
    taken[column] = true;
    best = std::max(best, weights.at(row, c) + best_by_trying(weights, row + 1, taken));
    taken[column] = false;
  }
  return best;
}

double best_by_trying(const PairWeights& weights) {
  std::vector<bool> taken(static_cast<std::size_t>(weights.columns()), false);
  return best_by_trying(weights, 0, taken);
}

// The sum of the weights chosen; fails when a column is given twice or a pair has no weight.
double checked_sum(const PairWeights& weights, const std::vector<int>& columns) {
  EXPECT_EQ(columns.size(), static_cast<std::size_t>(weights.rows()));
  std::vector<bool> taken(static_cast<std::size_t>(weights.columns()), false);
  double sum = 0;
  for (int r = 0; r < weights.rows(); ++r) {
    const int c = columns[static_cast<std::size_t>(r)];
    if (c < 0) continue;
    EXPECT_FALSE(taken[static_cast<std::size_t>(c)]);
    taken[static_cast<std::size_t>(c)] = true;
    EXPECT_GT(weights.at(r, c), 0);
    sum += weights.at(r, c);
  }
  return sum;
}

TEST(Assign, NothingToPair) {
  EXPECT_TRUE(assign(PairWeights(0, 0)).empty());
  EXPECT_TRUE(assign(PairWeights(0, 3)).empty());
  EXPECT_EQ(assign(PairWeights(2, 0)), (std::vector<int>{-1, -1}));
  EXPECT_EQ(assign(PairWeights(2, 2)), (std::vector<int>{-1, -1}));
}

TEST(Assign, TakesTheGreatestSumAndNotTheGreatestPair) {
  PairWeights weights(2, 2);
  weights.at(0, 0) = 0.9;  // greedy takes it, and leaves row 1 alone
  weights.at(0, 1) = 0.8;
  weights.at(1, 0) = 0.7;
  EXPECT_EQ(assign(weights), (std::vector<int>{1, 0}));
}

TEST(Assign, LeavesARowAloneWhenThatIsBetter) {
  PairWeights weights(2, 2);
  weights.at(0, 0) = 0.9;
  weights.at(0, 1) = 0.1;
  weights.at(1, 0) = 0.2;
  // .9 alone is more than .1 + .2.
  EXPECT_EQ(assign(weights), (std::vector<int>{0, -1}));
}

TEST(Assign, WeightsThatAreNoneNeverPair) {
  PairWeights weights(1, 3);
  weights.at(0, 0) = -1;
  weights.at(0, 1) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(assign(weights), (std::vector<int>{-1}));
}

TEST(Assign, IsAsGoodAsTryingAll) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> uniform(0, 1);
  int paired = 0;
  for (int i = 0; i < 4000; ++i) {
    const int rows = static_cast<int>(random() % 7);
    const int columns = static_cast<int>(random() % 7);
    const double density = uniform(random);
    PairWeights weights(rows, columns);
    for (int r = 0; r < rows; ++r) {
      for (int c = 0; c < columns; ++c) {
        if (uniform(random) >= density) continue;
        // Coarse values in every other case, so that there are ties.
        weights.at(r, c) = i % 2 == 0 ? uniform(random) : std::ceil(uniform(random) * 4) / 4;
      }
    }
    const std::vector<int> columns_found = assign(weights);
    ASSERT_NEAR(checked_sum(weights, columns_found), best_by_trying(weights), 1e-12)
        << "case " << i;
    paired += static_cast<int>(
        std::count_if(columns_found.begin(), columns_found.end(), [](int c) { return c >= 0; }));
  }
  EXPECT_GT(paired, 4000);
}

TEST(Assign, ManyObjects) {
  // The identity is the best by far, and everything has some weight: one large group.
  constexpr int kCount = 150;
  PairWeights weights(kCount, kCount + 20);
  for (int r = 0; r < kCount; ++r) {
    for (int c = 0; c < kCount + 20; ++c) weights.at(r, c) = c == r + 20 ? 1.0 : 1e-3;
  }
  const std::vector<int> columns = assign(weights);
  for (int r = 0; r < kCount; ++r) EXPECT_EQ(columns[static_cast<std::size_t>(r)], r + 20);
}

}  // namespace
}  // namespace sparing::track

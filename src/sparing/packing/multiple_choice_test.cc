#include "sparing/packing/multiple_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <random>

namespace sparing {
namespace {

using testing::ElementsAre;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

StreamChoice choice(double cost, double recall) { return {DetectWay::kPacked, 1, 1, cost, recall}; }

std::vector<StreamChoices> random_streams(std::mt19937& random, int streams, int most_choices) {
  std::uniform_real_distribution<double> unit(0, 1);
  std::uniform_int_distribution<int> count(1, most_choices), grid(0, 1);
  std::vector<StreamChoices> result(static_cast<std::size_t>(streams));
  for (StreamChoices& stream : result) {
    stream.weight = 0.1 + unit(random);
    const bool coarse = grid(random) != 0;  // many ties
    for (int i = count(random); i > 0; --i) {
      double cost = unit(random), recall = unit(random);
      if (coarse) cost = std::round(cost * 4) / 4, recall = std::round(recall * 4) / 4;
      stream.choices.push_back(choice(cost, recall));
    }
  }
  return result;
}

// All combinations.
void each(const std::vector<StreamChoices>& streams,
          const std::function<void(double cost, double recall)>& visit) {
  double weight = 0;
  for (const StreamChoices& stream : streams) weight += stream.weight;
  const std::function<void(std::size_t, double, double)> go = [&](std::size_t s, double cost,
                                                                  double gain) {
    if (s == streams.size()) return visit(cost, gain / weight);
    for (const StreamChoice& c : streams[s].choices) {
      go(s + 1, cost + c.cost, gain + streams[s].weight * c.recall);
    }
  };
  go(0, 0, 0);
}

void expect_consistent(const std::vector<StreamChoices>& streams, const ChosenWays& ways) {
  double cost = 0, gain = 0, weight = 0;
  ASSERT_EQ(ways.choice.size(), streams.size());
  for (std::size_t s = 0; s < streams.size(); ++s) {
    ASSERT_LT(ways.choice[s], streams[s].choices.size());
    const StreamChoice& c = streams[s].choices[ways.choice[s]];
    cost += c.cost;
    gain += streams[s].weight * c.recall;
    weight += streams[s].weight;
  }
  ASSERT_NEAR(cost, ways.cost, 1e-9);
  ASSERT_NEAR(gain / weight, ways.recall, 1e-9);
}

TEST(MostRecall, EqualsAllCombinations) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> unit(0, 1);
  int met = 0;
  for (int round = 0; round < 5000; ++round) {
    const auto streams = random_streams(random, 1 + round % 5, 6);
    const double budget = unit(random) * static_cast<double>(streams.size());
    double best = -1, cheapest = kInfinity, cost_of_best = kInfinity;
    each(streams, [&](double cost, double recall) {
      cheapest = std::min(cheapest, cost);
      if (cost > budget * (1 + 1e-9)) return;
      if (recall > best + 1e-12) best = recall, cost_of_best = cost;
      if (recall > best - 1e-12) cost_of_best = std::min(cost_of_best, cost);
    });
    const auto ways = most_recall(streams, budget);
    ASSERT_TRUE(ways.ok() && ways->exact);
    ASSERT_NO_FATAL_FAILURE(expect_consistent(streams, *ways));
    ASSERT_EQ(ways->met, best >= 0) << round;
    if (!ways->met) {
      ASSERT_NEAR(ways->cost, cheapest, 1e-9);
      continue;
    }
    ++met;
    ASSERT_NEAR(ways->recall, best, 1e-9) << round;
    ASSERT_LE(ways->cost, budget * (1 + 1e-8));
  }
  EXPECT_GT(met, 1000);
  EXPECT_LT(met, 5000);
}

TEST(LeastCostForRecall, EqualsAllCombinations) {
  std::mt19937 random(2);
  std::uniform_real_distribution<double> unit(0, 1);
  int met = 0;
  for (int round = 0; round < 5000; ++round) {
    const auto streams = random_streams(random, 1 + round % 5, 6);
    const double target = unit(random);
    double least = kInfinity, most = 0;
    each(streams, [&](double cost, double recall) {
      most = std::max(most, recall);
      if (recall >= target * (1 - 1e-9)) least = std::min(least, cost);
    });
    const auto ways = least_cost_for_recall(streams, target);
    ASSERT_TRUE(ways.ok() && ways->exact);
    ASSERT_NO_FATAL_FAILURE(expect_consistent(streams, *ways));
    ASSERT_EQ(ways->met, least < kInfinity) << round;
    if (ways->met) {
      ++met;
      ASSERT_NEAR(ways->cost, least, 1e-9) << round;
    } else {
      ASSERT_NEAR(ways->recall, most, 1e-9) << round;
    }
  }
  EXPECT_GT(met, 1000);
  EXPECT_LT(met, 5000);
}

TEST(MostRecall, TakesTheCheaperOfEqualRecalls) {
  const std::vector<StreamChoices> streams = {{{choice(3, 0.9), choice(2, 0.9), choice(1, 0.5)}}};
  EXPECT_THAT(most_recall(streams, kInfinity)->choice, ElementsAre(1));
  EXPECT_THAT(most_recall(streams, 1.5)->choice, ElementsAre(2));
  EXPECT_FALSE(most_recall(streams, 0.5)->met);
  EXPECT_THAT(least_cost_for_recall(streams, 0.6)->choice, ElementsAre(1));
}

TEST(MostRecall, WeightsDecideWhoGetsTheTime) {
  std::vector<StreamChoices> streams(2, {{choice(1, 0.5), choice(2, 0.9)}, 1});
  streams[1].weight = 2;
  EXPECT_THAT(most_recall(streams, 3)->choice, ElementsAre(0, 1));
  streams[0].weight = 3;
  EXPECT_THAT(most_recall(streams, 3)->choice, ElementsAre(1, 0));
}

TEST(MostRecall, NoStreamsCostNothing) {
  const auto ways = most_recall({}, 0);
  ASSERT_TRUE(ways.ok());
  EXPECT_TRUE(ways->met);
  EXPECT_EQ(ways->cost, 0);
  EXPECT_TRUE(least_cost_for_recall({}, 1)->met);
}

TEST(MostRecall, ThinnedStatesStayWithinBudgetAndNearTheBest) {
  std::mt19937 random(3);
  for (int round = 0; round < 100; ++round) {
    const auto streams = random_streams(random, 5, 6);
    const auto exact = most_recall(streams, 2.0);
    const auto thinned = most_recall(streams, 2.0, 40);
    ASSERT_TRUE(exact.ok() && thinned.ok());
    ASSERT_NO_FATAL_FAILURE(expect_consistent(streams, *thinned));
    EXPECT_EQ(thinned->met, exact->met);
    if (!exact->met) continue;
    EXPECT_LE(thinned->recall, exact->recall + 1e-12);
    EXPECT_GE(thinned->recall, exact->recall - 0.1);
  }
}

TEST(MostRecall, BadChoicesAreNamed) {
  std::vector<StreamChoices> streams(2, {{choice(1, 0.5)}, 1});
  EXPECT_FALSE(most_recall(streams, -1).ok());
  EXPECT_FALSE(most_recall(streams, NAN).ok());
  EXPECT_FALSE(least_cost_for_recall(streams, 1.5).ok());
  streams[1].choices[0].recall = 1.1;
  const auto bad = most_recall(streams, 1);
  ASSERT_FALSE(bad.ok());
  EXPECT_THAT(bad.error().to_string(), testing::HasSubstr("stream 1"));
  streams[1] = {{choice(-1, 0.5)}, 1};
  EXPECT_FALSE(most_recall(streams, 1).ok());
  streams[1] = {{choice(1, 0.5)}, 0};
  EXPECT_FALSE(most_recall(streams, 1).ok());
  streams[1] = {{}, 1};
  EXPECT_FALSE(most_recall(streams, 1).ok());
}

// Printed, never asserted.
TEST(MostRecall, TimesOfRealSizes) {
  for (const int count : {1, 4, 8, 16, 32}) {
    std::mt19937 random(4);
    const auto streams = random_streams(random, count, 12);
    const auto start = std::chrono::steady_clock::now();
    const auto ways = most_recall(streams, 0.25 * count);
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
    ASSERT_TRUE(ways.ok());
    std::printf("%d streams of up to 12 choices: %.0f us, %s\n", count, took.count(),
                ways->exact ? "exact" : "thinned");
  }
}

}  // namespace
}  // namespace sparing

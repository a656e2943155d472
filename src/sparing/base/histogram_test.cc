#include "sparing/base/histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace sparing {
namespace {

constexpr double kQuantiles[] = {0, 0.001, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 1};

// The documented definition, on sorted data.
double exact_quantile(const std::vector<double>& sorted, double q) {
  const auto rank = static_cast<std::size_t>(std::ceil(q * static_cast<double>(sorted.size())));
  return sorted[std::max<std::size_t>(rank, 1) - 1];
}

void expect_quantiles(const LatencyHistogram& histogram, std::vector<double> data) {
  std::sort(data.begin(), data.end());
  for (const double q : kQuantiles) {
    const double expected = exact_quantile(data, q);
    EXPECT_NEAR(histogram.quantile_seconds(q), expected, 0.011 * expected) << "q = " << q;
  }
}

std::vector<double> log_normal(std::size_t count, unsigned seed, double median, double sigma) {
  std::mt19937 random(seed);
  std::lognormal_distribution<double> distribution(std::log(median), sigma);
  std::vector<double> data(count);
  for (double& value : data) value = std::clamp(distribution(random), 1.1e-6, 4000.0);
  return data;
}

TEST(LatencyHistogram, EmptyIsAllZero) {
  const LatencyHistogram histogram;
  EXPECT_EQ(histogram.count(), 0);
  EXPECT_EQ(histogram.total_seconds(), 0);
  EXPECT_EQ(histogram.mean_seconds(), 0);
  EXPECT_EQ(histogram.min_seconds(), 0);
  EXPECT_EQ(histogram.max_seconds(), 0);
  EXPECT_EQ(histogram.quantile_seconds(0.5), 0);
}

TEST(LatencyHistogram, OneValueIsEveryQuantileExactly) {
  LatencyHistogram histogram;
  histogram.add(0.0123);
  for (const double q : kQuantiles) EXPECT_EQ(histogram.quantile_seconds(q), 0.0123);
}

TEST(LatencyHistogram, QuantilesAreWithinOnePercentOfSortedData) {
  for (const double sigma : {0.1, 1.0, 3.0}) {
    LatencyHistogram histogram;
    const std::vector<double> data = log_normal(20011, 5, 0.004, sigma);
    for (const double value : data) histogram.add(value);
    expect_quantiles(histogram, data);
  }
}

TEST(LatencyHistogram, TwoClustersAreNotAveraged) {
  LatencyHistogram histogram;
  for (int i = 0; i < 90; ++i) histogram.add(0.001);
  for (int i = 0; i < 10; ++i) histogram.add(1.0);
  EXPECT_NEAR(histogram.quantile_seconds(0.5), 0.001, 0.000011);
  EXPECT_NEAR(histogram.quantile_seconds(0.90), 0.001, 0.000011);
  EXPECT_NEAR(histogram.quantile_seconds(0.91), 1.0, 0.011);
}

TEST(LatencyHistogram, SumLeastAndGreatestAreExact) {
  LatencyHistogram histogram;
  for (const double value : {0.5, 0.25, 4.0}) histogram.add(value);
  EXPECT_EQ(histogram.count(), 3);
  EXPECT_EQ(histogram.total_seconds(), 4.75);
  EXPECT_DOUBLE_EQ(histogram.mean_seconds(), 4.75 / 3);
  EXPECT_EQ(histogram.min_seconds(), 0.25);
  EXPECT_EQ(histogram.max_seconds(), 4.0);
}

TEST(LatencyHistogram, MergeIsTheHistogramOfAllValues) {
  const std::vector<double> first = log_normal(5000, 6, 0.002, 1);
  const std::vector<double> second = log_normal(700, 7, 0.5, 0.5);
  LatencyHistogram a, b, both;
  for (const double value : first) a.add(value), both.add(value);
  for (const double value : second) b.add(value), both.add(value);
  a.merge(b);
  EXPECT_EQ(a.count(), both.count());
  EXPECT_NEAR(a.total_seconds(), both.total_seconds(), 1e-9 * both.total_seconds());
  EXPECT_EQ(a.min_seconds(), both.min_seconds());
  EXPECT_EQ(a.max_seconds(), both.max_seconds());
  for (const double q : kQuantiles) EXPECT_EQ(a.quantile_seconds(q), both.quantile_seconds(q));
}

TEST(LatencyHistogram, MergeWithEmptyChangesNothing) {
  LatencyHistogram a, empty;
  a.add(0.5);
  a.merge(empty);
  EXPECT_EQ(a.count(), 1);
  EXPECT_EQ(a.min_seconds(), 0.5);
  empty.merge(a);
  EXPECT_EQ(empty.count(), 1);
  EXPECT_EQ(empty.min_seconds(), 0.5);
  EXPECT_EQ(empty.quantile_seconds(0.5), 0.5);
}

TEST(LatencyHistogram, ValuesOutsideTheBucketsCountInTheEndOnes) {
  LatencyHistogram histogram;
  histogram.add(1e-9);
  histogram.add(1e9);
  EXPECT_EQ(histogram.count(), 2);
  EXPECT_EQ(histogram.min_seconds(), 1e-9);
  EXPECT_EQ(histogram.max_seconds(), 1e9);
  EXPECT_LT(histogram.quantile_seconds(0.5), 1.1e-6);
  EXPECT_GT(histogram.quantile_seconds(1), 4000);
}

TEST(LatencyHistogram, StrangeValuesAndQuantilesDoNoHarm) {
  LatencyHistogram histogram;
  histogram.add(-1);
  histogram.add(std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(histogram.count(), 2);
  EXPECT_EQ(histogram.total_seconds(), 0);
  EXPECT_EQ(histogram.max_seconds(), 0);
  histogram.add(2);
  EXPECT_EQ(histogram.quantile_seconds(-1), histogram.quantile_seconds(0));
  EXPECT_EQ(histogram.quantile_seconds(7), histogram.quantile_seconds(1));
  EXPECT_EQ(histogram.quantile_seconds(std::numeric_limits<double>::quiet_NaN()),
            histogram.quantile_seconds(0));
}

}  // namespace
}  // namespace sparing

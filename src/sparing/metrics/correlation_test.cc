#include "sparing/metrics/correlation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "sparing/metrics/simd_targets.h"
// clang-format off: highway.h must come after simd_targets.h
#include "hwy/highway.h"
// clang-format on

namespace sparing::internal {
namespace {

constexpr std::size_t kRows = kRowBlock;
constexpr std::size_t kColumns = kColumnBlock;

void check(int channels, int blocks, std::mt19937& random) {
  std::uniform_real_distribution<float> value(-1, 1);
  const auto depth = static_cast<std::size_t>(channels);
  const auto count = static_cast<std::size_t>(blocks) * kColumns;
  // One float before each array keeps it off any alignment.
  std::vector<float> rows(depth * kRows + 1), columns(depth * count + 1);
  for (float& v : rows) v = value(random);
  for (float& v : columns) v = value(random);
  std::vector<float> row_best(kRows), column_best(count);
  for (float& v : row_best) v = value(random) * 3;
  for (float& v : column_best) v = value(random) * 3;
  column_best[0] = row_best[0] = -std::numeric_limits<float>::infinity();
  std::vector<double> rows_expected(row_best.begin(), row_best.end());
  std::vector<double> columns_expected(column_best.begin(), column_best.end());
  for (std::size_t r = 0; r < kRows; ++r) {
    for (std::size_t i = 0; i < count; ++i) {
      double sum = 0;
      for (std::size_t c = 0; c < depth; ++c) {
        sum += double{rows[1 + c * kRows + r]} *
               columns[1 + i / kColumns * depth * kColumns + c * kColumns + i % kColumns];
      }
      rows_expected[r] = std::max(rows_expected[r], sum);
      columns_expected[i] = std::max(columns_expected[i], sum);
    }
  }
  raise_to_correlations(
      {channels, rows.data() + 1, columns.data() + 1, blocks, row_best.data(), column_best.data()});
  const double tolerance = 1e-6 * channels;
  for (std::size_t r = 0; r < kRows; ++r)
    EXPECT_NEAR(row_best[r], rows_expected[r], tolerance) << r;
  for (std::size_t i = 0; i < count; ++i) {
    EXPECT_NEAR(column_best[i], columns_expected[i], tolerance) << i;
  }
}

TEST(Correlation, AgreesWithDoublePrecisionOnEveryInstructionSet) {
  int targets = 0;
  for (std::int64_t rest = hwy::SupportedTargets() & HWY_TARGETS; rest != 0; rest &= rest - 1) {
    const std::int64_t target = rest & -rest;
    hwy::SetSupportedTargetsForTest(target);
    ASSERT_STREQ(correlation_simd_target(), hwy::TargetName(target));
    SCOPED_TRACE(correlation_simd_target());
    std::mt19937 random(3);
    for (const int channels : {1, 2, 3, 17, 56}) {
      for (const int blocks : {1, 2, 5}) check(channels, blocks, random);
    }
    hwy::SetSupportedTargetsForTest(0);
    ++targets;
  }
  EXPECT_GT(targets, 0);
}

TEST(Correlation, NoColumnsLeaveRowsAsTheyAre) {
  std::vector<float> rows(kRows, 1), best{1, 2, 3, 4, 5, -6};
  raise_to_correlations({1, rows.data(), nullptr, 0, best.data(), nullptr});
  EXPECT_EQ(best, (std::vector<float>{1, 2, 3, 4, 5, -6}));
}

}  // namespace
}  // namespace sparing::internal

#include "sparing/kernels/sample.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <numeric>
#include <vector>

#include "sparing/kernels/import_targets_test_util.h"

namespace sparing::internal {
namespace {

constexpr int kWidth = 1920;

AxisTaps axis(double scale, Filter filter, int samples = kWidth) {
  return AxisTaps({static_cast<int>(samples / scale), scale / 2, scale, filter},
                  {1, 0.5, 0, samples - 1}, 0);
}

ComponentGroup group(int components, int step, int sample_bytes = 1) {
  ComponentGroup made;
  made.components = components;
  made.step = step;
  made.sample_bytes = sample_bytes;
  for (int c = 0; c < components; ++c) made.delta[c] = c * sample_bytes;
  return made;
}

SampleMode mode_of(double scale, Filter filter, const ComponentGroup& of) {
  const auto plan =
      plan_sampling(axis(scale, filter), of, static_cast<int>(kWidth / scale), kWidth * of.step);
  EXPECT_TRUE(plan.has_value());
  return plan->mode;
}

// Each job takes the cheapest way that can do it.
TEST(PlanSampling, Modes) {
  test::for_each_target([] {
    const ComponentGroup luma = group(1, 1);
    const ComponentGroup chroma = group(2, 2);
    const ComponentGroup rgba = group(3, 4);
    const bool wide = sample_kernels().wide_shuffles;
    const SampleMode near = wide ? SampleMode::kWide : SampleMode::kBlock;
    const SampleMode far = wide ? SampleMode::kWide : SampleMode::kPair;
    EXPECT_EQ(mode_of(1, Filter::kBilinear, luma), SampleMode::kRun);
    EXPECT_EQ(mode_of(0.5, Filter::kBilinear, luma), near);
    EXPECT_EQ(mode_of(3, Filter::kBilinear, luma), near);
    EXPECT_EQ(mode_of(3, Filter::kArea, luma), near);
    EXPECT_EQ(mode_of(8, Filter::kBilinear, luma), far);
    EXPECT_EQ(mode_of(20, Filter::kBilinear, luma), SampleMode::kPair);
    EXPECT_EQ(mode_of(20, Filter::kArea, luma), SampleMode::kLane);
    EXPECT_EQ(mode_of(1.5, Filter::kBilinear, chroma), near);
    EXPECT_EQ(mode_of(3, Filter::kBilinear, chroma), far);
    EXPECT_EQ(mode_of(1, Filter::kBilinear, rgba), wide ? SampleMode::kWide : SampleMode::kLane);
    EXPECT_EQ(mode_of(0.5, Filter::kBilinear, rgba), near);
    EXPECT_EQ(mode_of(6, Filter::kBilinear, rgba), SampleMode::kLane);
    EXPECT_EQ(mode_of(3, Filter::kBilinear, group(1, 2, 2)), far);
    EXPECT_FALSE(plan_sampling(axis(600, Filter::kArea, 16384), luma, 27, 16384).has_value());
  });
}

// A plane of one value gives that value times the unit in every column, whatever the weights.
TEST(SampleLine, WeightsSumToTheUnit) {
  test::for_each_target([] {
    auto table = std::make_unique<TapTable>();
    for (const Filter filter : {Filter::kBilinear, Filter::kArea, Filter::kTriangle}) {
      for (const double scale : {0.3, 1.0, 1.7, 3.0, 8.1, 40.5}) {
        for (const ComponentGroup& of : {group(1, 1), group(2, 2), group(3, 4), group(3, 3)}) {
          const AxisTaps taps = axis(scale, filter, 300);
          const int pixels = static_cast<int>(300 / scale);
          const auto plan = plan_sampling(taps, of, pixels, 300 * of.step);
          ASSERT_TRUE(plan.has_value());
          const int columns = std::min(pixels, plan->max_columns);
          const std::vector<std::uint8_t> row(static_cast<std::size_t>(300 * of.step), 201);
          fill_taps(*plan, taps, 0, columns, static_cast<int>(row.size()), *table);
          alignas(64) static float lines[3][kLineFloats];
          SampleBatch batch{1, {row.data()}, {}, {{lines[0], lines[1], lines[2]}}};
          sample_kernels().sampler (*table)(*table, batch);
          for (int c = 0; c < of.components; ++c) {
            for (int i = 0; i < columns; ++i) {
              ASSERT_FLOAT_EQ(lines[c][i], static_cast<float>(201 * plan->unit))
                  << scale << " " << static_cast<int>(filter) << " step " << of.step << " at " << i;
            }
          }
        }
      }
    }
  });
}

}  // namespace
}  // namespace sparing::internal

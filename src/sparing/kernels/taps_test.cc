#include "sparing/kernels/taps.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

namespace sparing::internal {
namespace {

// Weights by sample, of samples 0..last.
std::vector<double> weights_of(const AxisTaps& taps, int k, int last) {
  std::vector<double> weights(kMaxTaps);
  const TapRun run = taps.run(k, weights.data());
  EXPECT_LE(run.count, taps.max_count());
  std::vector<double> all(static_cast<std::size_t>(last) + 1);
  for (int i = 0; i < run.count; ++i) {
    all.at(static_cast<std::size_t>(run.first + i)) = weights[static_cast<std::size_t>(i)];
  }
  return all;
}

AxisTaps make(double start, double step, Filter filter, int last, int shift = 0) {
  return AxisTaps({10, start, step, filter}, {1, 0.5, 0, last}, shift);
}

using Weights = std::vector<double>;

TEST(AxisTaps, Filters) {
  // Pixel 0 is centred on 1.75: between the samples 1 (at 1.5) and 2.
  EXPECT_EQ(weights_of(make(1.75, 1, Filter::kBilinear, 4), 0, 4), (Weights{0, .75, .25, 0, 0}));
  EXPECT_EQ(weights_of(make(1.75, 1, Filter::kNearest, 4), 0, 4), (Weights{0, 1, 0, 0, 0}));
  EXPECT_EQ(weights_of(make(2.0, 1, Filter::kNearest, 4), 0, 4), (Weights{0, 0, 1, 0, 0}));
  // It covers 0.75..2.75.
  EXPECT_EQ(weights_of(make(1.75, 2, Filter::kArea, 4), 0, 4), (Weights{.125, .5, .375, 0, 0}));
  // The same from the other side.
  EXPECT_EQ(weights_of(make(1.75, -2, Filter::kArea, 4), 0, 4), (Weights{.125, .5, .375, 0, 0}));
  // A triangle over -0.25..3.75: 0.375, 0.875, 0.625 and 0.125, of 2.
  EXPECT_EQ(weights_of(make(1.75, 2, Filter::kTriangle, 4), 0, 4),
            (Weights{.1875, .4375, .3125, .0625, 0}));
  // Where a pixel covers less than a sample, they interpolate.
  EXPECT_EQ(weights_of(make(1.75, .5, Filter::kArea, 4), 0, 4), (Weights{0, .75, .25, 0, 0}));
  EXPECT_EQ(weights_of(make(1.75, .5, Filter::kTriangle, 4), 0, 4), (Weights{0, .75, .25, 0, 0}));
}

TEST(AxisTaps, TheEdgeRepeatsOrIsLeftOut) {
  EXPECT_EQ(weights_of(make(-7, 1, Filter::kBilinear, 2), 0, 2), (Weights{1, 0, 0}));
  EXPECT_EQ(weights_of(make(99, 1, Filter::kBilinear, 2), 0, 2), (Weights{0, 0, 1}));
  EXPECT_EQ(weights_of(make(0, 4, Filter::kArea, 2), 0, 2), (Weights{.5, .5, 0}));
  EXPECT_EQ(weights_of(make(-50, 4, Filter::kTriangle, 2), 0, 2), (Weights{1, 0, 0}));
}

TEST(AxisTaps, ReplicatedSamplesAreMerged) {
  // Luma samples 1 and 2 are of the chroma samples 0 and 1, 2 and 3 both of 1.
  EXPECT_EQ(weights_of(make(1.75, 1, Filter::kBilinear, 5, 1), 0, 2), (Weights{.75, .25, 0}));
  EXPECT_EQ(weights_of(make(2.75, 1, Filter::kBilinear, 5, 1), 0, 2), (Weights{0, 1, 0}));
  EXPECT_EQ(weights_of(make(2.5, 3, Filter::kArea, 5, 1), 0, 2), (Weights{1 / 3.0, 2 / 3.0, 0}));
}

TEST(AxisTaps, WeightsSumToOneWithinTheBound) {
  std::mt19937 random(4);
  std::uniform_real_distribution<double> real(0, 1);
  for (int k = 0; k < 3000; ++k) {
    const Filter filters[] = {Filter::kBilinear, Filter::kNearest, Filter::kArea,
                              Filter::kTriangle};
    const int last = static_cast<int>(60 * real(random));
    const double step = (real(random) < 0.5 ? -1 : 1) * (0.1 + 20 * real(random));
    const AxisTaps taps = make(-5 + 70 * real(random), step, filters[k % 4], last, k % 3 == 0);
    for (int i = 0; i < 10; ++i) {
      const Weights weights = weights_of(taps, i, last);
      EXPECT_NEAR(std::accumulate(weights.begin(), weights.end(), 0.0), 1, 1e-12);
      for (const double weight : weights) EXPECT_GE(weight, 0);
    }
  }
}

TEST(AxisTaps, NoWholePixelHasAGreaterWeight) {
  for (const Filter filter : {Filter::kBilinear, Filter::kArea, Filter::kTriangle}) {
    for (const int shift : {0, 1}) {
      for (int k = 0; k < 4000; ++k) {
        const double step = 1 + 0.01 * (k % 700);
        const AxisTaps taps = make(50 + 0.013 * k, step, filter, 200, shift);
        const Weights weights = weights_of(taps, 0, 200);
        EXPECT_LE(*std::max_element(weights.begin(), weights.end()), taps.largest_weight() + 1e-12)
            << step << " " << k << " " << static_cast<int>(filter);
      }
    }
  }
}

}  // namespace
}  // namespace sparing::internal

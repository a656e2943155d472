#include "sparing/packing/scale_labels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>

namespace sparing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr Detection kReference{{100, 100, 140, 200}, 0.9f, 0};

std::vector<ScaleTrial> trials(const std::vector<std::pair<double, bool>>& results) {
  std::vector<ScaleTrial> list;
  for (const auto& [scale, found] : results) {
    list.push_back({scale, {}});
    if (found) list.back().detections = {kReference};
  }
  return list;
}

ScaleSample sample(double height, double confidence, double safe_scale) {
  ScaleSample s;
  s.features.height = height;
  s.features.area = height * height / 2;
  s.features.confidence = confidence;
  s.safe.scale = safe_scale;
  s.safe.area = s.features.area * safe_scale * safe_scale;
  return s;
}

TEST(LabelSafeScale, IsTheSmallestAtWhichTheObjectIsFound) {
  const auto label =
      label_safe_scale(kReference, trials({{0.3, false}, {1, true}, {0.5, true}, {0.4, true}}));
  ASSERT_TRUE(label.ok() && label.value());
  EXPECT_DOUBLE_EQ(label.value()->scale, 0.4);
  EXPECT_DOUBLE_EQ(label.value()->area, 4000 * 0.16);
  EXPECT_DOUBLE_EQ(label.value()->label_area, 4000 * 0.16 * 1.1);
}

TEST(LabelSafeScale, ALuckyFindIsNoSafeScaleUnlessAsked) {
  const auto list = trials({{2, false}, {1, true}, {0.8, true}, {0.6, false}, {0.4, true}});
  EXPECT_DOUBLE_EQ(label_safe_scale(kReference, list).value()->scale, 0.8)
      << "that it is too large for the network at 2 does not matter";
  EXPECT_DOUBLE_EQ(label_safe_scale(kReference, list, {.contiguous = false}).value()->scale, 0.4);
}

TEST(LabelSafeScale, NoneWhenItIsNeverFound) {
  EXPECT_FALSE(label_safe_scale(kReference, trials({{1, false}, {0.5, false}})).value());
}

TEST(LabelSafeScale, UsesItsLimits) {
  std::vector<ScaleTrial> list{{1, {{{100, 100, 140, 180}, 0.5f, 0}}}};  // IoU .8
  EXPECT_TRUE(label_safe_scale(kReference, list).value());
  EXPECT_FALSE(label_safe_scale(kReference, list, {.iou = 0.85}).value());
  EXPECT_FALSE(label_safe_scale(kReference, list, {.confidence = 0.6}).value());
}

TEST(LabelSafeScale, RefusesBadInput) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const auto message = [](const Detection& reference, const std::vector<ScaleTrial>& list) {
    const auto result = label_safe_scale(reference, list);
    return result.ok() ? std::string() : result.error().to_string();
  };
  EXPECT_THAT(message({}, trials({{1, true}})), HasSubstr("no area"));
  EXPECT_THAT(message(kReference, {}), HasSubstr("none"));
  EXPECT_THAT(message(kReference, trials({{0, true}})), HasSubstr("no scale"));
  EXPECT_THAT(message(kReference, trials({{kNan, true}})), HasSubstr("no scale"));
  EXPECT_THAT(message(kReference, trials({{1, true}, {0.5, true}, {1, false}})),
              HasSubstr("twice"));
  EXPECT_FALSE(label_safe_scale(kReference, trials({{1, true}}), {.margin = -1}).ok());
}

TEST(EvaluateScales, CountsWhatIsDrawnTooSmall) {
  const std::vector<ScaleSample> samples{sample(100, 0.9, 0.5), sample(100, 0.9, 0.5),
                                         sample(100, 0.9, 0.5), sample(100, 0.9, 1)};
  const std::vector<double> scales{0.5, 0.49, 1, 1};
  const ScaleErrors errors = evaluate_scales(scales, samples);
  EXPECT_EQ(errors.samples, 4);
  EXPECT_EQ(errors.under_estimates, 1);
  EXPECT_DOUBLE_EQ(errors.under_rate, 0.25);
  EXPECT_DOUBLE_EQ(errors.area_share, (0.25 + 0.49 * 0.49 + 2) / 4);
  EXPECT_DOUBLE_EQ(errors.safe_area_share, (0.25 * 3 + 1) / 4);
  EXPECT_EQ(evaluate_scales(std::vector<double>{}, {}).under_rate, 0);
}

TEST(EvaluateScales, OfAPredictor) {
  ScaleModel model;
  model.height.sure_height = model.height.unsure_height = 50;
  const ScalePredictor predictor = ScalePredictor::create(model).value();
  const std::vector<ScaleSample> samples{sample(100, 0.9, 0.5), sample(200, 0.9, 0.3)};
  EXPECT_DOUBLE_EQ(evaluate_scales(predictor, samples).under_rate, 0.5);
}

TEST(QuantileLevels, HoldAboutTheSameNumberEach) {
  std::vector<double> areas;
  for (int i = 1; i <= 10; ++i) areas.push_back(i * 100);
  std::shuffle(areas.begin(), areas.end(), std::mt19937(1));
  EXPECT_THAT(quantile_levels(areas).value(), ElementsAre(200, 400, 600, 800, 1000));
  EXPECT_THAT(quantile_levels(areas, 1).value(), ElementsAre(1000));
  EXPECT_THAT(quantile_levels(std::vector<double>{5, 5, 5, 5, 9}).value(), ElementsAre(5, 9));
}

TEST(QuantileLevels, LevelsHoldTheirShares) {
  std::mt19937 random(2);
  std::exponential_distribution<double> distribution(0.01);
  for (int count = 1; count <= 200; ++count) {
    std::vector<double> areas;
    for (int i = 0; i < count; ++i) areas.push_back(1 + distribution(random));
    const std::vector<double> levels = quantile_levels(areas).value();
    ASSERT_EQ(levels.back(), *std::max_element(areas.begin(), areas.end()));
    std::vector<int> held(levels.size(), 0);
    for (const double area : areas) {
      const int level = level_of_area(area, levels);
      ASSERT_LE(area, levels[static_cast<std::size_t>(level)]);
      ASSERT_TRUE(level == 0 || area > levels[static_cast<std::size_t>(level - 1)]);
      ++held[static_cast<std::size_t>(level)];
    }
    for (const int number : held) ASSERT_LE(number, std::ceil(count / 5.0));
  }
}

TEST(QuantileLevels, RefusesBadInput) {
  EXPECT_FALSE(quantile_levels({}).ok());
  EXPECT_FALSE(quantile_levels(std::vector<double>{1}, 0).ok());
  EXPECT_FALSE(quantile_levels(std::vector<double>{1, -1}).ok());
  EXPECT_FALSE(quantile_levels(std::vector<double>{std::nan("")}).ok());
}

TEST(LevelOfArea, AboveTheLastItIsTheLast) {
  const std::vector<double> levels{369, 459, 559, 848};
  EXPECT_EQ(level_of_area(1, levels), 0);
  EXPECT_EQ(level_of_area(369, levels), 0);
  EXPECT_EQ(level_of_area(370, levels), 1);
  EXPECT_EQ(level_of_area(5000, levels), 3);
}

// Safe heights fall from 60 px to 30 px with confidence, give or take.
std::vector<ScaleSample> random_samples(unsigned seed, int count) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(0, 1);
  std::vector<ScaleSample> samples;
  for (int i = 0; i < count; ++i) {
    const double confidence = 0.05 + 0.9 * uniform(random);
    const double height = 40 + 200 * uniform(random);
    const double safe = (60 - 30 * confidence) * (0.6 + 0.4 * uniform(random));
    samples.push_back(sample(height, confidence, safe / height));
  }
  return samples;
}

ScaleErrors errors_of(const HeightParameters& parameters, std::span<const ScaleSample> samples) {
  ScaleModel model;
  model.min_scale = 0.01;
  model.height = parameters;
  return evaluate_scales(ScalePredictor::create(model).value(), samples);
}

TEST(FitHeights, DrawsTooSmallNoMoreOftenThanAsked) {
  for (unsigned seed = 0; seed < 30; ++seed) {
    const auto samples = random_samples(seed, 20 + static_cast<int>(seed) * 7);
    for (const double quantile : {0.5, 0.9, 1.0}) {
      const HeightParameters fitted = fit_heights(samples, quantile).value();
      const ScaleErrors errors = errors_of(fitted, samples);
      EXPECT_LE(errors.under_rate, 1 - quantile + 1e-9);
      // Nor is it larger than it must be: a little less, and more would be too small.
      HeightParameters less = fitted;
      less.sure_height *= 0.999;
      less.unsure_height *= 0.999;
      EXPECT_GT(errors_of(less, samples).under_rate, 1 - quantile - 1e-9);
    }
  }
}

TEST(FitHeights, LearnsWhatConfidenceSaves) {
  const auto samples = random_samples(5, 1000);
  const HeightParameters fitted = fit_heights(samples).value();
  EXPECT_GT(fitted.unsure_height, fitted.sure_height * 1.15);
  EXPECT_NEAR(fitted.unsure_confidence, 0.275, 0.05);
  EXPECT_NEAR(fitted.sure_confidence, 0.725, 0.05);
  HeightParameters flat = fitted;
  std::vector<ScaleSample> equal = samples;
  for (ScaleSample& s : equal) s.features.confidence = 0.5;
  flat = fit_heights(equal).value();
  EXPECT_DOUBLE_EQ(flat.unsure_height, flat.sure_height);
  EXPECT_LT(errors_of(fitted, samples).area_share, errors_of(flat, equal).area_share);
}

TEST(FitHeights, ConfidenceThatDoesNotHelpIsNotUsed) {
  std::vector<ScaleSample> samples;
  for (int i = 1; i <= 10; ++i) samples.push_back(sample(100, i / 10.0, i / 20.0));
  const HeightParameters fitted = fit_heights(samples, 0.9).value();
  EXPECT_DOUBLE_EQ(fitted.sure_height, fitted.unsure_height);
  EXPECT_DOUBLE_EQ(fitted.sure_height, 45) << "nine of ten are safe";
}

TEST(FitHeights, NewObjectsMayNeedMore) {
  std::vector<ScaleSample> samples{sample(100, 0.5, 0.3)};
  EXPECT_DOUBLE_EQ(fit_heights(samples).value().new_height, 30);
  samples.push_back(sample(100, 0, 0.8));  // 80 px of the region, of which 0.7 are the object
  HeightParameters base;
  base.new_share = 0.7;
  EXPECT_DOUBLE_EQ(fit_heights(samples, 0.9, base).value().new_height, 56);
}

TEST(FitHeights, RefusesBadInput) {
  EXPECT_FALSE(fit_heights({}).ok());
  EXPECT_FALSE(fit_heights(std::vector<ScaleSample>{sample(100, 0, 0.5)}).ok());
  const std::vector<ScaleSample> one{sample(100, 0.5, 0.5)};
  EXPECT_FALSE(fit_heights(one, 0).ok());
  EXPECT_FALSE(fit_heights(one, 1.1).ok());
  EXPECT_FALSE(fit_heights(one, 0.9, {.unsure_confidence = 0.9}).ok());
  EXPECT_FALSE(fit_heights(one, 0.9, {.new_share = 0}).ok());
}

}  // namespace
}  // namespace sparing

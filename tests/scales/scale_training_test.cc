// What train-scale learns from samples whose rule is known.
#include "scale_training.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace sparing::cli {
namespace {

// People of different heights; the fast third needs twice the area. `noise` scales the safe area by
// a random factor around 1.
std::vector<ScaleSample> people(int count, double noise, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> heights(40, 200), shifts(0, 8), factor(-noise, noise),
      confidences(0.3, 1.0);
  std::vector<ScaleSample> samples;
  for (int i = 0; i < count; ++i) {
    ScaleSample sample;
    ScaleFeatures& features = sample.features;
    features.height = heights(random);
    features.area = features.height * features.height * 0.4;
    features.max_edge = features.height;
    features.aspect_ratio = 0.4;
    features.mean_shift = shifts(random);
    features.confidence = confidences(random);
    const double safe_area = (features.mean_shift > 5 ? 800 : 400) * std::exp(factor(random));
    sample.safe.area = safe_area;
    sample.safe.label_area = safe_area * 1.1;
    sample.safe.scale = std::sqrt(safe_area / features.area);
    samples.push_back(sample);
  }
  return samples;
}

TEST(ScaleTraining, TheTreeFindsWhatTheSafeAreaDependsOn) {
  const auto train = people(600, 0.05, 1);
  const auto test = people(300, 0.05, 2);
  const auto result = train_scales(train, test);
  ASSERT_TRUE(result.ok()) << result.error().to_string();
  EXPECT_LE(result->tree.under_rate, 0.1);
  EXPECT_LE(result->height.under_rate, 0.2);
  // A height alone cannot tell the fast from the slow.
  EXPECT_LT(result->tree.area_share, result->height.area_share * 0.9);
  EXPECT_GE(result->tree.area_share, result->tree.safe_area_share * 0.95);
  EXPECT_EQ(result->model.predictor, "tree");
  EXPECT_EQ(result->model.tree->features.size(), 7U);
  EXPECT_EQ(result->model.tree_under_rate, result->tree.under_rate);
  EXPECT_TRUE(ScaleTree::create(*result->model.tree).ok());
}

TEST(ScaleTraining, TheLeavesErrOnTheSafeSide) {
  const auto train = people(600, 0.5, 3);
  const auto test = people(600, 0.5, 4);
  ScaleTrainingOptions careless;
  careless.quantile = 0.5;
  const auto safe = train_scales(train, test);
  const auto less = train_scales(train, test, careless);
  ASSERT_TRUE(safe.ok() && less.ok());
  EXPECT_LT(safe->tree.under_rate, less->tree.under_rate);
  EXPECT_LE(safe->tree.under_rate, 0.15);
  EXPECT_GT(safe->tree.area_share, less->tree.area_share);
}

TEST(ScaleTraining, ThePredictorWithFewUnderEstimatesIsChosenBeforeTheThriftyOne) {
  // No feature of the tree says how surely the object was found, and safety hangs on that.
  auto samples = people(600, 0.05, 5);
  for (ScaleSample& sample : samples) {
    const double height = sample.features.confidence > 0.65 ? 20 : 80;
    sample.safe.scale = height / sample.features.height;
    sample.safe.area = sample.features.area * sample.safe.scale * sample.safe.scale;
    sample.safe.label_area = sample.safe.area * 1.1;
  }
  const std::span<const ScaleSample> all = samples;
  const auto result = train_scales(all.first(400), all.subspan(400));
  ASSERT_TRUE(result.ok());
  const ScaleErrors& chosen = result->model.predictor == "tree" ? result->tree : result->height;
  const ScaleErrors& other = result->model.predictor == "tree" ? result->height : result->tree;
  EXPECT_TRUE(chosen.under_rate <= 0.1 || chosen.under_rate <= other.under_rate);
}

// One in twenty needs ten times the area, whatever its features are: the upper of two levels, with
// which the tree draws whatever the lower one is too small for.
TEST(ScaleTraining, ATreeThatDrawsFarMoreIsNotChosenForItsSafety) {
  auto samples = people(1500, 0.1, 7);
  for (std::size_t i = 0; i < samples.size(); i += 20) {
    samples[i].safe.area *= 10;
    samples[i].safe.label_area *= 10;
    samples[i].safe.scale *= std::sqrt(10.0);
  }
  const std::span<const ScaleSample> all = samples;
  ScaleTrainingOptions options;
  options.levels = 2;
  options.most_under = 0.05;
  const auto result = train_scales(all.first(1000), all.subspan(1000), options);
  ASSERT_TRUE(result.ok());
  ASSERT_LT(result->tree.under_rate, options.most_under);
  ASSERT_GT(result->height.under_rate, options.most_under);
  ASSERT_GT(result->tree.area_share, 1.5 * result->height.area_share);
  EXPECT_EQ(result->model.predictor, "height");
}

TEST(ScaleTraining, AgreesWithItselfWhenEverySampleIsTheSame) {
  const std::vector<ScaleSample> samples(100, people(1, 0, 6)[0]);
  const auto result = train_scales(samples, samples);
  ASSERT_TRUE(result.ok()) << result.error().to_string();
  EXPECT_EQ(result->model.tree->feature, std::vector<int>{-1});
  EXPECT_EQ(result->tree.under_estimates, 0);
  EXPECT_EQ(result->height.under_estimates, 0);
}

TEST(ScaleTraining, NeedsSamples) { EXPECT_FALSE(train_scales({}, {}).ok()); }

}  // namespace
}  // namespace sparing::cli

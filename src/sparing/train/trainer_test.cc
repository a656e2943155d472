#include "sparing/train/trainer.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sparing/train/graph_builder_test_util.h"

namespace sparing {
namespace {

using testing::HasSubstr;
using train::GraphBuilder;
using train::Noise;
using Ints = GraphBuilder::Ints;

// Four channels in, 9x7; a convolution with a batch norm, a depthwise one, an enlargement, 3
// classes.
std::string small_network(GraphBuilder& g) {
  const std::string x = g.norm("n", g.same_conv("first", "image", {6, 4, 3, 3}), 6, "first");
  g.same_conv("second", g.node("Relu", "r", {x}), {6, 1, 3, 3});
  g.with("group", std::int64_t{6});
  g.node("Resize", "up", {"second", "", g.tensor("scales", {4}, {1, 1, 2, 2})});
  g.with("mode", "linear");
  return g.conv("classes", "up", {3, 6, 1, 1});
}

std::string small_bytes() {
  GraphBuilder graph;
  return graph.bytes(small_network(graph));
}

Result<Trainer> make(const std::string& bytes, const TrainerOptions& options = {}) {
  return Trainer::create(train::as_bytes(bytes), "small.onnx", options);
}

Trainer small_trainer(const TrainerOptions& options = {}) {
  Result<Trainer> trainer = make(small_bytes(), options);
  EXPECT_TRUE(trainer.ok()) << trainer.error().to_string();
  return *std::move(trainer);
}

std::string error_of(const std::string& bytes, const TrainerOptions& options = {}) {
  const Result<Trainer> trainer = make(bytes, options);
  return trainer.ok() ? "no error" : trainer.error().to_string();
}

void draw(Trainer& trainer, std::uint32_t seed = 3) {
  const TensorView input = trainer.input();
  const auto count = static_cast<std::size_t>(input.batch) *
                     static_cast<std::size_t>(input.channels * input.height * input.width);
  const std::vector<float> values = Noise(seed).values(count);
  std::copy(values.begin(), values.end(), reinterpret_cast<float*>(input.data));
}

std::vector<std::uint8_t> labels_of(const Trainer& trainer) {
  std::vector<std::uint8_t> labels(trainer.logits().size() /
                                   static_cast<std::size_t>(trainer.classes()));
  for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<std::uint8_t>(i / 5 % 3);
  return labels;
}

StepReport learn(Trainer& trainer) {
  EXPECT_TRUE(trainer.forward().ok());
  const Result<StepReport> report = trainer.step_cross_entropy({.labels = labels_of(trainer)});
  EXPECT_TRUE(report.ok()) << report.error().to_string();
  return *report;
}

std::vector<float> logits_now(Trainer& trainer) {
  EXPECT_TRUE(trainer.forward(false).ok());
  return {trainer.logits().begin(), trainer.logits().end()};
}

TEST(Trainer, SaysWhatTheNetworkIs) {
  Trainer trainer = small_trainer();
  EXPECT_EQ(trainer.classes(), 3);
  EXPECT_EQ(trainer.output_size(), (Size{14, 18}));
  EXPECT_EQ(trainer.input().width, 7);
  EXPECT_EQ(trainer.input().stride_c, 9 * 7 * 4);
  ASSERT_EQ(trainer.layers().size(), 3u);
  EXPECT_EQ(trainer.layers()[0].name, "first");
  EXPECT_EQ(trainer.layers()[0].parameters, 6 * 4 * 9 + 6 + 12);
  EXPECT_EQ(trainer.layers()[0].macs, 6 * 4 * 9 * 63);
  EXPECT_FALSE(trainer.layers()[1].after_enlargement);
  EXPECT_TRUE(trainer.layers()[2].after_enlargement);
  EXPECT_EQ(trainer.macs(), (6 * 4 * 9 + 6 * 9) * 63 + 3 * 6 * 14 * 18);
}

TEST(Trainer, LearnsLabelsThatItIsShownAgainAndAgain) {
  TrainerOptions options;
  options.rate = 0.05;
  Trainer trainer = small_trainer(options);
  draw(trainer);
  const double first = learn(trainer).loss;
  double last = 0;
  for (int i = 0; i < 300; ++i) last = learn(trainer).loss;
  EXPECT_LT(last, 0.7 * first);
}

TEST(Trainer, TheLossIsTheWeightedMeanOverWhatCounts) {
  TrainerOptions options;
  options.rate = 0;
  Trainer trainer = small_trainer(options);
  draw(trainer);
  ASSERT_TRUE(trainer.forward().ok());
  std::vector<std::uint8_t> labels = labels_of(trainer);
  labels[3] = kIgnoreLabel;
  const std::vector<float> class_weights{1, 0.5f, 2};
  const std::vector<float> pixel_weights = Noise(4).values(labels.size(), 0.5f, 0.5f);
  ProbabilityMap probabilities;
  trainer.probabilities(probabilities);
  double sum = 0;
  double weights = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] == kIgnoreLabel) continue;
    const double weight = static_cast<double>(class_weights[labels[i]] * pixel_weights[i]);
    sum -= weight * std::log(static_cast<double>(probabilities.plane(labels[i])[i]));
    weights += weight;
  }
  const Result<StepReport> report = trainer.step_cross_entropy(
      {.labels = labels, .class_weights = class_weights, .pixel_weights = pixel_weights});
  ASSERT_TRUE(report.ok());
  EXPECT_NEAR(report->loss, sum / weights, 1e-5);
}

TEST(Trainer, ProbabilitiesAreTheSoftmaxOfTheLogits) {
  Trainer trainer = small_trainer();
  draw(trainer);
  ASSERT_TRUE(trainer.forward(false).ok());
  ProbabilityMap map;
  trainer.probabilities(map);
  ASSERT_EQ(map.size, trainer.output_size());
  for (std::size_t i = 0; i < map.pixels(); ++i) {
    double sum = 0;
    for (int c = 0; c < 3; ++c) {
      sum += std::exp(
          static_cast<double>(trainer.logits()[static_cast<std::size_t>(c) * map.pixels() + i]));
    }
    for (int c = 0; c < 3; ++c) {
      const double logit =
          static_cast<double>(trainer.logits()[static_cast<std::size_t>(c) * map.pixels() + i]);
      ASSERT_NEAR(static_cast<double>(map.plane(c)[i]), std::exp(logit) / sum, 1e-6);
    }
  }
}

// The gradients of the losses, against differences of the losses themselves: a network of one bias.
TEST(Trainer, GradientsOfTheLossesAreThoseOfTheirValues) {
  for (const bool entropy : {false, true}) {
    const auto step = [&](float shift, float& moved) {
      GraphBuilder graph({1, 3, 2, 2});
      graph.node("Conv", "c",
                 {"image", graph.tensor("w", {3, 3, 1, 1}, {1, 0, 0, 0, 1, 0, 0, 0, 1}),
                  graph.tensor("b", {3}, {0.3f + shift, -0.2f, 0.1f})});
      TrainerOptions options;
      options.momentum = 0;
      options.rate = 1;
      Result<Trainer> trainer = make(graph.bytes("c"), options);
      EXPECT_TRUE(trainer.ok());
      draw(*trainer);
      EXPECT_TRUE(trainer->forward().ok());
      const std::vector<std::uint8_t> labels{0, 1, 2, kIgnoreLabel};
      const Result<StepReport> report =
          entropy ? trainer->step_entropy() : trainer->step_cross_entropy({.labels = labels});
      EXPECT_TRUE(report.ok());
      moved = 0.3f + shift - (*trainer->weights("c", "bias"))[0];
      return report->loss;
    };
    float gradient = 0;
    float unused = 0;
    step(0, gradient);
    const double difference = (step(0.01f, unused) - step(-0.01f, unused)) / 0.02;
    EXPECT_NEAR(static_cast<double>(gradient), difference, 2e-4) << entropy;
  }
}

TEST(Trainer, AGivenGradientDoesWhatTheLossWouldDo) {
  Trainer by_loss = small_trainer();
  Trainer by_gradient = small_trainer();
  draw(by_loss);
  draw(by_gradient);
  learn(by_loss);
  ASSERT_TRUE(by_gradient.forward().ok());
  const std::vector<std::uint8_t> labels = labels_of(by_gradient);
  ProbabilityMap map;
  by_gradient.probabilities(map);
  std::vector<float> gradient = map.values;
  for (std::size_t i = 0; i < labels.size(); ++i) gradient[labels[i] * labels.size() + i] -= 1;
  for (float& value : gradient) value /= static_cast<float>(labels.size());
  ASSERT_TRUE(by_gradient.step_gradient(1, gradient).ok());
  const std::vector<float> a = *by_loss.weights("first", "weight");
  const std::vector<float> b = *by_gradient.weights("first", "weight");
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-7);
}

// ---- What is trained.

std::vector<std::string> trained_layers(const TrainerOptions& options) {
  std::vector<std::string> names;
  const Trainer trainer = small_trainer(options);
  for (const TrainerLayer& layer : trainer.layers()) {
    if (layer.trained) names.push_back(layer.name);
  }
  return names;
}

TEST(TrainerSelection, NamesTheLayers) {
  using Names = std::vector<std::string>;
  TrainerOptions options;
  EXPECT_EQ(trained_layers(options), (Names{"first", "second", "classes"}));
  options.train_layers = 2;
  EXPECT_EQ(trained_layers(options), (Names{"second", "classes"}));
  options.train_layers = 0;
  options.train = "last";
  EXPECT_EQ(trained_layers(options), Names{"classes"});
  options.train = "decoder";
  EXPECT_EQ(trained_layers(options), Names{"classes"});
  options.train = "batch_norm";
  EXPECT_EQ(trained_layers(options), Names{"first"});
  options.train = "all";
  for (const char* name : {"second", "r", "n", "first", "up", "image"}) {
    options.train_from = name;
    const std::size_t expected = name == std::string("second") ? 2 : name[0] == 'u' ? 1 : 3;
    EXPECT_EQ(trained_layers(options).size(), expected) << name;
  }
}

TEST(TrainerSelection, LeavesTheRestAsItIs) {
  TrainerOptions options;
  options.train = "last";
  Trainer trainer = small_trainer(options);
  draw(trainer);
  const std::vector<float> first = *trainer.weights("first", "weight");
  const std::vector<float> last = *trainer.weights("classes", "weight");
  EXPECT_TRUE(learn(trainer).applied());
  EXPECT_EQ(*trainer.weights("first", "weight"), first);
  EXPECT_NE(*trainer.weights("classes", "weight"), last);
}

TEST(TrainerSelection, NothingIsTrainedWhenNothingIsAskedFor) {
  TrainerOptions options;
  options.train = "none";
  Trainer trainer = small_trainer(options);
  draw(trainer);
  EXPECT_EQ(learn(trainer).outcome, StepOutcome::kNothingToLearn);
  EXPECT_EQ(trainer.distance(), 0);
  EXPECT_EQ(trainer.memory().kept, 0);
}

TEST(TrainerSelection, WhatDoesNotExistIsSaid) {
  TrainerOptions options;
  options.train_from = "nowhere";
  EXPECT_THAT(error_of(small_bytes(), options), HasSubstr("no node or tensor 'nowhere'"));
  options.train_from = "classes";
  options.train = "batch_norm";
  EXPECT_THAT(error_of(small_bytes(), options), HasSubstr("nothing to train"));
}

// ---- State.

TEST(TrainerState, LoadedItGoesOnExactlyWhereItWasSaved) {
  TrainerOptions options;
  options.optimizer = "adam";
  Trainer trainer = small_trainer(options);
  draw(trainer);
  for (int i = 0; i < 3; ++i) learn(trainer);
  const std::vector<std::byte> state = trainer.save_state();
  for (int i = 0; i < 3; ++i) learn(trainer);
  const std::vector<float> expected = logits_now(trainer);
  Trainer other = small_trainer(options);
  draw(other);
  ASSERT_TRUE(other.load_state(state).ok());
  for (int i = 0; i < 3; ++i) learn(other);
  EXPECT_EQ(logits_now(other), expected);
}

TEST(TrainerState, OfAnotherTrainerOrDamagedIsRefused) {
  Trainer trainer = small_trainer();
  draw(trainer);
  learn(trainer);
  const std::vector<float> before = logits_now(trainer);
  std::vector<std::byte> state = trainer.save_state();
  TrainerOptions options;
  options.train = "last";
  Trainer smaller = small_trainer(options);
  EXPECT_THAT(smaller.load_state(state).error().to_string(), HasSubstr("another network"));
  EXPECT_THAT(trainer.load_state(std::span(state).first(state.size() - 4)).error().to_string(),
              HasSubstr("damaged"));
  EXPECT_THAT(trainer.load_state(std::span(state).first(5)).error().to_string(),
              HasSubstr("too short"));
  std::vector<std::byte> with_nan = state;
  std::fill_n(with_nan.end() - 4, 4, std::byte{0xff});
  EXPECT_THAT(trainer.load_state(with_nan).error().to_string(), HasSubstr("not finite"));
  state[0] = std::byte{1};
  EXPECT_THAT(trainer.load_state(state).error().to_string(), HasSubstr("not a saved state"));
  EXPECT_EQ(logits_now(trainer), before);
}

TEST(TrainerState, ResetAndPullGoBackToTheFile) {
  Trainer trainer = small_trainer();
  draw(trainer);
  const std::vector<float> initial = logits_now(trainer);
  for (int i = 0; i < 5; ++i) learn(trainer);
  const double away = trainer.distance();
  EXPECT_GT(away, 0);
  ASSERT_TRUE(trainer.pull(0.25).ok());
  EXPECT_NEAR(trainer.distance(), 0.75 * away, 1e-4 * away);
  EXPECT_NE(logits_now(trainer), initial);
  trainer.reset();
  EXPECT_EQ(trainer.distance(), 0);
  EXPECT_EQ(logits_now(trainer), initial);
  EXPECT_FALSE(trainer.pull(1.5).ok());
  EXPECT_FALSE(trainer.pull(std::nan("")).ok());
}

TEST(TrainerState, RunningStatisticsFollowOnlyWhatIsKept) {
  TrainerOptions options;
  options.batch_norm = "live";
  options.train = "batch_norm";
  Trainer trainer = small_trainer(options);
  draw(trainer);
  const std::vector<float> mean = *trainer.weights("n", "mean");
  ASSERT_TRUE(trainer.forward(false).ok());
  EXPECT_EQ(*trainer.weights("n", "mean"), mean);
  ASSERT_TRUE(trainer.forward(true).ok());
  EXPECT_NE(*trainer.weights("n", "mean"), mean);
  trainer.reset();
  EXPECT_EQ(*trainer.weights("n", "mean"), mean);
}

// ---- What goes wrong while it learns.

TEST(TrainerFailure, NanRestoresTheWeightsBeforeTheLastStep) {
  for (const char* statistics : {"frozen", "live"}) {
    TrainerOptions options;
    options.batch_norm = statistics;
    Trainer trainer = small_trainer(options);
    draw(trainer);
    learn(trainer);
    const std::vector<float> good = *trainer.weights("classes", "weight");
    const std::vector<float> mean = *trainer.weights(statistics[0] == 'f' ? "first" : "n", "mean");
    learn(trainer);
    EXPECT_NE(*trainer.weights("classes", "weight"), good);
    *reinterpret_cast<float*>(trainer.input().data) = std::nanf("");
    const StepReport report = learn(trainer);
    // A ReLU may take NaN for 0: then the first layer's gradient shows it.
    EXPECT_TRUE(report.outcome == StepOutcome::kLossNotFinite ||
                report.outcome == StepOutcome::kGradientNotFinite);
    EXPECT_TRUE(report.restored());
    EXPECT_EQ(*trainer.weights("classes", "weight"), good);
    const std::vector<float> now = *trainer.weights(statistics[0] == 'f' ? "first" : "n", "mean");
    for (const float value : now) {
      EXPECT_TRUE(std::isfinite(value));
    }
    draw(trainer);
    EXPECT_TRUE(learn(trainer).applied());
  }
}

TEST(TrainerFailure, ExplodingLossAndGradientAreNotFollowed) {
  TrainerOptions options;
  options.rate = 10;
  options.momentum = 0.99;
  options.loss_limit = 50;
  Trainer trainer = small_trainer(options);
  draw(trainer);
  StepReport report;
  for (int i = 0; i < 100 && !report.restored(); ++i) report = learn(trainer);
  EXPECT_EQ(report.outcome, StepOutcome::kLossTooLarge);
  EXPECT_GT(report.loss, 50);
  for (const float value : logits_now(trainer)) ASSERT_TRUE(std::isfinite(value));

  options = {};
  options.gradient_limit = 1e-9;
  Trainer limited = small_trainer(options);
  draw(limited);
  EXPECT_EQ(learn(limited).outcome, StepOutcome::kGradientTooLarge);
  EXPECT_EQ(limited.distance(), 0);
  ASSERT_TRUE(limited.forward().ok());
  const std::vector<float> nan(limited.logits().size(), std::nanf(""));
  EXPECT_EQ(limited.step_gradient(1, nan)->outcome, StepOutcome::kGradientNotFinite);
}

TEST(TrainerFailure, NothingThatCountsIsNothingToLearn) {
  Trainer trainer = small_trainer();
  draw(trainer);
  ASSERT_TRUE(trainer.forward().ok());
  const std::vector<std::uint8_t> ignored(labels_of(trainer).size(), kIgnoreLabel);
  const Result<StepReport> report = trainer.step_cross_entropy({.labels = ignored});
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->outcome, StepOutcome::kNothingToLearn);
  EXPECT_EQ(trainer.distance(), 0);
}

TEST(TrainerFailure, WrongArgumentsAreSaid) {
  Trainer trainer = small_trainer();
  draw(trainer);
  std::vector<std::uint8_t> labels(14 * 18);
  const auto problem = [&](const CrossEntropyTarget& target) {
    EXPECT_TRUE(trainer.forward().ok());
    const Result<StepReport> report = trainer.step_cross_entropy(target);
    return report.ok() ? "no error" : report.error().to_string();
  };
  EXPECT_THAT(trainer.step_entropy().error().to_string(), HasSubstr("no forward pass"));
  ASSERT_TRUE(trainer.forward(false).ok());
  EXPECT_THAT(trainer.step_entropy().error().to_string(), HasSubstr("no forward pass"));
  EXPECT_THAT(problem({.labels = std::span(labels).first(9)}),
              HasSubstr("labels: 9 elements; give 252"));
  labels[7] = 3;
  EXPECT_THAT(problem({.labels = labels}), HasSubstr("labels: 3 among them; give 0 to 2"));
  labels[7] = 0;
  const std::vector<float> two(2, 1.0f);
  EXPECT_THAT(problem({.labels = labels, .class_weights = two}),
              HasSubstr("class weights: 2 elements; give 3"));
  const std::vector<float> negative{1, -1, 1};
  EXPECT_THAT(problem({.labels = labels, .class_weights = negative}),
              HasSubstr("class weights: -1"));
  EXPECT_THAT(problem({.labels = labels, .pixel_weights = two}),
              HasSubstr("pixel weights: 2 elements; give 252"));
  ASSERT_TRUE(trainer.forward().ok());
  EXPECT_FALSE(trainer.step_gradient(0, two).ok());
  EXPECT_TRUE(trainer.step_entropy().ok());
  EXPECT_FALSE(trainer.step_entropy().ok());  // each forward pass serves one step
  EXPECT_FALSE(trainer.set_rate(-1).ok());
  EXPECT_TRUE(trainer.set_rate(0.5).ok());
  EXPECT_EQ(trainer.rate(), 0.5);
  EXPECT_FALSE(trainer.weights("nowhere", "weight").ok());
  EXPECT_FALSE(trainer.weights("classes", "scale").ok());
}

// ---- Threads.

TEST(TrainerThreads, GiveTheSameFromWhicheverThreadCalls) {
  std::vector<std::vector<float>> results;
  for (const int threads : {1, 2, 2}) {
    TrainerOptions options;
    options.threads = threads;
    Trainer trainer = small_trainer(options);
    std::thread caller([&] {
      draw(trainer);
      for (int i = 0; i < 3; ++i) learn(trainer);
    });
    caller.join();
    results.push_back(logits_now(trainer));
  }
  EXPECT_EQ(results[1], results[2]);
  for (std::size_t i = 0; i < results[0].size(); ++i) {
    EXPECT_NEAR(results[0][i], results[1][i], 1e-4);
  }
}

TEST(TrainerThreads, ItMayBeMoved) {
  Trainer first = small_trainer();
  draw(first);
  learn(first);
  const std::vector<float> expected = logits_now(first);
  Trainer second = std::move(first);
  EXPECT_EQ(logits_now(second), expected);
  first = small_trainer();
  EXPECT_EQ(first.distance(), 0);
}

}  // namespace
}  // namespace sparing

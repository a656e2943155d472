#include "sparing/packing/scale_tuner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace sparing {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr double kTiny = 1e-9;
constexpr Detection kReference{{100, 100, 140, 200}, 0.9f, 0};

Timestamp ms(std::int64_t ticks) { return {ticks, {1, 1000}}; }
ScaleTuner tuner(const TunerOptions& options = {}) { return ScaleTuner::create(options).value(); }

// What the tuner would try of the object now.
ProbePlan plan(const ScaleTuner& t, std::int64_t id, std::int64_t time,
               const ProactiveScale& proactive = {0.5, 7}, double size = 60) {
  ProbePlan p{id, proactive, size, ms(time), {}};
  for (const double ratio : t.probe_ratios(id)) {
    p.probes.push_back({ratio, ratio * proactive.scale, false});
  }
  return p;
}

ProbeOutcome found(const Detection& detection = kReference) { return {true, {detection}}; }
ProbeOutcome missed() { return {true, {}}; }

// Succeeds at `safe` times the predicted scale and above.
void probe(ScaleTuner& t, const ProbePlan& p, double safe) {
  std::vector<ProbeOutcome> outcomes;
  for (const Probe& one : p.probes) {
    outcomes.push_back(one.ratio >= safe - kTiny ? found() : missed());
  }
  EXPECT_TRUE(t.report(p, kReference, outcomes).ok());
}

std::optional<double> ratio(ScaleTuner& t, std::int64_t id, std::int64_t time,
                            const ProactiveScale& proactive = {0.5, 7}, double size = 60) {
  return t.ratio(id, proactive, size, ms(time));
}

TEST(ProbeSucceeded, NeedsConfidenceOverlapAndClass) {
  const auto succeeded = [](const Detection& d) {
    return probe_succeeded(kReference, std::vector<Detection>{{{0, 0, 9, 9}, 0.9f, 0}, d}, 0.3,
                           0.75);
  };
  EXPECT_TRUE(succeeded(kReference));
  EXPECT_TRUE(succeeded({{100, 100, 140, 200}, 0.31f, 0}));
  EXPECT_FALSE(succeeded({{100, 100, 140, 200}, 0.29f, 0}));
  EXPECT_FALSE(succeeded({{100, 100, 140, 200}, 0.9f, 1}));
  EXPECT_FALSE(succeeded({{100, 100, 140, 175}, 0.9f, 0})) << "IoU .75 itself is not above it";
  EXPECT_TRUE(succeeded({{100, 100, 140, 176}, 0.9f, 0}));
  EXPECT_FALSE(succeeded({{100, 100, std::numeric_limits<float>::infinity(), 200}, 0.9f, 0}));
  EXPECT_FALSE(probe_succeeded(kReference, {}, 0.3, 0.75));
}

TEST(ScaleTuner, TriesFiveScales) {
  const ScaleTuner t = tuner();
  EXPECT_THAT(t.probe_ratios(1),
              ElementsAre(DoubleNear(1, kTiny), DoubleNear(0.9, kTiny), DoubleNear(0.8, kTiny),
                          DoubleNear(0.7, kTiny), DoubleNear(0.6, kTiny)));
  EXPECT_TRUE(tuner({.probes = 0}).probe_ratios(1).empty());
}

TEST(ScaleTuner, TheSmallestSuccessWins) {
  for (const double safe : {1.0, 0.9, 0.8, 0.7, 0.6}) {
    ScaleTuner t = tuner();
    EXPECT_EQ(ratio(t, 1, 0), std::nullopt);
    probe(t, plan(t, 1, 0), safe);
    EXPECT_NEAR(ratio(t, 1, 40).value(), safe, kTiny);
    EXPECT_EQ(ratio(t, 2, 40), std::nullopt) << "another object";
    EXPECT_EQ(t.counters().proactive_checked, 1);
    EXPECT_EQ(t.counters().proactive_under, 0);
  }
}

TEST(ScaleTuner, ASmallerSuccessCountsEvenBelowAFailure) {
  ScaleTuner t = tuner();
  const ProbePlan p = plan(t, 1, 0);
  ASSERT_TRUE(t.report(p, kReference,
                       std::vector<ProbeOutcome>{found(), missed(), found(), missed(), missed()})
                  .ok());
  EXPECT_NEAR(ratio(t, 1, 0).value(), 0.8, kTiny);
}

TEST(ScaleTuner, AllFailIsOneStepLarger) {
  ScaleTuner t = tuner();
  probe(t, plan(t, 1, 0), 9);
  EXPECT_NEAR(ratio(t, 1, 0).value(), 1.1, kTiny);
  EXPECT_EQ(t.counters().all_failed, 1);
  EXPECT_EQ(t.counters().proactive_under, 1);
  // Again and again, up to twice the predicted scale.
  for (int i = 1; i < 30; ++i) probe(t, plan(t, 1, 10 * i), 9);
  EXPECT_DOUBLE_EQ(ratio(t, 1, 300).value(), 2);
}

TEST(ScaleTuner, NearReprobesFindTheSafeScaleAndComeBack) {
  ScaleTuner t = tuner();
  probe(t, plan(t, 1, 0), 0.8);
  EXPECT_THAT(t.probe_ratios(1), ElementsAre(DoubleNear(0.8, kTiny), DoubleNear(0.7, kTiny)));
  probe(t, plan(t, 1, 1000), 0.7);
  EXPECT_NEAR(ratio(t, 1, 1000).value(), 0.7, kTiny);
  probe(t, plan(t, 1, 2000), 0.9);
  EXPECT_NEAR(ratio(t, 1, 2000).value(), 0.8, kTiny) << "failed at .7 and .6: a step larger";
  probe(t, plan(t, 1, 3000), 0.9);
  EXPECT_NEAR(ratio(t, 1, 3000).value(), 0.9, kTiny);
  probe(t, plan(t, 1, 4000), 0.6);
  probe(t, plan(t, 1, 5000), 0.6);
  probe(t, plan(t, 1, 6000), 0.6);
  EXPECT_NEAR(ratio(t, 1, 6000).value(), 0.6, kTiny);
  EXPECT_THAT(t.probe_ratios(1), ElementsAre(DoubleNear(0.6, kTiny))) << "the smallest there is";
  EXPECT_EQ(t.counters().tuned_checked, 6);
  EXPECT_EQ(t.counters().tuned_under, 2);
}

TEST(ScaleTuner, AllReprobesStartAnew) {
  ScaleTuner t = tuner({.reprobe = "all"});
  probe(t, plan(t, 1, 0), 0.8);
  EXPECT_EQ(t.probe_ratios(1).size(), 5u);
  probe(t, plan(t, 1, 1000), 1.0);
  EXPECT_NEAR(ratio(t, 1, 1000).value(), 1.0, kTiny);
}

TEST(ScaleTuner, ProbesThatDidNotRunSayNothing) {
  ScaleTuner t = tuner();
  const ProbePlan p = plan(t, 1, 0);
  std::vector<ProbeOutcome> outcomes(5);
  ASSERT_TRUE(t.report(p, kReference, outcomes).ok());
  EXPECT_EQ(ratio(t, 1, 0), std::nullopt);
  EXPECT_EQ(t.counters().inconclusive, 1);
  // The two smallest ran and failed: one step above the larger of them.
  outcomes[3] = outcomes[4] = missed();
  ASSERT_TRUE(t.report(p, kReference, outcomes).ok());
  EXPECT_NEAR(ratio(t, 1, 0).value(), 0.8, kTiny);
  EXPECT_EQ(t.counters().proactive_checked, 0);
}

TEST(ScaleTuner, WithoutAReferenceProbesSayNothing) {
  ScaleTuner t = tuner();
  const std::vector<ProbeOutcome> outcomes(5, missed());
  ASSERT_TRUE(t.report(plan(t, 1, 0), std::nullopt, outcomes).ok());
  EXPECT_EQ(t.size(), 0u);
  EXPECT_EQ(t.counters(), (TunerCounters{.reports = 1, .inconclusive = 1}));
}

TEST(ScaleTuner, RefusesOutcomesOfOtherPlans) {
  ScaleTuner t = tuner();
  const auto status = t.report(plan(t, 3, 0), kReference, std::vector<ProbeOutcome>(4));
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().to_string(), HasSubstr("object 3: 4 for 5 probes"));
  EXPECT_EQ(t.counters().reports, 0);
}

TEST(ScaleTuner, LateReportsChangeNothing) {
  ScaleTuner t = tuner();
  const ProbePlan early = plan(t, 1, 1000);
  probe(t, plan(t, 1, 2000), 0.8);
  probe(t, early, 0.6);
  EXPECT_NEAR(ratio(t, 1, 2000).value(), 0.8, kTiny);
  EXPECT_EQ(t.counters().late, 1);
}

// --- what does not hold any more
// -------------------------------------------------------------------

TEST(ScaleTuner, DropsWhenThePredictedLevelChanges) {
  ScaleTuner t = tuner();
  probe(t, plan(t, 1, 0, {0.50, 7}), 0.8);
  EXPECT_TRUE(ratio(t, 1, 40, {0.49, 7}).has_value());
  EXPECT_TRUE(ratio(t, 1, 40, {0.51, 8}).has_value()) << "over the border, but by 2 % only";
  EXPECT_FALSE(ratio(t, 1, 40, {0.53, 8}).has_value());
  EXPECT_FALSE(ratio(t, 1, 40, {0.50, 7}).has_value()) << "dropped is dropped";
  EXPECT_EQ(t.counters().level_changed, 1);
  EXPECT_EQ(t.size(), 0u);

  probe(t, plan(t, 1, 0, {0.50, 7}), 0.8);
  EXPECT_FALSE(ratio(t, 1, 40, {0.40, 6}).has_value()) << "downwards, too";
}

TEST(ScaleTuner, DropsWhenTheObjectChangesItsSize) {
  for (const double size : {60 * 1.21, 60 / 1.21}) {
    ScaleTuner t = tuner();
    probe(t, plan(t, 1, 0), 0.8);
    EXPECT_TRUE(ratio(t, 1, 40, {0.5, 7}, 60 * 1.19).has_value());
    EXPECT_TRUE(ratio(t, 1, 40, {0.5, 7}, 60 / 1.19).has_value());
    EXPECT_FALSE(ratio(t, 1, 40, {0.5, 7}, size).has_value());
    EXPECT_EQ(t.counters().size_changed, 1);
  }
}

TEST(ScaleTuner, DropsWhatIsTooOld) {
  ScaleTuner t = tuner({.max_age = 3});
  probe(t, plan(t, 1, 0), 0.8);
  EXPECT_TRUE(ratio(t, 1, 3000).has_value());
  EXPECT_FALSE(ratio(t, 1, 3001).has_value());
  EXPECT_EQ(t.counters().aged, 1);
}

TEST(ScaleTuner, ForgetsObjectsThatAreNotAskedFor) {
  ScaleTuner t = tuner({.forget_after = 2});
  probe(t, plan(t, 1, 0), 0.8);
  probe(t, plan(t, 2, 0), 0.8);
  ratio(t, 2, 1500);
  t.forget(ms(2000));
  EXPECT_EQ(t.size(), 2u);
  t.forget(ms(2500));
  EXPECT_EQ(t.size(), 1u);
  EXPECT_FALSE(ratio(t, 1, 2500).has_value());
  EXPECT_TRUE(ratio(t, 2, 2500).has_value());
  EXPECT_EQ(t.counters().forgotten, 1);
}

TEST(ScaleTuner, MemoryIsBounded) {
  ScaleTuner t = tuner({.max_objects = 10});
  for (std::int64_t id = 0; id < 100; ++id) {
    probe(t, plan(t, id, 40 * id), 0.8);
    ratio(t, 0, 40 * id);  // asked for again and again: stays
    EXPECT_LE(t.size(), 10u);
  }
  EXPECT_EQ(t.counters().evicted, 90);
  EXPECT_TRUE(ratio(t, 0, 4000).has_value());
  EXPECT_FALSE(ratio(t, 50, 4000).has_value());
  EXPECT_TRUE(ratio(t, 99, 4000).has_value());
}

TEST(ScaleTuner, RefusesBadOptions) {
  EXPECT_FALSE(ScaleTuner::create({.probes = -1}).ok());
  EXPECT_FALSE(ScaleTuner::create({.reprobe = "some"}).ok());
  const auto result = ScaleTuner::create({.probes = 11, .probe_step = 0.1});
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(result.error().to_string(), HasSubstr("reach a scale of 0"));
  EXPECT_TRUE(ScaleTuner::create({.probes = 10, .probe_step = 0.1}).ok());
}

// Objects whose true safe ratio stays the same are drawn at the smallest step that is safe, after
// at most as many windows as there are steps, and stay there.
TEST(ScaleTunerProperties, SettlesAtTheSafeStep) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> uniform(0.6, 1.8);
  for (const char* reprobe : {"near", "all"}) {
    for (int i = 0; i < 100; ++i) {
      ScaleTuner t = tuner({.reprobe = reprobe, .max_age = 1000});
      const double safe = uniform(random);
      double last = 0;
      for (int window = 0; window < 20; ++window) {
        probe(t, plan(t, 1, 1000 * window), safe);
        last = ratio(t, 1, 1000 * window).value();
      }
      if (std::string(reprobe) == "near" || safe <= 1) {
        EXPECT_GE(last, safe - 1e-6);
        EXPECT_LT(last, safe + 0.1);
      } else {
        EXPECT_NEAR(last, 1.1, kTiny) << "one step above the predicted scale, each time";
      }
    }
  }
}

}  // namespace
}  // namespace sparing

#include "sparing/packing/scale_estimator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <iostream>
#include <limits>
#include <random>
#include <string>

namespace sparing {
namespace {

using ::testing::HasSubstr;

Timestamp ms(std::int64_t ticks) { return {ticks, {1, 1000}}; }

Roi person(std::int64_t id, float height, float confidence = 0.9f) {
  Roi roi;
  roi.rect = {80, 80, 100, height + 40};
  roi.source = RoiSource::kFlow;
  roi.object = {100, 100, 100 + height / 2, 100 + height};
  roi.class_id = 0;
  roi.confidence = confidence;
  roi.object_id = id;
  return roi;
}

ScaleModel model(double height, const std::string& precision = "f32") {
  ScaleModel m;
  m.model = "nanodet";
  m.precision = precision;
  m.height.unsure_height = m.height.sure_height = m.height.new_height = height;
  return m;
}

ScaleEstimator estimator(const std::vector<ScaleModel>& models, const TunerOptions& options = {}) {
  return ScaleEstimator::create(models, options).value();
}
ScaleEstimate estimate(ScaleEstimator& e, const Roi& roi, std::int64_t time) {
  return e.estimate(std::vector<Roi>{roi}, ms(time)).value().front();
}
std::vector<ProbePlan> plan_probes(ScaleEstimator& e, const Roi& roi, std::int64_t time) {
  return e.plan_probes(std::vector<Roi>{roi}, ms(time)).value();
}

void report(ScaleEstimator& e, const Roi& roi, const ProbePlan& plan, double safe_scale) {
  const Detection reference{roi.object, 0.9f, 0};
  std::vector<ProbeOutcome> outcomes;
  for (const Probe& probe : plan.probes) {
    outcomes.push_back({true, {}});
    if (probe.scale >= safe_scale - 1e-9) outcomes.back().detections = {reference};
  }
  EXPECT_TRUE(e.report(plan, reference, outcomes).ok());
}

TEST(ScaleEstimator, PredictsThenTunes) {
  ScaleEstimator e = estimator({model(50)});
  const Roi roi = person(7, 100);
  const ScaleEstimate first = estimate(e, roi, 0);
  EXPECT_EQ(first.origin, ScaleOrigin::kProactive);
  EXPECT_DOUBLE_EQ(first.scale, 0.5);

  const auto plans = plan_probes(e, roi, 960);
  ASSERT_EQ(plans.size(), 1u);
  EXPECT_EQ(plans[0].object_id, 7);
  ASSERT_EQ(plans[0].probes.size(), 5u);
  EXPECT_DOUBLE_EQ(plans[0].probes[0].scale, 0.5);
  EXPECT_TRUE(plans[0].probes[0].current);
  EXPECT_DOUBLE_EQ(plans[0].probes[4].scale, 0.3);
  EXPECT_FALSE(plans[0].probes[4].current);
  report(e, roi, plans[0], 0.4);
  e.end_window(ms(960));

  const ScaleEstimate tuned = estimate(e, roi, 1000);
  EXPECT_EQ(tuned.origin, ScaleOrigin::kProbed);
  EXPECT_DOUBLE_EQ(tuned.scale, 0.4);
  EXPECT_DOUBLE_EQ(tuned.proactive, 0.5);
  // A little larger now: the scale goes with it, and the height as drawn stays.
  EXPECT_NEAR(estimate(e, person(7, 104), 1040).scale, 40 / 104.0, 1e-6);

  const auto again = plan_probes(e, roi, 1960);
  ASSERT_EQ(again.at(0).probes.size(), 2u);
  EXPECT_TRUE(again[0].probes[0].current);
  EXPECT_DOUBLE_EQ(again[0].probes[1].scale, 0.35);

  const ScaleCounters counters = e.counters();
  EXPECT_EQ(counters.proactive, 1);
  EXPECT_EQ(counters.probed, 2);
  EXPECT_EQ(counters.planned_probes, 7);
  EXPECT_EQ(counters.tuner.probes_run, 5);
  EXPECT_DOUBLE_EQ(counters.proactive_under_rate(), 0);
  EXPECT_DOUBLE_EQ(counters.tuned_under_rate(), -1);
}

TEST(ScaleEstimator, FallsBackToThePredictionWhenTheObjectChanges) {
  ScaleEstimator e = estimator({model(50)});
  const Roi roi = person(7, 100);
  report(e, roi, plan_probes(e, roi, 0).at(0), 0.3);
  const Roi grown = person(7, 150);
  const ScaleEstimate now = estimate(e, grown, 40);
  EXPECT_EQ(now.origin, ScaleOrigin::kProactive);
  EXPECT_NEAR(now.scale, 50 / 150.0, 1e-6);
  EXPECT_EQ(e.counters().tuner.level_changed + e.counters().tuner.size_changed, 1);
  EXPECT_EQ(e.size(), 0u);
}

TEST(ScaleEstimator, OfSeveralModelsTheLargestScaleCounts) {
  ScaleEstimator e = estimator({model(50, "f32"), model(60, "int8"), model(40, "bf16")});
  EXPECT_DOUBLE_EQ(estimate(e, person(1, 100), 0).scale, 0.6);
}

TEST(ScaleEstimator, TinyObjectsAreEnlarged) {
  ScaleEstimator e = estimator({model(40)});
  EXPECT_DOUBLE_EQ(estimate(e, person(1, 25), 0).scale, 1.6);
  EXPECT_DOUBLE_EQ(estimate(e, person(1, 10), 0).scale, 2.0);
}

TEST(ScaleEstimator, ProbesStayWithinTheLimits) {
  ScaleModel m = model(40);
  m.min_scale = 0.45;
  ScaleEstimator e = estimator({m});
  const Roi roi = person(1, 80);
  const auto plans = plan_probes(e, roi, 0);
  ASSERT_EQ(plans.size(), 1u);
  ASSERT_EQ(plans[0].probes.size(), 2u) << ".5, .45, and then .45 again and again";
  EXPECT_DOUBLE_EQ(plans[0].probes[1].scale, 0.45);
  report(e, roi, plans[0], 0.1);
  EXPECT_DOUBLE_EQ(estimate(e, roi, 40).scale, 0.45);
}

TEST(ScaleEstimator, AtTheLargestScaleItComesBackAtOnce) {
  ScaleEstimator e = estimator({model(40)});
  const Roi roi = person(1, 20);  // enlarged as far as allowed
  for (int window = 0; window < 3; ++window) {
    const auto plans = plan_probes(e, roi, 1000 * window);
    EXPECT_DOUBLE_EQ(plans.at(0).probes.at(0).scale, 2.0);
    report(e, roi, plans[0], 9);  // and not found all the same
    EXPECT_DOUBLE_EQ(estimate(e, roi, 1000 * window).scale, 2.0);
  }
  const auto plans = plan_probes(e, roi, 3000);
  report(e, roi, plans.at(0), 1.0);
  report(e, roi, plan_probes(e, roi, 4000).at(0), 1.0);
  EXPECT_LT(estimate(e, roi, 4000).scale, 2.0);
}

TEST(ScaleEstimator, OnlyKnownObjectsAreProbed) {
  ScaleEstimator e = estimator({model(50)});
  Roi without_id = person(-1, 100);
  Roi without_object = person(3, 100);
  without_object.object = {};
  Roi whole = person(4, 100);
  whole.source = RoiSource::kWholeFrame;
  const auto plans =
      e.plan_probes(std::vector<Roi>{without_id, person(5, 100), without_object, whole}, ms(0));
  ASSERT_EQ(plans.value().size(), 1u);
  EXPECT_EQ(plans.value()[0].object_id, 5);
  ScaleEstimator off = estimator({model(50)}, {.probes = 0});
  EXPECT_TRUE(plan_probes(off, person(5, 100), 0).empty());
}

TEST(ScaleEstimator, WholeFramesAndTilesAreThePlanners) {
  ScaleEstimator e = estimator({model(50)});
  for (const RoiSource source : {RoiSource::kWholeFrame, RoiSource::kTile}) {
    Roi roi;
    roi.source = source;
    roi.rect = {0, 0, 768, 576};
    const ScaleEstimate got = estimate(e, roi, 0);
    EXPECT_EQ(got.origin, ScaleOrigin::kFixed);
    EXPECT_EQ(got.scale, 1);
  }
  EXPECT_EQ(e.counters().fixed, 2);
}

TEST(ScaleEstimator, CountsUnderEstimates) {
  ScaleEstimator e = estimator({model(50)});
  for (std::int64_t id = 0; id < 10; ++id) {
    const Roi roi = person(id, 100);
    // Two in ten need more than is predicted.
    report(e, roi, plan_probes(e, roi, 0).at(0), id < 2 ? 0.52 : 0.4);
  }
  EXPECT_DOUBLE_EQ(e.counters().proactive_under_rate(), 0.2);
  EXPECT_NEAR(estimate(e, person(0, 100), 40).scale, 0.55, 1e-9) << "one step larger";
}

TEST(ScaleEstimator, RefusesBadInput) {
  EXPECT_FALSE(ScaleEstimator::create({}).ok());
  EXPECT_FALSE(ScaleEstimator::create(std::vector<ScaleModel>{model(-1)}).ok());
  EXPECT_FALSE(ScaleEstimator::create(std::vector<ScaleModel>{model(50)}, {.probe_iou = 2}).ok());
  ScaleEstimator e = estimator({model(50)});
  Roi bad = person(1, 100);
  bad.rect.x = std::numeric_limits<double>::quiet_NaN();
  const std::vector<Roi> rois{person(2, 100), bad};
  const auto estimates = e.estimate(rois, ms(0));
  ASSERT_FALSE(estimates.ok());
  EXPECT_THAT(estimates.error().to_string(), HasSubstr("region 1: its rectangle (nan"));
  EXPECT_FALSE(e.plan_probes(rois, ms(0)).ok());
  EXPECT_EQ(e.counters().proactive, 0);
}

// A tree as training makes them: some hundred leaves on all features.
ScaleTreeData large_tree() {
  ScaleTreeData tree;
  for (const ScaleFeatureInfo& info : kScaleFeatures) tree.features.emplace_back(info.name);
  tree.level_areas = {369, 459, 559, 848, 2000};
  constexpr int kInner = 255;
  for (int i = 0; i < 2 * kInner + 1; ++i) {
    const bool leaf = i >= kInner;
    tree.feature.push_back(leaf ? -1 : i % static_cast<int>(kScaleFeatures.size()));
    tree.threshold.push_back(leaf ? 0 : 10 + i % 50);
    tree.left.push_back(leaf ? -1 : 2 * i + 1);
    tree.right.push_back(leaf ? -1 : 2 * i + 2);
    tree.level.push_back(leaf ? i % 5 : -1);
  }
  return tree;
}

// Together as one by one; the time is for the reader (the paper: under 1 ms for hundreds).
TEST(ScaleEstimator, HundredsOfRegionsAtOnce) {
  std::mt19937 random(1);
  std::vector<Roi> rois;
  for (std::int64_t id = 0; id < 500; ++id) {
    rois.push_back(person(id, static_cast<float>(10 + random() % 300),
                          static_cast<float>(random() % 100) / 100));
    rois.back().flow.tracking_error = static_cast<float>(random() % 30);
  }
  for (const char* predictor : {"height", "tree"}) {
    ScaleModel m = model(50);
    m.predictor = predictor;
    m.tree = large_tree();
    ScaleEstimator together = estimator({m});
    ScaleEstimator single = estimator({m});
    for (std::size_t i = 0; i < rois.size(); i += 2) {
      for (ScaleEstimator* e : {&together, &single}) {
        report(*e, rois[i], plan_probes(*e, rois[i], 0).at(0), 0.4);
      }
    }
    const auto start = std::chrono::steady_clock::now();
    const auto estimates = together.estimate(rois, ms(40)).value();
    const std::chrono::duration<double, std::milli> spent =
        std::chrono::steady_clock::now() - start;
    std::cout << predictor << ": " << spent.count() << " ms for " << rois.size() << " regions\n";
    for (std::size_t i = 0; i < rois.size(); ++i) {
      const ScaleEstimate expected = estimate(single, rois[i], 40);
      ASSERT_EQ(estimates[i].scale, expected.scale);
      ASSERT_EQ(estimates[i].origin, i % 2 == 0 ? ScaleOrigin::kProbed : ScaleOrigin::kProactive);
    }
  }
}

}  // namespace
}  // namespace sparing

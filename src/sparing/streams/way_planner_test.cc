#include "sparing/streams/way_planner.h"

#include <gtest/gtest.h>

namespace sparing {
namespace {

constexpr Size kFrame{1000, 800};

SeenObject person(std::int64_t id, float x, float height, float score = 0.8f) {
  return {{{x, 100, x + 0.36f * height, 100 + height}, score, 0}, id};
}

// Windows of five key frames in which three people move by `step` pixels from one to the next.
void walk(WayPlanner& planner, int windows, float height, float step, bool jitter = false) {
  float x = 100;
  for (int w = 0; w < windows; ++w) {
    std::vector<std::vector<SeenObject>> keys;
    for (int k = 0; k < 5; ++k, x += step) {
      const float off = jitter && k % 2 == 1 ? height : 0;
      keys.push_back({person(1, x + off, height), person(2, x + 200 + off, height),
                      person(3, x + 400 + off, height)});
    }
    planner.observe_objects(keys, kFrame);
  }
}

// 100 ns a pixel, and canvases that are well filled.
WayCosts costs() {
  return {[](Size drawn) { return 1e-7 * drawn.width * drawn.height; }, 1e-7 / 0.85};
}

StreamChoice choose(WayPlanner& planner, int windows = 1) {
  StreamChoice chosen;
  for (int w = 0; w < windows; ++w) {
    const StreamChoices choices = planner.choices(costs(), 30);
    chosen = choices.choices[planner.best(choices)];
    planner.choose(chosen);
  }
  return chosen;
}

WayPlanner make(StreamOptions options = {}) {
  return {options, MergeOptions{}, HeightParameters{}};
}

TEST(WayPlanner, PacksFewSmallObjectsAndLooksAtTheWholeOfMany) {
  WayPlanner sparse = make();
  walk(sparse, 3, 80, 2);
  sparse.observe_packed(20000, 1);
  EXPECT_EQ(choose(sparse).way, DetectWay::kPacked);

  WayPlanner crowded = make();
  walk(crowded, 3, 200, 2);
  crowded.observe_packed(700000, 1);
  const StreamChoice whole = choose(crowded);
  EXPECT_EQ(whole.way, DetectWay::kWholeFrame);
  EXPECT_LT(whole.scale, 0.5) << "large objects are seen in a small picture";
}

TEST(WayPlanner, KeyFramesAreAsFarApartAsInterpolationAllows) {
  StreamOptions options;
  options.mode = "packed";
  options.max_every = 4;
  WayPlanner slow = make(options);
  WayPlanner jumpy = make(options);
  for (int i = 0; i < 12; ++i) {
    walk(slow, 1, 80, 2);
    choose(slow);
    walk(jumpy, 1, 80, 2, /*jitter=*/true);
    choose(jumpy);
  }
  EXPECT_EQ(slow.every(), 4);
  EXPECT_EQ(jumpy.every(), 1);
}

TEST(WayPlanner, ObjectsThatAreNeverSeenTwiceForbidSkipping) {
  WayPlanner planner = make();
  std::int64_t id = 0;
  for (int w = 0; w < 10; ++w) {
    std::vector<std::vector<SeenObject>> keys;
    for (int k = 0; k < 4; ++k) keys.push_back({person(id++, 100, 80), person(id++, 300, 80)});
    planner.observe_objects(keys, kFrame);
    choose(planner);
  }
  EXPECT_EQ(planner.every(), 1);
}

TEST(WayPlanner, WhatPackingMissesMakesItAWholeFrame) {
  WayPlanner planner = make();
  walk(planner, 3, 80, 2);
  planner.observe_packed(60000, 1);
  ASSERT_EQ(choose(planner).way, DetectWay::kPacked);
  std::vector<Detection> reference;
  for (int i = 0; i < 20; ++i) reference.push_back(person(i, 20.0f * i, 80).detection);
  const std::vector<Detection> half(reference.begin(), reference.begin() + 10);
  for (int i = 0; i < 5; ++i) planner.observe_recall(DetectWay::kPacked, 1, half, reference);
  EXPECT_NEAR(planner.measured().recall, 0.5, 1e-6);
  EXPECT_EQ(choose(planner).way, DetectWay::kWholeFrame);
}

TEST(WayPlanner, ReferenceScaleFollowsTheSizeOfTheSmallestObjects) {
  WayPlanner planner = make();
  EXPECT_EQ(planner.reference_scale(), 1) << "nothing is known";
  EXPECT_EQ(planner.region_scale_limit(false), 1);
  walk(planner, 1, 80, 2);
  const double people = planner.reference_scale();
  EXPECT_LT(people, 1);
  walk(planner, 1, 12, 1);
  EXPECT_EQ(planner.reference_scale(), 2);
  EXPECT_GE(planner.region_scale_limit(false), 2);
  walk(planner, 1, 160, 1);
  EXPECT_LT(planner.reference_scale(), people);
  EXPECT_LT(planner.region_scale_limit(false), 0.5);
  EXPECT_GT(planner.region_scale_limit(true), 100) << "exploring";
}

TEST(WayPlanner, FixedModesOfferNothingElse) {
  StreamOptions options;
  options.mode = "frame";
  options.scale = 0.7;
  options.every = 7;
  WayPlanner planner = make(options);
  walk(planner, 2, 80, 2);
  for (const StreamChoice& c : planner.choices(costs(), 30).choices) {
    EXPECT_EQ(c.way, DetectWay::kWholeFrame);
    EXPECT_EQ(c.scale, 0.7);
    EXPECT_EQ(c.every, 7);
  }
  EXPECT_FALSE(planner.choices(costs(), 30).choices.empty());
  EXPECT_EQ(planner.trial_scale(), 0);
}

TEST(WayPlanner, CostsAreThePixelsOfTheKeyFrames) {
  StreamOptions options;
  options.mode = "frame";
  options.scale = 0.5;
  options.every = 3;
  WayPlanner planner = make(options);
  walk(planner, 1, 80, 2);
  const StreamChoices choices = planner.choices(costs(), 30);
  ASSERT_EQ(choices.choices.size(), 1u);
  EXPECT_NEAR(choices.choices[0].cost, 10 * 500 * 400 * 1e-7, 1e-9);
  EXPECT_NEAR(choices.weight, 3, 1e-9) << "objects of one frame";
}

}  // namespace
}  // namespace sparing

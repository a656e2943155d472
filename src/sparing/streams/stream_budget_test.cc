// Budgets of detector time, on the drawn people of stream_detector_test.cc.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "sparing/streams/drawn_people_test_util.h"

namespace sparing {
namespace {

using namespace sparing::testing;

TEST(StreamBudget, KeepsTheBudgetAndCountsWhatItDrops) {
  const Scene scene{{960, 720},
                    {{60, 100, 3}, {380, 220, -2}, {600, 500, 2}, {200, 600, 3}, {800, 300, -3}}};
  StreamDetector free = make_detector(deterministic("packed", 1));
  const Played all = play(free, {scene}, {50});
  const double needed = all.totals.planned_detector_seconds / 50;
  StreamOptions options = deterministic("packed", 1);
  options.budget = needed * 1e3 * 0.4;
  StreamDetector tight = make_detector(options);
  const Played some = play(tight, {scene}, {50});
  for (const WindowReport& w : some.windows) {
    EXPECT_LE(w.planned_seconds, w.budget_seconds * 1.0001);
  }
  EXPECT_GT(some.streams[0].dropped_regions.total(), 0);
  EXPECT_EQ(all.streams[0].dropped_regions.total(), 0);
  EXPECT_EQ(all.streams[0].unseen_key_frames, 0);
  // What it wants is about what it takes where it gets all, and more than a small budget gives.
  EXPECT_NEAR(all.totals.wanted_detector_seconds / all.totals.planned_detector_seconds, 1, 0.3);
  EXPECT_GT(some.totals.wanted_detector_seconds, 1.3 * some.totals.planned_detector_seconds);
  EXPECT_GE(score(scene, some.frames.at(0), 0.5f).recall, 0.5) << "dropped boxes are carried on";
  for (const char* mode : {"frame", "auto", "tiles"}) {
    SCOPED_TRACE(mode);
    options.mode = mode;
    options.every = 1;
    options.budget = 8;
    StreamDetector other = make_detector(options);
    const Played run = play(other, {scene}, {50});
    ASSERT_EQ(run.frames.at(0).size(), 50u);
    for (const WindowReport& w : run.windows) {
      EXPECT_LE(w.planned_seconds, w.budget_seconds * 1.0001);
    }
  }
}

TEST(StreamBudget, WhatDoesNotFitIsLeftOutByWholeKeyFrames) {
  const Scene scene{{960, 720},
                    {{60, 100, 3}, {380, 220, -2}, {600, 500, 2}, {200, 600, 3}, {800, 300, -3}}};
  StreamDetector free = make_detector(deterministic("packed", 1));
  const double needed = play(free, {scene}, {51}).totals.planned_detector_seconds / 51;
  StreamOptions options = deterministic("packed", 1);
  options.budget = needed * 1e3 * 0.25;
  StreamDetector tight = make_detector(options);
  const Played some = play(tight, {scene}, {51});
  int inspected = 0;
  int whole = 0;
  int unseen = 0;  // frames in a row
  for (const StreamFrameResult& frame : some.frames.at(0)) {
    unseen = frame.inspected ? 0 : unseen + 1;
    EXPECT_LE(unseen, 5);
    if (!frame.inspected) continue;
    ++inspected;
    whole += std::count_if(frame.boxes.begin(), frame.boxes.end(), [](const FilledBox& box) {
               return box.origin == BoxOrigin::kDetected;
             }) == 5;
  }
  EXPECT_GE(inspected, 15);
  EXPECT_LE(inspected, 40);
  // Mostly all five are looked at, or none; region by region it would be two frames of five.
  EXPECT_GE(whole, 0.5 * inspected);
}

TEST(StreamBudget, ABudgetIsPlannedForWholeWindowsThoughTheFirstOneIsShort) {
  StreamOptions options = deterministic("auto", 0);
  options.budget = 1.5;  // 15 ms a window of ten frames; a first look takes about 18
  StreamDetector detector = make_detector(options);
  const Scene scene{{480, 360}, {{60, 100, 3}, {380, 220, -2}}};
  const Played run = play(detector, {scene}, {61});
  ASSERT_EQ(run.windows.size(), 7u);
  EXPECT_GT(run.windows[0].planned_seconds, 0.0075) << "the first look is the warm-up";
  for (std::size_t w = 1; w < run.windows.size(); ++w) {
    EXPECT_LE(run.windows[w].planned_seconds, 0.015 * 1.0001) << w;
  }
  // Two small regions fit, when not on every frame: no reason to go over to tiny whole frames.
  EXPECT_EQ(run.streams[0].windows_packed, 7);
  EXPECT_GE(score(scene, run.frames.at(0), 0.5f).recall, 0.9);
}

TEST(StreamBudget, EveryWayBeginsWithALook) {
  for (const char* mode : {"packed", "frame", "tiles", "auto"}) {
    SCOPED_TRACE(mode);
    StreamOptions options = deterministic(mode, 0);
    options.budget = 0.5;  // 5 ms a window; a look takes 18
    StreamDetector detector = make_detector(options);
    const Played run = play(detector, {two_people()}, {40});
    EXPECT_EQ(run.frames.at(0)[0].boxes.size(), 2u);
    EXPECT_EQ(run.windows[0].frames.size(), 1u);
  }
}

TEST(StreamBudget, SavesUpWhereAWindowsBudgetBuysNothing) {
  for (const char* mode : {"packed", "frame", "auto"}) {
    SCOPED_TRACE(mode);
    StreamOptions options = deterministic(mode, 1);
    options.scale = std::string(mode) == "frame" ? 0.4 : 0;
    options.budget = 0.25;  // 2.5 ms a window, where the smallest canvas takes 2.56
    StreamDetector detector = make_detector(options);
    const Played run = play(detector, {two_people()}, {120});
    EXPECT_GE(run.totals.canvases, 3);
    // The first look is on top.
    const double planned =
        run.totals.planned_detector_seconds - run.windows.front().planned_seconds;
    EXPECT_LE(planned, 120 * 0.25e-3 * 1.0001);
    EXPECT_GT(run.streams[0].dropped_regions.count(DropReason::kNoTime), 0);
    EXPECT_GT(run.streams[0].unseen_key_frames, 0);
  }
}

TEST(StreamBudget, ALookForWhichThereWasNoTimeIsSavedUpFor) {
  // With more light two people go and two others stand there: only a whole frame shows them.
  Scene scene{{480, 360}, {{60, 100, 3, 0, 30}, {380, 220, -2, 0, 30}}};
  scene.people.push_back({200, 60, 0, 30});
  scene.people.push_back({300, 240, 0, 30});
  scene.brighter_from = 30;
  StreamOptions options = deterministic("packed", 0);
  options.budget = 0.25;  // 2.5 ms a window, where the smallest look takes 3.07
  StreamDetector detector = make_detector(options);
  const Played run = play(detector, {scene}, {120});
  ASSERT_EQ(run.frames.at(0).size(), 120u);
  const std::vector<StreamFrameResult> end(run.frames.at(0).begin() + 80, run.frames.at(0).end());
  // Boxes are not carried over two windows without a look.
  EXPECT_GE(score(scene, end, 0.5f).recall, 0.4);
  double planned = 0;
  for (std::size_t w = 1; w < run.windows.size(); ++w) {
    EXPECT_LE(run.windows[w].planned_seconds, run.windows[w].budget_seconds * 1.0001) << w;
    planned += run.windows[w].planned_seconds;
  }
  EXPECT_LE(planned, 120 * 0.25e-3) << "no more than the budgets together";
}

TEST(StreamBudget, WhatFitsNoOtherWayIsSeenSmallerAndMoreRarely) {
  Scene scene{{960, 720}, {}};
  for (int i = 0; i < 8; ++i)
    scene.people.push_back({100.0 + 95 * i, 60.0 + 70 * i, i % 2 ? 2. : -2.});
  StreamDetector free = make_detector(deterministic("packed", 0));
  const Played all = play(free, {scene}, {101});
  StreamOptions options = deterministic("packed", 0);
  options.budget = 0.2 * 1e3 * all.totals.planned_detector_seconds / 101;
  StreamDetector tight = make_detector(options);
  const Played some = play(tight, {scene}, {101});
  EXPECT_GT(some.streams[0].every, 4);
  EXPECT_GE(score(scene, some.frames.at(0), 0.5f).recall, 0.5);
}

TEST(StreamBudget, GoingOverToRegionsKeepsWhatIsKnown) {
  // A crowd, which is cheapest to see as a whole, leaves.
  Scene scene{{960, 720}, {{60, 40, 0}, {780, 560, 0}}};
  for (int i = 0; i < 60; ++i) {
    scene.people.push_back({20.0 + 88 * (i % 10), 110.0 + 90 * (i / 10), i % 3 - 1.0, 0, 40});
  }
  StreamDetector detector = make_detector(deterministic("auto", 0));
  const Played run = play(detector, {scene}, {120});
  ASSERT_GT(run.streams[0].windows_whole, 0);
  ASSERT_GT(run.streams[0].windows_packed, 2);
  for (std::size_t w = 1; w + 1 < run.windows.size(); ++w) {
    EXPECT_GE(run.windows[w].frames.size(), 9u) << "window " << w << " was cut short for a look";
  }
  const std::vector<StreamFrameResult> end(run.frames.at(0).begin() + 60, run.frames.at(0).end());
  EXPECT_EQ(score(scene, end, 0.5f).recall, 1) << "those who stand still are followed";
}

}  // namespace
}  // namespace sparing

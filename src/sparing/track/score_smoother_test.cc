#include "sparing/track/score_smoother.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace sparing {
namespace {

using ::testing::HasSubstr;

FrameRecord frame(std::int64_t ms, const std::vector<std::pair<std::int64_t, float>>& scores) {
  FrameRecord record;
  record.time = {ms, {1, 1000}};
  for (const auto& [id, score] : scores) {
    record.detections.push_back({{{0, 0, 10, 20}, score, 0}, id});
  }
  return record;
}

float score(const FrameRecord& record, std::size_t i = 0) {
  return record.detections.at(i).detection.score;
}

TEST(ScoreSmoother, AveragesWithinAWindowEarlierFramesToo) {
  ScoreSmoother smoother = ScoreSmoother::create({.weight = 1}).value();
  std::vector<FrameRecord> window = {frame(0, {{1, 0.2f}, {2, 0.9f}}), frame(100, {{1, 0.8f}}),
                                     frame(200, {{1, 0.5f}})};
  smoother.smooth(window);
  for (const FrameRecord& f : window) EXPECT_FLOAT_EQ(score(f), 0.5f);
  EXPECT_FLOAT_EQ(score(window[0], 1), 0.9f) << "another object";
}

TEST(ScoreSmoother, KeepsAShareOfTheOwnScoreAndLeavesOthersAlone) {
  ScoreSmoother smoother = ScoreSmoother::create({.weight = 0.25}).value();
  std::vector<FrameRecord> window = {frame(0, {{1, 0.2f}, {-1, 0.07f}}), frame(100, {{1, 0.8f}})};
  smoother.smooth(window);
  EXPECT_NEAR(score(window[0]), 0.75 * 0.2 + 0.25 * 0.5, 1e-6);
  EXPECT_NEAR(score(window[1]), 0.75 * 0.8 + 0.25 * 0.5, 1e-6);
  EXPECT_EQ(score(window[0], 1), 0.07f) << "not followed";

  ScoreSmoother off = ScoreSmoother::create({.weight = 0}).value();
  std::vector<FrameRecord> same = {frame(0, {{1, 0.2f}}), frame(100, {{1, 0.8f}})};
  off.smooth(same);
  EXPECT_EQ(score(same[0]), 0.2f);
}

TEST(ScoreSmoother, ThePastCountsHalfAfterAHalfLife) {
  ScoreSmoother smoother = ScoreSmoother::create({.weight = 1, .half_life = 0.5}).value();
  std::vector<FrameRecord> first = {frame(0, {{1, 1.0f}}), frame(100, {{1, 1.0f}})};
  smoother.smooth(first);
  std::vector<FrameRecord> second = {frame(1100, {{1, 0.0f}})};
  smoother.smooth(second);
  // Two detections, one second ago: a quarter of each.
  EXPECT_NEAR(score(second[0]), 0.5 / 1.5, 1e-6);
  // The window's length, not its number, is what fades it.
  std::vector<FrameRecord> third = {frame(60000, {{1, 0.3f}})};
  smoother.smooth(third);
  EXPECT_FLOAT_EQ(score(third[0]), 0.3f);
}

TEST(ScoreSmoother, ForgetsObjectsThatAreGone) {
  ScoreSmoother smoother = ScoreSmoother::create().value();
  for (int second = 0; second < 100; ++second) {
    std::vector<FrameRecord> window = {frame(second * 1000, {{second, 0.5f}})};
    smoother.smooth(window);
    EXPECT_LT(smoother.size(), 10u);
  }
  smoother.reset();
  EXPECT_EQ(smoother.size(), 0u);
  std::vector<FrameRecord> empty;
  smoother.smooth(empty);
}

TEST(ScoreSmoother, StaysWithinWhatItAverages) {
  ScoreSmoother smoother = ScoreSmoother::create({.weight = 1}).value();
  for (int second = 0; second < 20; ++second) {
    std::vector<FrameRecord> window = {frame(second * 1000, {{1, 1.0f}}),
                                       frame(second * 1000 + 500, {{1, 1.0f}})};
    smoother.smooth(window);
    EXPECT_LE(score(window[0]), 1.0f);
    EXPECT_NEAR(score(window[1]), 1.0f, 1e-6);
  }
}

TEST(ScoreSmoother, RefusesBadOptions) {
  const auto result = ScoreSmoother::create({.weight = 1.5});
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(result.error().to_string(), HasSubstr("--score-smoothing: 1.5 is out of range"));
}

}  // namespace
}  // namespace sparing

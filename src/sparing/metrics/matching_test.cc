#include "sparing/metrics/matching.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sparing::metrics {
namespace {

using testing::ElementsAre;
using enum Outcome;

constexpr Truth object(Box box) { return {box, false, false}; }
constexpr Truth ignored(Box box) { return {box, false, true}; }
constexpr Truth crowd(Box box) { return {box, true, true}; }

// One image. Objects must be given counted ones first, boxes by descending score.
ClassSamples one_image(std::vector<Truth> truths, const std::vector<Box>& guesses) {
  ClassSamples samples;
  samples.truths = std::move(truths);
  float score = 1;
  for (const Box& box : guesses) samples.guesses.push_back({box, score /= 2});
  samples.images.push_back({0, samples.truths.size(), 0, samples.guesses.size()});
  for (const Truth& truth : samples.truths) samples.counted += !truth.ignored;
  return samples;
}

std::vector<Outcome> coco(const ClassSamples& samples, double threshold = 0.5, int max = 0) {
  return match_coco(samples, find_overlaps(samples, threshold), threshold, max);
}

std::vector<Outcome> voc(const ClassSamples& samples) {
  return match_voc(samples, find_overlaps(samples, 0.5), 0.5);
}

// A is 100 x 100; B the same 20 to its right; kBetween overlaps A by 95/105 = .90 and B by
// 85/115 = .74.
constexpr Box kA{0, 0, 100, 100};
constexpr Box kB{20, 0, 120, 100};
constexpr Box kBetween{5, 0, 105, 100};
constexpr Box kFar{500, 500, 600, 600};

TEST(FindOverlaps, ListsWhatReachesTheThreshold) {
  const ClassSamples samples = one_image({object(kA), object(kB), object(kFar)}, {kBetween, kFar});
  const Overlaps overlaps = find_overlaps(samples, 0.5);
  ASSERT_THAT(overlaps.begin, ElementsAre(0u, 2u, 3u));
  EXPECT_EQ(overlaps.candidates[0].truth, 0u);
  EXPECT_DOUBLE_EQ(overlaps.candidates[0].overlap, 95.0 / 105.0);
  EXPECT_EQ(overlaps.candidates[1].truth, 1u);
  EXPECT_DOUBLE_EQ(overlaps.candidates[1].overlap, 85.0 / 115.0);
  EXPECT_EQ(overlaps.candidates[2].truth, 2u);
  EXPECT_EQ(overlaps.candidates[2].overlap, 1);
  EXPECT_EQ(find_overlaps(samples, 0.8).candidates.size(), 2u);
}

TEST(FindOverlaps, ACrowdIsMeasuredByTheDetectionsOwnArea) {
  // 50 x 100 of the guess's 100 x 100 lie in the crowd, which is much larger.
  const Overlaps overlaps =
      find_overlaps(one_image({crowd({0, 0, 1000, 1000})}, {{-50, 0, 50, 100}}), 0.5);
  ASSERT_EQ(overlaps.candidates.size(), 1u);
  EXPECT_EQ(overlaps.candidates[0].overlap, 0.5);
}

TEST(FindOverlaps, ImagesDoNotMix) {
  ClassSamples samples;
  samples.truths = {object(kA), object(kA)};
  samples.guesses = {{kA, 0.5f}, {kA, 0.25f}};
  samples.images = {{0, 1, 0, 1}, {1, 2, 1, 2}};
  const Overlaps overlaps = find_overlaps(samples, 0.5);
  ASSERT_EQ(overlaps.candidates.size(), 2u);
  EXPECT_EQ(overlaps.candidates[0].truth, 0u);
  EXPECT_EQ(overlaps.candidates[1].truth, 1u);
}

TEST(FindOverlaps, BoxesWithoutAreaOverlapNothing) {
  const Box line{50, 0, 50, 100};
  EXPECT_TRUE(find_overlaps(one_image({object(kA), object(line)}, {line}), 0.5).candidates.empty());
  EXPECT_TRUE(find_overlaps(one_image({crowd(kA)}, {line}), 0.5).candidates.empty());
  EXPECT_TRUE(find_overlaps(one_image({object(kA)}, {{100, 100, 0, 0}}), 0.5).candidates.empty());
}

TEST(BoxArea, IsExactWhereFloatIsNot) {
  EXPECT_EQ(box_area({0, 0, 16777216, 3}), 50331648.0);
  EXPECT_EQ(box_area({0.25f, 0, 4096, 4097}), 4095.75 * 4097);
  EXPECT_EQ(box_area({1, 1, 1, 5}), 0);
  EXPECT_EQ(box_area({5, 5, 1, 1}), 0);
}

TEST(Match, HitsAndFalseAlarms) {
  const ClassSamples samples = one_image({object(kA)}, {kFar, kA, kA});
  EXPECT_THAT(coco(samples), ElementsAre(kFalseAlarm, kHit, kFalseAlarm));
  EXPECT_THAT(voc(samples), ElementsAre(kFalseAlarm, kHit, kFalseAlarm));
}

TEST(Match, OnlyCocoGoesOnToTheNextBestObject) {
  const ClassSamples samples = one_image({object(kA), object(kB)}, {kA, kBetween});
  EXPECT_THAT(coco(samples), ElementsAre(kHit, kHit));
  EXPECT_THAT(voc(samples), ElementsAre(kHit, kFalseAlarm));
}

TEST(Match, OnlyCocoPrefersACountedObjectToABetterIgnoredOne) {
  const ClassSamples samples = one_image({object(kB), ignored(kA)}, {kBetween});
  EXPECT_THAT(coco(samples), ElementsAre(kHit));
  EXPECT_THAT(voc(samples), ElementsAre(kNoEffect));
}

TEST(Match, AnIgnoredObjectTakesOneInCocoAndAnyNumberInVoc) {
  const ClassSamples samples = one_image({ignored(kA)}, {kA, kA});
  EXPECT_THAT(coco(samples), ElementsAre(kNoEffect, kFalseAlarm));
  EXPECT_THAT(voc(samples), ElementsAre(kNoEffect, kNoEffect));
}

TEST(Match, ACrowdTakesAnyNumberButNoHits) {
  const ClassSamples samples =
      one_image({object(kA), crowd({0, 0, 1000, 400})}, {kA, kB, kBetween, kFar});
  EXPECT_THAT(coco(samples), ElementsAre(kHit, kNoEffect, kNoEffect, kFalseAlarm));
  // VOC: kBetween's best object, A, is taken; kB overlaps A by 80/120, more than .5, too.
  EXPECT_THAT(voc(samples), ElementsAre(kHit, kFalseAlarm, kFalseAlarm, kFalseAlarm));
  const ClassSamples apart = one_image({object(kFar), crowd({0, 0, 1000, 400})}, {kA, kFar});
  EXPECT_THAT(voc(apart), ElementsAre(kNoEffect, kHit));
}

TEST(Match, TheThresholdItselfIsEnough) {
  const ClassSamples half = one_image({object({0, 0, 100, 100})}, {{0, 0, 100, 50}});
  EXPECT_THAT(coco(half), ElementsAre(kHit));
  EXPECT_THAT(voc(half), ElementsAre(kHit));
  const ClassSamples less = one_image({object({0, 0, 100, 100})}, {{0, 0, 100, 49.75f}});
  EXPECT_THAT(coco(less), ElementsAre(kFalseAlarm));
  EXPECT_THAT(voc(less), ElementsAre(kFalseAlarm));
  EXPECT_THAT(coco(one_image({object(kA)}, {kA}), 1.0), ElementsAre(kHit));
}

TEST(MatchCoco, AThresholdOfOneAllowsForRounding) {
  // The overlap is 1 - 10^-12; pycocotools takes 1 - 10^-10 for 1.
  const ClassSamples samples = one_image({object({0, 0, 1e9f, 1})}, {{0.001f, 0, 1e9f, 1}});
  EXPECT_THAT(coco(samples, 1.0), ElementsAre(kHit));
}

TEST(MatchVoc, OfEqualOverlapsTheFirstObjectCounts) {
  // The middle overlaps A and B by 90/110 each; B must be left for its own box.
  const ClassSamples samples = one_image({object(kA), object(kB)}, {{10, 0, 110, 100}, kB});
  EXPECT_THAT(voc(samples), ElementsAre(kHit, kHit));
}

TEST(MatchCoco, DropsWhatIsBeyondTheLimitOfEachImage) {
  ClassSamples samples;
  samples.truths = {object(kA), object(kA)};
  samples.guesses = {{kFar, 0.5f}, {kA, 0.25f}, {kA, 0.125f}};
  samples.images = {{0, 1, 0, 2}, {1, 2, 2, 3}};
  EXPECT_THAT(coco(samples, 0.5, 1), ElementsAre(kFalseAlarm, kDropped, kHit));
  EXPECT_THAT(coco(samples, 0.5, 2), ElementsAre(kFalseAlarm, kHit, kHit));
  EXPECT_THAT(coco(samples, 0.5, 0), ElementsAre(kFalseAlarm, kHit, kHit));
}

}  // namespace
}  // namespace sparing::metrics

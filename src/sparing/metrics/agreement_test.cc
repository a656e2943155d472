#include "sparing/metrics/agreement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace sparing {
namespace {

using testing::HasSubstr;

constexpr double kTiny = 1e-12;

Detection square(float x, float score, int class_id = 0) {
  return {{x, 0, x + 100, 100}, score, class_id};
}

DetectionSet in_one_image(std::vector<Detection> detections) {
  return {{}, {{0, std::move(detections)}}};
}

Agreement compare(const DetectionSet& reference, const DetectionSet& candidate,
                  const AgreementOptions& options = {}) {
  auto result = agreement(reference, candidate, options);
  if (!result.ok()) {
    ADD_FAILURE() << result.error().to_string();
    return {};
  }
  return *result;
}

TEST(Agreement, OfASetWithItselfIsOne) {
  const DetectionSet set{{}, {{0, {square(0, .9f), square(300, .2f)}}, {5, {square(0, .4f, 3)}}}};
  const Agreement same = compare(set, set);
  EXPECT_EQ(same.reference_boxes, 2);
  EXPECT_EQ(same.candidate_boxes, 2);
  EXPECT_EQ(same.f1, 1);
}

TEST(Agreement, CountsLostAndNewBoxes) {
  // The candidate lost one of three boxes (of another class now), and has two that are new: one of
  // them where the reference has a box already.
  const DetectionSet before = in_one_image({square(0, .9f), square(300, .9f), square(600, .9f)});
  const DetectionSet after =
      in_one_image({square(10, .8f), square(20, .7f), square(300, .9f), square(600, .9f, 1)});
  const Agreement result = compare(before, after);
  EXPECT_EQ(result.reference_boxes, 3);
  EXPECT_EQ(result.candidate_boxes, 4);
  EXPECT_NEAR(result.recall, 2. / 3, kTiny);
  EXPECT_NEAR(result.precision, 2. / 4, kTiny);
  EXPECT_NEAR(result.f1, 2 * (2. / 3) * .5 / (2. / 3 + .5), kTiny);
  const Agreement turned = compare(after, before);
  EXPECT_EQ(turned.recall, result.precision);
  EXPECT_EQ(turned.precision, result.recall);
}

TEST(Agreement, ScoresMayMoveWithinTheTolerance) {
  const DetectionSet before = in_one_image({square(0, .31f), square(300, .28f)});
  const DetectionSet after = in_one_image({square(0, .28f), square(300, .31f)});
  EXPECT_EQ(compare(before, after).f1, 1);
  const AgreementOptions strict{.tolerance = .01};
  EXPECT_EQ(compare(before, after, strict).recall, 0);
  EXPECT_EQ(compare(before, after, strict).f1, 0);
}

TEST(Agreement, OverlapDecides) {
  const DetectionSet before = in_one_image({square(0, .9f)});
  const DetectionSet after = in_one_image({square(40, .9f)});  // IoU 60 / 140
  EXPECT_EQ(compare(before, after).f1, 0);
  EXPECT_EQ(compare(before, after, {.iou = .4}).f1, 1);
}

TEST(Agreement, OfEmptySets) {
  const DetectionSet none;
  const DetectionSet one = in_one_image({square(0, .9f)});
  EXPECT_EQ(compare(none, none).f1, 1);
  EXPECT_EQ(compare(one, none).recall, 0);
  EXPECT_EQ(compare(one, none).precision, 1);
  EXPECT_EQ(compare(one, none).f1, 0);
}

TEST(Agreement, BadInputIsRefused) {
  const DetectionSet bad = in_one_image({square(0, 1.5f)});
  EXPECT_FALSE(agreement(bad, {}).ok());
  EXPECT_FALSE(agreement({}, bad).ok());
  EXPECT_THAT(agreement({}, {}, {.tolerance = 2}).error().to_string(), HasSubstr("tolerance"));
}

}  // namespace
}  // namespace sparing

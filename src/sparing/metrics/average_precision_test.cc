#include "sparing/metrics/average_precision.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace sparing {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr double kTiny = 1e-12;

// Squares of 100 pixels that do not touch: place(0), place(1), ...
Box place(int i, float height = 100) {
  const auto x = static_cast<float>(200 * i);
  return {x, 0, x + 100, height};
}

AnnotationSet truth(std::vector<ImageAnnotations> images, std::vector<std::string> labels = {}) {
  return {std::move(labels), std::move(images)};
}

DetectionSet found(std::vector<ImageDetections> images, std::vector<std::string> labels = {}) {
  return {std::move(labels), std::move(images)};
}

// Three objects in two images. By score: a hit (overlap 1), a false alarm, a hit (overlap .72), a
// false alarm; one object is missed.
//   after   .9: precision 1/1, recall 1/3      envelope: 1 up to recall 1/3,
//           .8:           1/2,        1/3                2/3 up to recall 2/3,
//           .7:           2/3,        2/3                0 above
//           .6:           2/4,        2/3
AnnotationSet hand_truth() {
  return truth({{7, {{.box = place(0)}, {.box = place(1)}}}, {3, {{.box = place(0)}}}});
}
DetectionSet hand_found() {
  return found({{3, {{place(0, 72), 0.7f, 0}, {place(5), 0.8f, 0}}},
                {7, {{place(6), 0.6f, 0}, {place(0), 0.9f, 0}}}});
}

Evaluation run(const DetectionSet& detections, const AnnotationSet& ground_truth,
               const EvaluationOptions& options = {}) {
  auto result = evaluate(detections, ground_truth, options);
  if (!result.ok()) {
    ADD_FAILURE() << result.error().to_string();
    return {};
  }
  return *std::move(result);
}

TEST(Evaluate, HandCalculatedAveragePrecisions) {
  const Evaluation all = run(hand_found(), hand_truth());
  ASSERT_EQ(all.classes.size(), 1u);
  const ClassEvaluation& row = all.classes[0];
  EXPECT_EQ(row.ground_truth, 3);
  EXPECT_EQ(row.detections, 4);
  EXPECT_EQ(all.images, 2);
  // Area: 1/3 x 1 + 1/3 x 2/3.
  EXPECT_NEAR(row.ap50_voc, 5.0 / 9.0, kTiny);
  // Recalls 0, .01, ..., .33 are 34 points of precision 1; .34, ..., .66 are 33 of 2/3.
  EXPECT_NEAR(row.ap50_coco, (34 + 33 * 2.0 / 3.0) / 101, kTiny);
  // From IoU .75 on the second hit is a false alarm: 34 points of 1, five of the ten times.
  EXPECT_NEAR(row.ap_coco, (5 * 56.0 + 5 * 34.0) / 10 / 101, kTiny);
  EXPECT_EQ(all.ap50_voc, row.ap50_voc);
  EXPECT_EQ(all.ap50_coco, row.ap50_coco);
  EXPECT_EQ(all.ap_coco, row.ap_coco);
}

TEST(Evaluate, HandCalculatedRates) {
  const auto rates = [](double confidence, double iou) {
    const Evaluation all = run(hand_found(), hand_truth(), {.confidence = confidence, .iou = iou});
    EXPECT_EQ(all.precision, all.classes.at(0).precision);
    EXPECT_EQ(all.recall, all.classes.at(0).recall);
    EXPECT_EQ(all.f1, all.classes.at(0).f1);
    return std::vector<double>{all.precision, all.recall, all.f1};
  };
  const auto near = [](double value) { return testing::DoubleNear(value, kTiny); };
  // .9, .8 and .7 count: two hits, one false alarm, one miss.
  EXPECT_THAT(rates(0.65, 0.5), ElementsAre(near(2.0 / 3), near(2.0 / 3), near(2.0 / 3)));
  // .9 and .8: one hit, one false alarm, two misses.
  EXPECT_THAT(rates(0.75, 0.5), ElementsAre(near(0.5), near(1.0 / 3), near(0.4)));
  // All four, but an overlap of .72 is no hit.
  EXPECT_THAT(rates(0, 0.8), ElementsAre(near(0.25), near(1.0 / 3), near(2.0 / 7)));
  EXPECT_THAT(rates(1, 0.5), ElementsAre(0, 0, 0));
}

TEST(Evaluate, AConfidenceIncludesScoresOfTheSameFloat) {
  // 0.7f is less than 0.7.
  const Evaluation all = run(hand_found(), hand_truth(), {.confidence = 0.7});
  EXPECT_NEAR(all.recall, 2.0 / 3, kTiny);
}

// The VOC kit's rule: a detection whose best object is taken is a false alarm, though COCO's would
// go on to the second object. Box 2 overlaps the first by 95/105, the second by 85/115.
//   VOC: hit, false alarm, hit: precisions 1, 1/2, 2/3 at recalls 1/2, 1/2, 1: 1/2 + 1/2 x 2/3
//   COCO: hit, hit, false alarm: precision 1 at recall 1
TEST(Evaluate, HandCalculatedVocAgainstCoco) {
  const AnnotationSet objects =
      truth({{0, {{.box = {0, 0, 100, 100}}, {.box = {20, 0, 120, 100}}}}});
  const DetectionSet boxes = found(
      {{0,
        {{{0, 0, 100, 100}, 0.9f, 0}, {{5, 0, 105, 100}, 0.8f, 0}, {{20, 0, 120, 100}, 0.7f, 0}}}});
  const Evaluation all = run(boxes, objects);
  EXPECT_NEAR(all.ap50_voc, 0.5 + 0.5 * 2 / 3, kTiny);
  EXPECT_NEAR(all.ap50_coco, 1, kTiny);
}

// Five detections, of which one falls to an ignored ("difficult") object and has no effect:
//   hit 1/1, ignored, false alarm 1/2, hit 2/3, hit 3/4 of four objects
//   envelope: 1 up to 1/4, then 3/4 up to 3/4
TEST(Evaluate, HandCalculatedVocWithADifficultObject) {
  const AnnotationSet objects = truth({{0,
                                        {{.box = place(0)},
                                         {.box = place(1)},
                                         {.box = place(2)},
                                         {.box = place(3)},
                                         {.box = place(4), .ignore = true}}}});
  const DetectionSet boxes = found({{0,
                                     {{place(0), 0.9f, 0},
                                      {place(4), 0.8f, 0},
                                      {place(9), 0.7f, 0},
                                      {place(1), 0.6f, 0},
                                      {place(2), 0.5f, 0}}}});
  const Evaluation all = run(boxes, objects);
  EXPECT_EQ(all.classes.at(0).ground_truth, 4);
  EXPECT_NEAR(all.ap50_voc, 0.25 + 0.5 * 0.75, kTiny);
  // 26 recalls (0 to .25) of 1, 50 (.26 to .75) of 3/4.
  EXPECT_NEAR(all.ap50_coco, (26 + 50 * 0.75) / 101, kTiny);
  EXPECT_NEAR(all.precision, 0.75, kTiny);
  EXPECT_NEAR(all.recall, 0.75, kTiny);
}

TEST(Evaluate, ClassesAreApartAndAveraged) {
  const AnnotationSet objects =
      truth({{0, {{.box = place(0), .class_id = 0}, {.box = place(1), .class_id = 2}}}},
            {"person", "dog", "car"});
  // Class 0 right; class 2 found as 1, which has no objects.
  const DetectionSet boxes = found({{0, {{place(0), 0.9f, 0}, {place(1), 0.8f, 1}}}});
  const Evaluation all = run(boxes, objects);
  ASSERT_EQ(all.classes.size(), 3u);
  EXPECT_EQ(all.classes[0].label, "person");
  EXPECT_NEAR(all.classes[0].ap_coco, 1, kTiny);
  EXPECT_NEAR(all.classes[0].f1, 1, kTiny);
  EXPECT_EQ(all.classes[1].label, "dog");
  EXPECT_EQ(all.classes[1].ap_coco, -1) << "no objects: no AP";
  EXPECT_EQ(all.classes[1].ap50_voc, -1);
  EXPECT_EQ(all.classes[1].ap50_coco, -1);
  EXPECT_EQ(all.classes[1].precision, 0);
  EXPECT_EQ(all.classes[2].label, "car");
  EXPECT_EQ(all.classes[2].ap_coco, 0) << "objects without detections";
  EXPECT_NEAR(all.ap_coco, 0.5, kTiny) << "the class without objects does not count";
  EXPECT_NEAR(all.ap50_voc, 0.5, kTiny);
  EXPECT_NEAR(all.precision, 0.5, kTiny) << "but its false alarm does";
  EXPECT_NEAR(all.recall, 0.5, kTiny);
}

TEST(Evaluate, ChosenClassesOnly) {
  const AnnotationSet objects =
      truth({{0, {{.box = place(0), .class_id = 0}, {.box = place(1), .class_id = 2}}}});
  const DetectionSet boxes =
      found({{0, {{place(0), 0.9f, 0}, {place(5), 0.8f, 1}}}}, {"person", "dog", "car"});
  const Evaluation all = run(boxes, objects, {.classes = {5, 0, 0}});
  ASSERT_EQ(all.classes.size(), 2u);
  EXPECT_EQ(all.classes[0].class_id, 0);
  EXPECT_EQ(all.classes[0].label, "person") << "from the detections when the objects have none";
  EXPECT_EQ(all.classes[1].class_id, 5);
  EXPECT_EQ(all.classes[1].label, "");
  EXPECT_EQ(all.classes[1].ap_coco, -1);
  EXPECT_NEAR(all.ap_coco, 1, kTiny);
  EXPECT_NEAR(all.precision, 1, kTiny);
}

TEST(Evaluate, NothingAtAll) {
  const Evaluation all = run({}, {});
  EXPECT_TRUE(all.classes.empty());
  EXPECT_EQ(all.images, 0);
  EXPECT_EQ(all.ap50_voc, -1);
  EXPECT_EQ(all.ap50_coco, -1);
  EXPECT_EQ(all.ap_coco, -1);
  EXPECT_EQ(all.precision, 0);
  EXPECT_EQ(all.recall, 0);
  EXPECT_EQ(all.f1, 0);
}

TEST(Evaluate, ImagesOnOneSideAreEmptyOnTheOther) {
  const AnnotationSet objects =
      truth({{0, {{.box = place(0)}}}, {1, {{.box = place(0)}}}, {2, {}}});
  const DetectionSet boxes = found({{0, {{place(0), 0.5f, 0}}}, {9, {{place(0), 0.9f, 0}}}});
  const Evaluation all = run(boxes, objects);
  EXPECT_EQ(all.images, 4);
  // A false alarm in image 9, then a hit: precision 1/2 at recall 1/2.
  EXPECT_NEAR(all.ap50_voc, 0.25, kTiny);
}

TEST(Evaluate, PartsOfOneImageAreOneImage) {
  const AnnotationSet objects = truth({{4, {{.box = place(0)}}}, {4, {{.box = place(1)}}}});
  const DetectionSet boxes = found({{4, {{place(1), 0.5f, 0}}}, {4, {{place(0), 0.9f, 0}}}});
  const Evaluation all = run(boxes, objects, {.max_detections = 1});
  EXPECT_EQ(all.images, 1);
  EXPECT_NEAR(all.ap50_voc, 1, kTiny);
  EXPECT_NEAR(all.ap50_coco, 51.0 / 101, kTiny) << "one detection for both parts";
}

TEST(Evaluate, EqualScoresRankByImageIdThenAsTheyCome) {
  const AnnotationSet objects = truth({{1, {{.box = place(0)}}}, {2, {{.box = place(0)}}}});
  // Image 1's false alarm ranks before image 2's hit, whatever the order of the set; then a hit.
  const DetectionSet boxes =
      found({{2, {{place(0), 0.5f, 0}}}, {1, {{place(7), 0.5f, 0}, {place(0), 0.5f, 0}}}});
  // Ranked: false alarm, hit, hit: precisions 0, 1/2, 2/3: the envelope is 2/3 throughout.
  EXPECT_NEAR(run(boxes, objects).ap50_voc, 2.0 / 3, kTiny);
}

TEST(Evaluate, TheLimitHoldsForCocoOnly) {
  std::vector<Annotation> objects;
  std::vector<Detection> boxes;
  for (int i = 0; i < 150; ++i) {
    objects.push_back({.box = place(i)});
    boxes.push_back({place(i), 0.5f + 0.001f * static_cast<float>(i), 0});
  }
  const AnnotationSet ground_truth = truth({{0, objects}});
  const Evaluation limited = run(found({{0, boxes}}), ground_truth);
  EXPECT_EQ(limited.classes.at(0).detections, 150);
  EXPECT_NEAR(limited.ap50_voc, 1, kTiny);
  EXPECT_NEAR(limited.recall, 1, kTiny);
  // 100 of 150: recall 2/3, which the points 0 to .66 reach.
  EXPECT_NEAR(limited.ap50_coco, 67.0 / 101, kTiny);
  const Evaluation all = run(found({{0, boxes}}), ground_truth, {.max_detections = 0});
  EXPECT_NEAR(all.ap50_coco, 1, kTiny);
}

TEST(Evaluate, AGivenAreaDecidesWhatIsTooLarge) {
  const AnnotationSet objects = truth(
      {{0, {{.box = place(0)}, {.box = place(1), .area = 1e10}, {.box = place(2), .area = 2e10}}}});
  EXPECT_EQ(run({}, objects).classes.at(0).ground_truth, 2);
}

std::string error_of(const DetectionSet& detections, const AnnotationSet& objects,
                     const EvaluationOptions& options = {}) {
  const auto result = evaluate(detections, objects, options);
  if (result.ok()) return "";
  EXPECT_EQ(result.error().code, ErrorCode::kInvalidArgument);
  return result.error().to_string();
}

TEST(Evaluate, RefusesBadInputByName) {
  const auto one = [](Detection d) { return found({{12, {{place(0), 0.5f, 0}, d}}}); };
  EXPECT_THAT(error_of(one({{0, kNan, 1, 1}, 0.5f, 0}), {}),
              HasSubstr("detection 1 of image 12: box (0.000000, nan, 1.000000, 1.000000)"));
  EXPECT_THAT(error_of(one({place(0), 1.5f, 0}), {}), HasSubstr("score 1.500000"));
  EXPECT_THAT(error_of(one({place(0), -0.5f, 0}), {}), HasSubstr("score -0.500000"));
  EXPECT_THAT(error_of(one({place(0), kNan, 0}), {}), HasSubstr("score nan"));
  EXPECT_EQ(error_of(one({place(0), 0, 0}), {}), "");
  EXPECT_EQ(error_of(one({place(0), 1, 0}), {}), "");
  constexpr float kInf = std::numeric_limits<float>::infinity();
  EXPECT_THAT(error_of({}, truth({{3, {{.box = {0, 0, kInf, 1}}}}})),
              HasSubstr("object 0 of image 3: box (0.000000, 0.000000, inf, 1.000000)"));
}

TEST(Evaluate, RefusesOptionsOutOfRange) {
  EXPECT_THAT(error_of({}, {}, {.confidence = 1.1}), HasSubstr("--confidence: 1.1"));
  EXPECT_THAT(error_of({}, {}, {.confidence = kNan}), HasSubstr("--confidence: nan"));
  EXPECT_THAT(error_of({}, {}, {.iou = 0}), HasSubstr("--iou: 0"));
  EXPECT_THAT(error_of({}, {}, {.iou = 1.01}), HasSubstr("--iou: 1.01"));
  EXPECT_THAT(error_of({}, {}, {.max_detections = -1}), HasSubstr("--max-detections: -1"));
}

TEST(MapClasses, RenumbersByNameAndCountsTheRest) {
  const DetectionSet boxes = found({{5,
                                     {{place(0), 0.9f, 0},
                                      {place(1), 0.8f, 1},
                                      {place(2), 0.7f, 2},
                                      {place(3), 0.6f, 3},
                                      {place(4), 0.5f, -1}}},
                                    {6, {}}},
                                   {"Person", "bicycle", "CAR"});
  long long removed = 99;
  const DetectionSet mapped = map_classes(boxes, truth({}, {"car", "person", "dog"}), &removed);
  EXPECT_EQ(removed, 3) << "bicycle, and two ids that have no label";
  EXPECT_THAT(mapped.labels, ElementsAre("car", "person", "dog"));
  ASSERT_EQ(mapped.images.size(), 2u);
  EXPECT_EQ(mapped.images[0].image_id, 5);
  EXPECT_THAT(mapped.images[0].detections,
              ElementsAre(Detection{place(0), 0.9f, 1}, Detection{place(2), 0.7f, 0}));
  EXPECT_EQ(mapped.images[1].image_id, 6);
  EXPECT_EQ(map_classes(boxes, truth({}, {"car"})).images[0].detections.size(), 1u);
}

TEST(MapClasses, OfTwoEqualNamesTheFirst) {
  const DetectionSet boxes = found({{0, {{place(0), 0.9f, 0}}}}, {"car"});
  EXPECT_EQ(map_classes(boxes, truth({}, {"Car", "car"})).images[0].detections[0].class_id, 0);
}

TEST(MapClasses, WithoutLabelsIdsStay) {
  const DetectionSet named = found({{0, {{place(0), 0.9f, 7}}}}, {"a"});
  const DetectionSet unnamed = found({{0, {{place(0), 0.9f, 7}}}});
  long long removed = 99;
  EXPECT_EQ(map_classes(named, truth({}), &removed).images[0].detections[0].class_id, 7);
  EXPECT_EQ(removed, 0);
  EXPECT_EQ(map_classes(unnamed, truth({}, {"a"})).images[0].detections[0].class_id, 7);
}

}  // namespace
}  // namespace sparing

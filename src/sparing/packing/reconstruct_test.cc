#include "sparing/packing/reconstruct.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace sparing {
namespace {

constexpr Size kFrame{640, 480};

// A region drawn with its corner at (x, y) of the canvas, at a scale.
DrawnRoi drawn(std::size_t id, Rect rect, int x, int y, double scale) {
  DrawnRoi roi;
  roi.id = id;
  roi.rect = {x, y, static_cast<int>(std::lround(rect.width * scale)),
              static_cast<int>(std::lround(rect.height * scale))};
  const double a = rect.width / roi.rect.width, d = rect.height / roi.rect.height;
  roi.to_frame = {a, 0, rect.x - a * x, 0, d, rect.y - d * y};
  roi.frame = kFrame;
  return roi;
}

Detection found(Box box, float score = 0.8f, int class_id = 0) { return {box, score, class_id}; }

CanvasDetections assign(const std::vector<Detection>& detections, const std::vector<DrawnRoi>& rois,
                        const ReconstructOptions& options = {}) {
  auto result = assign_detections(detections, rois, options);
  EXPECT_TRUE(result.ok());
  return std::move(result).value();
}

std::vector<RoiDetection> fuse(const std::vector<RoiDetection>& detections,
                               const ReconstructOptions& options = {}) {
  auto result = fuse_detections(detections, options);
  EXPECT_TRUE(result.ok());
  return std::move(result).value();
}

// A detection of a region, in frame coordinates; cut where it touches the region's edge.
RoiDetection in_region(std::size_t roi, Box region, Box box, float score = 0.8f, int class_id = 0) {
  RoiDetection detection{{box, score, class_id}, roi, region, 0};
  if (box.x0 == region.x0) detection.cut |= kCutLeft;
  if (box.y0 == region.y0) detection.cut |= kCutTop;
  if (box.x1 == region.x1) detection.cut |= kCutRight;
  if (box.y1 == region.y1) detection.cut |= kCutBottom;
  return detection;
}

std::vector<Box> boxes(const std::vector<RoiDetection>& detections) {
  std::vector<Box> result;
  for (const RoiDetection& detection : detections) result.push_back(detection.detection.box);
  return result;
}

TEST(AssignDetections, MapsThroughTheRegionsMap) {
  // Two regions side by side, drawn at half and at full size.
  const std::vector<DrawnRoi> rois = {drawn(5, {100, 200, 100, 80}, 0, 0, 0.5),
                                      drawn(9, {300, 20, 40, 40}, 53, 0, 1)};
  const auto result = assign({found({10, 10, 20, 30}), found({63, 10, 73, 30}, 0.3f, 2)}, rois);
  ASSERT_EQ(result.detections.size(), 2u);
  EXPECT_EQ(result.detections[0].detection.box, (Box{120, 220, 140, 260}));
  EXPECT_EQ(result.detections[0].roi, 5u);
  EXPECT_EQ(result.detections[0].region, (Box{100, 200, 200, 280}));
  EXPECT_EQ(result.detections[0].cut, 0u);
  EXPECT_EQ(result.detections[1].detection, (Detection{{310, 30, 320, 50}, 0.3f, 2}));
  EXPECT_EQ(result.detections[1].roi, 9u);
}

TEST(AssignDetections, ClipsToTheRegionAndLeavesOutWhatBelongsToNone) {
  const std::vector<DrawnRoi> rois = {drawn(0, {100, 100, 50, 50}, 0, 0, 1),
                                      drawn(1, {200, 100, 50, 50}, 53, 0, 1)};
  // Mostly in the first, reaching over the gap into the second.
  auto result = assign({found({20, 10, 60, 40})}, rois);
  ASSERT_EQ(result.detections.size(), 1u);
  EXPECT_EQ(result.detections[0].detection.box, (Box{120, 110, 150, 140}));
  EXPECT_EQ(result.detections[0].cut, kCutRight);
  // Half in each: in none enough. In the empty part of the canvas.
  result = assign({found({20, 10, 83, 40}), found({0, 60, 40, 90})}, rois);
  EXPECT_TRUE(result.detections.empty());
  EXPECT_EQ(result.outside, 2);
  // Neither finite nor with an area.
  result = assign({found({5, 5, 5, 9}), found({NAN, 5, 8, 9}), found({9, 9, 5, 5})}, rois);
  EXPECT_TRUE(result.detections.empty());
  EXPECT_EQ(result.empty, 3);
}

TEST(AssignDetections, OnlyEdgesInsideTheFrameCut) {
  // A region in the frame's upper left corner: its left and upper edges are the frame's.
  const std::vector<DrawnRoi> rois = {drawn(0, {0, 0, 100, 100}, 10, 10, 1)};
  const auto result = assign({found({10, 10, 110, 110})}, rois);
  ASSERT_EQ(result.detections.size(), 1u);
  EXPECT_EQ(result.detections[0].cut, kCutRight | kCutBottom);
  // And at the lower right.
  const std::vector<DrawnRoi> last = {drawn(0, {540, 380, 100, 100}, 10, 10, 0.5)};
  const auto right = assign({found({10, 10, 60, 60})}, last);
  ASSERT_EQ(right.detections.size(), 1u);
  EXPECT_EQ(right.detections[0].cut, kCutLeft | kCutTop);
}

TEST(AssignDetections, TheMarginIsInCanvasPixels) {
  // At half size, 2 canvas pixels are 4 of the frame.
  const std::vector<DrawnRoi> rois = {drawn(0, {100, 100, 100, 100}, 0, 0, 0.5)};
  const auto result = assign({found({1.9f, 10, 30, 30}), found({2.1f, 10, 30, 30})}, rois);
  ASSERT_EQ(result.detections.size(), 2u);
  EXPECT_EQ(result.detections[0].cut, kCutLeft);
  EXPECT_EQ(result.detections[1].cut, 0u);
}

TEST(AssignDetections, NoBoxLeavesTheFrameNorIsEmpty) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> unit(0, 1);
  std::int64_t kept = 0;
  for (int round = 0; round < 5000; ++round) {
    std::vector<DrawnRoi> rois;
    int x = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      const double w = 1 + 300 * unit(random), h = 1 + 300 * unit(random);
      rois.push_back(drawn(i, {unit(random) * (640 - w), unit(random) * (480 - h), w, h}, x, 0,
                           0.1 + 1.5 * unit(random)));
      rois.back().rect.width = std::max(rois.back().rect.width, 1);
      rois.back().rect.height = std::max(rois.back().rect.height, 1);
      if (!std::isfinite(rois.back().to_frame.a) || !std::isfinite(rois.back().to_frame.d)) {
        rois.back().to_frame = {1, 0, 0, 0, 1, 0};
      }
      x += rois.back().rect.width + 3;
    }
    std::vector<Detection> detections;
    for (int i = 0; i < 20; ++i) {
      const auto x0 = static_cast<float>(unit(random) * (x + 40) - 20);
      const auto y0 = static_cast<float>(unit(random) * 400 - 20);
      detections.push_back(found({x0, y0, x0 + static_cast<float>(unit(random) * 90),
                                  y0 + static_cast<float>(unit(random) * 90)}));
    }
    const CanvasDetections result = assign(detections, rois);
    EXPECT_EQ(result.detections.size() + static_cast<std::size_t>(result.outside + result.empty),
              detections.size());
    const auto fused = fuse(result.detections);
    EXPECT_LE(fused.size(), result.detections.size());
    for (const auto& list : {result.detections, fused}) {
      for (const RoiDetection& detection : list) {
        const Box& b = detection.detection.box;
        EXPECT_TRUE(b.x0 >= 0 && b.y0 >= 0 && b.x1 <= 640 && b.y1 <= 480);
        EXPECT_TRUE(b.width() >= 1 && b.height() >= 1);
        ++kept;
      }
    }
  }
  EXPECT_GT(kept, 10000);
}

TEST(AssignDetections, WhatWasDrawnComesBackToWhereItWas) {
  std::mt19937 random(2);
  std::uniform_real_distribution<double> unit(0, 1);
  for (int round = 0; round < 5000; ++round) {
    const double w = 40 + 300 * unit(random), h = 40 + 300 * unit(random);
    const DrawnRoi roi = drawn(0, {unit(random) * (640 - w), unit(random) * (480 - h), w, h},
                               static_cast<int>(unit(random) * 900),
                               static_cast<int>(unit(random) * 900), 0.2 + unit(random));
    const Box region =
        map_box(roi.to_frame, {static_cast<float>(roi.rect.x), static_cast<float>(roi.rect.y),
                               static_cast<float>(roi.rect.x + roi.rect.width),
                               static_cast<float>(roi.rect.y + roi.rect.height)});
    const auto at = [&](double share, float low, float high) {
      return static_cast<float>(low + share * (high - low));
    };
    const double left = 0.45 * unit(random), top = 0.45 * unit(random);
    const Box object{at(left, region.x0, region.x1), at(top, region.y0, region.y1),
                     at(0.55 + 0.4 * unit(random), region.x0, region.x1),
                     at(0.55 + 0.4 * unit(random), region.y0, region.y1)};
    const auto result = assign({found(map_box(inverse(roi.to_frame), object))}, {roi});
    ASSERT_EQ(result.detections.size(), 1u);
    const Box& back = result.detections[0].detection.box;
    EXPECT_NEAR(back.x0, object.x0, 2e-3);
    EXPECT_NEAR(back.y0, object.y0, 2e-3);
    EXPECT_NEAR(back.x1, object.x1, 2e-3);
    EXPECT_NEAR(back.y1, object.y1, 2e-3);
  }
}

TEST(FuseDetections, ACutBoxGivesWayToTheWholeOne) {
  // A person of 40 x 100, whole in the first region; the second ends in the middle of it. The cut
  // box has the higher score: the whole one takes it.
  const RoiDetection whole = in_region(0, {50, 50, 250, 250}, {100, 100, 140, 200}, 0.4f);
  const RoiDetection part = in_region(1, {120, 40, 300, 260}, {120, 100, 140, 200}, 0.9f);
  const auto fused = fuse({part, whole});
  ASSERT_EQ(fused.size(), 1u);
  EXPECT_EQ(fused[0].detection.box, whole.detection.box);
  EXPECT_EQ(fused[0].detection.score, 0.9f);
  EXPECT_EQ(fused[0].cut, 0u);
}

TEST(FuseDetections, ASmallCutObjectBehindALargeOneStays) {
  // Inside the large box, but not what the region shows of it.
  const RoiDetection large = in_region(0, {0, 0, 300, 300}, {100, 50, 200, 250});
  const RoiDetection small = in_region(1, {150, 60, 400, 300}, {150, 100, 180, 150});
  EXPECT_EQ(fuse({large, small}).size(), 2u);
}

TEST(FuseDetections, ANeighbourIsNoPartOfAWholeBox) {
  // Side by side, the right one cut by its region's left edge where the left one ends.
  const RoiDetection whole = in_region(0, {0, 0, 150, 300}, {100, 100, 148, 200});
  const RoiDetection part = in_region(1, {140, 0, 300, 300}, {140, 100, 190, 200});
  EXPECT_EQ(fuse({whole, part}).size(), 2u);
}

TEST(FuseDetections, HalvesBecomeOne) {
  // A bus across two regions that overlap by 20 px.
  const RoiDetection left = in_region(0, {0, 0, 200, 200}, {120, 50, 200, 100}, 0.6f);
  const RoiDetection right = in_region(1, {180, 0, 400, 200}, {180, 52, 300, 101}, 0.7f);
  auto fused = fuse({left, right});
  ASSERT_EQ(fused.size(), 1u);
  EXPECT_EQ(fused[0].detection.box, (Box{120, 50, 300, 101}));
  EXPECT_EQ(fused[0].detection.score, 0.7f);
  EXPECT_EQ(fused[0].cut, 0u);
  // The same from above and below, and over three regions.
  const RoiDetection upper = in_region(2, {400, 0, 500, 100}, {420, 20, 440, 100});
  const RoiDetection middle = in_region(3, {400, 90, 500, 150}, {420, 90, 441, 150});
  const RoiDetection lower = in_region(4, {400, 140, 500, 300}, {420, 140, 441, 200});
  fused = fuse({lower, upper, middle});
  ASSERT_EQ(fused.size(), 1u);
  EXPECT_EQ(fused[0].detection.box, (Box{420, 20, 441, 200}));
  EXPECT_EQ(fused[0].cut, 0u);
}

TEST(FuseDetections, HalvesOfDifferentHeightOrClassStayApart) {
  const RoiDetection left = in_region(0, {0, 0, 200, 200}, {120, 50, 200, 100});
  RoiDetection right = in_region(1, {180, 0, 400, 200}, {180, 80, 300, 160});
  EXPECT_EQ(fuse({left, right}).size(), 2u);
  right = in_region(1, {180, 0, 400, 200}, {180, 50, 300, 100});
  right.detection.class_id = 3;
  EXPECT_EQ(fuse({left, right}).size(), 2u);
}

TEST(FuseDetections, DuplicatesAcrossRegionsAreSuppressedByClass) {
  const Box region{0, 0, 300, 300};
  const RoiDetection a = in_region(0, region, {100, 100, 150, 200}, 0.5f);
  const RoiDetection b = in_region(1, region, {102, 101, 152, 203}, 0.8f);
  RoiDetection other = in_region(2, region, {102, 101, 152, 203}, 0.7f);
  other.detection.class_id = 1;
  const auto fused = fuse({a, b, other});
  EXPECT_THAT(boxes(fused), testing::ElementsAre(b.detection.box, other.detection.box));
  EXPECT_EQ(fused[0].detection.score, 0.8f);
}

TEST(FuseDetections, WholeBoxesArePreferredToCutOnesOfHigherScore) {
  const RoiDetection cut = in_region(0, {0, 0, 145, 300}, {100, 100, 145, 200}, 0.8f);
  const RoiDetection whole = in_region(1, {50, 0, 300, 300}, {104, 102, 148, 199}, 0.6f);
  const auto fused = fuse({cut, whole});
  ASSERT_EQ(fused.size(), 1u);
  EXPECT_EQ(fused[0].detection.box, whole.detection.box);
}

TEST(FuseDetections, DetectionsOfOneRegionAreLeftAlone) {
  const Box region{0, 0, 300, 300};
  const std::vector<RoiDetection> crowd = {in_region(0, region, {100, 100, 150, 200}, 0.9f),
                                           in_region(0, region, {102, 100, 152, 200}, 0.8f),
                                           in_region(0, region, {110, 100, 300, 200}, 0.7f)};
  EXPECT_EQ(fuse(crowd), crowd);
}

TEST(FuseDetections, ACutBoxNobodyExplainsIsKept) {
  const RoiDetection cut = in_region(0, {0, 0, 145, 300}, {100, 100, 145, 200});
  EXPECT_EQ(fuse({cut}), std::vector{cut});
}

TEST(FuseDetections, TheOrderGivenDoesNotMatter) {
  std::mt19937 random(3);
  std::uniform_real_distribution<float> unit(0, 1);
  for (int round = 0; round < 300; ++round) {
    std::vector<RoiDetection> detections;
    for (int i = 0; i < 15; ++i) {
      const float rx = 200 * unit(random), ry = 200 * unit(random);
      const Box region{rx, ry, rx + 150, ry + 150};
      const float x = rx + 100 * unit(random), y = ry + 100 * unit(random);
      Box box{x, y, std::min(x + 80 * unit(random) + 5, region.x1),
              std::min(y + 80 * unit(random) + 5, region.y1)};
      if (unit(random) < 0.3f) box.x0 = region.x0;
      detections.push_back(in_region(static_cast<std::size_t>(i), region, box, unit(random)));
    }
    const std::vector<Box> first = boxes(fuse(detections));
    std::shuffle(detections.begin(), detections.end(), random);
    EXPECT_THAT(boxes(fuse(detections)), testing::UnorderedElementsAreArray(first)) << round;
  }
}

TEST(Reconstruct, BadInputIsNamed) {
  DrawnRoi roi = drawn(7, {0, 0, 50, 50}, 0, 0, 1);
  roi.to_frame.a = 0;
  const auto singular = assign_detections({}, std::vector{roi});
  ASSERT_FALSE(singular.ok());
  EXPECT_THAT(singular.error().to_string(), testing::HasSubstr("region 7"));
  roi = drawn(7, {0, 0, 50, 50}, 0, 0, 1);
  roi.frame = {};
  EXPECT_FALSE(assign_detections({}, std::vector{roi}).ok());
  EXPECT_FALSE(fuse_detections(std::vector{in_region(0, {0, 0, NAN, 1}, {0, 0, 1, 1})}).ok());
  ReconstructOptions options;
  options.nms_iou = -1;
  EXPECT_FALSE(fuse_detections({}, options).ok());
}

}  // namespace
}  // namespace sparing

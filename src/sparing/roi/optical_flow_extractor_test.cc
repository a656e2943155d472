#include "sparing/roi/optical_flow_extractor.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "sparing/roi/roi_test_util.h"

namespace sparing::roi {
namespace {

using testing::Texture;

constexpr Size kSize{240, 180};  // luma; display pixels are twice as many
constexpr int kFactor = 2;
constexpr double kFrame = 0.04;  // seconds
const Rect kFrameRect{0, 0, 480, 360};

// A textured object of 40 x 60 display pixels that starts at (x, y).
struct Mover {
  double x, y, vx, vy;  // display pixels, and a frame
  double growth = 1;    // a frame
  Box at(int i) const {
    const double scale = std::pow(growth, i);
    const double cx = x + 20 + vx * i, cy = y + 30 + vy * i;
    return {static_cast<float>(cx - 20 * scale), static_cast<float>(cy - 30 * scale),
            static_cast<float>(cx + 20 * scale), static_cast<float>(cy + 30 * scale)};
  }
};

LumaImage scene(const Mover& mover, int i) {
  LumaImage image = Texture(20, 0.3).draw(kSize, {}, kFactor);
  const Box box = mover.at(i);
  const double scale = std::pow(mover.growth, i);
  const PixelRect area{static_cast<int>(std::lround(box.x0 / kFactor)),
                       static_cast<int>(std::lround(box.y0 / kFactor)),
                       static_cast<int>(std::lround(box.width() / kFactor)),
                       static_cast<int>(std::lround(box.height() / kFactor))};
  // The object's own texture moves and grows about its centre.
  const double cx = (box.x0 + box.x1) / 2 / kFactor, cy = (box.y0 + box.y1) / 2 / kFactor;
  Texture(7, 0.9).draw_into(image, area, {scale, cx, cy});
  return image;
}

KnownObject known(const Box& box, std::int64_t id) {
  KnownObject object;
  object.detection = {box, 0.8f, 2};
  object.id = id;
  return object;
}

// The largest distance of a corner.
double apart(const Box& a, const Box& b) {
  return std::max(
      {std::abs(a.x0 - b.x0), std::abs(a.y0 - b.y0), std::abs(a.x1 - b.x1), std::abs(a.y1 - b.y1)});
}

TEST(RobustMotion, IsExactWithUpToAThirdOfOutliers) {
  const FlowPoint centre{50, 40};
  std::vector<FlowPoint> from, to;
  for (int i = 0; i < 12; ++i) {
    const FlowPoint p{40 + static_cast<float>(i * 7 % 23), 30 + static_cast<float>(i * 5 % 19)};
    from.push_back(p);
    to.push_back({50 + 3.25f + 1.05f * (p.x - 50), 40 - 1.5f + 1.05f * (p.y - 40)});
  }
  const auto check = [&] {
    const Motion motion = robust_motion(from, to, centre);
    EXPECT_NEAR(motion.dx, 3.25, 0.1);
    EXPECT_NEAR(motion.dy, -1.5, 0.1);
    EXPECT_NEAR(motion.scale, 1.05, 0.01);
  };
  check();
  for (std::size_t i = 0; i < 3; ++i) to[4 * i] = {200, 10};
  check();
}

TEST(RobustMotion, FewPointsDoNotGrow) {
  const std::vector<FlowPoint> from{{0, 0}, {10, 0}, {0, 10}}, to{{1, 2}, {21, 2}, {1, 22}};
  const Motion motion = robust_motion(from, to, {5, 5});
  EXPECT_EQ(motion.scale, 1);
  EXPECT_EQ(motion.dx, 1);
  EXPECT_EQ(motion.dy, 2);
}

TEST(OpticalFlowExtractor, FollowsAMovingObjectWithItsFeatures) {
  for (const int interval : {1, 2, 3}) {
    RoiOptions options;
    options.flow_interval = interval;
    OpticalFlowExtractor extractor(options);
    const Mover mover{100, 80, 3.3, -1.7};
    ASSERT_TRUE(extractor.add(scene(mover, 0), kFrame).ok());
    const std::vector<KnownObject> objects{known(mover.at(0), 42)};
    extractor.set_objects(objects);
    for (int i = 1; i <= 12; ++i) {
      ASSERT_TRUE(extractor.add(scene(mover, i), kFrame).ok());
      const auto rois = extractor.rois(kFrameRect);
      ASSERT_EQ(rois.size(), 1u);
      const Roi& roi = rois[0];
      EXPECT_LT(apart(roi.object, mover.at(i)), 2) << "interval " << interval << " frame " << i;
      EXPECT_EQ(roi.object_id, 42);
      EXPECT_EQ(roi.class_id, 2);
      EXPECT_EQ(roi.confidence, 0.8f);
      EXPECT_EQ(roi.source, RoiSource::kFlow);
      EXPECT_NEAR(roi.flow.mean_shift, std::hypot(3.3, 1.7), 0.4) << interval << " " << i;
      EXPECT_LT(roi.flow.shift_deviation, 1);
      EXPECT_LT(roi.flow.tracking_error, 12);
      EXPECT_GT(roi.flow.shift_correlation, 0.9);
    }
  }
}

TEST(OpticalFlowExtractor, SeesObjectsComeNearer) {
  OpticalFlowExtractor extractor({});
  const Mover mover{200, 120, 1, 0.5, 1.02};
  ASSERT_TRUE(extractor.add(scene(mover, 0), kFrame).ok());
  const std::vector<KnownObject> objects{known(mover.at(0), 1)};
  extractor.set_objects(objects);
  for (int i = 1; i <= 10; ++i) ASSERT_TRUE(extractor.add(scene(mover, i), kFrame).ok());
  const auto rois = extractor.rois(kFrameRect);
  ASSERT_EQ(rois.size(), 1u);
  EXPECT_NEAR(rois[0].object.height(), 60 * std::pow(1.02, 10), 4);
  EXPECT_LT(apart(rois[0].object, mover.at(10)), 5);
}

// New boxes belong to the last picture, also when the velocity of the old ones would still do.
TEST(OpticalFlowExtractor, NewBoxesReplaceOldOnes) {
  RoiOptions options;
  options.flow_interval = 4;
  OpticalFlowExtractor extractor(options);
  const Mover mover{100, 80, 4, 1};
  ASSERT_TRUE(extractor.add(scene(mover, 0), kFrame).ok());
  for (int i = 0; i < 13; ++i) {
    if (i % 5 == 0) {
      const std::vector<KnownObject> objects{known(mover.at(i), 5)};
      extractor.set_objects(objects);
    }
    ASSERT_TRUE(extractor.add(scene(mover, i + 1), kFrame).ok());
    ASSERT_EQ(extractor.rois(kFrameRect).size(), 1u);
    EXPECT_LT(apart(extractor.rois(kFrameRect)[0].object, mover.at(i + 1)), 2) << i;
  }
  extractor.set_objects({});
  ASSERT_TRUE(extractor.add(scene(mover, 14), kFrame).ok());
  EXPECT_TRUE(extractor.rois(kFrameRect).empty());
}

TEST(OpticalFlowExtractor, WhatCannotBeFollowedIsDroppedOrWidened) {
  for (const bool drop : {true, false}) {
    RoiOptions options;
    options.lost = drop ? "drop" : "widen";
    options.lost_frames = 4;
    options.flow_interval = 1;
    OpticalFlowExtractor extractor(options);
    const Mover mover{100, 80, 4, 1};
    ASSERT_TRUE(extractor.add(scene(mover, 0), kFrame).ok());
    const std::vector<KnownObject> objects{known(mover.at(0), 5)};
    extractor.set_objects(objects);
    for (int i = 1; i <= 4; ++i) ASSERT_TRUE(extractor.add(scene(mover, i), kFrame).ok());
    LumaImage fog;
    fog.fill(kSize, kFactor, 90);
    double width = 0;
    for (int i = 5; i <= 8; ++i) {
      ASSERT_TRUE(extractor.add(fog, kFrame).ok());
      const auto rois = extractor.rois(kFrameRect);
      if (drop) {
        EXPECT_TRUE(rois.empty());
        EXPECT_EQ(extractor.lost(), 1);
        continue;
      }
      ASSERT_EQ(rois.size(), 1u) << i;
      EXPECT_LT(apart(rois[0].object, mover.at(i)), 4) << "it goes on as it went";
      EXPECT_GT(rois[0].rect.width, width) << "and the region grows";
      width = rois[0].rect.width;
    }
    ASSERT_TRUE(extractor.add(fog, kFrame).ok());
    EXPECT_TRUE(extractor.rois(kFrameRect).empty());
    EXPECT_EQ(extractor.lost(), 1);
  }
}

TEST(OpticalFlowExtractor, ObjectsThatLeaveAreForgotten) {
  OpticalFlowExtractor extractor({});
  const Mover mover{420, 80, 12, 0};
  ASSERT_TRUE(extractor.add(scene({420, 80, 12, 0}, 0), kFrame).ok());
  const std::vector<KnownObject> objects{known(mover.at(0), 1), known({-90, 10, -50, 50}, 2)};
  extractor.set_objects(objects);
  for (int i = 1; i < 25; ++i) {
    LumaImage image = Texture(20, 0.3).draw(kSize, {}, kFactor);
    if (i < 4) image = scene(mover, i);
    ASSERT_TRUE(extractor.add(image, kFrame).ok());
    for (const Roi& roi : extractor.rois(kFrameRect)) {
      EXPECT_EQ(intersect(roi.rect, kFrameRect), roi.rect);
      EXPECT_FALSE(roi.rect.empty());
      EXPECT_GT(roi.object.area(), 0);
    }
  }
  EXPECT_TRUE(extractor.rois(kFrameRect).empty());
  EXPECT_EQ(extractor.lost(), 2);
}

TEST(OpticalFlowExtractor, KeepsTheMostConfident) {
  RoiOptions options;
  options.max_objects = 2;
  OpticalFlowExtractor extractor(options);
  const Mover mover{100, 80, 0, 0};
  ASSERT_TRUE(extractor.add(scene(mover, 0), kFrame).ok());
  std::vector<KnownObject> objects;
  for (int i = 0; i < 4; ++i) {
    objects.push_back(known(mover.at(0), i));
    objects.back().detection.score = i % 2 == 0 ? 0.2f : 0.7f;
  }
  extractor.set_objects(objects);
  const auto rois = extractor.rois(kFrameRect);
  ASSERT_EQ(rois.size(), 2u);
  EXPECT_EQ(rois[0].object_id, 1);
  EXPECT_EQ(rois[1].object_id, 3);
  EXPECT_EQ(extractor.over_limit(), 2);
}

}  // namespace
}  // namespace sparing::roi

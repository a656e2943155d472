#include "sparing/roi/roi_extractor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "sparing/roi/roi_test_util.h"

namespace sparing {
namespace {

using testing::add_noise;
using testing::brighten;
using testing::coverage;
using ::testing::HasSubstr;
using testing::Texture;
using testing::to_frame;
using testing::to_rect;

constexpr Size kSize{640, 480};
constexpr PixelRect kStander{400, 250, 40, 90};

const LumaImage& ground() {
  static const LumaImage image = Texture(1, 0.5).draw(kSize, {});
  return image;
}

PixelRect walker(int i) { return {60 + 6 * i, 150, 40, 80}; }

// The walker has a texture of its own: of a plain one only its two ends differ.
LumaImage scene(int i, double noise = 2) {
  LumaImage image = ground();
  Texture(9, 0.8).draw_into(image, walker(i), {1, 6.0 * i, 0});
  if (noise > 0) add_noise(image, noise, static_cast<unsigned>(i));
  return image;
}

std::vector<Rect> rects(const FrameRois& found) {
  std::vector<Rect> result;
  for (const Roi& roi : found.rois) result.push_back(roi.rect);
  return result;
}

RoiExtractor make(const RoiOptions& options = {}) {
  return std::move(RoiExtractor::create(options)).value();
}

FrameRois add(RoiExtractor& extractor, const LumaImage& image, int i) {
  auto result = extractor.add(to_frame(image, i).view());
  EXPECT_TRUE(result.ok()) << result.error().to_string();
  return std::move(result).value();
}

void expect_whole_frame(const FrameRois& found, GlobalChange change) {
  EXPECT_EQ(to_string(found.change), to_string(change));
  ASSERT_EQ(found.rois.size(), 1u);
  EXPECT_EQ(found.rois[0].source, RoiSource::kWholeFrame);
  EXPECT_EQ(found.rois[0].rect, (Rect{0, 0, 640, 480}));
}

TEST(RoiExtractor, TheFirstFrameIsLookedAtWholeThenWhatMoves) {
  RoiExtractor extractor = make();
  expect_whole_frame(add(extractor, scene(0), 0), GlobalChange::kNoReference);
  for (int i = 1; i < 15; ++i) {
    const FrameRois found = add(extractor, scene(i), i);
    EXPECT_EQ(found.change, GlobalChange::kNone);
    EXPECT_GE(coverage(to_rect(walker(i)), rects(found)), 0.8) << i;
    EXPECT_LE(found.rois.size(), 3u) << i;
    for (const Roi& roi : found.rois) {
      EXPECT_EQ(roi.object_id, -1);
      EXPECT_EQ(roi.object.area(), 0);
    }
  }
  EXPECT_EQ(extractor.statistics().frames, 15);
  EXPECT_EQ(extractor.statistics().whole_frames, 1);
}

TEST(RoiExtractor, AFollowedObjectExplainsItsMotion) {
  RoiExtractor extractor = make();
  constexpr int kEmpty = 20;  // frames before anybody walks, for the background
  for (int i = 0; i < kEmpty; ++i) add(extractor, ground(), i);
  for (int i = 0; i < 20; ++i) {
    const FrameRois found = add(extractor, scene(i), kEmpty + i);
    if (i > 7) {
      ASSERT_EQ(found.rois.size(), 1u) << i;
      EXPECT_EQ(found.rois[0].source, RoiSource::kFlow);
      EXPECT_EQ(found.rois[0].object_id, 3);
      EXPECT_GE(coverage(to_rect(walker(i)), rects(found)), 0.85) << i;
    }
    if (i != 2) continue;
    KnownObject object;
    const PixelRect at = walker(i);
    object.detection.box = {static_cast<float>(at.x), static_cast<float>(at.y),
                            static_cast<float>(at.x + at.width),
                            static_cast<float>(at.y + at.height)};
    object.id = 3;
    ASSERT_TRUE(extractor.set_objects(std::span(&object, 1)).ok());
  }
  EXPECT_GT(extractor.statistics().redundant, 0);
}

TEST(RoiExtractor, WhatStandsWhereNothingStoodIsSeenForLong) {
  RoiExtractor extractor = make();
  for (int i = 0; i < 100; ++i) {
    LumaImage image = ground();
    if (i >= 20) brighten(image, kStander, 60);
    add_noise(image, 2, static_cast<unsigned>(i));
    const FrameRois found = add(extractor, image, i);
    if (i < 20) continue;
    EXPECT_GE(coverage(to_rect(kStander), rects(found)), 0.8) << i;
    if (i < 30) continue;
    for (const Roi& roi : found.rois) EXPECT_EQ(roi.source, RoiSource::kBackground) << i;
  }
}

TEST(RoiExtractor, ALightStepIsOneWholeFrameAndHidesNothingAfter) {
  RoiExtractor extractor = make();
  const auto lit = [](LumaImage image, bool on) {
    if (!on) return image;
    for (int y = 0; y < kSize.height; ++y) {
      for (std::uint8_t& v : image.row(y))
        v = static_cast<std::uint8_t>(std::min(0.7 * v + 70, 255.0));
    }
    return image;
  };
  for (int i = 0; i < 40; ++i) {
    LumaImage image = scene(i, 0);
    if (i >= 15) brighten(image, kStander, 60);
    image = lit(image, i >= 25);
    add_noise(image, 2, static_cast<unsigned>(i));
    const FrameRois found = add(extractor, image, i);
    if (i == 25) {
      expect_whole_frame(found, GlobalChange::kLight);
    } else if (i > 0) {
      EXPECT_EQ(found.change, GlobalChange::kNone) << i;
      EXPECT_LE(found.rois.size(), 6u) << i;
      EXPECT_GE(coverage(to_rect(walker(i)), rects(found)), 0.75) << i;
      if (i >= 15) {
        EXPECT_GE(coverage(to_rect(kStander), rects(found)), 0.75) << i;
      }
    }
  }
}

TEST(RoiExtractor, AShakeOfTenPixelsIsCameraMotion) {
  const Texture texture(1, 0.5);
  RoiExtractor extractor = make();
  for (int i = 0; i < 24; ++i) {
    const bool shaken = i == 10 || i == 11;
    LumaImage image = texture.draw(kSize, {1, shaken ? 8.0 : 0, shaken ? -6.0 : 0});
    brighten(image, kStander, i >= 5 ? 60 : 0);
    add_noise(image, 2, static_cast<unsigned>(i));
    const FrameRois found = add(extractor, image, i);
    if (i == 10 || i == 12) {
      expect_whole_frame(found, GlobalChange::kCameraMotion);
    } else if (i > 0) {
      EXPECT_EQ(found.change, GlobalChange::kNone) << i;
      EXPECT_LE(found.rois.size(), 8u) << i;
      if (i >= 5) {
        EXPECT_GE(coverage(to_rect(kStander), rects(found)), 0.75) << i;
      }
    }
  }
}

TEST(RoiExtractor, ACutIsALargeChangeThenTheNewSceneIsLearnt) {
  RoiExtractor extractor = make();
  const LumaImage other = Texture(50, 0.7).draw(kSize, {});
  int whole = 0;
  for (int i = 0; i < 30; ++i) {
    const FrameRois found = add(extractor, i < 12 ? ground() : other, i);
    if (i == 12) expect_whole_frame(found, GlobalChange::kLarge);
    if (i > 12) whole += found.change != GlobalChange::kNone;
    if (i > 20) {
      EXPECT_TRUE(found.rois.empty()) << i;
    }
  }
  EXPECT_LE(whole, 6);
}

TEST(RoiExtractor, AnotherSizeBeginsAnew) {
  RoiExtractor extractor = make();
  add(extractor, ground(), 0);
  KnownObject object;
  object.detection.box = {100, 100, 200, 200};
  ASSERT_TRUE(extractor.set_objects(std::span(&object, 1)).ok());
  const FrameRois found = add(extractor, Texture(2).draw({320, 200}, {}), 1);
  EXPECT_EQ(found.change, GlobalChange::kNoReference);
  ASSERT_EQ(found.rois.size(), 1u);
  EXPECT_EQ(found.rois[0].rect, (Rect{0, 0, 320, 200}));
  EXPECT_TRUE(add(extractor, Texture(2).draw({320, 200}, {}), 2).rois.empty());
}

TEST(RoiExtractor, CoordinatesAreThoseOfTheDisplay) {
  // A square moves in a picture that is shown turned by a quarter, from within a larger one.
  RoiExtractor extractor = make();
  for (int i = 0; i < 6; ++i) {
    LumaImage coded = ground();
    const PixelRect square{100, 100 + 8 * i, 60, 60};
    Texture(9, 0.8).draw_into(coded, square, {1, 0, 8.0 * i});
    SharedFrame frame = to_frame(coded, i);
    frame.view().visible_rect = {40, 60, 500, 400};
    frame.view().rotation = Rotation::k90;
    auto found = extractor.add(frame.view());
    ASSERT_TRUE(found.ok());
    if (i < 2) continue;
    // Clockwise: what is below comes to the left.
    const Rect shown{400.0 - (square.y - 60) - 60, square.x - 40.0, 60, 60};
    EXPECT_GE(coverage(shown, rects(*found)), 0.8) << i;
  }
}

TEST(RoiExtractor, RepeatsItselfToTheBit) {
  const auto run = [] {
    RoiExtractor extractor = make();
    std::vector<FrameRois> all;
    for (int i = 0; i < 8; ++i) all.push_back(add(extractor, scene(i), i));
    return all;
  };
  const auto a = run(), b = run();
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_EQ(a[i].rois, b[i].rois);
}

TEST(RoiExtractor, RefusesWrongArguments) {
  RoiOptions options;
  options.gap = 0;
  auto refused = RoiExtractor::create(options);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().to_string(), HasSubstr("gap"));
  options = {};
  options.reduction = "3";
  EXPECT_FALSE(RoiExtractor::create(options).ok());
  options = {};
  options.lost = "panic";
  EXPECT_FALSE(RoiExtractor::create(options).ok());

  RoiExtractor extractor = make();
  add(extractor, ground(), 5);
  const auto late = extractor.add(to_frame(ground(), 5).view());
  ASSERT_FALSE(late.ok());
  EXPECT_THAT(late.error().to_string(), HasSubstr("timestamp"));
  extractor.reset();
  EXPECT_TRUE(extractor.add(to_frame(ground(), 5).view()).ok());
  EXPECT_FALSE(extractor.add(VideoFrame{}).ok());

  KnownObject object;
  object.id = 17;
  object.detection.box = {10, 10, 5, 20};
  const Status inside_out = extractor.set_objects(std::span(&object, 1));
  ASSERT_FALSE(inside_out.ok());
  EXPECT_THAT(inside_out.error().to_string(), HasSubstr("17"));
  object.detection.box.x1 = std::numeric_limits<float>::quiet_NaN();
  EXPECT_FALSE(extractor.set_objects(std::span(&object, 1)).ok());
}

TEST(RoiExtractor, TheSmallestFramesAreFine) {
  for (const Size size : {Size{1, 1}, Size{2, 50}, Size{50, 2}, Size{17, 13}}) {
    RoiExtractor extractor = make();
    for (int i = 0; i < 8; ++i) {
      const FrameRois found = add(extractor, Texture(3).draw(size, {1, 3.0 * i, 0}), i);
      for (const Roi& roi : found.rois) EXPECT_FALSE(roi.rect.empty());
      KnownObject object;
      object.detection.box = {0, 0, 1, 1};
      ASSERT_TRUE(extractor.set_objects(std::span(&object, 1)).ok());
    }
  }
}

}  // namespace
}  // namespace sparing

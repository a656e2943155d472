#include "sparing/adapt/frame_motion.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include <gtest/gtest.h>

#include "sparing/flow/texture_test_util.h"

namespace sparing {
namespace {

using testing::Placement;
using testing::Texture;

constexpr Size kSize{160, 120};

FrameMotion make(MotionOptions options = {}) {
  return std::move(FrameMotion::create(options)).value();
}

PictureMotion add(FrameMotion& motion, const LumaImage& luma,
                  MotionDetail detail = MotionDetail::kError) {
  PictureMotion result;
  EXPECT_TRUE(motion.add(luma, result, detail).ok());
  return result;
}

float median(std::vector<float> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

void add_to_all(LumaImage& image, int step) {
  for (int y = 0; y < image.height(); ++y) {
    for (std::uint8_t& v : image.row(y)) {
      v = static_cast<std::uint8_t>(std::clamp(v + step, 0, 255));
    }
  }
}

TEST(FrameMotionTest, FollowsAShift) {
  const Texture texture(1, 0.5);
  FrameMotion motion = make();
  EXPECT_EQ(add(motion, texture.draw(kSize, {})).event, SceneEvent::kFirst);
  const PictureMotion moved = add(motion, texture.draw(kSize, {1, 3, -2}));
  EXPECT_EQ(moved.event, SceneEvent::kNone);
  // From the new picture back: against the shift.
  EXPECT_NEAR(median(moved.back.dx), -3, 0.3);
  EXPECT_NEAR(median(moved.back.dy), 2, 0.3);
  EXPECT_GT(moved.likeness, 0.95);
  EXPECT_LT(median(moved.error), 4);
}

TEST(FrameMotionTest, WhatLeavesThePictureIsOutside) {
  const Texture texture(1, 0.5);
  FrameMotion motion = make();
  add(motion, texture.draw(kSize, {}));
  const PictureMotion moved = add(motion, texture.draw(kSize, {1, 8, 0}));
  // The picture moved to the right by 8: its left edge shows what was not there before.
  int outside = 0;
  for (int y = 20; y < 100; ++y) {
    outside += moved.error[static_cast<std::size_t>(y * kSize.width)] == PictureMotion::kOutside;
  }
  EXPECT_GT(outside, 60);
  EXPECT_NE(moved.error[static_cast<std::size_t>(60 * kSize.width + 80)], PictureMotion::kOutside);
}

TEST(FrameMotionTest, AnotherSceneIsACut) {
  FrameMotion motion = make();
  add(motion, Texture(1, 0.5).draw(kSize, {}));
  for (const unsigned seed : {2u, 3u, 4u, 5u}) {
    const PictureMotion cut = add(motion, Texture(seed, 0.5).draw(kSize, {}));
    EXPECT_EQ(cut.event, SceneEvent::kCut) << seed << " likeness " << cut.likeness;
    const PictureMotion next = add(motion, Texture(seed, 0.5).draw(kSize, {1, 1, 1}));
    EXPECT_EQ(next.event, SceneEvent::kNone) << seed;
  }
}

TEST(FrameMotionTest, BlackFramesCountNeitherAsSceneNorAsPast) {
  const Texture texture(1, 0.5);
  FrameMotion motion = make();
  LumaImage black;
  black.fill(kSize, 1, 16);
  EXPECT_EQ(add(motion, black).event, SceneEvent::kBlank);
  EXPECT_EQ(add(motion, texture.draw(kSize, {})).event, SceneEvent::kFirst);
  EXPECT_EQ(add(motion, black).event, SceneEvent::kBlank);
  EXPECT_EQ(add(motion, black).event, SceneEvent::kBlank);
  const PictureMotion after = add(motion, texture.draw(kSize, {1, 2, 0}));
  EXPECT_EQ(after.event, SceneEvent::kNone);
  EXPECT_NEAR(median(after.back.dx), -2, 0.3);
}

TEST(FrameMotionTest, AChangeOfBrightnessIsNoError) {
  const Texture texture(1, 0.3);
  FrameMotion motion = make();
  add(motion, texture.draw(kSize, {}));
  LumaImage bright = texture.draw(kSize, {});
  add_to_all(bright, 20);
  const PictureMotion lit = add(motion, bright);
  EXPECT_EQ(lit.event, SceneEvent::kNone);
  EXPECT_LT(median(lit.error), 3);
}

TEST(FrameMotionTest, NoiseIsNoCut) {
  const Texture texture(1, 0.5);
  FrameMotion motion = make();
  std::mt19937 random(1);
  std::normal_distribution<double> noise(0, 25);
  for (int i = 0; i < 4; ++i) {
    LumaImage image = texture.draw(kSize, {1, i * 1.0, 0});
    for (int y = 0; y < image.height(); ++y) {
      for (std::uint8_t& v : image.row(y)) {
        v = static_cast<std::uint8_t>(std::clamp(std::lround(v + noise(random)), 0l, 255l));
      }
    }
    EXPECT_EQ(add(motion, image).event, i == 0 ? SceneEvent::kFirst : SceneEvent::kNone);
  }
}

// Against sums written out: standing pictures, so that motion does not matter.
TEST(FrameMotionTest, ErrorIsTheMeanOfNineDifferencesWithoutTheCommonOne) {
  const Texture texture(1, 0.5);
  MotionOptions options;
  options.flow = "none";
  FrameMotion motion = make(options);
  const LumaImage before = texture.draw(kSize, {});
  LumaImage now = before;
  add_to_all(now, 7);  // the common change
  for (int y = 40; y < 50; ++y) {
    for (int x = 60; x < 75; ++x) now.row(y)[static_cast<std::size_t>(x)] ^= 0x15;
  }
  add(motion, before);
  const PictureMotion result = add(motion, now);
  ASSERT_EQ(result.event, SceneEvent::kNone);
  for (int y = 0; y < kSize.height; ++y) {
    for (int x = 0; x < kSize.width; ++x) {
      double sum = 0;
      for (int dy = -1; dy <= 1; ++dy) {
        for (int dx = -1; dx <= 1; ++dx) {
          const int v = std::clamp(y + dy, 0, kSize.height - 1);
          const auto u = static_cast<std::size_t>(std::clamp(x + dx, 0, kSize.width - 1));
          sum += std::abs(before.row(v)[u] - now.row(v)[u] + 7);
        }
      }
      ASSERT_NEAR(result.error[static_cast<std::size_t>(y * kSize.width + x)], sum / 9, 1e-4)
          << x << ", " << y;
    }
  }
}

TEST(FrameMotionTest, LessDetailIsTheSameMotionWithLess) {
  MotionOptions options;
  FrameMotion all = make(options);
  FrameMotion flows = make(options);
  FrameMotion events = make(options);
  LumaImage black;
  black.fill(kSize, 1, 16);
  const Texture first(1, 0.5);
  // The third moves too far to be like the second where it lies.
  const std::vector<LumaImage> pictures = {
      first.draw(kSize, {}),         first.draw(kSize, {1, 1, 0}),
      first.draw(kSize, {1, 7, -5}), black,
      first.draw(kSize, {1, 8, -5}), Texture(2, 0.5).draw(kSize, {}),
      first.draw({80, 60}, {})};
  int undone = 0;
  for (const LumaImage& picture : pictures) {
    const PictureMotion full = add(all, picture);
    const PictureMotion flow = add(flows, picture, MotionDetail::kFlow);
    const PictureMotion event = add(events, picture, MotionDetail::kEvent);
    EXPECT_EQ(flow.event, full.event);
    EXPECT_EQ(event.event, full.event);
    EXPECT_EQ(event.likeness, flow.likeness);
    EXPECT_TRUE(event.back.empty());
    EXPECT_TRUE(flow.error.empty());
    if (full.event != SceneEvent::kNone) continue;
    EXPECT_EQ(flow.back.dx, full.back.dx);
    EXPECT_EQ(flow.back.dy, full.back.dy);
    EXPECT_GE(flow.likeness, options.cut);
    undone += flow.likeness == full.likeness;
  }
  EXPECT_GE(undone, 1);
}

TEST(FrameMotionTest, AnotherSizeBeginsAnew) {
  const Texture texture(1, 0.5);
  FrameMotion motion = make();
  add(motion, texture.draw(kSize, {}));
  EXPECT_EQ(add(motion, texture.draw({80, 60}, {})).event, SceneEvent::kFirst);
  EXPECT_EQ(add(motion, texture.draw({80, 60}, {})).event, SceneEvent::kNone);
  motion.reset();
  EXPECT_EQ(add(motion, texture.draw({80, 60}, {})).event, SceneEvent::kFirst);
}

TEST(FrameMotionTest, TinyPicturesStandStill) {
  const Texture texture(1, 0.5);
  FrameMotion motion = make();
  add(motion, texture.draw({20, 9}, {}));
  const PictureMotion next = add(motion, texture.draw({20, 9}, {}));
  EXPECT_EQ(next.event, SceneEvent::kNone);
  EXPECT_EQ(std::accumulate(next.back.dx.begin(), next.back.dx.end(), 0.0f), 0);
}

TEST(FrameMotionTest, FramesAreReducedToTheMostPixels) {
  SharedFrame frame = std::move(allocate_frame(PixelFormat::kGray8, {640, 480})).value();
  for (int y = 0; y < 480; ++y) {
    for (int x = 0; x < 640; ++x) {
      mutable_plane(frame, 0)[y * frame.view().planes[0].stride + x] =
          static_cast<std::uint8_t>((x * 7 + y * 3) % 200);
    }
  }
  for (const auto& [most, width] : {std::pair{400000, 640}, {100000, 320}, {50000, 160}}) {
    MotionOptions options;
    options.max_pixels = most;
    FrameMotion motion = make(options);
    PictureMotion result;
    ASSERT_TRUE(motion.add(frame.view(), result).ok());
    ASSERT_TRUE(motion.add(frame.view(), result).ok());
    EXPECT_EQ(result.back.size.width, width);
  }
}

TEST(FrameMotionTest, RefusesWhatIsNoPicture) {
  FrameMotion motion = make();
  PictureMotion result;
  EXPECT_EQ(motion.add(LumaImage(), result).error().code, ErrorCode::kInvalidArgument);
  EXPECT_FALSE(motion.add(VideoFrame(), result).ok());
  MotionOptions options;
  options.cut = 2;
  EXPECT_EQ(FrameMotion::create(options).error().code, ErrorCode::kInvalidArgument);
  options = {};
  options.flow = "farneback";
  EXPECT_EQ(FrameMotion::create(options).error().code, ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace sparing

#include "sparing/roi/background_extractor.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "sparing/roi/roi_test_util.h"

namespace sparing::roi {
namespace {

using testing::add_noise;
using testing::brighten;
using testing::coverage;
using testing::Texture;
using testing::to_rect;

constexpr Size kSize{160, 120};
constexpr double kFrame = 0.1;  // seconds
constexpr PixelRect kObject{70, 40, 12, 30};

LumaImage ground(int i, double noise = 2) {
  LumaImage image = Texture(1, 0.4).draw(kSize, {});
  if (noise > 0) add_noise(image, noise, static_cast<unsigned>(i));
  LumaImage out;
  blur(image, out);
  return out;
}

LumaImage with_object(int i, int step = 60) {
  LumaImage image = Texture(1, 0.4).draw(kSize, {});
  brighten(image, kObject, step);
  add_noise(image, 2, static_cast<unsigned>(i));
  LumaImage out;
  blur(image, out);
  return out;
}

void learn(BackgroundExtractor& extractor, int frames) {
  for (int i = 0; i < frames; ++i) {
    EXPECT_EQ(extractor.add(ground(i), kFrame), 0);
    EXPECT_TRUE(extractor.boxes(4).boxes.empty());
  }
}

TEST(BackgroundExtractor, FindsWhatStandsStillForLong) {
  BackgroundExtractor extractor({});
  learn(extractor, 30);
  for (int i = 0; i < 100; ++i) {  // ten seconds, three time constants
    extractor.add(with_object(i), kFrame);
    const auto found = extractor.boxes(4);
    ASSERT_EQ(found.boxes.size(), 1u) << i;
    EXPECT_GE(coverage(to_rect(kObject), found.boxes), 0.8) << i;
    EXPECT_LT(found.boxes[0].area(), 2 * 12 * 30) << i;
  }
}

TEST(BackgroundExtractor, TakesUpInTheEndWhatStays) {
  BackgroundExtractor extractor({});
  learn(extractor, 30);
  int frames = 0;
  while (extractor.add(with_object(frames), kFrame) > 0.005 && frames < 5000) ++frames;
  EXPECT_GT(frames, 100);
  EXPECT_LT(frames, 2000);
}

TEST(BackgroundExtractor, LearnsByTimeNotByFrames) {
  // The same ten seconds, at 10 and at 40 frames a second. The background brightens by 12 grey
  // levels, less than the threshold; afterwards a step of 14 more shows how much of it was learnt.
  const auto share_after = [](int rate, double seconds) {
    BackgroundExtractor extractor({3.3, 16});
    LumaImage image;
    image.fill(kSize, 1, 100);
    for (int i = 0; i < 2 * rate; ++i) extractor.add(image, 1.0 / rate);
    image.fill(kSize, 1, 112);
    for (int i = 0; i < seconds * rate; ++i) extractor.add(image, 1.0 / rate);
    image.fill(kSize, 1, 126);
    return extractor.add(image, 1.0 / rate);
  };
  for (const int rate : {10, 40}) {
    EXPECT_EQ(share_after(rate, 0.2), 1) << rate;
    EXPECT_EQ(share_after(rate, 10), 0) << rate;
  }
}

TEST(BackgroundExtractor, FollowsAToneCurve) {
  BackgroundExtractor extractor({});
  learn(extractor, 20);
  std::array<float, 256> curve{};
  for (std::size_t v = 0; v < 256; ++v) curve[v] = 20 + 0.6f * static_cast<float>(v);
  extractor.apply_curve(curve);
  LumaImage darker = ground(50);
  for (int y = 0; y < kSize.height; ++y) {
    for (std::uint8_t& v : darker.row(y)) v = static_cast<std::uint8_t>(std::lround(20 + 0.6 * v));
  }
  EXPECT_EQ(extractor.add(darker, kFrame), 0);
}

TEST(BackgroundExtractor, FollowsShiftsAndKeepsFractions) {
  const Texture texture(1, 0.4);
  BackgroundExtractor extractor({});
  learn(extractor, 20);
  LumaImage moved, image = texture.draw(kSize, {1, 5, -3});
  blur(image, moved);
  extractor.shift(2.6, -1.4, moved);
  extractor.shift(2.6, -1.4, moved);
  extractor.shift(-0.2, -0.2, moved);  // 5, -3 in all
  const double share = extractor.add(moved, kFrame);
  EXPECT_LT(share, 0.005);
  BackgroundExtractor still({});
  learn(still, 20);
  EXPECT_GT(still.add(moved, kFrame), 0.05);
}

TEST(BackgroundExtractor, BeginsAnewAtAnotherSizeAndAfterRestart) {
  BackgroundExtractor extractor({});
  learn(extractor, 5);
  LumaImage other;
  other.fill({80, 60}, 1, 200);
  EXPECT_EQ(extractor.add(other, kFrame), 0);
  other.fill({80, 60}, 1, 20);
  EXPECT_EQ(extractor.add(other, kFrame), 1);
  extractor.restart();
  EXPECT_EQ(extractor.add(other, kFrame), 0);
}

TEST(BackgroundExtractor, ExtremesDoNotOverflow) {
  BackgroundExtractor extractor({3.3, 254});
  LumaImage image;
  for (const int value : {0, 255, 0, 255, 255, 0}) {
    image.fill({33, 3}, 1, static_cast<std::uint8_t>(value));
    extractor.add(image, 1000);
  }
  image.fill({33, 3}, 1, 255);
  for (int i = 0; i < 40; ++i) extractor.add(image, 1000);
  EXPECT_EQ(extractor.add(image, 1000), 0);
}

}  // namespace
}  // namespace sparing::roi

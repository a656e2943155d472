#include "sparing/roi/global_change.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sparing/roi/roi_test_util.h"

namespace sparing::roi {
namespace {

using testing::add_noise;
using testing::brighten;
using testing::Texture;

constexpr Size kSize{320, 240};

TEST(GlobalChange, FindsTheShiftOfTheCamera) {
  const Texture texture(1, 0.6);
  const LumaImage before = texture.draw(kSize, {});
  for (const auto& [dx, dy] :
       {std::pair{0.0, 0.0}, {5.0, -5.0}, {-10.0, 3.0}, {1.5, 0.5}, {-0.25, 8.75}}) {
    LumaImage after = texture.draw(kSize, {1, dx, dy});
    brighten(after, {100, 60, 20, 40}, 60);  // and somebody walks in
    add_noise(after, 2, 5);
    const Shift shift = camera_shift(before, after);
    EXPECT_NEAR(shift.x, dx, 0.3);
    EXPECT_NEAR(shift.y, dy, 0.3);
    if (std::hypot(dx, dy) < 2) continue;
    const Explanation why = explain(before, after, 8);
    EXPECT_LT(why.shifted, 0.5 * why.plain) << dx << "," << dy;
    EXPECT_LT(why.shifted, why.tone);
  }
}

TEST(GlobalChange, FindsTheToneCurve) {
  const Texture texture(2, 0.6);
  const LumaImage before = texture.draw(kSize, {});
  struct Step {
    double gain, offset, gamma;
  };
  for (const Step& step :
       {Step{1, 40, 1}, {0.5, 10, 1}, {1.3, -30, 1}, {1, 0, 0.5}, {-1, 255, 1}}) {
    const auto tone = [&](double v) {
      return std::clamp(255 * std::pow(v / 255, step.gamma) * step.gain + step.offset, 0.0, 255.0);
    };
    LumaImage after = before;
    for (int y = 0; y < kSize.height; ++y) {
      for (std::uint8_t& v : after.row(y)) v = static_cast<std::uint8_t>(std::lround(tone(v)));
    }
    brighten(after, {100, 60, 20, 40}, 60);
    add_noise(after, 2, 5);
    const auto curve = tone_curve(before, after);
    for (int v = 60; v < 200; v += 10) {
      EXPECT_NEAR(curve[static_cast<std::size_t>(v)], tone(v), 5) << step.gain << " " << step.gamma;
    }
    const Explanation why = explain(before, after, 10);
    EXPECT_GT(why.plain, 0.4);
    EXPECT_LT(why.tone, 0.2 * why.plain) << step.gain << " " << step.gamma;
  }
}

TEST(GlobalChange, ObjectsAreNeitherLightNorTheCamera) {
  const Texture texture(3, 0.6);
  const LumaImage before = texture.draw(kSize, {});
  LumaImage after = before;
  for (int i = 0; i < 6; ++i) brighten(after, {20 + 45 * i, 30 + 20 * i, 25, 60}, i % 2 ? 60 : -60);
  const Explanation why = explain(before, after, 8);
  EXPECT_NEAR(why.plain, 6 * 25 * 60.0 / (320 * 240), 0.03);
  EXPECT_GT(why.tone, 0.8 * why.plain);
  EXPECT_LT(std::hypot(why.shift.x, why.shift.y), 0.7);
}

TEST(GlobalChange, TinyPicturesAreFine) {
  for (const Size size : {Size{1, 1}, Size{2, 9}, Size{9, 2}}) {
    LumaImage before, after;
    before.fill(size, 1, 10);
    after.fill(size, 1, 200);
    const Explanation why = explain(before, after, 8);
    EXPECT_EQ(why.plain, 1);
    EXPECT_EQ(why.tone, 0);
    EXPECT_EQ(why.curve[10], 200);
    EXPECT_EQ(why.curve[255], 200);
  }
}

}  // namespace
}  // namespace sparing::roi

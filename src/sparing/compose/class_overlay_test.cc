#include "sparing/compose/class_overlay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "sparing/compose/compose_test_util.h"
#include "sparing/io/overlay.h"

namespace sparing {
namespace {

using testing::copy_of;
using testing::differing_samples;
using testing::make_picture;
using testing::random_picture;

const std::vector<Rgb> kPalette{{128, 64, 128}, {220, 20, 60}, {0, 0, 142}};

LabelMap random_labels(Size size, unsigned seed) {
  LabelMap labels;
  labels.resize(size);
  std::mt19937 random(seed);
  for (std::uint8_t& label : labels.labels) {
    const unsigned choice = random() % 4;
    label = choice == 3 ? kIgnoreLabel : static_cast<std::uint8_t>(choice);
  }
  return labels;
}

ClassOverlay overlay_of(const ClassOverlayOptions& options) {
  auto overlay = ClassOverlay::create(options);
  EXPECT_TRUE(overlay.ok()) << overlay.error().to_string();
  return std::move(*overlay);
}

TEST(ClassOverlay, BlendsAsInDoublePrecision) {
  unsigned seed = 0;
  for (const Size size : {Size{40, 30}, Size{41, 31}}) {
    for (const Size label_size : {size, Size{10, 8}, Size{90, 70}}) {
      for (const double strength : {0.0, 0.3, 1.0}) {
        const LabelMap labels = random_labels(label_size, ++seed);
        const Picture input = random_picture(size, seed);
        Picture picture = copy_of(input);
        ClassOverlay overlay =
            overlay_of({.palette = kPalette, .strength = strength, .borders = false});
        ASSERT_TRUE(overlay.draw(labels, picture).ok());
        const auto label_at = [&](int x, int y) {
          const auto index = [](int i, int count, int of) {
            return static_cast<int>(std::floor((i + 0.5) * of / count));
          };
          return labels.row(index(
              std::min(y, size.height - 1), size.height,
              label_size.height))[index(std::min(x, size.width - 1), size.width, label_size.width)];
        };
        const auto blended = [&](int p, int label, int value) {
          if (label == kIgnoreLabel) return static_cast<double>(value);
          const YuvColor color =
              to_yuv(kPalette[static_cast<std::size_t>(label)], picture.color_space());
          const double laid = p == 0 ? color.y : p == 1 ? color.u : color.v;
          return (1 - strength) * value + strength * laid;
        };
        testing::for_each_sample(picture, [&](int p, int x, int y) {
          const int value = input.row(p, y)[x];
          double exact = blended(p, label_at(x, y), value);
          if (p > 0) {
            exact = 0;
            for (int k = 0; k < 4; ++k) {
              exact += blended(p, label_at(2 * x + k % 2, 2 * y + k / 2), value) / 4;
            }
          }
          ASSERT_NEAR(picture.row(p, y)[x], exact, p > 0 ? 1.6 : 1.01);
          if (strength == 0) {
            ASSERT_EQ(picture.row(p, y)[x], value);
          }
        });
      }
    }
  }
}

TEST(ClassOverlay, DrawsDarkLinesBetweenClasses) {
  LabelMap labels;
  labels.resize({2, 2});
  labels.labels = {0, 1, 0, 1};
  Picture picture = make_picture({96, 72}, [](int p, int, int) { return p > 0 ? 128 : 200; });
  ClassOverlay overlay = overlay_of({.palette = {{255, 255, 255}, {255, 255, 255}}});
  ASSERT_TRUE(overlay.draw(labels, picture).ok());
  for (int x = 0; x < 96; ++x) {
    // One pixel wide: the last one of the left class.
    EXPECT_EQ(picture.row(0, 36)[x] < 120, x == 47) << x;
  }
}

TEST(ClassOverlay, TheLegendNamesClasses) {
  LabelMap labels;
  labels.resize({1, 1});
  labels.labels = {0};
  Picture without = make_picture({320, 240}, [](int p, int, int) { return p > 0 ? 128 : 100; });
  Picture with = copy_of(without);
  ClassOverlayOptions options{.labels = {"road", "car"}, .palette = kPalette};
  ASSERT_TRUE(overlay_of(options).draw(labels, without).ok());
  options.legend = true;
  ASSERT_TRUE(overlay_of(options).draw(labels, with).ok());
  EXPECT_GT(differing_samples(with, without), 500);
  // Only in its corner.
  int below = 0;
  for (int y = 60; y < 240; ++y) {
    for (int x = 0; x < 320; ++x) below += with.row(0, y)[x] != without.row(0, y)[x];
  }
  EXPECT_EQ(below, 0);
  // The swatch of the second class.
  const YuvColor car = to_yuv(kPalette[1], with.color_space());
  EXPECT_EQ(with.row(0, 17)[5], car.y);
  EXPECT_EQ(with.row(2, 8)[2], car.v);
  // There is no room for it in a tiny picture.
  Picture tiny = make_picture({4, 4}, [](int, int, int) { return 100; });
  EXPECT_TRUE(overlay_of(options).draw(labels, tiny).ok());
}

TEST(ClassOverlay, PalettesAreCompleted) {
  LabelMap labels;
  labels.resize({1, 1});
  labels.labels = {200};
  Picture picture = make_picture({16, 16}, [](int, int, int) { return 100; });
  ClassOverlay overlay = overlay_of({.palette = kPalette, .strength = 1});
  ASSERT_TRUE(overlay.draw(labels, picture).ok());
  EXPECT_EQ(picture.row(0, 8)[8], to_yuv(class_palette_color(200), picture.color_space()).y);
}

TEST(ClassOverlay, RefusesWhatDoesNotFit) {
  EXPECT_FALSE(ClassOverlay::create({.strength = 1.5}).ok());
  EXPECT_FALSE(ClassOverlay::create({.strength = std::nan("")}).ok());
  ClassOverlay overlay = overlay_of({});
  Picture picture = random_picture({8, 8}, 1);
  EXPECT_FALSE(overlay.draw(LabelMap{}, picture).ok());
  Picture nothing;
  LabelMap labels;
  labels.resize({2, 2});
  EXPECT_FALSE(overlay.draw(labels, nothing).ok());
}

}  // namespace
}  // namespace sparing

#include "sparing/compose/comparison_panel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "sparing/compose/compose_test_util.h"
#include "sparing/compose/panel_layout.h"
#include "sparing/io/overlay.h"

namespace sparing {
namespace {

using testing::make_picture;

Picture plain(Size size, int luma) {
  return make_picture(size, [&](int p, int, int) { return p > 0 ? 128 : luma; });
}

ComparisonPanel panel_of(const ComparisonPanelOptions& options) {
  auto panel = ComparisonPanel::create(options);
  EXPECT_TRUE(panel.ok()) << panel.error().to_string();
  return std::move(*panel);
}

bool overlap(const PixelRect& a, const PixelRect& b) {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

TEST(PanelLayout, FitsAnyShape) {
  for (const Size most : {Size{1920, 1080}, Size{1280, 720}, Size{320, 240}, Size{720, 1280}}) {
    for (const Size picture : {Size{1280, 720}, Size{720, 1280}, Size{480, 360}, Size{64, 48},
                               Size{4000, 300}, Size{1, 1}, Size{33, 3000}}) {
      for (int items = 1; items <= 5; ++items) {
        for (const bool strip : {false, true}) {
          const PanelContent content{items, 3, picture, most, strip};
          const PanelLayout layout = lay_out(content);
          ASSERT_GE(layout.columns * layout.rows, items);
          EXPECT_EQ(layout.panel.width % 2, 0);
          EXPECT_EQ(layout.panel.height % 2, 0);
          // Tiny panels hold what they must, and may then be taller.
          EXPECT_LE(layout.panel.width, most.width);
          if (most.height >= 720) {
            EXPECT_LE(layout.panel.height, most.height);
          }
          const PixelRect whole{0, 0, layout.panel.width, layout.panel.height};
          for (int i = 0; i < items; ++i) {
            const PixelRect place = layout.picture_of(i), cell = layout.cell(i);
            EXPECT_EQ((place.x | place.y | place.width | place.height) % 2, 0);
            EXPECT_GE(place.width, 2);
            EXPECT_GE(place.height, 2);
            EXPECT_LE(cell.x + cell.width, whole.width);
            EXPECT_LE(cell.y + cell.height, whole.height);
            EXPECT_FALSE(strip && overlap(cell, layout.strip));
            for (int k = 0; k < i; ++k) EXPECT_FALSE(overlap(cell, layout.cell(k)));
          }
        }
      }
    }
  }
}

TEST(PanelLayout, WidePicturesGoBelowEachOtherAndTallOnesBeside) {
  EXPECT_EQ(lay_out({3, 2, {1600, 300}, {1920, 1080}, false}).columns, 1);
  EXPECT_EQ(lay_out({3, 2, {720, 1280}, {1920, 1080}, false}).columns, 3);
  // Never larger than they are.
  EXPECT_EQ(lay_out({2, 0, {64, 48}, {1920, 1080}, false}).picture, (Size{64, 48}));
}

TEST(ComparisonPanel, ShowsEachPictureInItsCell) {
  const Picture a = plain({200, 100}, 60), b = plain({200, 100}, 120), c = plain({201, 99}, 180);
  ComparisonPanel comparison = panel_of({.most = {660, 400}});
  Picture panel;
  const std::vector<PanelItem> items{{&a, "input", {}, {}, {}},
                                     {&b, "main", {"mIoU 60.1"}, {}, {}},
                                     {&c, "other", {"mIoU 61.2", "F-TC 84"}, {}, {}}};
  ASSERT_TRUE(comparison.draw(items, panel).ok());
  const PanelLayout layout = lay_out({3, 2, {200, 100}, {660, 400}, false});
  ASSERT_EQ(panel.size(), layout.panel);
  const int levels[] = {60, 120, 180};
  for (int i = 0; i < 3; ++i) {
    const PixelRect place = layout.picture_of(i);
    EXPECT_NEAR(panel.row(0, place.y + place.height / 2)[place.x + place.width / 2], levels[i], 1);
    EXPECT_NEAR(panel.row(0, place.y + 3)[place.x + 3], levels[i], 1);
    EXPECT_NEAR(panel.row(0, place.y + place.height - 4)[place.x + place.width - 4], levels[i], 1);
    // Text above, and below where there are lines.
    const auto inked = [&](int top, int bottom) {
      int count = 0;
      for (int y = top; y < bottom; ++y) {
        for (int x = place.x; x < place.x + place.width; ++x) count += panel.row(0, y)[x] > 200;
      }
      return count;
    };
    EXPECT_GT(inked(place.y - layout.title_height, place.y), 20);
    const int below = inked(place.y + place.height, place.y + place.height + layout.text_height);
    EXPECT_EQ(below > 20, i > 0);
  }
}

TEST(ComparisonPanel, KeepsTheShapeOfPicturesOfOtherSizes) {
  const Picture wide = plain({200, 100}, 60);
  const Picture tall = plain({60, 200}, 200);
  ComparisonPanel comparison = panel_of({});
  Picture panel;
  ASSERT_TRUE(
      comparison
          .draw(std::vector<PanelItem>{{&wide, "a", {}, {}, {}}, {&tall, "b", {}, {}, {}}}, panel)
          .ok());
  const PanelLayout layout = lay_out({2, 0, {200, 100}, {1920, 1080}, false});
  const PixelRect place = layout.picture_of(1);
  int bright = 0;
  for (int x = place.x; x < place.x + place.width; ++x)
    bright += panel.row(0, place.y + 50)[x] > 150;
  EXPECT_EQ(bright, 30);  // 60x200 in a height of 100
  // The panel keeps its size when pictures change theirs.
  const Size before = panel.size();
  ASSERT_TRUE(
      comparison
          .draw(std::vector<PanelItem>{{&tall, "a", {}, {}, {}}, {&wide, "b", {}, {}, {}}}, panel)
          .ok());
  EXPECT_EQ(panel.size(), before);
}

TEST(ComparisonPanel, DrawsCurvesOverTime) {
  const Picture picture = plain({400, 200}, 100);
  ComparisonPanelOptions options{.curves = true, .curve_title = "F-TC"};
  ComparisonPanel comparison = panel_of(options);
  Picture panel;
  const Rgb red{255, 0, 0}, green{0, 255, 0};
  for (int i = 0; i < 50; ++i) {
    std::vector<PanelItem> items{{&picture, "a", {}, red, 90.0}, {&picture, "b", {}, green, 20.0}};
    if (i >= 20 && i < 30) items[1].curve.reset();
    ASSERT_TRUE(comparison.draw(items, panel).ok());
  }
  const PixelRect strip = lay_out({2, 0, {400, 200}, {1920, 1080}, true}).strip;
  const YuvColor colors[] = {to_yuv(red, panel.color_space()), to_yuv(green, panel.color_space())};
  int columns[2] = {};
  int height[2] = {};
  for (int x = strip.x; x < strip.x + strip.width; ++x) {
    for (int k = 0; k < 2; ++k) {
      for (int y = strip.y; y < strip.y + strip.height; ++y) {
        const bool here = panel.row(0, y)[x] == colors[k].y &&
                          std::abs(panel.row(2, y / 2)[x / 2] - colors[k].v) <= 1;
        if (!here) continue;
        ++columns[k];
        height[k] = strip.y + strip.height - y;
        break;
      }
    }
  }
  EXPECT_EQ(columns[0], 100);  // two pixels a picture
  EXPECT_EQ(columns[1], 80);   // less the gap
  EXPECT_NEAR(height[0] / static_cast<double>(strip.height), 0.9, 0.03);
  EXPECT_NEAR(height[1] / static_cast<double>(strip.height), 0.2, 0.03);
}

TEST(ComparisonPanel, LongRunsScroll) {
  const Picture picture = plain({64, 48}, 100);
  ComparisonPanel comparison = panel_of({.most = {320, 240}, .curves = true});
  Picture panel;
  for (int i = 0; i < 200; ++i) {
    const PanelItem item{&picture, "a", {"text"}, {255, 255, 255}, i % 2 == 0 ? 1e9 : std::nan("")};
    ASSERT_TRUE(comparison.draw(std::span(&item, 1), panel).ok());
  }
}

TEST(ComparisonPanel, TakesTextThatDoesNotFit) {
  const Picture picture = plain({16, 16}, 100);
  ComparisonPanel comparison = panel_of({.most = {320, 240}, .curves = true});
  Picture panel;
  const std::string text(500, 'W');
  const PanelItem few{&picture, text, {text}, {}, 5.0};
  ASSERT_TRUE(comparison.draw(std::span(&few, 1), panel).ok());
  const PanelItem more{&picture, "\xc3\xa4\x01", {text, text, text, text}, {}, {}};
  ASSERT_TRUE(comparison.draw(std::span(&more, 1), panel).ok());
}

TEST(ComparisonPanel, RefusesWhatDoesNotFit) {
  using ::testing::HasSubstr;
  EXPECT_FALSE(ComparisonPanel::create({.most = {100, 100}}).ok());
  EXPECT_FALSE(ComparisonPanel::create({.curve_low = 5, .curve_high = 5}).ok());
  ComparisonPanel comparison = panel_of({});
  Picture panel;
  EXPECT_THAT(comparison.draw({}, panel).error().to_string(), HasSubstr("nothing to show"));
  const PanelItem empty{nullptr, "a", {}, {}, {}};
  EXPECT_THAT(comparison.draw(std::span(&empty, 1), panel).error().to_string(),
              HasSubstr("'a': it has no picture"));
  const Picture picture = plain({16, 16}, 100);
  const std::vector<PanelItem> items{{&picture, "a", {}, {}, {}}, {&picture, "b", {}, {}, {}}};
  ASSERT_TRUE(comparison.draw(items, panel).ok());
  EXPECT_THAT(comparison.draw(std::span(items).first(1), panel).error().to_string(),
              HasSubstr("1 pictures after 2"));
}

}  // namespace
}  // namespace sparing

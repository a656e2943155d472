#include "sparing/io/overlay.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "sparing/io/glyphs.h"

namespace sparing {
namespace {

// I420 memory with guard rows and columns that must stay untouched.
class GuardedCanvas {
 public:
  static constexpr int kGuard = 8;
  explicit GuardedCanvas(Size size) {
    canvas.size = size;
    for (std::size_t p = 0; p < 3; ++p) {
      const int w = size.width / (p > 0 ? 2 : 1), h = size.height / (p > 0 ? 2 : 1);
      canvas.strides[p] = w + 2 * kGuard;
      memory_[p].assign(static_cast<std::size_t>(canvas.strides[p] * (h + 2 * kGuard)), kUntouched);
      canvas.planes[p] = memory_[p].data() + kGuard * canvas.strides[p] + kGuard;
    }
  }
  bool guards_intact() const {
    for (std::size_t p = 0; p < 3; ++p) {
      const int w = canvas.size.width / (p > 0 ? 2 : 1), h = canvas.size.height / (p > 0 ? 2 : 1);
      for (int y = -kGuard; y < h + kGuard; ++y) {
        for (int x = -kGuard; x < w + kGuard; ++x) {
          const bool inside = x >= 0 && x < w && y >= 0 && y < h;
          if (!inside && at(p, x, y) != kUntouched) return false;
        }
      }
    }
    return true;
  }
  std::uint8_t at(std::size_t p, int x, int y) const {
    return canvas.planes[p][y * canvas.strides[p] + x];
  }
  static constexpr std::uint8_t kUntouched = 77;
  YuvCanvas canvas;

 private:
  std::array<std::vector<std::uint8_t>, 3> memory_;
};

ColorSpace space_of(ColorMatrix matrix, ColorRange range) {
  ColorSpace space;
  space.matrix = matrix;
  space.range = range;
  return space;
}

void expect_yuv(const YuvColor& c, int y, int u, int v) {
  EXPECT_NEAR(c.y, y, 1);
  EXPECT_NEAR(c.u, u, 1);
  EXPECT_NEAR(c.v, v, 1);
}

// Values of the standards' colour bars.
TEST(ToYuv, KnownColours) {
  const ColorSpace sd = space_of(ColorMatrix::kBt601, ColorRange::kLimited);
  const ColorSpace hd = space_of(ColorMatrix::kBt709, ColorRange::kLimited);
  expect_yuv(to_yuv({255, 255, 255}, sd), 235, 128, 128);
  expect_yuv(to_yuv({0, 0, 0}, hd), 16, 128, 128);
  expect_yuv(to_yuv({255, 0, 0}, sd), 81, 90, 240);
  expect_yuv(to_yuv({0, 255, 0}, sd), 145, 54, 34);
  expect_yuv(to_yuv({0, 0, 255}, sd), 41, 240, 110);
  expect_yuv(to_yuv({255, 0, 0}, hd), 63, 102, 240);
  expect_yuv(to_yuv({0, 0, 255}, hd), 32, 240, 118);
  expect_yuv(to_yuv({255, 0, 0}, space_of(ColorMatrix::kBt2020, ColorRange::kLimited)), 74, 97,
             240);
  expect_yuv(to_yuv({255, 0, 0}, space_of(ColorMatrix::kBt601, ColorRange::kFull)), 76, 85, 255);
}

TEST(ClassColor, NeighboursDiffer) {
  for (int a = 0; a < 80; ++a) {
    for (int b = a + 1; b < a + 4; ++b) {
      const Rgb x = class_color(a), y = class_color(b);
      EXPECT_GT(std::abs(x.r - y.r) + std::abs(x.g - y.g) + std::abs(x.b - y.b), 100) << a << b;
    }
  }
  class_color(-1);
  class_color(std::numeric_limits<int>::max());
}

TEST(FillRect, FillsExactlyTheRectangle) {
  GuardedCanvas c({16, 12});
  fill_rect(c.canvas, {2, 4, 6, 2}, {200, 50, 60});
  for (int y = 0; y < 12; ++y) {
    for (int x = 0; x < 16; ++x) {
      const bool inside = x >= 2 && x < 8 && y >= 4 && y < 6;
      EXPECT_EQ(c.at(0, x, y), inside ? 200 : GuardedCanvas::kUntouched);
      EXPECT_EQ(c.at(1, x / 2, y / 2), inside ? 50 : GuardedCanvas::kUntouched);
      EXPECT_EQ(c.at(2, x / 2, y / 2), inside ? 60 : GuardedCanvas::kUntouched);
    }
  }
}

TEST(Overlay, StaysInsideThePicture) {
  constexpr float kHuge = 3e38f;
  const std::vector<Box> boxes{{-50, -50, 500, 500},
                               {-kHuge, -kHuge, kHuge, kHuge},
                               {kHuge, kHuge, kHuge, kHuge},
                               {31, 23, 32, 24},
                               {-5, -5, -1, -1},
                               {5, 5, 5, 5},
                               {40, 3, 30, 1},
                               {0, 0, 32, 24},
                               {std::nanf(""), 0, 1, 1}};
  for (const Size size : {Size{2, 2}, Size{32, 24}, Size{640, 1080}}) {
    GuardedCanvas c(size);
    const Overlay overlay({"a label that is much longer than the picture is wide"},
                          space_of(ColorMatrix::kBt601, ColorRange::kLimited), size);
    for (const Box& box : boxes) {
      const std::vector<Detection> one{{box, 0.5f, 0}};
      overlay.draw(c.canvas, one);
      EXPECT_TRUE(c.guards_intact()) << size.width << " " << box.x0;
    }
  }
}

TEST(Overlay, DrawsTheBetterOneOnTop) {
  GuardedCanvas c({64, 64});
  const ColorSpace space = space_of(ColorMatrix::kBt601, ColorRange::kLimited);
  const std::vector<Detection> same{{{10, 30, 50, 60}, 0.9f, 1}, {{10, 30, 50, 60}, 0.3f, 2}};
  Overlay({}, space, {64, 64}).draw(c.canvas, same);
  EXPECT_EQ(c.at(0, 30, 59), to_yuv(class_color(1), space).y);
}

std::string drawn(char32_t character) {
  std::string rows;
  for (int y = 0; y < kGlyphHeight; ++y) {
    for (int x = 0; x < kGlyphWidth; ++x) rows += glyph_pixel(character, x, y) ? '#' : '.';
    rows += '\n';
  }
  return rows;
}

TEST(Glyphs, AllAsciiCharactersDiffer) {
  std::set<std::string> shapes;
  for (char32_t c = 32; c < 127; ++c) shapes.insert(drawn(c));
  EXPECT_EQ(shapes.size(), 95u);
  EXPECT_EQ(drawn(U'\u00E9'), drawn(U'?'));
  EXPECT_EQ(drawn(U'T').substr(0, 18), "#####\n..#..\n..#..\n");
}

TEST(Glyphs, OneQuestionMarkForEachOtherCharacter) {
  EXPECT_EQ(display_characters("caf\xC3\xA9 1.5"), U"caf? 1.5");
  EXPECT_EQ(display_characters("\xE4\xBA\xBA\xF0\x9F\x98\x80"), U"??");
  EXPECT_EQ(display_characters("\n\x7F"), U"??");
}

TEST(DrawText, SetsLumaOnly) {
  GuardedCanvas c({16, 16});
  draw_text(c.canvas, U"T", 0, 0, 2, 255);
  EXPECT_EQ(c.at(0, 0, 0), 255);
  EXPECT_EQ(c.at(0, 9, 1), 255);
  EXPECT_EQ(c.at(0, 0, 2), GuardedCanvas::kUntouched);
  EXPECT_EQ(c.at(0, 4, 13), 255);
  EXPECT_EQ(c.at(1, 0, 0), GuardedCanvas::kUntouched);
}

}  // namespace
}  // namespace sparing

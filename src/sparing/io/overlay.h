// Boxes and labels drawn onto 4:2:0 pictures. Private to io.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sparing/base/color.h"
#include "sparing/base/geometry.h"
#include "sparing/frame/video_frame.h"

namespace sparing {

// Writable I420 memory; both sides of `size` are even.
struct YuvCanvas {
  std::array<std::uint8_t*, 3> planes{};
  std::array<std::ptrdiff_t, 3> strides{};
  Size size;
};

struct YuvColor {
  std::uint8_t y = 0, u = 128, v = 128;
};
// In the matrix and range of `space`, which must be resolved.
YuvColor to_yuv(Rgb color, const ColorSpace& space);

// A strong colour, different for neighbouring class ids.
Rgb class_color(int class_id);

// Parts outside the canvas are left out. Chroma has half the resolution, so edges on odd pixels
// tint one pixel beyond.
void fill_rect(const YuvCanvas& canvas, const PixelRect& rect, YuvColor color);
// `scale` pixels per glyph pixel; (x, y) is the top left corner. Changes the luma only: at half
// resolution, chroma would smear thin strokes over the background.
void draw_text(const YuvCanvas& canvas, std::u32string_view text, int x, int y, int scale,
               std::uint8_t luma);

// How results look: line width and text size follow the picture's height.
class Overlay {
 public:
  Overlay(std::vector<std::string> labels, const ColorSpace& space, Size picture);
  // Boxes are in pixels of the canvas.
  void draw(const YuvCanvas& canvas, std::span<const Detection> detections) const;

 private:
  void draw_one(const YuvCanvas& canvas, const Detection& detection) const;

  std::vector<std::string> labels_;
  ColorSpace space_;
  int line_width_ = 1;
  int text_scale_ = 1;
};

}  // namespace sparing

#include "sparing/io/overlay.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <utility>

#include "sparing/io/glyphs.h"

namespace sparing {
namespace {

struct LumaWeights {
  double red, blue;
};
LumaWeights weights(ColorMatrix matrix) {
  switch (matrix) {
    case ColorMatrix::kBt709: return {0.2126, 0.0722};
    case ColorMatrix::kBt2020: return {0.2627, 0.0593};
    default: return {0.299, 0.114};
  }
}

std::uint8_t to_byte(double value) {
  return static_cast<std::uint8_t>(std::lround(std::clamp(value, 0.0, 255.0)));
}

// The part of `rect` inside the canvas, empty when there is none.
PixelRect inside(const PixelRect& rect, Size size) {
  const int x0 = std::clamp(rect.x, 0, size.width);
  const int y0 = std::clamp(rect.y, 0, size.height);
  return {x0, y0, std::clamp(rect.x + rect.width, 0, size.width) - x0,
          std::clamp(rect.y + rect.height, 0, size.height) - y0};
}

void fill_plane(std::uint8_t* data, std::ptrdiff_t stride, const PixelRect& rect,
                std::uint8_t value) {
  for (int y = rect.y; y < rect.y + rect.height; ++y) {
    std::memset(data + y * stride + rect.x, value, static_cast<std::size_t>(rect.width));
  }
}

// A coordinate that may be far outside the picture, as an int that cannot overflow later.
int to_pixel(float value, int limit) {
  return static_cast<int>(std::lround(std::clamp(value, -1.0f, static_cast<float>(limit) + 1)));
}

}  // namespace

YuvColor to_yuv(Rgb color, const ColorSpace& space) {
  const auto [kr, kb] = weights(space.matrix);
  const double r = color.r / 255.0, g = color.g / 255.0, b = color.b / 255.0;
  const double luma = kr * r + (1 - kr - kb) * g + kb * b;
  const double u = (b - luma) / (2 * (1 - kb)), v = (r - luma) / (2 * (1 - kr));
  const bool full = space.range == ColorRange::kFull;
  return {to_byte(full ? 255 * luma : 16 + 219 * luma), to_byte(128 + (full ? 255 : 224) * u),
          to_byte(128 + (full ? 255 : 224) * v)};
}

Rgb class_color(int class_id) {
  // Steps of the golden ratio spread any number of hues without near repeats.
  const double turns = static_cast<unsigned>(class_id) * 0.6180339887498949 + 0.35;
  const double hue = (turns - std::floor(turns)) * 6;
  const auto channel = [&](double offset) {
    const double k = std::fmod(offset + hue, 6.0);
    return to_byte(255 * (1 - 0.85 * std::clamp(std::min(k, 4 - k), 0.0, 1.0)));
  };
  return {channel(5), channel(3), channel(1)};
}

void fill_rect(const YuvCanvas& canvas, const PixelRect& rect, YuvColor color) {
  const PixelRect r = inside(rect, canvas.size);
  if (r.empty()) return;
  fill_plane(canvas.planes[0], canvas.strides[0], r, color.y);
  const int x = r.x / 2, y = r.y / 2;
  const PixelRect chroma{x, y, (r.x + r.width + 1) / 2 - x, (r.y + r.height + 1) / 2 - y};
  fill_plane(canvas.planes[1], canvas.strides[1], chroma, color.u);
  fill_plane(canvas.planes[2], canvas.strides[2], chroma, color.v);
}

void draw_text(const YuvCanvas& canvas, std::u32string_view text, int x, int y, int scale,
               std::uint8_t luma) {
  for (const char32_t character : text) {
    if (x >= canvas.size.width) return;
    for (int row = 0; row < kGlyphHeight; ++row) {
      for (int column = 0; column < kGlyphWidth; ++column) {
        if (!glyph_pixel(character, column, row)) continue;
        const PixelRect dot =
            inside({x + column * scale, y + row * scale, scale, scale}, canvas.size);
        fill_plane(canvas.planes[0], canvas.strides[0], dot, luma);
      }
    }
    x += kGlyphAdvance * scale;
  }
}

Overlay::Overlay(std::vector<std::string> labels, const ColorSpace& space, Size picture)
    : labels_(std::move(labels)),
      space_(space),
      line_width_(std::max(1, (picture.height + 180) / 360)),
      text_scale_(std::max(1, (picture.height + 270) / 540)) {}

void Overlay::draw(const YuvCanvas& canvas, std::span<const Detection> detections) const {
  // The best ones last, on top.
  std::vector<const Detection*> order;
  for (const Detection& detection : detections) order.push_back(&detection);
  std::stable_sort(order.begin(), order.end(),
                   [](const Detection* a, const Detection* b) { return a->score < b->score; });
  for (const Detection* detection : order) draw_one(canvas, *detection);
}

void Overlay::draw_one(const YuvCanvas& canvas, const Detection& detection) const {
  if (!is_finite(detection.box)) return;
  const int x0 = to_pixel(detection.box.x0, canvas.size.width);
  const int y0 = to_pixel(detection.box.y0, canvas.size.height);
  const int x1 = std::max(to_pixel(detection.box.x1, canvas.size.width), x0 + 1);
  const int y1 = std::max(to_pixel(detection.box.y1, canvas.size.height), y0 + 1);
  const Rgb rgb = class_color(detection.class_id);
  const YuvColor color = to_yuv(rgb, space_);
  const int t = std::min({line_width_, x1 - x0, y1 - y0});
  fill_rect(canvas, {x0, y0, x1 - x0, t}, color);
  fill_rect(canvas, {x0, y1 - t, x1 - x0, t}, color);
  fill_rect(canvas, {x0, y0, t, y1 - y0}, color);
  fill_rect(canvas, {x1 - t, y0, t, y1 - y0}, color);

  const std::size_t id = static_cast<std::size_t>(detection.class_id);
  char score[16];
  std::snprintf(score, sizeof score, " %.2f", static_cast<double>(detection.score));
  const std::u32string text = display_characters(
      (id < labels_.size() ? labels_[id] : std::to_string(detection.class_id)) + score);
  const int s = text_scale_;
  const int width = (static_cast<int>(text.size()) * kGlyphAdvance + 1) * s;
  const int height = (kGlyphHeight + 2) * s;
  // Above the box, or inside it at the picture's top; moved left rather than cut at the right.
  const int top = y0 >= height ? y0 - height : y0;
  const int left = std::max(0, std::min(x0, canvas.size.width - width));
  fill_rect(canvas, {left, top, width, height}, color);
  const bool dark = 0.299 * rgb.r + 0.587 * rgb.g + 0.114 * rgb.b < 128;
  const std::uint8_t ink = dark ? 255 : 0;
  draw_text(canvas, text, left + s, top + s, s, to_yuv({ink, ink, ink}, space_).y);
}

}  // namespace sparing

#include "sparing/streams/rgb_picture.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <utility>

#include "sparing/io/glyphs.h"
#include "sparing/io/image.h"
#include "sparing/kernels/import.h"

namespace sparing {
namespace {

constexpr int kChannels = 3;
constexpr int kLabelRows = 4;  // as far from its box as a label may be

std::uint8_t to_byte(float value) {
  return static_cast<std::uint8_t>(std::clamp(value + 0.5f, 0.0f, 255.0f));
}

std::size_t byte_count(Size size) {
  return static_cast<std::size_t>(size.width) * static_cast<std::size_t>(size.height) * kChannels;
}

// Coordinates from networks may be far outside: within what an int can be added to.
int near_int(double value) { return static_cast<int>(std::clamp(value, -1e6, 1e6)); }

}  // namespace

PixelRect to_pixels(const Rect& rect) {
  const int x = near_int(std::floor(rect.x)), y = near_int(std::floor(rect.y));
  return {x, y, near_int(std::ceil(rect.right())) - x, near_int(std::ceil(rect.bottom())) - y};
}

Rect to_rect(const Box& box) { return {box.x0, box.y0, box.width(), box.height()}; }

RgbPicture::RgbPicture(Size size) : size_(size), pixels_(byte_count(size), 0) {}

Result<RgbPicture> RgbPicture::from_frame(const VideoFrame& frame) {
  RgbPicture picture(display_size(frame));
  const Shape shape{1, picture.size_.height, picture.size_.width, kChannels};
  const TensorView view = dense_view(reinterpret_cast<std::byte*>(picture.pixels_.data()),
                                     DataType::kUint8, shape, Layout::kNhwc);
  SPARING_RETURN_IF_ERROR(import_frame(frame, {}, view));
  return picture;
}

RgbPicture RgbPicture::from_tensor(std::span<const float> values, Size size,
                                   const ModelInput& input) {
  RgbPicture picture(size);
  const std::size_t area = picture.pixels_.size() / kChannels;
  const bool nchw = input.layout == Layout::kNchw;
  for (std::size_t c = 0; c < kChannels; ++c) {
    const std::size_t to = input.order == ChannelOrder::kRgb ? c : kChannels - 1 - c;
    for (std::size_t i = 0; i < area; ++i) {
      const float value = values[nchw ? c * area + i : i * kChannels + c];
      picture.pixels_[i * kChannels + to] = to_byte(value * input.std[c] + input.mean[c]);
    }
  }
  return picture;
}

RgbPicture RgbPicture::enlarged(int factor) const {
  RgbPicture picture({size_.width * factor, size_.height * factor});
  std::uint8_t* to = picture.pixels_.data();
  for (int y = 0; y < picture.size_.height; ++y) {
    const std::uint8_t* row = pixels_.data() + byte_count({size_.width, y / factor});
    for (int x = 0; x < picture.size_.width; ++x) {
      to = std::copy_n(row + std::ptrdiff_t{x / factor} * kChannels, kChannels, to);
    }
  }
  return picture;
}

int RgbPicture::line_width() const { return std::max(1, (size_.height + 180) / 360); }
int RgbPicture::text_scale() const { return std::max(1, (size_.height + 270) / 540); }

void RgbPicture::fill(const PixelRect& rect, Rgb color) {
  const int x0 = std::clamp(rect.x, 0, size_.width);
  const int x1 = std::clamp(rect.x + rect.width, 0, size_.width);
  const int y0 = std::clamp(rect.y, 0, size_.height);
  const int y1 = std::clamp(rect.y + rect.height, 0, size_.height);
  for (int y = y0; y < y1; ++y) {
    std::uint8_t* pixel = pixels_.data() + byte_count({size_.width, y}) + std::ptrdiff_t{x0} * 3;
    for (int x = x0; x < x1; ++x) {
      *pixel++ = color.r;
      *pixel++ = color.g;
      *pixel++ = color.b;
    }
  }
}

void RgbPicture::outline(const PixelRect& rect, Rgb color, int width) {
  const int w = std::max(1, std::min({width, rect.width, rect.height}));
  fill({rect.x, rect.y, rect.width, w}, color);
  fill({rect.x, rect.y + rect.height - w, rect.width, w}, color);
  fill({rect.x, rect.y, w, rect.height}, color);
  fill({rect.x + rect.width - w, rect.y, w, rect.height}, color);
}

int RgbPicture::label_width(std::string_view text, int scale) {
  return (static_cast<int>(display_characters(text).size()) * kGlyphAdvance + 1) * scale;
}

Size RgbPicture::label_size(std::string_view text, int scale) {
  return {label_width(text, scale), (kGlyphHeight + 2) * scale};
}

int RgbPicture::label(std::string_view text, int x, int y, Rgb color, int scale) {
  const Size size = label_size(text, scale);
  x = std::max(0, std::min(x, size_.width - size.width));
  y = std::max(0, std::min(y, size_.height - size.height));
  write_label(text, {x, y, size.width, size.height}, color, scale);
  return size.height;
}

bool RgbPicture::is_free(const PixelRect& place) const {
  if (place.x < 0 || place.y < 0 || place.x + place.width > size_.width ||
      place.y + place.height > size_.height) {
    return false;
  }
  return std::none_of(labels_.begin(), labels_.end(), [&](const PixelRect& l) {
    return l.x < place.x + place.width && place.x < l.x + l.width && l.y < place.y + place.height &&
           place.y < l.y + l.height;
  });
}

bool RgbPicture::label_beside(std::string_view text, const PixelRect& box, Rgb color, int scale) {
  const Size size = label_size(text, scale);
  const int left = std::clamp(box.x, 0, std::max(0, size_.width - size.width));
  const int right =
      std::clamp(box.x + box.width - size.width, 0, std::max(0, size_.width - size.width));
  // Above and below, the nearest first, then inside and at the sides.
  std::vector<std::pair<int, int>> places;
  for (int row = 0; row < kLabelRows; ++row) {
    const int step = row * size.height;
    for (const int x : {left, right}) {
      places.emplace_back(x, box.y - size.height - step);
      places.emplace_back(x, box.y + box.height + step);
      places.emplace_back(x, box.y + step);
    }
    places.emplace_back(box.x + box.width, box.y + step);
    places.emplace_back(box.x - size.width, box.y + step);
  }
  for (const auto& [x, y] : places) {
    const PixelRect place{x, y, size.width, size.height};
    if (!is_free(place)) continue;
    write_label(text, place, color, scale);
    return true;
  }
  return false;
}

void RgbPicture::write_label(std::string_view text, const PixelRect& place, Rgb color, int scale) {
  labels_.push_back(place);
  fill(place, color);
  const bool dark = 0.299 * color.r + 0.587 * color.g + 0.114 * color.b < 128;
  const Rgb ink = dark ? Rgb{255, 255, 255} : Rgb{};
  int x = place.x + scale;
  for (const char32_t character : display_characters(text)) {
    for (int row = 0; row < kGlyphHeight; ++row) {
      for (int column = 0; column < kGlyphWidth; ++column) {
        if (!glyph_pixel(character, column, row)) continue;
        fill({x + column * scale, place.y + (row + 1) * scale, scale, scale}, ink);
      }
    }
    x += kGlyphAdvance * scale;
  }
}

Status RgbPicture::write(const std::filesystem::path& file) const {
  return write_png(file, size_, kChannels, pixels_);
}

}  // namespace sparing

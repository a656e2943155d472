// Pictures for people to look at: frames and canvases with what was found in them. Private to
// streams.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "sparing/base/geometry.h"
#include "sparing/base/result.h"
#include "sparing/io/overlay.h"
#include "sparing/models/manifest.h"

namespace sparing {

class RgbPicture {
 public:
  // Black.
  explicit RgbPicture(Size size);
  // As import_frame.
  static Result<RgbPicture> from_frame(const VideoFrame& frame);
  // An input tensor of the model ([1,3,H,W] or [1,H,W,3] float32), its values turned back into
  // pixels. Precondition: it has size.width x size.height x 3 of them.
  static RgbPicture from_tensor(std::span<const float> values, Size size, const ModelInput& input);

  // Each pixel `factor` x `factor` times; factor >= 1.
  RgbPicture enlarged(int factor) const;

  Size size() const { return size_; }
  std::span<const std::uint8_t> pixels() const { return pixels_; }
  // Line width and text scale that suit the picture's height.
  int line_width() const;
  int text_scale() const;

  // Parts outside the picture are left out.
  void fill(const PixelRect& rect, Rgb color);
  // A frame, `width` pixels inwards from the rectangle's edge.
  void outline(const PixelRect& rect, Rgb color, int width);
  // On a ground of `color`, its top left corner at (x, y), moved so that as much as possible is
  // inside. Returns the height.
  int label(std::string_view text, int x, int y, Rgb color, int scale);
  // The same beside the box, where no label is yet; false: there is no such place near it, and
  // nothing was drawn.
  bool label_beside(std::string_view text, const PixelRect& box, Rgb color, int scale);
  static int label_width(std::string_view text, int scale);

  // Files as by write_png.
  Status write(const std::filesystem::path& file) const;

 private:
  static Size label_size(std::string_view text, int scale);
  void write_label(std::string_view text, const PixelRect& place, Rgb color, int scale);
  bool is_free(const PixelRect& place) const;

  Size size_;
  std::vector<std::uint8_t> pixels_;
  std::vector<PixelRect> labels_;
};

// The rectangle on whole pixels that holds it.
PixelRect to_pixels(const Rect& rect);
Rect to_rect(const Box& box);

}  // namespace sparing

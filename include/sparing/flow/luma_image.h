// Reduced luma: the grey picture on which regions and motion are found.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sparing/base/geometry.h"
#include "sparing/base/result.h"
#include "sparing/frame/video_frame.h"

namespace sparing {

// An 8-bit grey picture that owns its memory; rows are dense. It lies upright: pixel (x, y) is the
// mean of the display pixels [x * factor, (x + 1) * factor) x [y * factor, (y + 1) * factor), so
// display coordinates are its own times factor(). At the right and bottom edge, where fewer than
// factor display pixels are left, the mean is of those. Copying copies the pixels; reading from
// several threads is safe.
class LumaImage {
 public:
  LumaImage() = default;

  // Of the frame as it is shown: within its visible rectangle (moved to whole samples, by half a
  // sample at most), rotated and flipped. The values are the luma samples as decoded, whatever
  // their range, scaled to 8 bits and rounded once; for RGB 0.299 R + 0.587 G + 0.114 B. The memory
  // of an earlier picture is used again when it suffices.
  // kInvalidArgument and kNotSupported: as validate(frame); a factor other than 1, 2 or 4; the
  // picture is then as it was.
  Status extract(const VideoFrame& frame, int factor);
  // All pixels of one value. Precondition: positive size, factor >= 1.
  void fill(Size size, int factor, std::uint8_t value);

  bool empty() const { return pixels_.empty(); }
  int width() const { return size_.width; }
  int height() const { return size_.height; }
  Size size() const { return size_; }
  int factor() const { return factor_; }
  Size display_size() const { return display_size_; }  // of the frame, in whole pixels

  // Precondition: 0 <= y < height().
  std::span<const std::uint8_t> row(int y) const { return {data() + offset(y), columns()}; }
  std::span<std::uint8_t> row(int y) { return {pixels_.data() + offset(y), columns()}; }
  const std::uint8_t* data() const { return pixels_.data(); }
  std::uint8_t* data() { return pixels_.data(); }

 private:
  std::size_t columns() const { return static_cast<std::size_t>(size_.width); }
  std::size_t offset(int y) const { return static_cast<std::size_t>(y) * columns(); }

  Size size_;
  Size display_size_;
  int factor_ = 1;
  std::vector<std::uint8_t> pixels_;
  std::vector<std::uint8_t> upright_;  // for frames that are rotated or flipped
};

}  // namespace sparing

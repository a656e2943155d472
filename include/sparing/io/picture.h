// An upright picture to draw on: what frames become before effects, and what picture sinks encode.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "sparing/base/geometry.h"
#include "sparing/base/result.h"
#include "sparing/base/timestamp.h"
#include "sparing/frame/video_frame.h"

namespace sparing {

// 8-bit I420 in memory of its own, with or without alpha, upright: pixel (x, y) is display pixel
// (x, y) of the frame that it was made from. Sides may be odd; chroma has half of them, rounded up.
// Not thread-safe while it changes.
class Picture {
 public:
  Picture();
  ~Picture();
  Picture(Picture&& other) noexcept;
  Picture& operator=(Picture&& other) noexcept;

  // Pixels are undefined afterwards; memory of the same size is used again. There is no alpha then.
  // kInvalidArgument: sides not in 1..kMaxFrameExtent; kInternal: no memory.
  Status allocate(Size size, const ColorSpace& space);
  // The other's pixels, alpha and times. kInternal: no memory.
  Status copy_from(const Picture& other);
  // All pixels of one colour, given in the picture's own samples.
  void fill(std::uint8_t y, std::uint8_t u, std::uint8_t v);

  bool empty() const { return size_.width == 0; }
  Size size() const { return size_; }
  // Matrix, range and siting are specified.
  const ColorSpace& color_space() const { return space_; }

  // Plane 0 is luma, 1 and 2 are chroma. Precondition: 0 <= plane < 3, not empty().
  Size plane_size(int plane) const;
  std::ptrdiff_t stride(int plane) const;
  const std::uint8_t* row(int plane, int y) const;
  std::uint8_t* row(int plane, int y);

  // Straight (not premultiplied), of luma's size and stride; 255 is opaque.
  bool has_alpha() const { return has_alpha_; }
  // Makes the alpha plane if there is none, its values undefined. kInternal: no memory.
  Status add_alpha();
  void drop_alpha() { has_alpha_ = false; }
  const std::uint8_t* alpha_row(int y) const;
  std::uint8_t* alpha_row(int y);

  // I420, or I420A when it has alpha, with the times below. Valid as long as the pixels are.
  VideoFrame view() const;

  Timestamp timestamp;
  Timestamp duration;  // 0 ticks when unknown

 private:
  struct Memory;
  std::unique_ptr<Memory> memory_;
  Size size_;
  ColorSpace space_;
  bool has_alpha_ = false;
};

// What a picture of `frame` is in: YUV keeps its matrix and range, grey keeps its range; RGB
// becomes limited range, with BT.709 from 720 rows up and BT.601 below.
ColorSpace picture_color_space(const VideoFrame& frame);

// Frames of any format, crop, rotation and mirroring as pictures. Keeps memory and tables from
// frame to frame. Not thread-safe.
class PictureConverter {
 public:
  PictureConverter();
  ~PictureConverter();
  PictureConverter(PictureConverter&& other) noexcept;
  PictureConverter& operator=(PictureConverter&& other) noexcept;

  // The frame as it is shown, at display_size(frame), in picture_color_space(frame), with its
  // times. Samples of more than 8 bits are rounded, chroma finer than 4:2:0 is averaged; I420 is
  // copied sample by sample. Alpha is left out. Errors as validate(frame); kInternal: no memory.
  Status convert(const VideoFrame& frame, Picture& picture);

  // The same scaled so that it fills `size`, aspect ratio kept, what is too much cut off on both
  // sides alike, in `space` (which must be specified).
  Status fill(const VideoFrame& frame, Size size, const ColorSpace& space, Picture& picture);

  // The same stretched to `size`.
  Status stretch(const VideoFrame& frame, Size size, const ColorSpace& space, Picture& picture);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sparing

// Frames of any format, crop and rotation as upright I420 pictures. Private to io.
#pragma once

#include <array>
#include <cstdint>

#include "sparing/base/result.h"
#include "sparing/frame/video_frame.h"
#include "sparing/io/ffmpeg.h"
#include "sparing/io/overlay.h"

namespace sparing {

// What an I420 copy of `frame` is in: YUV keeps its matrix and range, grey keeps its range; RGB
// becomes limited range, with BT.709 from 720 rows up and BT.601 below.
ColorSpace upright_color_space(const VideoFrame& frame);

// Keeps what can be reused from frame to frame.
class UprightConverter {
 public:
  // Fills the top left `picture` pixels of the canvas with the frame's visible rectangle, rotated
  // and mirrored as its metadata says and scaled when its size differs, in `space`; then repeats
  // the last column and row up to the canvas' edge.
  Status convert(const VideoFrame& frame, const ColorSpace& space, Size picture,
                 const YuvCanvas& canvas);

 private:
  // Planes in one of FFmpeg's formats.
  struct Picture {
    AVPixelFormat format = AV_PIX_FMT_NONE;
    Size size;
    ColorSpace space;
    std::array<const std::uint8_t*, 4> data{};
    std::array<int, 4> strides{};
  };
  Status draw(const VideoFrame& frame, const ColorSpace& space, Size size, const YuvCanvas& target);
  Status scale(const Picture& source, const ColorSpace& space, Size size, const YuvCanvas& target);
  ffmpeg::Scaler scaler_;
  ffmpeg::Frame unscaled_;
  ffmpeg::Frame unrotated_;
};

// The canvas over an I420 AVFrame's memory.
YuvCanvas canvas_of(AVFrame& frame);

}  // namespace sparing

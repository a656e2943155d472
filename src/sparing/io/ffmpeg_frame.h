// Decoded AVFrames as SharedFrames. Private to io.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "sparing/base/result.h"
#include "sparing/frame/video_frame.h"
#include "sparing/io/ffmpeg.h"

namespace sparing::ffmpeg {

struct Orientation {
  Rotation rotation = Rotation::k0;
  bool flip = false;
  friend bool operator==(const Orientation&, const Orientation&) = default;
};

// From FFmpeg's 3x3 display matrix, to the nearest quarter turn.
Orientation orientation_from_matrix(const std::int32_t (&matrix)[9]);
// From an EXIF orientation, 1 to 8; anything else is upright.
Orientation orientation_from_exif(int value);

// Pixel formats of our table are wrapped: the SharedFrame's owner holds the AVFrame's reference,
// and planes point into the decoder's buffer. Others are converted, keeping matrix and range where
// the result is YUV:
//   big-endian doubles of formats of our table -> those;
//   other subsampled YUV (4:1:0, 4:1:1, 4:4:0; 9, 12 bits and more) -> I420;
//   other YUV 4:4:4, other RGB of any depth (planar, 16 bits), palettes -> RGB24, with alpha RGBA;
//   other grey (1 bit, 9 to 14 bits, with alpha, float) -> GRAY8.
// Right and bottom cropping shrink coded_size, left and top cropping move visible_rect. The caller
// sets the timestamps.
class FrameWrapper {
 public:
  // `stream_orientation` applies to frames that have none of their own. kNotSupported: a format
  // that cannot be converted, kInput: a broken frame.
  Result<SharedFrame> wrap(Frame frame, Orientation stream_orientation);

 private:
  Result<Frame> convert(Frame source, Size size, ColorSpace& space);
  Status prepare_scaler(const AVFrame& frame, Size size, PixelFormat target);

  struct ScalerKey {
    Size size;
    int source = -1;
    int target = -1;
    int matrix = -1;
    bool full_range = false;
    friend bool operator==(const ScalerKey&, const ScalerKey&) = default;
  };
  Scaler scaler_;
  ScalerKey key_;
};

// FFmpeg's name of a format, of static storage; empty for none.
std::string_view name_of(AVPixelFormat format);
// The table of what is wrapped without conversion, for tests.
std::optional<PixelFormat> direct_format(AVPixelFormat format);
// The format that others are converted to; nullopt for hardware surfaces and the like.
std::optional<PixelFormat> converted_format(AVPixelFormat format);
// The AVPixelFormat with our format's memory layout.
AVPixelFormat to_av(PixelFormat format);
// swscale's number of the matrix; BT.601's when unspecified.
int sws_matrix(ColorMatrix matrix);

}  // namespace sparing::ffmpeg

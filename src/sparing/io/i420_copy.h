// YUV frames of any of our formats as 8-bit I420 of the same size. Private to io.
#pragma once

#include "sparing/frame/video_frame.h"
#include "sparing/io/overlay.h"

namespace sparing {

// Copies `rect` of the frame into the canvas' top left corner. Matrix and range stay; samples of
// more than 8 bits are rounded, finer chroma is averaged. (FFmpeg's own conversions lack NV16, and
// leave out the last chroma row of packed pictures of odd height.)
// Preconditions: a YUV frame; rect lies in the coded picture, its corner on a chroma sample.
void copy_as_i420(const VideoFrame& frame, const PixelRect& rect, const YuvCanvas& canvas);

}  // namespace sparing

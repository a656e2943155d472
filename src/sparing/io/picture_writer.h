// Pictures in the pixel formats of encoders. Private to io.
#pragma once

#include <cstdint>
#include <vector>

#include "sparing/base/result.h"
#include "sparing/io/ffmpeg.h"
#include "sparing/io/picture.h"

namespace sparing {

// Keeps tables from picture to picture.
class PictureWriter {
 public:
  // Fills `target`, which has memory, with the picture: in its colour space where that is YUV (8 or
  // 10 bits), in full range where it is RGB; then repeats the last column and row up to the
  // target's edge, by one at most. Alpha of targets that have it is the picture's own, exact (n
  // bits stand for [0, 1] from 0 to 2^n - 1), or opaque. Precondition: the target's size is the
  // picture's, with sides rounded up to even ones or not.
  Status write(const Picture& picture, AVFrame& target);

 private:
  ffmpeg::Scaler scaler_;
};

}  // namespace sparing

// The picture or video that stands in for a background. Private to compose.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "sparing/base/result.h"
#include "sparing/io/picture.h"
#include "sparing/io/source.h"

namespace sparing {

// Plays a source by time, and again from its start when it has ended. One picture stays.
class Replacement {
 public:
  static Result<Replacement> open(const std::string& spec);

  // The picture that is on `seconds` after the start, scaled to fill `size`, in `space`. A time
  // before one that was asked for already gives the picture on then. It stays valid until the next
  // call. kInput: it cannot be read.
  Result<const Picture*> at(double seconds, Size size, const ColorSpace& space);

 private:
  Status restart();
  Status read_next();
  Status advance(double seconds);

  std::string spec_;
  std::unique_ptr<VideoSource> source_;
  SourceFrame shown_;
  std::optional<SourceFrame> next_;  // none: the source has ended behind shown_
  double start_ = 0;                 // when the present pass began
  Timestamp first_;                  // of the present pass
  bool still_ = false;               // there is one picture only
  bool scaled_is_shown_ = false;
  Picture scaled_;
  PictureConverter converter_;
};

}  // namespace sparing

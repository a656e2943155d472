#include "sparing/compose/replacement.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace sparing {
namespace {

// Of a last frame whose duration is not known.
constexpr double kUsualDuration = 0.04;

}  // namespace

Result<Replacement> Replacement::open(const std::string& spec) {
  Replacement replacement;
  replacement.spec_ = spec;
  SPARING_RETURN_IF_ERROR(replacement.restart());
  replacement.still_ = !replacement.next_;
  return replacement;
}

// Opens the source and reads its first frame, and the one behind it.
Status Replacement::restart() {
  SPARING_ASSIGN_OR_RETURN(source_, open_source(spec_));
  SPARING_RETURN_IF_ERROR(read_next());
  if (!next_) {
    return Error{ErrorCode::kInput, "background '" + spec_ + "'", "it has no picture",
                 "give a picture or a video"};
  }
  shown_ = std::move(*next_);
  scaled_is_shown_ = false;
  first_ = shown_.frame.view().timestamp;
  return read_next();
}

Status Replacement::read_next() {
  SPARING_ASSIGN_OR_RETURN(next_, source_->next());
  return {};
}

Status Replacement::advance(double seconds) {
  if (still_) return {};
  while (true) {
    const double elapsed = seconds - start_;
    if (next_) {
      if (elapsed < seconds_between(first_, next_->frame.view().timestamp)) return {};
      shown_ = std::move(*next_);
      scaled_is_shown_ = false;
      SPARING_RETURN_IF_ERROR(read_next());
      continue;
    }
    const VideoFrame& last = shown_.frame.view();
    const double duration = last.duration.seconds();
    const double length =
        seconds_between(first_, last.timestamp) + (duration > 0 ? duration : kUsualDuration);
    if (elapsed < length) return {};
    // Whole passes that nobody saw are left out.
    start_ += length * std::max(1.0, std::floor(elapsed / length));
    SPARING_RETURN_IF_ERROR(restart());
  }
}

Result<const Picture*> Replacement::at(double seconds, Size size, const ColorSpace& space) {
  SPARING_RETURN_IF_ERROR(advance(seconds));
  const bool same = scaled_is_shown_ && scaled_.size() == size && scaled_.color_space() == space;
  if (!same) {
    scaled_is_shown_ = false;
    SPARING_RETURN_IF_ERROR(converter_.fill(shown_.frame.view(), size, space, scaled_));
    scaled_is_shown_ = true;
  }
  return &scaled_;
}

}  // namespace sparing

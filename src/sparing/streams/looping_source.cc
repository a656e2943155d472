#include "sparing/streams/looping_source.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace sparing {
namespace {

constexpr double kUnknownFrameSeconds = 1.0 / 25;

// `seconds` in a time base, at least one tick.
std::int64_t ticks_of(double seconds, Rational time_base) {
  return std::max<std::int64_t>(1, std::llround(seconds / time_base.value()));
}

}  // namespace

LoopingSource::LoopingSource(std::unique_ptr<VideoSource> source, Reopen reopen,
                             std::int64_t max_frames)
    : source_(std::move(source)),
      reopen_(std::move(reopen)),
      max_frames_(max_frames),
      info_(source_->info()) {}

std::int64_t LoopingSource::damaged_frames() const {
  return damaged_before_ + source_->damaged_frames();
}

Result<bool> LoopingSource::start_again() {
  if (frames_in_pass_ == 0) return false;
  const std::int64_t damaged = source_->damaged_frames();
  SPARING_ASSIGN_OR_RETURN(auto source, reopen_());
  source_ = std::move(source);
  damaged_before_ += damaged;
  frames_in_pass_ = 0;
  const double frame_seconds =
      info_.frame_rate.num > 0 ? 1 / info_.frame_rate.value() : kUnknownFrameSeconds;
  Timestamp next = last_time_;
  next.ticks += last_duration_.ticks > 0
                    ? std::max<std::int64_t>(1, rescale(last_duration_, next.time_base).ticks)
                    : ticks_of(frame_seconds, next.time_base);
  next_time_ = next;
  return true;
}

void LoopingSource::shift(SourceFrame& frame) {
  VideoFrame& view = frame.frame.view();
  if (frames_in_pass_ == 0) pass_start_ = view.timestamp;
  if (next_time_) {
    const Rational base = view.timestamp.time_base;
    const std::int64_t start = rescale(*next_time_, base).ticks;
    view.timestamp.ticks += start - rescale(pass_start_, base).ticks;
  }
  frame.index = frames_++;
  ++frames_in_pass_;
  last_time_ = view.timestamp;
  last_duration_ = view.duration;
}

Result<std::optional<SourceFrame>> LoopingSource::next() {
  if (error_) return *error_;
  if (max_frames_ > 0 && frames_ >= max_frames_) ended_ = true;
  if (ended_) return std::optional<SourceFrame>();
  while (true) {
    auto frame = source_->next();
    if (!frame.ok()) {
      error_ = frame.error();
      return frame;
    }
    if (*frame) {
      shift(**frame);
      return frame;
    }
    auto again = start_again();
    if (!again.ok()) {
      error_ = again.error();
      return std::move(again).error();
    }
    if (!*again) {
      ended_ = true;
      return std::optional<SourceFrame>();
    }
  }
}

}  // namespace sparing

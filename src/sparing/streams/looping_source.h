// A source that starts again when it ends, as a camera that never stops.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "sparing/io/source.h"

namespace sparing {

// Frames go on being numbered, and their times go on: the first frame of each further pass comes
// when the last one of the pass before has been shown for its duration (the nominal frame time
// where that is unknown). Times stay exact when the passes have one time base. A pass without a
// frame ends it. Not thread-safe, as any source.
class LoopingSource final : public VideoSource {
 public:
  using Reopen = std::function<Result<std::unique_ptr<VideoSource>>()>;
  // Ends after `max_frames` of all passes; 0: never.
  LoopingSource(std::unique_ptr<VideoSource> source, Reopen reopen, std::int64_t max_frames = 0);

  // The frame count is that of one pass.
  const SourceInfo& info() const override { return info_; }
  // An error ends it: that of a pass, or of opening the source again.
  Result<std::optional<SourceFrame>> next() override;
  std::int64_t damaged_frames() const override;

 private:
  // False: the source has no frames any more.
  Result<bool> start_again();
  void shift(SourceFrame& frame);

  std::unique_ptr<VideoSource> source_;
  Reopen reopen_;
  std::int64_t max_frames_;
  SourceInfo info_;
  std::optional<Error> error_;
  bool ended_ = false;
  std::int64_t frames_ = 0;  // in all
  std::int64_t frames_in_pass_ = 0;
  std::int64_t damaged_before_ = 0;     // in earlier passes
  std::optional<Timestamp> next_time_;  // of the first frame of this pass; empty: its own
  Timestamp pass_start_;                // of this pass, in the source's own time
  Timestamp last_time_;                 // given out
  Timestamp last_duration_;
};

}  // namespace sparing

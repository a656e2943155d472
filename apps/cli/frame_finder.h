// One frame of a source, by its number or its time.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>

#include "progress.h"
#include "sparing/io/source.h"

namespace sparing::cli {

struct FrameChoice {
  std::int64_t number = 0;
  std::optional<double> seconds;  // in place of `number`
};

// Decodes up to the frame: only its predecessors say what is in it. By time: the frame that a
// player would show then, the first one before the first. kInvalidArgument: beyond the end;
// kInterrupted: by `stop`; else as VideoSource::next.
Result<SourceFrame> find_frame(VideoSource& source, const FrameChoice& choice,
                               const std::stop_token& stop, ProgressLine& progress);

}  // namespace sparing::cli

#include "frame_finder.h"

#include <cstdio>
#include <string>
#include <utility>

#include "sparing/base/clock.h"

namespace sparing::cli {
namespace {

// A time is printed with ten digits: what was read off a summary still finds its frame.
constexpr double kTolerance = 1e-6;

double seconds_of(const SourceFrame& frame) { return frame.frame.view().timestamp.seconds(); }

std::string text_of(double seconds) {
  char text[48];
  std::snprintf(text, sizeof text, "%.10g s", seconds);
  return text;
}

// The source ended with `last`, `gap` seconds after the frame before.
Result<SourceFrame> at_end(const VideoSource& source, const FrameChoice& choice,
                           std::optional<SourceFrame> last, double gap) {
  const std::string name = "'" + source.info().name + "'";
  if (!last) {
    return Error{ErrorCode::kInput, "input " + name, "it has no frames", "give another input"};
  }
  if (!choice.seconds) {
    return Error{ErrorCode::kInvalidArgument, "--frame",
                 std::to_string(choice.number) + " is beyond the end of " + name + ", which has " +
                     std::to_string(last->index + 1) + " frames",
                 "give 0 to " + std::to_string(last->index)};
  }
  // The last frame is shown until its end, which not every container tells.
  const Timestamp& duration = last->frame.view().duration;
  const double end = seconds_of(*last) + (duration.ticks > 0 ? duration.seconds() : gap);
  if (*choice.seconds < end + kTolerance) return std::move(*last);
  return Error{ErrorCode::kInvalidArgument, "--time",
               text_of(*choice.seconds) + " is beyond the end of " + name + ", at " + text_of(end),
               "give an earlier time"};
}

Result<SourceFrame> search(VideoSource& source, const FrameChoice& choice,
                           const std::stop_token& stop, ProgressLine& progress) {
  const Clock::time_point start = Clock::now();
  const auto total =
      choice.seconds ? source.info().frame_count : std::optional<std::int64_t>(choice.number + 1);
  std::optional<SourceFrame> last;
  double gap = 0;
  while (!stop.stop_requested()) {
    SPARING_ASSIGN_OR_RETURN(std::optional<SourceFrame> next, source.next());
    if (!next) return at_end(source, choice, std::move(last), gap);
    if (!choice.seconds && next->index == choice.number) return std::move(*next);
    if (choice.seconds && seconds_of(*next) > *choice.seconds + kTolerance) {
      return last ? std::move(*last) : std::move(*next);
    }
    if (last) gap = seconds_of(*next) - seconds_of(*last);
    last = std::move(next);
    progress.update(last->index + 1, total, seconds_since(start));
  }
  return Error{ErrorCode::kInterrupted, "input '" + source.info().name + "'",
               "reading was interrupted", "run it again"};
}

}  // namespace

Result<SourceFrame> find_frame(VideoSource& source, const FrameChoice& choice,
                               const std::stop_token& stop, ProgressLine& progress) {
  auto found = search(source, choice, stop, progress);
  progress.clear();
  return found;
}

}  // namespace sparing::cli

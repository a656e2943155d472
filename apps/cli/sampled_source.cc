#include "sampled_source.h"

#include <optional>

namespace sparing::cli {

Result<std::optional<SourceFrame>> SampledSource::next() {
  while (!ended_) {
    SPARING_ASSIGN_OR_RETURN(std::optional<SourceFrame> frame, source_->next());
    if (!frame) break;
    if (frame->index >= last_) ended_ = true;
    if (wanted_(frame->index)) return frame;
  }
  ended_ = true;
  return std::optional<SourceFrame>();
}

Result<std::int64_t> count_frames(std::string_view spec, const std::stop_token& stop) {
  SourceOptions options;
  options.stop = stop;
  SPARING_ASSIGN_OR_RETURN(const auto source, open_source(spec, options));
  std::int64_t count = 0;
  while (true) {
    if (stop.stop_requested()) {
      return Error{ErrorCode::kInterrupted, "clip '" + source->info().name + "'", "stopped",
                   "run it again"};
    }
    SPARING_ASSIGN_OR_RETURN(const std::optional<SourceFrame> frame, source->next());
    if (!frame) return count;
    ++count;
  }
}

}  // namespace sparing::cli

// What runs share, whatever their stages compute: how an error ends them, and decoding.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>

#include "sparing/base/bounded_queue.h"
#include "sparing/io/source.h"
#include "sparing/pipeline/stage_clock.h"

namespace sparing {

// The first error of any stage. Thread-safe.
class RunFailure {
 public:
  void keep_first(Error error) {
    std::lock_guard lock(mutex_);
    if (!error_) error_ = std::move(error);
  }
  // Keeps it, and asks the stages upstream to end; what is downstream is finished.
  void fail(Error error) {
    keep_first(std::move(error));
    failed_.store(true);
  }
  bool failed() const { return failed_.load(); }
  // Once all stages have ended.
  std::optional<Error>& error() { return error_; }

 private:
  std::atomic<bool> failed_{false};
  std::mutex mutex_;
  std::optional<Error> error_;
};

// The first stage: every frame of the source into `frames`, which is closed at the end. How many.
inline std::int64_t decode_into(BoundedQueue<SourceFrame>& frames, VideoSource& source,
                                const std::stop_token& stop, RunFailure& failure,
                                LatencyHistogram& time) {
  std::int64_t decoded = 0;
  while (!failure.failed() && !stop.stop_requested()) {
    auto next = timed(time, [&] { return source.next(); });
    if (!next.ok()) {
      if (stop.stop_requested()) break;  // a read that waited was ended
      // Not fail(): the frames before the damage are good, and are processed to the end.
      failure.keep_first(std::move(next).error());
      break;
    }
    if (!*next) break;
    ++decoded;
    if (!frames.push(std::move(**next))) break;
  }
  frames.close();
  return decoded;
}

}  // namespace sparing

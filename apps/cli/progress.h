// The progress line of a run, on a terminal only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sparing/base/clock.h"
#include "sparing/pipeline/detector.h"

namespace sparing::cli {

class ProgressLine {
 public:
  // Shows nothing when `wanted` is false or standard error is not a terminal.
  explicit ProgressLine(bool wanted);
  void update(const Progress& progress);
  // `more` follows the line; `total` may be wrong, or unknown.
  void update(std::int64_t frames, std::optional<std::int64_t> total, double wall_seconds,
              const std::string& more = "");
  void clear();

 private:
  bool shown_ = false;
  bool enabled_ = false;
  Clock::time_point next_{};
};

// "12:03" or "1:02:03" of a non-negative number of seconds.
std::string clock_text(double seconds);

}  // namespace sparing::cli

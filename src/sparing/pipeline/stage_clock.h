// Durations of one stage, measured on one thread and read after it has ended.
#pragma once

#include <string>

#include "sparing/base/clock.h"
#include "sparing/base/histogram.h"
#include "sparing/pipeline/detector.h"

namespace sparing {

// Calls function() and adds its duration.
template <class F>
auto timed(LatencyHistogram& histogram, F&& function) {
  const Clock::time_point start = Clock::now();
  struct AddOnExit {
    LatencyHistogram& histogram;
    Clock::time_point start;
    ~AddOnExit() { histogram.add(seconds_since(start)); }
  } add{histogram, start};
  return function();
}

inline StageStatistics summarize(std::string name, const LatencyHistogram& histogram) {
  return {std::move(name),
          histogram.count(),
          histogram.total_seconds(),
          histogram.quantile_seconds(0.5),
          histogram.quantile_seconds(0.95),
          histogram.max_seconds()};
}

}  // namespace sparing

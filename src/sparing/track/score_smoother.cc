#include "sparing/track/score_smoother.h"

#include <algorithm>
#include <cmath>

namespace sparing {
namespace {

// What counts less than so many detections is forgotten.
constexpr double kLeastCount = 0.02;

}  // namespace

Result<ScoreSmoother> ScoreSmoother::create(const ScoreOptions& options) {
  SPARING_RETURN_IF_ERROR(validate_options(options));
  return ScoreSmoother(options);
}

void ScoreSmoother::smooth(std::span<FrameRecord> window) {
  if (window.empty()) return;
  const Timestamp& time = window.back().time;
  if (started_) {
    const double passed = std::max(0.0, seconds_between(last_time_, time));
    const double kept = std::exp2(-passed / options_.half_life);
    for (auto& [id, sum] : sums_) {
      sum.scores *= kept;
      sum.count *= kept;
    }
    std::erase_if(sums_, [](const auto& entry) { return entry.second.count < kLeastCount; });
  }
  started_ = true;
  last_time_ = time;
  for (const FrameRecord& frame : window) {
    for (const TrackedDetection& tracked : frame.detections) {
      if (tracked.id < 0) continue;
      Sum& sum = sums_[tracked.id];
      sum.scores += tracked.detection.score;
      sum.count += 1;
    }
  }
  for (FrameRecord& frame : window) {
    for (TrackedDetection& tracked : frame.detections) {
      if (tracked.id < 0) continue;
      const Sum& sum = sums_.at(tracked.id);
      float& score = tracked.detection.score;
      const double steady =
          (1 - options_.weight) * score + options_.weight * sum.scores / sum.count;
      score = static_cast<float>(std::clamp(steady, 0.0, 1.0));
    }
  }
}

void ScoreSmoother::reset() {
  sums_.clear();
  started_ = false;
}

}  // namespace sparing

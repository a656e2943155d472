#include "sparing/streams/budget_control.h"

#include <algorithm>

namespace sparing {
namespace {

// Of the machine; the rest is for what comes in between.
constexpr double kSafety = 0.85;
// Of the whole, when nothing is known yet.
constexpr double kFirstShare = 0.5;
// Even on a machine that cannot keep up, something must be found.
constexpr double kLeastShare = 0.02;
constexpr double kSmoothing = 0.3;
// Above the one the run is about to fall behind, below the other there is slack. In between
// nothing changes, so that the budget does not swing.
constexpr double kFull = 0.95;
constexpr double kSlack = 0.8;
constexpr double kRaise = 1.05;
constexpr double kSteepestCut = 0.7;
// The costs may be overestimated: a second of an inference that shares its core is less than one.
constexpr double kMostFactor = 2;
constexpr double kLeastFactor = 0.05;

}  // namespace

double BudgetControl::budget(std::int64_t frames, double seconds) const {
  const double all = settings_.cores * seconds;
  const double rest = windows_ == 0
                          ? all * kFirstShare
                          : all * kSafety - static_cast<double>(frames) * other_per_frame_;
  const double cores = std::max(rest * factor_, all * kLeastShare);
  return std::max(cores, 1e-9) / settings_.cores_per_detector_second;
}

void BudgetControl::observe(const WindowCost& cost) {
  if (cost.frames <= 0) return;
  const double other = std::max(0.0, cost.other_cpu_seconds) / static_cast<double>(cost.frames);
  other_per_frame_ =
      windows_ <= 1 ? other : other_per_frame_ + kSmoothing * (other - other_per_frame_);
  if (windows_++ == 0) return;
  if (cost.load > kFull && !cost.first_runs) {
    factor_ *= std::clamp(kFull / cost.load, kSteepestCut, 1.0);
  } else if (cost.load < kSlack) {
    factor_ *= kRaise;
  }
  factor_ = std::clamp(factor_, kLeastFactor, kMostFactor);
}

}  // namespace sparing

// How much detector time a window gets, so that a given rate of frames is kept: what the machine
// has, less what everything else costs, corrected by whether the run keeps up. Beyond the paper,
// whose latency budget T is given (section 4.3).
#pragma once

#include <cstdint>

namespace sparing {

struct BudgetSettings {
  double cores = 1;  // that this process may use
  // Cores that are busy while the detector works for a second: threads / streams of its context.
  double cores_per_detector_second = 1;
};

// What one window cost.
struct WindowCost {
  std::int64_t frames = 0;
  double other_cpu_seconds = 0;  // of all cores, for all but the network
  // How much of its time was needed, 1: exactly all; above: the run falls behind.
  double load = 0;
  bool first_runs = false;  // an engine made its code in it, which takes time that does not recur
};

// Pure arithmetic. Not thread-safe.
class BudgetControl {
 public:
  explicit BudgetControl(const BudgetSettings& settings) : settings_(settings) {}

  // Seconds of detector time for a window of so many frames, for which there are
  // `seconds` of wall time; > 0.
  double budget(std::int64_t frames, double seconds) const;
  // The first window only tells costs: engines compile and warm up in it.
  void observe(const WindowCost& cost);

  double other_seconds_per_frame() const { return other_per_frame_; }
  double factor() const { return factor_; }

 private:
  BudgetSettings settings_;
  std::int64_t windows_ = 0;
  double other_per_frame_ = 0;
  double factor_ = 1;
};

}  // namespace sparing

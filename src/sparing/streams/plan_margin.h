// How far below a budget plans aim, so that it holds: now and then inferences take longer than the
// profile says. Private to streams.
#pragma once

namespace sparing {

// Tracks the 99th percentile of what a window takes over what it was planned to take, by stochastic
// approximation (Robbins and Monro, 1951). Pure arithmetic. Not thread-safe.
class PlanMargin {
 public:
  // Plans of this share of the budget take no more than 1.1 times the budget in 99 of 100 windows,
  // by what was observed; from 0.6 to 0.95.
  double share() const;
  // Seconds of a window, both > 0.
  void observe(double planned, double spent);

 private:
  double quantile_ = 1.1 / 0.85;  // of spent / planned
};

}  // namespace sparing

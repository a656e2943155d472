#include "sparing/streams/plan_margin.h"

#include <algorithm>

namespace sparing {
namespace {

constexpr double kTolerance = 1.1;
constexpr double kWithin = 0.99;
constexpr double kStep = 0.15;
constexpr double kLeastShare = 0.6;
constexpr double kMostShare = 0.95;

}  // namespace

double PlanMargin::share() const { return kTolerance / quantile_; }

void PlanMargin::observe(double planned, double spent) {
  quantile_ += kStep * (spent > quantile_ * planned ? kWithin : kWithin - 1);
  quantile_ = std::clamp(quantile_, kTolerance / kMostShare, kTolerance / kLeastShare);
}

}  // namespace sparing

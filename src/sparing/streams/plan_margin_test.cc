#include "sparing/streams/plan_margin.h"

#include <gtest/gtest.h>

#include <random>

namespace sparing {
namespace {

TEST(PlanMargin, BeginsAndStaysNearTheBudgetWhereThePlansHold) {
  PlanMargin margin;
  EXPECT_NEAR(margin.share(), 0.85, 1e-9);
  for (int i = 0; i < 1000; ++i) margin.observe(10, 9.8);
  EXPECT_NEAR(margin.share(), 0.95, 1e-9);
}

TEST(PlanMargin, KeepsNinetyNineOfAHundredWindowsWithinATenthMore) {
  std::mt19937 random(7);
  std::lognormal_distribution<double> ratio(0, 0.15);  // 99 % are below 1.42
  PlanMargin margin;
  int over = 0;
  constexpr int kWindows = 20000;
  for (int i = 0; i < kWindows; ++i) {
    const double planned = margin.share();  // of a budget of one
    const double spent = planned * ratio(random);
    if (i >= 100) over += spent > 1.1;
    margin.observe(planned, spent);
  }
  EXPECT_NEAR(1.0 * over / kWindows, 0.01, 0.004);
  EXPECT_NEAR(margin.share(), 1.1 / 1.42, 0.08);
}

TEST(PlanMargin, LeavesMostOfTheBudgetWhateverHappens) {
  PlanMargin margin;
  for (int i = 0; i < 100; ++i) margin.observe(1, 5);
  EXPECT_NEAR(margin.share(), 0.6, 1e-9);
  for (int i = 0; i < 1000; ++i) margin.observe(1, 1);
  EXPECT_NEAR(margin.share(), 0.95, 1e-9) << "and comes back";
}

}  // namespace
}  // namespace sparing

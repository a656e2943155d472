#include "sparing/streams/budget_control.h"

#include <gtest/gtest.h>

namespace sparing {
namespace {

// A machine: what a window of `frames` takes when the detector gets `budget` seconds, as a share of
// the `seconds` that are there.
double load(const BudgetSettings& machine, double budget, double other, double seconds) {
  const double cpu = budget * machine.cores_per_detector_second + other;
  return cpu / (machine.cores * seconds);
}

TEST(BudgetControl, GivesWhatOtherWorkLeaves) {
  BudgetControl control({2, 1});
  EXPECT_NEAR(control.budget(100, 1), 1, 1e-9);  // nothing is known: half
  control.observe({100, 0.4, 0.5});
  EXPECT_NEAR(control.budget(100, 1), 2 * 0.85 - 0.4, 1e-9);
  EXPECT_NEAR(control.budget(50, 1), 2 * 0.85 - 0.2, 1e-9);
}

TEST(BudgetControl, ASecondOfOneStreamOnTwoThreadsTakesTwoCores) {
  BudgetControl one({2, 1});
  BudgetControl two({2, 2});
  EXPECT_NEAR(one.budget(10, 1), 2 * two.budget(10, 1), 1e-9);
}

TEST(BudgetControl, CutsWhenTheRunFallsBehindAndRaisesSlowlyWhenThereIsSlack) {
  BudgetControl control({2, 1});
  control.observe({100, 0.2, 0.9});
  const double before = control.budget(100, 1);
  control.observe({100, 0.2, 1.3});
  const double cut = control.budget(100, 1);
  EXPECT_LT(cut, 0.8 * before);
  control.observe({100, 0.2, 0.85});  // neither
  EXPECT_NEAR(control.budget(100, 1), cut, 1e-9);
  control.observe({100, 0.2, 0.4});
  EXPECT_GT(control.budget(100, 1), cut);
  EXPECT_LT(control.budget(100, 1), 1.1 * cut);
}

TEST(BudgetControl, SettlesWhereTheMachineKeepsUp) {
  // Other work is cheaper, and the network dearer, than the settings say.
  const BudgetSettings machine{2, 1.4};
  BudgetControl control({2, 1});
  double last = 0;
  for (int window = 0; window < 200; ++window) {
    last = load(machine, control.budget(120, 1), 0.5, 1);
    control.observe({120, 0.5, last});
  }
  EXPECT_LT(last, 1);
  EXPECT_GT(last, 0.7);
}

TEST(BudgetControl, FirstRunsAreNoReasonToCut) {
  BudgetControl control({2, 1});
  control.observe({100, 0.1, 0.5});
  control.observe({100, 0.1, 0.9});
  const double before = control.budget(100, 1);
  for (int window = 0; window < 5; ++window) control.observe({100, 0.1, 3, true});
  EXPECT_NEAR(control.budget(100, 1), before, 1e-9);
  control.observe({100, 0.1, 3, false});
  EXPECT_LT(control.budget(100, 1), before);
}

TEST(BudgetControl, SomethingIsLeftOnAMachineThatCannotKeepUp) {
  BudgetControl control({1, 1});
  for (int window = 0; window < 50; ++window) control.observe({100, 5, 4});
  EXPECT_GT(control.budget(100, 1), 0);
  EXPECT_LT(control.budget(100, 1), 0.1);
  for (int window = 0; window < 500; ++window) control.observe({100, 0.01, 0.1});
  EXPECT_GT(control.budget(100, 1), 0.8);
}

}  // namespace
}  // namespace sparing

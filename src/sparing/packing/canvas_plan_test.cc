#include "sparing/packing/canvas_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <random>

namespace sparing {
namespace {

using testing::ElementsAre;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Case {
  std::vector<CanvasItem> items;
  std::vector<double> budgets;
};

// Every choice of counts, one after the other: no bound, no order, no rounding of areas.
struct Exhaustive {
  const std::vector<CanvasItem>& items;
  std::vector<double> left;
  std::int64_t needed;  // least_cost; 0: most_area
  std::int64_t most = 0;
  double least = kInfinity;

  Exhaustive(const Case& test, std::int64_t area)
      : items(test.items), left(test.budgets), needed(area) {
    for (double& budget : left) budget *= 1 + 1e-9;
    visit(0, 0, 0);
  }

  void visit(std::size_t k, std::int64_t area, double cost) {
    if (k == items.size()) {
      most = std::max(most, area);
      if (area >= needed) least = std::min(least, cost);
      return;
    }
    const CanvasItem& item = items[k];
    double& budget = left[static_cast<std::size_t>(item.processor)];
    const double before = budget;
    for (int n = 0;; ++n) {
      const double rest = before - n * item.cost;
      if (rest < 0) break;
      budget = rest;
      visit(k + 1, area + n * item.area, cost + n * item.cost);
      // More of it than all that is needed cannot be best.
      if (needed > 0 && area + n * item.area >= needed) break;
    }
    budget = before;
  }
};

class RandomCases {
 public:
  explicit RandomCases(unsigned seed) : random_(seed) {}
  int any(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }

  // Costs of all kinds: proportional, with a fixed part, wild, equal; areas on a grid or not.
  Case next() {
    Case result;
    const int processors = any(1, 3);
    const int count = any(1, processors == 1 ? 4 : 5);
    const int kind = any(0, 3), grid = any(0, 1) == 0 ? 1 : 1024;
    for (int i = 0; i < count; ++i) {
      CanvasItem item;
      item.processor = any(0, processors - 1);
      item.area = static_cast<std::int64_t>(any(1, 40)) * grid;
      const double pixels = static_cast<double>(item.area) / grid;
      item.cost = kind == 0   ? pixels / 10
                  : kind == 1 ? 1 + pixels / 10
                  : kind == 2 ? 0.5 + any(1, 1000) / 200.0
                              : any(1, 4);
      result.items.push_back(item);
    }
    for (int p = 0; p < processors; ++p) result.budgets.push_back(any(0, 900) / 100.0);
    return result;
  }

 private:
  std::mt19937 random_;
};

void expect_consistent(const Case& test, const KnapsackSolution& solution) {
  std::vector<double> spent(test.budgets.size());
  std::int64_t area = 0;
  for (std::size_t i = 0; i < test.items.size(); ++i) {
    ASSERT_GE(solution.counts[i], 0);
    area += solution.counts[i] * test.items[i].area;
    spent[static_cast<std::size_t>(test.items[i].processor)] +=
        solution.counts[i] * test.items[i].cost;
  }
  ASSERT_EQ(area, solution.area);
  double cost = 0;
  for (std::size_t p = 0; p < spent.size(); ++p) {
    ASSERT_LE(spent[p], test.budgets[p] * (1 + 1e-8));
    cost += spent[p];
  }
  ASSERT_NEAR(cost, solution.cost, 1e-9 * (1 + cost));
}

TEST(MostArea, EqualsExhaustiveSearch) {
  RandomCases cases(1);
  for (int round = 0; round < 6000; ++round) {
    const Case test = cases.next();
    const Exhaustive all(test, 0);
    const KnapsackSolution solution = most_area(test.items, test.budgets, 1 << 30);
    ASSERT_TRUE(solution.exact && solution.feasible);
    ASSERT_NO_FATAL_FAILURE(expect_consistent(test, solution)) << round;
    ASSERT_EQ(solution.area, all.most) << round;
  }
}

TEST(LeastCost, EqualsExhaustiveSearch) {
  RandomCases cases(2);
  int feasible = 0;
  for (int round = 0; round < 6000; ++round) {
    Case test = cases.next();
    std::int64_t largest = 0;
    for (const CanvasItem& item : test.items) largest = std::max(largest, item.area);
    const std::int64_t needed = 1 + largest * cases.any(0, 300) / 100;
    const bool limited = cases.any(0, 2) > 0;
    if (!limited) std::fill(test.budgets.begin(), test.budgets.end(), 1e6);
    const Exhaustive all(test, needed);
    std::vector<double> budgets = test.budgets;
    if (!limited) std::fill(budgets.begin(), budgets.end(), kInfinity);
    const KnapsackSolution solution = least_cost(test.items, budgets, needed, 1 << 30);
    ASSERT_TRUE(solution.exact);
    ASSERT_NO_FATAL_FAILURE(expect_consistent(test, solution)) << round;
    ASSERT_EQ(solution.feasible, all.least < kInfinity) << round;
    if (!solution.feasible) continue;
    ++feasible;
    ASSERT_GE(solution.area, needed) << round;
    ASSERT_NEAR(solution.cost, all.least, 1e-9 * all.least) << round;
  }
  EXPECT_GT(feasible, 2000);
  EXPECT_LT(feasible, 5900);
}

TEST(Knapsack, NothingGivesNothing) {
  EXPECT_EQ(most_area({}, std::vector{1.0}).area, 0);
  EXPECT_FALSE(least_cost({}, std::vector{1.0}, 5).feasible);
  EXPECT_TRUE(least_cost({}, std::vector{1.0}, 0).feasible);
  const std::vector<CanvasItem> items = {{100, 2.0, 0}};
  EXPECT_EQ(most_area(items, std::vector{1.9}).area, 0);
  EXPECT_EQ(most_area(items, std::vector{2.0}).area, 100);
}

TEST(Knapsack, TheCheapProcessorIsFilledFirst) {
  const std::vector<CanvasItem> items = {{100, 1.0, 0}, {100, 3.0, 1}};
  EXPECT_THAT(least_cost(items, std::vector{5.0, 9.0}, 400).counts, ElementsAre(4, 0));
  EXPECT_THAT(least_cost(items, std::vector{5.0, 9.0}, 700).counts, ElementsAre(5, 2));
  EXPECT_FALSE(least_cost(items, std::vector{5.0, 9.0}, 801).feasible);
  EXPECT_THAT(most_area(items, std::vector{5.0, 9.0}).counts, ElementsAre(5, 3));
}

TEST(Knapsack, FixedCostsMakeLargeCanvases) {
  const auto cost = [](std::int64_t area, double fixed) {
    return fixed + 1e-7 * static_cast<double>(area);
  };
  const auto items = [&](double fixed) {
    std::vector<CanvasItem> menu;
    for (const std::int64_t side : {320, 640, 1280}) {
      menu.push_back({side * side, cost(side * side, fixed), 0});
    }
    return menu;
  };
  EXPECT_THAT(least_cost(items(0), std::vector{kInfinity}, 640 * 640 + 1).counts,
              ElementsAre(1, 1, 0));
  EXPECT_THAT(least_cost(items(0.5), std::vector{kInfinity}, 640 * 640 + 1).counts,
              ElementsAre(0, 0, 1));
}

TEST(Knapsack, ACutOffSearchSaysSo) {
  RandomCases cases(3);
  int cut = 0;
  for (int round = 0; round < 200; ++round) {
    const Case test = cases.next();
    const KnapsackSolution solution = most_area(test.items, test.budgets, 1);
    ASSERT_NO_FATAL_FAILURE(expect_consistent(test, solution));
    cut += !solution.exact;
  }
  EXPECT_GT(cut, 0);
}

TEST(CanvasShapes, CropInStepsDownToTheMinimum) {
  CanvasOptions options;
  options.templates = {"640x500", "300x300", "640x512"};
  options.height_step = 96;
  options.min_height = 310;
  const auto shapes = canvas_shapes(options);
  ASSERT_TRUE(shapes.ok());
  EXPECT_THAT(*shapes, ElementsAre(CanvasShape{{640, 512}, 0}, CanvasShape{{640, 416}, 0},
                                   CanvasShape{{640, 320}, 0}, CanvasShape{{320, 320}, 1}));
  EXPECT_EQ(cropped_height((*shapes)[0], 1, options), 320);
  EXPECT_EQ(cropped_height((*shapes)[0], 321, options), 416);
  EXPECT_EQ(cropped_height((*shapes)[0], 510, options), 512);
  options.height_step = 0;
  const auto whole = canvas_shapes(options);
  ASSERT_TRUE(whole.ok());
  EXPECT_EQ(whole->size(), 2u);
  EXPECT_EQ(cropped_height((*whole)[0], 1, options), 512);
}

TEST(CanvasShapes, BadTemplatesAreNamed) {
  CanvasOptions options;
  for (const char* text : {"640", "640x", "x640", "0x640", "640x640x3", "640x99999", " 1x1", ""}) {
    options.templates = {text};
    const auto shapes = canvas_shapes(options);
    ASSERT_FALSE(shapes.ok()) << text;
    EXPECT_THAT(shapes.error().to_string(), testing::HasSubstr("'" + std::string(text) + "'"));
  }
  options.templates.clear();
  EXPECT_FALSE(canvas_shapes(options).ok());
}

TEST(CanvasMenu, LeavesOutWhatAProcessorCannotRun) {
  const auto cpu = LatencyProfile::create({"m", "cpu"}, {{640, 640, 40}});
  const auto npu = LatencyProfile::create({"m", "npu", 320, 320}, {{320, 320, 2}});
  ASSERT_TRUE(cpu.ok() && npu.ok());
  const std::vector<CanvasShape> shapes = {{{640, 640}, 0}, {{320, 320}, 1}};
  const std::vector<const LatencyProfile*> processors = {&*cpu, &*npu};
  const CanvasMenu menu = canvas_menu(shapes, processors);
  ASSERT_EQ(menu.items.size(), 3u);
  EXPECT_EQ(menu.items[2].processor, 1);
  EXPECT_EQ(menu.shapes[2].size, (Size{320, 320}));
  EXPECT_NEAR(menu.items[2].cost, 0.002, 1e-12);
  EXPECT_NEAR(menu.items[1].cost, 0.010, 1e-12);
}

// Times are printed, never asserted: 0.1 ms is what a window affords.
TEST(Knapsack, RealMenusAreSolved) {
  CanvasOptions options;
  const auto shapes = canvas_shapes(options);
  ASSERT_TRUE(shapes.ok());
  struct Kind {
    const char* name;
    double fixed, noise;
  };
  for (const Kind kind : {Kind{"line", 0, 0}, Kind{"line and fixed", 0.004, 0},
                          Kind{"noisy points", 0, 0.03}, Kind{"noisy and fixed", 0.004, 0.05}}) {
    std::mt19937 random(5);
    std::uniform_real_distribution<double> unit(-1, 1);
    std::vector<LatencyProfile> profiles;
    for (const double per_pixel : {75e-9, 125e-9}) {
      std::vector<LatencyPoint> points;
      for (const int side : {320, 640, 960, 1280}) {
        const double seconds =
            (kind.fixed + per_pixel * side * side) * (1 + kind.noise * unit(random));
        points.push_back({side, side, 1000 * seconds});
      }
      LatencyOptions latency;
      latency.linear_tolerance = kind.noise > 0 ? 0 : 0.05;
      auto profile = LatencyProfile::create({"m", "p"}, points, latency);
      ASSERT_TRUE(profile.ok());
      profiles.push_back(std::move(profile).value());
    }
    const std::vector<const LatencyProfile*> processors = {&profiles[0], &profiles[1]};
    const CanvasMenu menu = canvas_menu(*shapes, processors);
    std::vector<double> times;
    std::int64_t nodes = 0;
    int exact = 0, feasible = 0;
    double area_loss = 0, cost_loss = 0;  // of searches that were cut off
    constexpr int kRounds = 200;
    for (int round = 0; round < kRounds; ++round) {
      const double budget = 0.05 + 0.005 * round;
      const std::vector<double> budgets = {budget, budget};
      const auto start = std::chrono::steady_clock::now();
      const KnapsackSolution most = most_area(menu.items, budgets);
      const KnapsackSolution least = least_cost(menu.items, budgets, most.area * (round % 10) / 10);
      const std::chrono::duration<double, std::micro> took =
          std::chrono::steady_clock::now() - start;
      times.push_back(took.count());
      nodes += most.nodes + least.nodes;
      exact += most.exact && least.exact;
      feasible += least.feasible;
      if (!most.exact) {
        const KnapsackSolution longer = most_area(menu.items, budgets, 1000000);
        area_loss = std::max(area_loss, 1 - 1.0 * most.area / longer.area);
      }
      if (!least.exact) {
        const KnapsackSolution longer =
            least_cost(menu.items, budgets, most.area * (round % 10) / 10, 1000000);
        cost_loss = std::max(cost_loss, least.cost / longer.cost - 1);
      }
    }
    std::sort(times.begin(), times.end());
    std::printf(
        "%s, %zu items: both solved in %.0f us (p95 %.0f), %.0f nodes, exact in %d of %d, "
        "else area -%.3f %%, cost +%.3f %%\n",
        kind.name, menu.items.size(), times[kRounds / 2], times[kRounds * 95 / 100],
        static_cast<double>(nodes) / kRounds, exact, kRounds, 100 * area_loss, 100 * cost_loss);
    EXPECT_EQ(feasible, kRounds);
  }
}

}  // namespace
}  // namespace sparing

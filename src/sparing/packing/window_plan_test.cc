#include "sparing/packing/window_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <random>

namespace sparing {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

LatencyProfile line(double per_pixel, double fixed = 0, int largest = 0) {
  std::vector<LatencyPoint> points;
  for (const int side : {320, 640, 1280}) {
    points.push_back({side, side, 1000 * (fixed + per_pixel * side * side)});
  }
  auto profile = LatencyProfile::create({"m", "p", largest, largest}, points);
  EXPECT_TRUE(profile.ok());
  return std::move(profile).value();
}

// What a plan works with, owned.
struct Rig {
  std::vector<LatencyProfile> profiles;
  std::vector<double> budgets;
  CanvasOptions canvas;
  PackOptions pack;
  WindowPlanOptions options;

  Result<WindowPlan> plan(const std::vector<RoiRequest>& requests) const {
    const auto shapes = canvas_shapes(canvas);
    EXPECT_TRUE(shapes.ok());
    std::vector<const LatencyProfile*> processors;
    for (const LatencyProfile& profile : profiles) processors.push_back(&profile);
    return plan_window(requests, {processors, budgets, *shapes, canvas, pack}, {}, options);
  }
};

Rig cpu(double budget = kInfinity) {
  Rig rig;
  rig.profiles.push_back(line(100e-9));
  rig.budgets = {budget};
  return rig;
}

// No canvas is smaller than 320x320.
Rig coarse_cpu(double budget) {
  Rig rig = cpu(budget);
  rig.canvas.templates = {"320x320", "640x640"};
  rig.canvas.min_width = rig.canvas.min_height = 320;
  return rig;
}

RoiRequest request(double width, double height, double scale = 1) {
  RoiRequest result;
  result.roi.rect = {0, 0, width, height};
  result.roi.source = RoiSource::kFlow;
  result.roi.confidence = 0.9f;
  result.scale = scale;
  return result;
}

bool apart(const PixelRect& a, const PixelRect& b, int gap) {
  return a.x + a.width + gap <= b.x || b.x + b.width + gap <= a.x || a.y + a.height + gap <= b.y ||
         b.y + b.height + gap <= a.y;
}

// Everything that holds of every plan.
void expect_sound(const std::vector<RoiRequest>& requests, const Rig& rig, const WindowPlan& plan) {
  std::vector<int> seen(requests.size());
  std::vector<double> spent(rig.profiles.size());
  double cost = 0, area = 0, placed = 0;
  std::vector<bool> is_placed(requests.size());
  std::vector<Size> sizes(requests.size());
  for (const PlannedCanvas& canvas : plan.canvases) {
    ASSERT_FALSE(canvas.rois.empty());
    const auto p = static_cast<std::size_t>(canvas.processor);
    ASSERT_LT(p, rig.profiles.size());
    ASSERT_TRUE(rig.profiles[p].runs(canvas.size));
    ASSERT_EQ(canvas.size.width % rig.canvas.stride, 0);
    ASSERT_EQ(canvas.size.height % rig.canvas.stride, 0);
    ASSERT_GE(canvas.size.height, rig.canvas.min_height);
    ASSERT_LE(canvas.size.height, canvas.shape.size.height);
    ASSERT_NEAR(canvas.cost, rig.profiles[p].estimate(canvas.size), 1e-12);
    spent[p] += canvas.cost;
    cost += canvas.cost;
    area += 1.0 * canvas.size.width * canvas.size.height;
    for (std::size_t i = 0; i < canvas.rois.size(); ++i) {
      const PlacedRoi& a = canvas.rois[i];
      ASSERT_LT(a.request, requests.size());
      ++seen[a.request];
      is_placed[a.request] = true;
      sizes[a.request] = {a.rect.width, a.rect.height};
      placed += 1.0 * a.rect.width * a.rect.height;
      const int border = rig.pack.border;
      ASSERT_GE(std::min(a.rect.x, a.rect.y), border);
      ASSERT_LE(a.rect.x + a.rect.width + border, canvas.size.width);
      ASSERT_LE(a.rect.y + a.rect.height + border, canvas.size.height);
      const bool shrunk = std::count(plan.shrunk.begin(), plan.shrunk.end(), a.request) > 0;
      ASSERT_EQ(shrunk, sizes[a.request] != drawn_size(requests[a.request]));
      ASSERT_EQ(shrunk, a.scale < requests[a.request].scale);
      for (std::size_t j = 0; j < i; ++j) {
        ASSERT_TRUE(apart(a.rect, canvas.rois[j].rect, rig.pack.gap));
      }
    }
  }
  for (const RoiDrop& drop : plan.drops) ++seen[drop.request];
  for (const int n : seen) ASSERT_EQ(n, 1);
  ASSERT_EQ(plan.all_fit, plan.drops.empty());
  ASSERT_NEAR(plan.cost, cost, 1e-9);
  ASSERT_NEAR(plan.fill, area > 0 ? placed / area : 0, 1e-9);
  for (std::size_t p = 0; p < spent.size(); ++p) {
    ASSERT_NEAR(plan.spent[p], spent[p], 1e-9);
    ASSERT_LE(spent[p], rig.budgets[p] * (1 + 1e-8));
  }
  // None was dropped in favour of a less important one that is as large on both sides.
  const std::vector<std::size_t> order = priority_order(requests);
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (is_placed[order[i]]) continue;
    const Size missing = drawn_size(requests[order[i]]);
    for (std::size_t j = i + 1; j < order.size(); ++j) {
      const Size other = sizes[order[j]];
      ASSERT_FALSE(is_placed[order[j]] && other.width >= missing.width &&
                   other.height >= missing.height);
    }
  }
}

TEST(PlanWindow, CropsToTheRowsInUse) {
  Rig rig = cpu();
  rig.canvas.height_step = 64;
  const std::vector<RoiRequest> requests(2, request(300, 400));
  const auto plan = rig.plan(requests);
  ASSERT_TRUE(plan.ok());
  ASSERT_NO_FATAL_FAILURE(expect_sound(requests, rig, *plan));
  EXPECT_TRUE(plan->all_fit);
  for (const PlannedCanvas& canvas : plan->canvases) EXPECT_EQ(canvas.size.height, 448);
  EXPECT_NEAR(plan->cost, 100e-9 * 640 * 448, 1e-9);
}

TEST(PlanWindow, NothingToDoCostsNothing) {
  const auto plan = cpu().plan({});
  ASSERT_TRUE(plan.ok());
  EXPECT_TRUE(plan->canvases.empty());
  EXPECT_TRUE(plan->all_fit);
  EXPECT_EQ(plan->cost, 0);
}

TEST(PlanWindow, UsesTheCheaperProcessorWhileItsBudgetLasts) {
  Rig rig;
  rig.profiles = {line(200e-9), line(100e-9)};
  rig.budgets = {1, 1};
  const std::vector<RoiRequest> requests(8, request(318, 318));
  auto plan = rig.plan(requests);
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan->spent[0], 0);
  rig.budgets = {1, 0.045};
  plan = rig.plan(requests);
  ASSERT_TRUE(plan.ok());
  ASSERT_NO_FATAL_FAILURE(expect_sound(requests, rig, *plan));
  EXPECT_TRUE(plan->all_fit);
  EXPECT_GT(plan->spent[0], 0);
  EXPECT_GT(plan->spent[1], 0);
}

TEST(PlanWindow, DropsTheLeastImportantAndSaysWhy) {
  Rig rig = coarse_cpu(0.011);  // one canvas of 320x320 takes 10.24 ms
  std::vector<RoiRequest> requests(12, request(150, 150));
  requests[9].probe = true;
  requests[11].roi.source = RoiSource::kDifference;
  requests[10].consecutive_drops = 3;
  requests[2].last_frame = true;
  const auto plan = rig.plan(requests);
  ASSERT_TRUE(plan.ok());
  ASSERT_NO_FATAL_FAILURE(expect_sound(requests, rig, *plan));
  ASSERT_EQ(plan->canvases.size(), 1u);
  std::vector<std::size_t> placed;
  for (const PlacedRoi& roi : plan->canvases[0].rois) placed.push_back(roi.request);
  EXPECT_THAT(placed, testing::ElementsAre(9u, 2u, 11u, 10u));
  ASSERT_EQ(plan->drops.size(), 8u);
  for (const RoiDrop& drop : plan->drops) EXPECT_EQ(drop.reason, DropReason::kBudget);
}

TEST(PlanWindow, ReasonsOfDrops) {
  const auto starved = cpu(0.001).plan({request(10, 10)});
  ASSERT_TRUE(starved.ok());
  ASSERT_EQ(starved->drops.size(), 1u);
  EXPECT_EQ(starved->drops[0].reason, DropReason::kNoTime);

  Rig rig = cpu();
  rig.options.shrink = false;
  const auto large = rig.plan({request(2000, 100), request(10, 10)});
  ASSERT_TRUE(large.ok());
  ASSERT_EQ(large->drops.size(), 1u);
  EXPECT_EQ(large->drops[0], (RoiDrop{0, DropReason::kTooLarge}));

  // 200 x 200 in the middle of 320 x 320 leaves 61440 pixels, but no place for 150 x 150.
  const auto narrow = coarse_cpu(0.011).plan({request(200, 200), request(150, 150)});
  ASSERT_TRUE(narrow.ok());
  ASSERT_EQ(narrow->drops.size(), 1u);
  EXPECT_EQ(narrow->drops[0], (RoiDrop{1, DropReason::kNoRoom}));
}

TEST(PlanWindow, ShrinksWhatNoCanvasHolds) {
  const Rig rig = cpu();
  const std::vector<RoiRequest> requests = {request(2560, 300)};
  const auto plan = rig.plan(requests);
  ASSERT_TRUE(plan.ok());
  ASSERT_NO_FATAL_FAILURE(expect_sound(requests, rig, *plan));
  EXPECT_THAT(plan->shrunk, testing::ElementsAre(0u));
  ASSERT_EQ(plan->canvases.size(), 1u);
  EXPECT_EQ(plan->canvases[0].rois[0].rect, (PixelRect{0, 0, 1280, 150}));
  EXPECT_NEAR(plan->canvases[0].rois[0].scale, 0.5, 1e-9);
}

TEST(PlanWindow, AnImportantLargeRegionGetsACanvasThatHoldsIt) {
  // By area per second, small canvases win; the most important region needs a large one.
  Rig rig = cpu(0.1);
  rig.profiles.clear();
  auto profile = LatencyProfile::create({"m", "p"}, {{320, 320, 5}, {640, 640, 60}});
  ASSERT_TRUE(profile.ok());
  rig.profiles.push_back(std::move(profile).value());
  rig.canvas.templates = {"320x320", "640x640"};
  rig.canvas.height_step = 0;
  std::vector<RoiRequest> requests(60, request(300, 300));
  requests.push_back(request(600, 600));
  requests.back().probe = true;
  const auto plan = rig.plan(requests);
  ASSERT_TRUE(plan.ok());
  ASSERT_NO_FATAL_FAILURE(expect_sound(requests, rig, *plan));
  ASSERT_FALSE(plan->canvases.empty());
  EXPECT_EQ(plan->canvases[0].rois[0].request, 60u);
  EXPECT_GT(plan->canvases.size(), 1u);  // the rest of the budget is used, too
}

TEST(PlanWindow, BadInputIsNamed) {
  Rig rig = cpu();
  EXPECT_FALSE(rig.plan({request(0, 5)}).ok());
  EXPECT_FALSE(rig.plan({request(5, 5, 0)}).ok());
  EXPECT_FALSE(rig.plan({request(5, NAN)}).ok());
  rig.budgets = {};
  EXPECT_FALSE(rig.plan({}).ok());
  rig.budgets = {NAN};
  EXPECT_FALSE(rig.plan({}).ok());
  rig = cpu();
  rig.pack.gap = -1;
  EXPECT_FALSE(rig.plan({}).ok());
  rig.profiles.clear();
  rig.budgets.clear();
  EXPECT_FALSE(rig.plan({}).ok());
}

TEST(PlanWindow, IsSoundOnThousandsOfRandomWindows) {
  std::mt19937 random(11);
  const auto any = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  int fit = 0, dropped = 0;
  for (int round = 0; round < 3000; ++round) {
    Rig rig;
    for (int p = any(1, 3); p > 0; --p) {
      rig.profiles.push_back(
          line(any(50, 250) * 1e-9, any(0, 1) * any(0, 20) * 1e-3, any(0, 2) == 0 ? 640 : 0));
      rig.budgets.push_back(any(0, 3) == 0 ? kInfinity : any(0, 200) * 1e-3);
    }
    rig.pack.gap = any(0, 4);
    rig.pack.border = any(0, 2);
    rig.pack.algorithm = kPackAlgorithms[static_cast<std::size_t>(any(0, 2))].name;
    rig.canvas.height_step = any(0, 2) * 64;
    std::vector<RoiRequest> requests;
    for (int i = any(0, 60); i > 0; --i) {
      const int most = any(0, 9) == 0 ? 1600 : 200;
      requests.push_back(request(any(1, most), any(1, most), any(20, 150) / 100.0));
      requests.back().probe = any(0, 9) == 0;
      requests.back().last_frame = any(0, 9) == 0;
      requests.back().consecutive_drops = any(0, 3);
    }
    const auto plan = rig.plan(requests);
    ASSERT_TRUE(plan.ok());
    ASSERT_NO_FATAL_FAILURE(expect_sound(requests, rig, *plan)) << round;
    fit += plan->all_fit;
    dropped += !plan->all_fit;
  }
  EXPECT_GT(fit, 500);
  EXPECT_GT(dropped, 500);
}

TEST(PlanWindow, WithoutLimitsEverythingFits) {
  std::mt19937 random(12);
  std::uniform_int_distribution<int> side(1, 2000);
  for (int round = 0; round < 500; ++round) {
    Rig rig = cpu();
    std::vector<RoiRequest> requests;
    for (int i = 0; i < 20; ++i) requests.push_back(request(side(random), side(random)));
    const auto plan = rig.plan(requests);
    ASSERT_TRUE(plan.ok());
    ASSERT_NO_FATAL_FAILURE(expect_sound(requests, rig, *plan));
    EXPECT_TRUE(plan->all_fit);
  }
}

TEST(PlanWindow, ComparingPlansNeverCostsMore) {
  std::mt19937 random(13);
  std::uniform_int_distribution<int> side(20, 150);
  double hasty = 0, thorough = 0;
  for (int round = 0; round < 100; ++round) {
    Rig rig = cpu();
    std::vector<RoiRequest> requests;
    for (int i = 0; i < 60; ++i) requests.push_back(request(side(random), side(random)));
    rig.options.effort = 0;
    const auto one = rig.plan(requests);
    rig.options.effort = 1000000;
    const auto best = rig.plan(requests);
    ASSERT_TRUE(one.ok() && best.ok());
    ASSERT_LE(best->cost, one->cost);
    hasty += one->cost;
    thorough += best->cost;
  }
  EXPECT_LT(thorough, 0.99 * hasty);
}

TEST(PlanWindow, EnormousRegionsAreShrunk) {
  const Rig rig = cpu();
  const std::vector<RoiRequest> requests = {request(1e12, 1e12, 1e6), request(1e-9, 1e-9)};
  const auto plan = rig.plan(requests);
  ASSERT_TRUE(plan.ok());
  ASSERT_NO_FATAL_FAILURE(expect_sound(requests, rig, *plan));
  EXPECT_TRUE(plan->all_fit);
}

// Printed, never asserted: 1 ms is what a window affords.
TEST(PlanWindow, TimesAndFillOfRealWindows) {
  struct Kind {
    const char* name;
    int count;
    double height, spread, pad, budget;
  };
  for (const Kind kind : {Kind{"one PETS stream", 30, 56, 0.25, 16, kInfinity},
                          Kind{"four PETS streams", 190, 56, 0.25, 16, kInfinity},
                          Kind{"the same, half the time", 190, 56, 0.25, 16, 0.07},
                          Kind{"GRAM M30 at 2x", 400, 40, 0.3, 24, kInfinity},
                          Kind{"near and far", 150, 60, 0.7, 16, kInfinity},
                          Kind{"thirty-two streams", 1600, 56, 0.25, 16, kInfinity}}) {
    std::vector<double> times;
    double fill = 0, drops = 0;
    constexpr int kRounds = 40;
    for (unsigned seed = 0; seed < kRounds; ++seed) {
      std::mt19937 random(seed);
      std::lognormal_distribution<double> height(std::log(kind.height), kind.spread);
      std::uniform_real_distribution<double> unit(0, 1);
      std::vector<RoiRequest> requests;
      for (int i = 0; i < kind.count; ++i) {
        const double h = height(random);
        const double w = h * (0.35 + 0.25 * unit(random)) * (unit(random) < 0.25 ? 2.2 : 1.0);
        const double pad = std::max(kind.pad, 0.3 * std::sqrt(w * h));
        requests.push_back(request(w + 2 * pad, h + 2 * pad));
      }
      Rig rig = cpu(kind.budget);
      const auto shapes = canvas_shapes(rig.canvas);
      ASSERT_TRUE(shapes.ok());
      const std::vector<const LatencyProfile*> processors = {&rig.profiles[0]};
      const auto start = std::chrono::steady_clock::now();
      const auto plan =
          plan_window(requests, {processors, rig.budgets, *shapes, rig.canvas, rig.pack});
      const std::chrono::duration<double, std::milli> took =
          std::chrono::steady_clock::now() - start;
      ASSERT_TRUE(plan.ok());
      ASSERT_NO_FATAL_FAILURE(expect_sound(requests, rig, *plan));
      EXPECT_EQ(plan->all_fit, kind.budget == kInfinity);
      times.push_back(took.count());
      fill += plan->fill / kRounds;
      drops += static_cast<double>(plan->drops.size()) / kRounds;
    }
    std::sort(times.begin(), times.end());
    std::printf("%s, %d regions: %.2f ms, fill %.3f, %.1f dropped\n", kind.name, kind.count,
                times[kRounds / 2], fill, drops);
    EXPECT_GT(fill, kind.count > 100 ? 0.7 : 0.55);
  }
}

}  // namespace
}  // namespace sparing

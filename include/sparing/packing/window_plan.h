// A window's canvases: which, on which processor, and which region lies where (Mondrian, section
// 4.3, "Packed Canvas Generator"). Joins priorities, canvas planning and placement. A plain
// function without state; thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <tuple>
#include <vector>

#include "sparing/base/geometry.h"
#include "sparing/base/options.h"
#include "sparing/base/result.h"
#include "sparing/packing/canvas_plan.h"
#include "sparing/packing/latency_profile.h"
#include "sparing/packing/packer.h"
#include "sparing/packing/priority.h"

namespace sparing {

struct WindowPlanOptions {
  double expected_fill = 0.85;
  bool shrink = true;
  int rounds = 4;
  int effort = 1500;

  static constexpr auto fields() {
    return std::tuple{
        option("expected-fill", &WindowPlanOptions::expected_fill)
            .help("share of a canvas that regions are expected to fill, where planning starts")
            .range(0.1, 1),
        option("shrink", &WindowPlanOptions::shrink)
            .help(
                "draw regions that are larger than every canvas smaller, instead of dropping them"),
        option("plan-rounds", &WindowPlanOptions::rounds)
            .help("how often canvases are added for regions that found no room")
            .range(1, 100),
        option("plan-effort", &WindowPlanOptions::effort)
            .help("how many regions a plan may place in all, over the plans that it compares; the "
                  "first is always made")
            .range(0, 1000000000),
    };
  }
};

// A region on a canvas.
struct PlacedRoi {
  std::size_t request = 0;  // index
  PixelRect rect;           // on the canvas, in its pixels
  // The scale by which it is drawn: the request's, or less where it was shrunk to fit. The exact
  // map back is what the import kernel returns; width and height are rounded to whole pixels.
  double scale = 1;
};

struct PlannedCanvas {
  CanvasShape shape;  // as planned
  Size size;          // what is run: the shape, cropped to the rows in use
  int processor = 0;  // index
  double cost = 0;    // seconds, by its processor's profile
  std::vector<PlacedRoi> rois;
};

struct WindowPlan {
  // Those that hold the most important regions first.
  std::vector<PlannedCanvas> canvases;
  std::vector<RoiDrop> drops;       // by request; every request is on one canvas or here
  std::vector<std::size_t> shrunk;  // requests drawn smaller than they asked for
  double cost = 0;                  // seconds, summed over the processors
  std::vector<double> spent;        // seconds of each processor
  double fill = 0;                  // area of the placed regions / area of the canvases as run
  bool all_fit = false;             // no drop
  std::int64_t nodes = 0;           // of the knapsacks' search trees
};

// What a plan has to work with. Pointers are borrowed for the call.
struct PlanResources {
  std::span<const LatencyProfile* const> processors;
  // Seconds of each processor in the window (the paper's T); infinite: no limit.
  std::span<const double> budgets;
  std::span<const CanvasShape> shapes;  // canvas_shapes(canvas_options)
  const CanvasOptions& canvas_options;
  PackOptions pack;
};

// While all regions fit the budgets: canvases of the least cost that hold them all. The knapsack
// takes the regions' area over the expected fill; as long as regions find no room, canvases for
// their area are added. Regions are placed by descending height, which packs best: their importance
// does not matter when all are looked at. How full canvases get is not known before, so several
// plans are compared, within the effort: fuller and emptier canvases, and each template alone.
// When they do not fit: canvases of the most area, filled by priority; canvases are added as long
// as the rest of the budgets allows; every region that found no room is a drop with its reason. All
// canvases are cropped to the rows in use and costed as cropped; empty ones are left out.
//
// O(n log n) for n regions, and their placement up to 3 + templates times, within the effort.
// The result depends on nothing but the arguments.
// kInvalidArgument: an option out of range, no processor, budgets of another number or negative, a
// region that is empty or whose scale is not positive and finite.
Result<WindowPlan> plan_window(std::span<const RoiRequest> requests, const PlanResources& resources,
                               const PriorityOptions& priorities = {},
                               const WindowPlanOptions& options = {});

}  // namespace sparing

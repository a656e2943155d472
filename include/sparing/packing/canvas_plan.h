// How many canvases of which size, and on which processor (Mondrian, section 4.3.1, "Canvas
// Planning"): an unbounded knapsack with measured costs, solved by branch and bound. Plain
// functions without state; thread-safe.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "sparing/base/geometry.h"
#include "sparing/base/options.h"
#include "sparing/base/result.h"
#include "sparing/packing/latency_profile.h"

namespace sparing {

// One way to spend time: a canvas of a size on a processor, as often as one likes.
struct CanvasItem {
  std::int64_t area = 0;  // pixels, > 0
  double cost = 0;        // seconds, > 0 and finite
  int processor = 0;      // index of its budget
};

struct KnapsackSolution {
  bool feasible = false;    // what was asked for can be had; else all counts are 0
  bool exact = false;       // proved best; false: the search was cut off at max_nodes
  std::vector<int> counts;  // of each item
  std::int64_t area = 0;    // pixels
  double cost = 0;          // seconds, summed over the processors
  std::int64_t nodes = 0;   // of the search tree
};

// Search nodes after which the best found so far is returned. One takes about 10 ns.
inline constexpr std::int64_t kKnapsackNodes = 5000;

// The paper's equation (1): the most area whose cost on each processor is within its budget
// (seconds; one for each processor). Always feasible: nothing at all is a solution. With equal area
// any is returned. Sums of costs may pass a budget by 1e-9 of it, for rounding.
// Each node of the search costs O(1); at worst their number grows exponentially with the items, but
// bounds by the best remaining area per second, rounded down to whole multiples of the areas'
// greatest common divisor, leave few.
// Preconditions: positive areas, positive finite costs, processors below budgets.size(); budgets
// not negative, finite.
KnapsackSolution most_area(std::span<const CanvasItem> items, std::span<const double> budgets,
                           std::int64_t max_nodes = kKnapsackNodes);

// While all regions fit: the least cost, summed over the processors, of at least `area` pixels
// within the budgets, which may be infinite. Not feasible when there is no such choice, or (not
// exact) when none was found in max_nodes. A node costs O(processors).
KnapsackSolution least_cost(std::span<const CanvasItem> items, std::span<const double> budgets,
                            std::int64_t area, std::int64_t max_nodes = kKnapsackNodes);

struct CanvasOptions {
  std::vector<std::string> templates = {"160x160", "256x256", "320x320",
                                        "640x640", "960x960", "1280x1280"};
  int stride = 32;
  int min_width = 160;
  int min_height = 160;
  int height_step = 64;

  static constexpr auto fields() {
    return std::tuple{
        option("canvases", &CanvasOptions::templates)
            .help("canvas sizes to choose from, largest heights")
            .unit("WxH"),
        option("stride", &CanvasOptions::stride)
            .help("canvas sides are multiples of this: the network's stride")
            .unit("px")
            .range(1, 1024),
        option("min-canvas-width", &CanvasOptions::min_width)
            .help("narrowest canvas; small inputs waste time or accuracy on many networks")
            .unit("px")
            .range(1, 32768),
        option("min-canvas-height", &CanvasOptions::min_height)
            .help("least height that a canvas is cropped to")
            .unit("px")
            .range(1, 32768),
        option("canvas-height-step", &CanvasOptions::height_step)
            .help(
                "step of the heights that canvases are cropped to: the first inference of each size "
                "takes several times as long as the others; 0: no cropping")
            .unit("px")
            .range(0, 32768),
    };
  }
};

// A canvas that a plan may use.
struct CanvasShape {
  Size size;
  int template_index = 0;  // of CanvasOptions::templates
  friend bool operator==(const CanvasShape&, const CanvasShape&) = default;
};

// The templates and their cropped heights, sides rounded up to multiples of the stride and to the
// minima; each size once, by template and descending height.
// kInvalidArgument: an option out of range, a template that is not "WxH" with sides from 1 to
// 32768, no template.
Result<std::vector<CanvasShape>> canvas_shapes(const CanvasOptions& options);

// The least height of at least `used_height` rows to which a canvas of `shape` can be cropped by
// these options; the shape's own where they do not crop.
int cropped_height(const CanvasShape& shape, int used_height, const CanvasOptions& options);

// The shapes on all processors that run them, costs from their profiles.
struct CanvasMenu {
  std::vector<CanvasItem> items;
  std::vector<CanvasShape> shapes;  // of each item
};
CanvasMenu canvas_menu(std::span<const CanvasShape> shapes,
                       std::span<const LatencyProfile* const> processors);

}  // namespace sparing

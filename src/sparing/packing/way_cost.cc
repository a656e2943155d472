#include "sparing/packing/way_cost.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "sparing/base/check.h"
#include "sparing/packing/plan_checks.h"

namespace sparing {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// From the first tile along one axis to the last; 0: there is one.
int steps_of(int length, int tile, double overlap) {
  if (length <= tile) return 0;
  const double step = tile * (1 - overlap);
  // A little less than computed: lengths that are whole numbers of steps need no tile more.
  return static_cast<int>(std::max(std::ceil((length - tile) / step - 1e-9), 1.0));
}

// Starts of the tiles along one axis.
std::vector<double> starts(int length, int tile, double overlap) {
  const int steps = steps_of(length, tile, overlap);
  if (steps == 0) return {0};
  std::vector<double> result;
  for (int i = 0; i <= steps; ++i) {
    result.push_back((length - tile) * (static_cast<double>(i) / steps));
  }
  return result;
}

}  // namespace

Size whole_frame_input(Size frame, double scale, int stride) {
  SPARING_CHECK(frame.width > 0 && frame.height > 0 && stride >= 1);
  SPARING_CHECK(scale > 0 && std::isfinite(scale));
  const auto side = [&](int length) {
    // Products of a scale that was computed from a side may pass it by their last bit.
    const double strides = std::ceil(length * scale / stride - 1e-9);
    return static_cast<int>(std::clamp(strides, 1.0, 1e9 / stride)) * stride;
  };
  return {side(frame.width), side(frame.height)};
}

Size tile_in_frame(Size frame, Size tile, double scale) {
  const auto side = [scale](int drawn, int most) {
    return static_cast<int>(std::clamp(std::round(drawn / scale), 1.0, 1.0 * most));
  };
  return {side(tile.width, frame.width), side(tile.height, frame.height)};
}

std::int64_t tile_count(Size frame, Size tile, double overlap) {
  SPARING_CHECK(frame.width > 0 && frame.height > 0 && tile.width > 0 && tile.height > 0);
  SPARING_CHECK(overlap >= 0 && overlap <= 0.9);
  return (std::int64_t{1} + steps_of(frame.width, tile.width, overlap)) *
         (std::int64_t{1} + steps_of(frame.height, tile.height, overlap));
}

Result<std::vector<Rect>> tile_grid(Size frame, Size tile, double overlap) {
  if (frame.width <= 0 || frame.height <= 0 || tile.width <= 0 || tile.height <= 0) {
    return Error{ErrorCode::kInvalidArgument, "tiles",
                 "of " + std::to_string(tile.width) + "x" + std::to_string(tile.height) + " in " +
                     std::to_string(frame.width) + "x" + std::to_string(frame.height),
                 "give sides above 0"};
  }
  if (!(overlap >= 0 && overlap <= 0.9)) {
    return Error{ErrorCode::kInvalidArgument, "overlap of tiles", std::to_string(overlap),
                 "give 0 to 0.9"};
  }
  const double width = std::min(tile.width, frame.width);
  const double height = std::min(tile.height, frame.height);
  std::vector<Rect> tiles;
  for (const double y : starts(frame.height, tile.height, overlap)) {
    for (const double x : starts(frame.width, tile.width, overlap)) {
      tiles.push_back({x, y, width, height});
    }
  }
  return tiles;
}

double input_cost(std::span<const Size> inputs, std::span<const LatencyProfile* const> processors) {
  double sum = 0;
  for (const Size input : inputs) {
    double least = kInfinity;
    for (const LatencyProfile* processor : processors) {
      if (processor->runs(input)) least = std::min(least, processor->estimate(input));
    }
    sum += least;
  }
  return sum;
}

Result<double> packed_cost(std::span<const RoiRequest> requests, const PlanResources& resources,
                           double fill) {
  SPARING_RETURN_IF_ERROR(packing::check_resources(resources));
  SPARING_RETURN_IF_ERROR(packing::check_requests(requests));
  if (!(fill >= 0.1 && fill <= 1)) {
    return Error{ErrorCode::kInvalidArgument, "fill", std::to_string(fill), "give 0.1 to 1"};
  }
  double area = 0;
  for (const RoiRequest& request : requests) {
    const Size size = drawn_size(request);
    area += static_cast<double>(size.width) * size.height;
  }
  if (area == 0) return 0.0;
  const CanvasMenu menu = canvas_menu(resources.shapes, resources.processors);
  const KnapsackSolution solution =
      least_cost(menu.items, resources.budgets,
                 static_cast<std::int64_t>(std::min(std::ceil(area / fill), 1e15)));
  return solution.feasible ? solution.cost : kInfinity;
}

}  // namespace sparing

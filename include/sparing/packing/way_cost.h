// What the ways of looking at a stream cost (multiple_choice.h), before anything is drawn: the
// planner compares them for each stream and window. Plain functions without state; thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sparing/base/geometry.h"
#include "sparing/base/result.h"
#include "sparing/packing/latency_profile.h"
#include "sparing/packing/priority.h"
#include "sparing/packing/window_plan.h"

namespace sparing {

// The network's input for a whole frame at a scale: sides rounded up to multiples of `stride`
// (letterboxed by import), at least one stride. Preconditions: the frame has an area, scale is
// positive and finite, stride at least 1.
Size whole_frame_input(Size frame, double scale, int stride);

// The part of the frame that a tile of that size shows, drawn at `scale`: no more than the frame,
// at least one pixel a side. scale is positive and finite.
Size tile_in_frame(Size frame, Size tile, double scale);

// A regular grid of equal tiles over a frame, row by row, as sliced inference uses it (SAHI): each
// overlaps its neighbours by at least `overlap` of its side; positions are spread evenly, the first
// and last lie at the frame's edges. A frame that is not larger than the tile on an axis is not cut
// on it. kInvalidArgument: a frame or tile without area, an overlap outside 0..0.9.
Result<std::vector<Rect>> tile_grid(Size frame, Size tile, double overlap);

// How many tiles that grid has, without making it; overlap from 0 to 0.9, sides above 0.
std::int64_t tile_count(Size frame, Size tile, double overlap);

// Seconds for one input of each size on the processor where that is cheapest; infinite where none
// runs it.
double input_cost(std::span<const Size> inputs, std::span<const LatencyProfile* const> processors);

// Seconds that packing these regions will take, without placing them: the knapsack's least cost of
// their area over `fill`; what whole plans reach is in WindowPlan::fill. Infinite when the budgets
// do not allow it. No more than a few dozen microseconds.
// kInvalidArgument: as plan_window(); a fill outside 0.1..1.
Result<double> packed_cost(std::span<const RoiRequest> requests, const PlanResources& resources,
                           double fill = 0.8);

}  // namespace sparing

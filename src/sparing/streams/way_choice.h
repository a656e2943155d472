// The ways of all streams for a window. Private to streams.
#pragma once

#include <span>

#include "sparing/streams/stream_state.h"

namespace sparing {

// Chooses the ways of the next window of streams that have frames: for each what costs least and
// finds enough, with its key frames moving apart only step by step; when all that together is more
// than the budget, with what is kept for that (WayPlanner::choices); when even that is, the ways
// that find most within it (multiple_choice.h). `budget` (seconds) is that of the present window,
// which may have been cut short; the next one is planned as a whole one.
Status choose_ways(std::span<StreamState* const> streams, const WayCosts& costs, double budget);

}  // namespace sparing

// Checks of what callers hand to the tracker and the filler.
#pragma once

#include <cstddef>
#include <string>

#include "sparing/base/geometry.h"
#include "sparing/base/result.h"
#include "sparing/base/timestamp.h"

namespace sparing::track {

// kInvalidArgument: the time base is not positive, or `time` is not later than `previous` (null:
// there was none). `thing` names whose time it is.
Status check_time(const std::string& thing, const Timestamp& time, const Timestamp* previous);

// kInvalidArgument: a box that is not finite, a score outside [0, 1].
Status check_detection(std::size_t index, const Detection& detection);

}  // namespace sparing::track

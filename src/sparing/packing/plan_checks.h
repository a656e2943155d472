// The arguments of plan_window() and its relatives, checked.
#pragma once

#include <span>

#include "sparing/base/result.h"
#include "sparing/packing/priority.h"
#include "sparing/packing/window_plan.h"

namespace sparing::packing {

Status check_resources(const PlanResources& resources);
Status check_requests(std::span<const RoiRequest> requests);

}  // namespace sparing::packing

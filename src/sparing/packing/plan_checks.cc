#include "sparing/packing/plan_checks.h"

#include <cmath>
#include <cstddef>
#include <string>
#include <utility>

namespace sparing::packing {
namespace {

Error invalid(std::string thing, std::string problem, std::string fix) {
  return {ErrorCode::kInvalidArgument, std::move(thing), std::move(problem), std::move(fix)};
}

}  // namespace

Status check_resources(const PlanResources& resources) {
  if (resources.processors.empty()) {
    return invalid("processors", "none given", "give at least one latency profile");
  }
  if (resources.budgets.size() != resources.processors.size()) {
    return invalid(
        "budgets", std::to_string(resources.budgets.size()) + " given",
        "give one for each of the " + std::to_string(resources.processors.size()) + " processors");
  }
  for (const double budget : resources.budgets) {
    if (!(budget >= 0)) {
      return invalid("budget", std::to_string(budget) + " s", "give 0 or more seconds");
    }
  }
  SPARING_RETURN_IF_ERROR(validate_options(resources.canvas_options));
  return validate_options(resources.pack);
}

Status check_requests(std::span<const RoiRequest> requests) {
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const Rect& rect = requests[i].roi.rect;
    const std::string thing = "region " + std::to_string(i);
    if (rect.empty() || !is_finite(rect)) {
      return invalid(thing, std::to_string(rect.width) + "x" + std::to_string(rect.height),
                     "give a region with an area");
    }
    if (!(requests[i].scale > 0 && std::isfinite(requests[i].scale))) {
      return invalid(thing, "scale " + std::to_string(requests[i].scale), "give a scale above 0");
    }
  }
  return ok_status();
}

}  // namespace sparing::packing

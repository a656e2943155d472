#include "sparing/base/options.h"

#include <cmath>
#include <cstdio>

namespace sparing::internal {
namespace {

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

}  // namespace

Status check_number(std::string_view name, double value, double min, double max,
                    std::string_view unit) {
  if (value >= min && value <= max) return {};
  const std::string suffix = unit.empty() ? "" : " " + std::string(unit);
  std::string fix = "give a value ";
  if (std::isinf(max)) {
    fix += "of " + number(min) + suffix + " or more";
  } else if (std::isinf(min)) {
    fix += "of " + number(max) + suffix + " or less";
  } else {
    fix += "from " + number(min) + " to " + number(max) + suffix;
  }
  return Error{ErrorCode::kInvalidArgument, "--" + std::string(name),
               number(value) + " is out of range", fix};
}

Status check_choice(std::string_view name, std::string_view value, std::string_view choices) {
  if (choices.empty()) return {};
  std::string_view rest = choices;
  while (true) {
    const std::size_t bar = rest.find('|');
    if (rest.substr(0, bar) == value) return {};
    if (bar == std::string_view::npos) break;
    rest.remove_prefix(bar + 1);
  }
  return Error{ErrorCode::kInvalidArgument, "--" + std::string(name),
               "'" + std::string(value) + "' is not a choice",
               "give one of " + std::string(choices)};
}

}  // namespace sparing::internal

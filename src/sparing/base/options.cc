#include "sparing/base/options.h"

#include <charconv>
#include <cmath>

namespace sparing::internal {
namespace {

// 15 digits: 1000001 stays different from 1000000, and .1 stays 0.1. Not printf, whose decimal
// point depends on the locale.
std::string number(double value) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::general, 15);
  return {text, end.ptr};
}

}  // namespace

Status check_number(std::string_view name, double value, double min, double max,
                    std::string_view unit) {
  if (value >= min && value <= max) return {};
  const std::string suffix = unit.empty() ? "" : " " + std::string(unit);
  std::string fix;
  if (std::isinf(max) && std::isinf(min)) {
    fix = "give a number" + (unit.empty() ? "" : " of" + suffix);
  } else if (std::isinf(max)) {
    fix = "give a value of " + number(min) + suffix + " or more";
  } else if (std::isinf(min)) {
    fix = "give a value of " + number(max) + suffix + " or less";
  } else {
    fix = "give a value from " + number(min) + " to " + number(max) + suffix;
  }
  return Error{ErrorCode::kInvalidArgument, "--" + std::string(name),
               number(value) + (std::isnan(value) ? " is not a number" : " is out of range"), fix};
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

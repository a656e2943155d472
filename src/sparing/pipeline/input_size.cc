#include "sparing/pipeline/input_size.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace sparing {
namespace {

int round_to_multiple(double value, int multiple) {
  return static_cast<int>(std::floor(value / multiple + 0.5)) * multiple;
}

std::string to_text(Size size) {
  return std::to_string(size.width) + "x" + std::to_string(size.height);
}

}  // namespace

Size network_input_size(const ModelInput& input, Size requested, Size display) {
  if (requested != Size{}) return requested;
  if (input.default_size != Size{}) return input.default_size;
  const double longest = std::max(display.width, display.height);
  const double shrink = std::min(1.0, input.max_size / longest);
  const int least = (input.min_size + input.multiple_of - 1) / input.multiple_of * input.multiple_of;
  const int most = std::max(least, input.max_size / input.multiple_of * input.multiple_of);
  const auto side = [&](int extent) {
    return std::clamp(round_to_multiple(extent * shrink, input.multiple_of), least, most);
  };
  return {side(display.width), side(display.height)};
}

Status check_requested_size(const ModelInput& input, Size requested) {
  if (requested == Size{}) return {};
  const auto fits = [&](int side) {
    return side >= input.min_size && side <= input.max_size && side % input.multiple_of == 0;
  };
  if (fits(requested.width) && fits(requested.height)) return {};
  return Error{ErrorCode::kInvalidArgument, "--size", to_text(requested) + " does not fit the model",
               "give a width and a height that are multiples of " +
                   std::to_string(input.multiple_of) + " from " + std::to_string(input.min_size) +
                   " to " + std::to_string(input.max_size)};
}

}  // namespace sparing

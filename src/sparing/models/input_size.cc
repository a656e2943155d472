#include <algorithm>
#include <cstdint>

#include "sparing/models/manifest.h"

namespace sparing {
namespace {

std::string text(Size size) {
  return std::to_string(size.width) + "x" + std::to_string(size.height);
}

Result<Size> check_requested(const ModelInput& input, Size size) {
  const std::string thing = "input size " + text(size);
  if (input.fixed_size && size != input.default_size) {
    return Error{ErrorCode::kInvalidArgument, thing,
                 "the model takes " + text(input.default_size) + " only", "use that size"};
  }
  for (const int side : {size.width, size.height}) {
    if (side < input.min_size || side > input.max_size) {
      return Error{ErrorCode::kInvalidArgument, thing,
                   std::to_string(side) + " is outside " + std::to_string(input.min_size) + ".." +
                       std::to_string(input.max_size),
                   "use a size within"};
    }
    if (side % input.multiple_of != 0) {
      return Error{
          ErrorCode::kInvalidArgument, thing,
          std::to_string(side) + " is not a multiple of " + std::to_string(input.multiple_of),
          "use " + std::to_string(side / input.multiple_of * input.multiple_of) + " or " +
              std::to_string((side / input.multiple_of + 1) * input.multiple_of)};
    }
  }
  return size;
}

// `side` x numerator / denominator to the nearest multiple, halves up, within the limits.
int rounded_side(const ModelInput& input, int side, std::int64_t numerator,
                 std::int64_t denominator) {
  const std::int64_t unit = denominator * input.multiple_of;
  std::int64_t multiples = (2 * side * numerator + unit) / (2 * unit);
  const std::int64_t least = (input.min_size + input.multiple_of - 1) / input.multiple_of;
  multiples = std::clamp<std::int64_t>(multiples, std::max<std::int64_t>(least, 1),
                                       input.max_size / input.multiple_of);
  return static_cast<int>(multiples * input.multiple_of);
}

}  // namespace

Result<Size> input_size(const ModelInput& input, Size frame, Size requested) {
  if (requested != Size{}) return check_requested(input, requested);
  if (input.default_size != Size{}) return input.default_size;
  if (frame.width < 1 || frame.height < 1) {
    return Error{ErrorCode::kInvalidArgument, "frame of " + text(frame), "it has no pixels",
                 "use a frame with a positive size"};
  }
  const int longer = std::max(frame.width, frame.height);
  const bool fits = longer <= input.max_size;
  const std::int64_t numerator = fits ? 1 : input.max_size;
  const std::int64_t denominator = fits ? 1 : longer;
  return Size{rounded_side(input, frame.width, numerator, denominator),
              rounded_side(input, frame.height, numerator, denominator)};
}

}  // namespace sparing

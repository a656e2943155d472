// Checks that two maps of a comparison have one size. Private to metrics.
#pragma once

#include <string>

#include "sparing/base/geometry.h"
#include "sparing/base/result.h"

namespace sparing {

inline Status check_same_size(Size a, const std::string& what_a, Size b,
                              const std::string& what_b) {
  if (a == b) return {};
  const auto text = [](Size size) {
    return std::to_string(size.width) + "x" + std::to_string(size.height);
  };
  return Error{ErrorCode::kInvalidArgument, what_b,
               "have " + text(b) + " pixels, and " + what_a + " " + text(a),
               "bring both to one size"};
}

}  // namespace sparing

#pragma once

#include <string_view>

namespace sparing {

// Of this library, e.g. "0.1.0".
std::string_view version();

}  // namespace sparing

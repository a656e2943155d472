// The engine's exceptions as one-line errors.
#pragma once

#include <exception>
#include <string>
#include <string_view>

#include "sparing/base/result.h"

namespace sparing::openvino {

// What a person can use of an exception's text: without the engine's source files, check
// expressions and headings, on one line of at most 300 characters.
std::string readable_message(std::string_view what);

Error engine_error(ErrorCode code, std::string thing, const std::exception& exception,
                   std::string fix);

}  // namespace sparing::openvino

// Fields that several parts of a manifest have.
#pragma once

#include <string>
#include <string_view>

#include "sparing/models/json_reader.h"

namespace sparing {

// [a-z0-9][a-z0-9._-]*, at most 64 characters.
bool is_model_name(std::string_view text);
// What is_model_name asks for, as a fix.
inline constexpr std::string_view kModelNameRule =
    "use a-z, 0-9, '.', '_' and '-', starting with a letter or digit, at most 64";

// A name that is not empty; the empty string when the field is optional and missing.
std::string name_field(JsonObject& object, std::string_view key, bool required);
std::string sha256_field(JsonObject& object, bool required, std::string_view key = "sha256");

}  // namespace sparing

// Options structs inside of JSON documents, strictly: every option is there, by its name and within
// its range. Private to streams.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>

#include <nlohmann/json.hpp>

#include "sparing/base/options.h"
#include "sparing/models/json_reader.h"

namespace sparing {

template <class Struct>
void read_options(JsonObject& object, Struct& options) {
  for_each_option(options, [&](const auto& field, auto& value) {
    using T = std::decay_t<decltype(value)>;
    using Limits = std::numeric_limits<T>;
    if constexpr (std::is_same_v<T, bool>) {
      value = object.boolean(field.name);
    } else if constexpr (std::is_same_v<T, int>) {
      const auto limit = [](double bound) {
        return static_cast<std::int64_t>(std::clamp(bound, -2147483648.0, 2147483647.0));
      };
      value = static_cast<int>(object.integer(field.name, {limit(field.min), limit(field.max)}));
    } else if constexpr (std::is_same_v<T, double>) {
      value = object.number(
          field.name, {std::max(field.min, Limits::lowest()), std::min(field.max, Limits::max())});
    } else {
      static_assert(std::is_same_v<T, std::string>, "no such option in these documents");
      value = object.text(field.name);
    }
  });
}

template <class Struct>
void write_options(const Struct& options, nlohmann::ordered_json& object) {
  for_each_option(options,
                  [&](const auto& field, const auto& value) { object[field.name] = value; });
}

// The text of a file that tells of a model. kModel: missing, unreadable, over `max_bytes`.
Result<std::string> read_small_file(const std::string& file, std::size_t max_bytes);

// The whole document's text, with a line end. Text that is not UTF-8 is repaired.
std::string to_text(const nlohmann::ordered_json& document);

// Reads and checks the field `schema`: `known` or less. Newer ones are kNotSupported.
Status check_schema(JsonObject& object, int known, const std::string& thing);

}  // namespace sparing

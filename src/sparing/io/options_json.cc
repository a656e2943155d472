#include "sparing/io/options_json.h"

#include <algorithm>
#include <climits>
#include <cmath>
#include <type_traits>

#include <nlohmann/json.hpp>

namespace sparing::internal {
namespace {

using nlohmann::json;

Error option_error(std::string_view name, std::string problem, std::string fix) {
  return {ErrorCode::kInvalidArgument, "option '" + std::string(name) + "'", std::move(problem),
          std::move(fix)};
}

const char* wanted(const OptionValue& value) {
  constexpr const char* kWanted[] = {"give true or false", "give a whole number", "give a number",
                                     "give a text", "give an array of texts"};
  return kWanted[value.index()];
}

bool is_texts(const json& value) {
  return value.is_array() &&
         std::all_of(value.begin(), value.end(), [](const json& item) { return item.is_string(); });
}

// Whether `source` has the type that `target` holds; then target takes its value.
bool assign(const json& source, OptionValue& target) {
  return std::visit(
      [&](auto& value) {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, bool>) {
          if (!source.is_boolean()) return false;
        } else if constexpr (std::is_same_v<T, int>) {
          if (!source.is_number()) return false;
          const double number = source.get<double>();
          if (number != std::floor(number) || number < INT_MIN || number > INT_MAX) return false;
        } else if constexpr (std::is_same_v<T, double>) {
          if (!source.is_number()) return false;
        } else if constexpr (std::is_same_v<T, std::string>) {
          if (!source.is_string()) return false;
        } else {
          if (!is_texts(source)) return false;
        }
        value = source.get<T>();
        return true;
      },
      target);
}

}  // namespace

std::string write_options(std::span<const NamedOption> options) {
  nlohmann::ordered_json object = nlohmann::ordered_json::object();
  for (const NamedOption& option : options) {
    std::visit([&](const auto& value) { object[std::string(option.name)] = value; }, option.value);
  }
  return object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

Status parse_options(std::string_view text, std::span<NamedOption> options) {
  const json object = json::parse(text.begin(), text.end(), nullptr, false);
  if (!object.is_object()) {
    return Error{ErrorCode::kInvalidArgument, "options", "they are not a JSON object",
                 "give {\"name\": value, ...}"};
  }
  for (const auto& [name, value] : object.items()) {
    const auto option =
        std::find_if(options.begin(), options.end(),
                     [&name = name](const NamedOption& o) { return o.name == name; });
    if (option == options.end()) {
      std::string known;
      for (const NamedOption& o : options)
        known += (known.empty() ? "" : ", ") + std::string(o.name);
      return option_error(name, "there is no such option", "use one of: " + known);
    }
    if (!assign(value, option->value)) {
      return option_error(name,
                          "its value has the wrong type (" + std::string(value.type_name()) + ")",
                          wanted(option->value));
    }
  }
  return {};
}

}  // namespace sparing::internal

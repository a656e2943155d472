// Options structs (sparing/base/options.h) as JSON objects, by their field lists.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sparing/base/options.h"
#include "sparing/base/result.h"

namespace sparing {

namespace internal {
using OptionValue = std::variant<bool, int, double, std::string, std::vector<std::string>>;
struct NamedOption {
  std::string_view name;
  OptionValue value;
};
std::string write_options(std::span<const NamedOption> options);
Status parse_options(std::string_view json, std::span<NamedOption> options);

template <class Struct>
std::vector<NamedOption> list_options(const Struct& options) {
  std::vector<NamedOption> list;
  for_each_option(options, [&](const auto& field, const auto& value) {
    list.push_back({field.name, OptionValue(value)});
  });
  return list;
}
}  // namespace internal

// One JSON object with every option, in the order of the field list: {"score":0.25,"size":""}.
// Text that is not UTF-8 is repaired with U+FFFD.
template <class Struct>
std::string options_to_json(const Struct& options) {
  return internal::write_options(internal::list_options(options));
}

// Sets the options that the JSON object has, and leaves the others. kInvalidArgument, with
// `options` unchanged: not a JSON object, an unknown name (the known ones are listed), a value of a
// wrong type (a number without fraction passes for any number) or outside its range or choices.
template <class Struct>
Status options_from_json(std::string_view json, Struct& options) {
  std::vector<internal::NamedOption> list = internal::list_options(options);
  SPARING_RETURN_IF_ERROR(internal::parse_options(json, list));
  Struct changed = options;
  std::size_t next = 0;
  for_each_option(changed, [&](const auto&, auto& value) {
    value = std::get<std::decay_t<decltype(value)>>(std::move(list[next++].value));
  });
  SPARING_RETURN_IF_ERROR(validate_options(changed));
  options = std::move(changed);
  return {};
}

}  // namespace sparing

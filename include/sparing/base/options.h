// One field list per options struct gives its defaults, units, ranges, help and validation; the
// command line and JSON readers walk the same list. A struct takes part by defining
//
//   static constexpr auto fields() {
//     return std::tuple{
//         option("score", &DetectOptions::score).help("least confidence").range(0, 1),
//         option("size", &DetectOptions::size).help("...").unit("WxH"),
//     };
//   }
//
// Member types: bool, int, double, std::string, std::vector<std::string>. Empty strings and lists
// mean "not set". Names are the command-line names without dashes.
#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "sparing/base/result.h"

namespace sparing {

template <class Struct, class T>
struct OptionField {
  std::string_view name;
  T Struct::* member = nullptr;
  std::string_view help_text = "";
  std::string_view unit_text = "";
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  std::string_view choice_list = "";  // "auto|f32|bf16"; empty: any value
  // A number that means "not set", outside the range and not a user's to give; NaN: none.
  double unset_value = std::numeric_limits<double>::quiet_NaN();

  constexpr OptionField help(std::string_view text) const {
    OptionField copy = *this;
    copy.help_text = text;
    return copy;
  }
  constexpr OptionField unit(std::string_view text) const {
    OptionField copy = *this;
    copy.unit_text = text;
    return copy;
  }
  constexpr OptionField range(double low, double high) const {
    OptionField copy = *this;
    copy.min = low;
    copy.max = high;
    return copy;
  }
  constexpr OptionField unset(double value) const {
    OptionField copy = *this;
    copy.unset_value = value;
    return copy;
  }
  constexpr OptionField choices(std::string_view list) const {
    OptionField copy = *this;
    copy.choice_list = list;
    return copy;
  }
};

template <class Struct, class T>
constexpr OptionField<Struct, T> option(std::string_view name, T Struct::* member) {
  return {name, member};
}

// Calls visit(field, value&) for each field, in order.
template <class Struct, class Visitor>
void for_each_option(Struct& options, Visitor&& visit) {
  std::apply([&](const auto&... field) { (visit(field, options.*(field.member)), ...); },
             std::remove_const_t<Struct>::fields());
}

namespace internal {
template <class T>
inline constexpr bool is_option_type =
    std::is_same_v<T, bool> || std::is_same_v<T, int> || std::is_same_v<T, double> ||
    std::is_same_v<T, std::string> || std::is_same_v<T, std::vector<std::string>>;

Status check_number(std::string_view name, double value, double min, double max,
                    std::string_view unit);
Status check_choice(std::string_view name, std::string_view value, std::string_view choices);
}  // namespace internal

// The first value outside its range or choices, as kInvalidArgument naming the option, the value
// and what is allowed. NaN is never in range. An unset string (empty) or number passes; choices
// hold for each string of a list.
template <class Struct>
Status validate_options(const Struct& options) {
  Status status;
  for_each_option(options, [&](const auto& field, const auto& value) {
    using T = std::decay_t<decltype(value)>;
    static_assert(internal::is_option_type<T>, "not one of the member types listed above");
    if (!status.ok()) return;
    if constexpr (std::is_same_v<T, int> || std::is_same_v<T, double>) {
      const auto number = static_cast<double>(value);
      if (number == field.unset_value) return;
      status = internal::check_number(field.name, number, field.min, field.max, field.unit_text);
    } else if constexpr (std::is_same_v<T, std::string>) {
      if (!value.empty()) status = internal::check_choice(field.name, value, field.choice_list);
    } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
      for (const std::string& item : value) {
        if (status.ok()) status = internal::check_choice(field.name, item, field.choice_list);
      }
    }
  });
  return status;
}

}  // namespace sparing

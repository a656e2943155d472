// Puts the fields of an options struct (sparing/base/options.h) on a command line.
#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "sparing/base/duration.h"
#include "sparing/base/options.h"

namespace sparing::cli {

// What is wrong with a number as it was written, and what to give instead; empty: nothing. Numbers
// are plain decimals, whatever the locale.
std::string number_problem(std::string_view text, bool whole, double low, double high,
                           std::string_view unit);

// Makes a text that is no number of this range an error of the parse. It has to be one here: after
// the parse, a number that stands for "not given" looks like one that was not given.
template <class T>
CLI::Option* check_range(CLI::Option* option, double low, double high, std::string unit = "") {
  constexpr bool kWhole = std::is_integral_v<T>;
  if constexpr (kWhole) {
    low = std::max(low, static_cast<double>(std::numeric_limits<T>::lowest()));
    high = std::min(high, static_cast<double>(std::numeric_limits<T>::max()));
  }
  return option->check([low, high, unit = std::move(unit)](const std::string& text) {
    return number_problem(text, kWhole, low, high, unit);
  });
}

// As number_problem, for a duration that is given in `unit` or with a unit of its own. Without a
// problem `text` becomes the number of these units.
std::string duration_problem(std::string& text, double low, double high, std::string_view unit);

// The same for a duration: "25ms" becomes 0.025 where the unit is "s".
inline CLI::Option* check_duration(CLI::Option* option, double low, double high, std::string unit) {
  option->type_name("TIME[" + unit + "]");
  return option->transform(CLI::Validator(
      [low, high, unit](std::string& text) { return duration_problem(text, low, high, unit); },
      ""));
}

// Makes an empty text an error of the parse, for each option of the command: an empty string means
// "not given" to the options structs, and --size '' is more often an unset shell variable. To be
// called when the command has all its options.
void refuse_empty_values(CLI::App& command);

struct FlagStyle {
  std::string group;   // heading in the help; empty: the usual one
  std::string prefix;  // "roi-": before names that do not begin with it, e.g. against clashes
};

// "--roi-reduction" for the field "reduction" and the prefix "roi-".
std::string flag_name(std::string_view field, std::string_view prefix);

// validate_options, whose error names the option as it is on the command line.
template <class Struct>
Status check_options(const Struct& options, std::string_view prefix) {
  Status status = validate_options(options);
  if (status.ok()) return status;
  Error error = status.error();
  const std::string field = error.thing.substr(error.thing.find_first_not_of('-'));
  error.thing = flag_name(field, prefix);
  return error;
}

// Choices are checked by validate_options, so that a library user reads the same message. What is
// on by default gets a --no-NAME, too.
template <class Struct>
void add_flags(CLI::App& app, Struct& options, const FlagStyle& style = {}) {
  for_each_option(options, [&](const auto& field, auto& value) {
    using T = std::decay_t<decltype(value)>;
    const std::string flag = flag_name(field.name, style.prefix);
    std::string help(field.help_text);
    if (!field.choice_list.empty()) help += " (" + std::string(field.choice_list) + ")";
    const auto arrange = [&](CLI::Option* option) {
      if (!style.group.empty()) option->group(style.group);
    };
    if constexpr (std::is_same_v<T, bool>) {
      arrange(app.add_flag(value ? flag + ",!--no-" + flag.substr(2) : flag, value, help));
    } else {
      CLI::Option* option = app.add_option(flag, value, help);
      arrange(option);
      if (!field.unit_text.empty()) option->type_name(std::string(field.unit_text));
      if constexpr (std::is_same_v<T, std::vector<std::string>>) {
        option->delimiter(',')->allow_extra_args(false);  // the next word may be the input
      } else if constexpr (std::is_same_v<T, std::string>) {
        if (!value.empty()) option->capture_default_str();
      } else {
        const std::string unit(field.unit_text);
        if (std::is_same_v<T, double> && is_duration_unit(unit)) {
          check_duration(option, field.min, field.max, unit);
        } else {
          check_range<T>(option, field.min, field.max, unit);
        }
        // Else the help says what holds.
        if (static_cast<double>(value) != field.unset_value) option->capture_default_str();
      }
    }
  });
}

// For CLI11's ParseError: prints the help or version that was asked for, or one line that says what
// is wrong and where the help is; returns the exit code.
int exit_of_parse(const CLI::App& app, const CLI::ParseError& error);

}  // namespace sparing::cli

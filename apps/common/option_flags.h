// Puts the fields of an options struct (sparing/base/options.h) on a command line.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <type_traits>
#include <vector>

#include "sparing/base/options.h"

namespace sparing::cli {

// Ranges and choices are checked by validate_options, so that a library user reads the same
// message.
template <class Struct>
void add_flags(CLI::App& app, Struct& options) {
  for_each_option(options, [&](const auto& field, auto& value) {
    using T = std::decay_t<decltype(value)>;
    const std::string flag = "--" + std::string(field.name);
    std::string help(field.help_text);
    if (!field.choice_list.empty()) help += " (" + std::string(field.choice_list) + ")";
    if constexpr (std::is_same_v<T, bool>) {
      app.add_flag(flag, value, help);
    } else {
      CLI::Option* option = app.add_option(flag, value, help);
      if (!field.unit_text.empty()) option->type_name(std::string(field.unit_text));
      if constexpr (std::is_same_v<T, std::vector<std::string>>) {
        option->delimiter(',')->allow_extra_args(false);  // the next word may be the input
      } else if constexpr (std::is_same_v<T, std::string>) {
        if (!value.empty()) option->capture_default_str();
      } else if (static_cast<double>(value) !=
                 field.unset_value) {  // else the help says what holds
        option->capture_default_str();
      }
    }
  });
}

// For CLI11's ParseError: prints the help or version that was asked for, or one line that says what
// is wrong and where the help is; returns the exit code.
int exit_of_parse(const CLI::App& app, const CLI::ParseError& error);

}  // namespace sparing::cli

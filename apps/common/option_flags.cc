#include "option_flags.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "exit_codes.h"

namespace sparing::cli {
namespace {

// The innermost subcommand that was named.
const CLI::App& named_command(const CLI::App& app) {
  const auto subcommands = app.get_subcommands();
  return subcommands.empty() ? app : named_command(*subcommands.front());
}

std::string full_name(const CLI::App& app) {
  return app.get_parent() == nullptr ? app.get_name()
                                     : full_name(*app.get_parent()) + " " + app.get_name();
}

std::string text_of(double value) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::general, 15);
  return {text, end.ptr};
}

// The shortest text that reads back as this very number.
std::string exact_text_of(double value) {
  char text[64];
  const auto end = std::to_chars(text, text + sizeof text, value);
  return {text, end.ptr};
}

std::string range_text(double low, double high, std::string_view unit) {
  const std::string suffix = unit.empty() ? "" : " " + std::string(unit);
  if (std::isinf(low) && std::isinf(high)) return suffix.empty() ? "" : " of" + suffix;
  if (std::isinf(high)) return " of " + text_of(low) + suffix + " or more";
  if (std::isinf(low)) return " of " + text_of(high) + suffix + " or less";
  return " from " + text_of(low) + " to " + text_of(high) + suffix;
}

// [+-]digits, without leading zeros: elsewhere they make a number octal.
bool is_whole(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  if (text.empty() || (text.size() > 1 && text[0] == '0')) return false;
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// The option that an error's text begins with or is about; null when it is about none.
const CLI::Option* named_option(const CLI::App& command, const std::string& text) {
  for (const CLI::Option* option : command.get_options()) {
    const std::string name = option->get_name();
    if (text.starts_with(name + ":") || text.find(": " + name + " =") != std::string::npos) {
      return option;
    }
  }
  return nullptr;
}

std::string quoted(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "'" : ", '") + word + "'";
  return text;
}

// The parser's own words for these do not say what is wrong, or not what to do.
std::string problem_text(const CLI::App& command, const CLI::ParseError& error) {
  const std::string text = error.what();
  const CLI::Option* option = named_option(command, text);
  if (option == nullptr) return text;
  const std::string name = option->get_name();
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    if (option->count() > 1 && option->get_expected_max() == 1) {
      return name + ": was given " + std::to_string(option->count()) + " times, " +
             quoted(option->results()) + "; give it once";
    }
    if (option->count() == 0) {
      return name + ": its value is missing; give " + name + " " + option->get_type_name();
    }
  }
  if (dynamic_cast<const CLI::ConversionError*>(&error) != nullptr) {
    const bool fractions = option->get_type_name() == "FLOAT";
    return name + ": " + quoted(option->results()) + " is not a " +
           (fractions ? "number" : "whole number of a size that fits") + "; give one";
  }
  return text;
}

}  // namespace

std::string number_problem(std::string_view text, bool whole, double low, double high,
                           std::string_view unit) {
  const std::string fix =
      std::string("; give a ") + (whole ? "whole number" : "number") + range_text(low, high, unit);
  const std::string value = "'" + std::string(text) + "'";
  if (whole && !is_whole(text)) return value + " is not a plain whole number" + fix;
  if (text.starts_with('+')) text.remove_prefix(1);
  double number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (end != text.data() + text.size() || code == std::errc::invalid_argument ||
      std::isnan(number)) {
    return value + " is not a number" + fix;
  }
  if (code != std::errc() || number < low || number > high) return value + " is out of range" + fix;
  return {};
}

std::string duration_problem(std::string& text, double low, double high, std::string_view unit) {
  if (text.empty()) return {};  // refuse_empty_values says so
  const std::string fix =
      "; give a time" + range_text(low, high, unit) + ", e.g. " + (unit == "ms" ? "25ms" : "1s");
  const auto number = parse_duration(text, unit);
  if (!number) return "'" + text + "' is not a time" + fix;
  if (!(*number >= low && *number <= high)) return "'" + text + "' is out of range" + fix;
  text = exact_text_of(*number);
  return {};
}

std::string flag_name(std::string_view field, std::string_view prefix) {
  const bool has_it = field.starts_with(prefix.substr(0, prefix.find('-')));
  return "--" + std::string(has_it ? "" : prefix) + std::string(field);
}

void refuse_empty_values(CLI::App& command) {
  for (CLI::Option* option : command.get_options()) {
    if (option->get_expected_max() == 0) continue;  // a flag
    option->check([](const std::string& text) {
      return text.empty() ? "'' is empty; give a value, or leave the option out" : std::string();
    });
  }
}

int exit_of_parse(const CLI::App& app, const CLI::ParseError& error) {
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) {
    return app.exit(error);  // --help and --version
  }
  const CLI::App& command = named_command(app);
  std::string problem = problem_text(command, error);
  // "A subcommand is required" does not say which word was taken for one.
  const auto extras = command.remaining();
  if (!extras.empty()) problem = "'" + extras.front() + "' is neither an option nor a command here";
  std::replace(problem.begin(), problem.end(), '\n', ' ');
  std::fprintf(stderr, "%s: %s; see %s --help\n", app.get_name().c_str(), problem.c_str(),
               full_name(command).c_str());
  return kExitUsage;
}

}  // namespace sparing::cli

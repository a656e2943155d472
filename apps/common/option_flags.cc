#include "option_flags.h"

#include <algorithm>
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

}  // namespace

int exit_of_parse(const CLI::App& app, const CLI::ParseError& error) {
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) {
    return app.exit(error);  // --help and --version
  }
  const CLI::App& command = named_command(app);
  std::string problem = error.what();
  // "A subcommand is required" does not say which word was taken for one.
  const auto extras = command.remaining();
  if (!extras.empty()) problem = "'" + extras.front() + "' is neither an option nor a command here";
  std::replace(problem.begin(), problem.end(), '\n', ' ');
  std::fprintf(stderr, "%s: %s; see %s --help\n", app.get_name().c_str(), problem.c_str(),
               full_name(command).c_str());
  return kExitUsage;
}

}  // namespace sparing::cli

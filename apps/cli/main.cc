// sparing: the command line. Each subcommand is one file; docs/cli.md is the manual.
#include <cstdio>
#include <exception>
#include <string>

#include <CLI/CLI.hpp>

#include "commands.h"
#include "exit_codes.h"
#include "option_flags.h"
#include "runtime.h"
#include "sparing/base/version.h"

namespace sparing::cli {
namespace {

constexpr const char* kDescription =
    "Finds and segments objects in video on a small machine.\n\n"
    "  sparing models get nanodet-g                  fetch the default detector, once\n"
    "  sparing detect clip.mp4 --out boxes.jsonl --render boxes.mp4\n"
    "  sparing segment me.mp4 --background blur --render call.mp4\n"
    "  sparing import clip.mp4 --out frame.png       what a network sees of a frame\n"
    "  sparing eval boxes.jsonl --gt gt.txt          compare with ground truth\n"
    "  sparing eval-masks masks/ --gt labels/ --frames frames/ --classes 11\n\n"
    "`sparing COMMAND --help` explains each command.";

constexpr const char* kFooter =
    "Exit codes: 0 done, 1 internal error, 2 usage, 3 input, 4 model, 5 output, 6 not available on "
    "this machine, 7 quantised model refused, 8 some of several inputs failed, 130 interrupted.";

int run(int argc, char** argv) {
  CLI::App app(kDescription, "sparing");
  app.footer(kFooter);
  app.require_subcommand(1);
  const std::string version_line = "sparing " + std::string(version());
  app.set_version_flag("--version", version_line);
  Command command;
  add_detect_command(app, command);
  add_segment_command(app, command);
  add_import_command(app, command);
  add_eval_command(app, command);
  add_eval_masks_command(app, command);
  add_models_command(app, command);
  add_train_scale_command(app, command);
  add_info_command(app, command);
  app.add_subcommand("version", "print the version")->callback([&] {
    command = [&] {
      std::printf("%s\n", version_line.c_str());
      return kExitOk;
    };
  });
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return exit_of_parse(app, error);
  }
  return command();
}

}  // namespace

int report(const Error& error) {
  std::fprintf(stderr, "sparing: %s\n", error.to_string().c_str());
  return exit_code(error.code);
}

}  // namespace sparing::cli

int main(int argc, char** argv) {
  sparing::cli::prepare_process();
  try {
    return sparing::cli::run(argc, argv);
  } catch (const std::exception& error) {
    // E.g. out of memory. The library itself reports errors as values.
    std::fprintf(stderr, "sparing: internal error: %s\n", error.what());
    return sparing::cli::kExitInternal;
  }
}

// One function a subcommand: declares its options on `app`, and sets `run` to what to do once they
// are parsed. `run` returns the exit code.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "sparing/base/result.h"

namespace sparing::cli {

using Command = std::function<int()>;

void add_detect_command(CLI::App& app, Command& run);
void add_segment_command(CLI::App& app, Command& run);
void add_import_command(CLI::App& app, Command& run);
void add_eval_command(CLI::App& app, Command& run);
void add_eval_masks_command(CLI::App& app, Command& run);
void add_models_command(CLI::App& app, Command& run);
void add_train_scale_command(CLI::App& app, Command& run);
// Under `models`.
void add_quantize_command(CLI::App& app, Command& run);
void add_profile_command(CLI::App& app, Command& run);
void add_info_command(CLI::App& app, Command& run);

// "sparing: <error>" on standard error; returns the error's exit code.
int report(const Error& error);

}  // namespace sparing::cli

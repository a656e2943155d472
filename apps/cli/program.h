// Other programs that the app runs: the Python tools.
#pragma once

#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

namespace sparing::cli {

// Runs a program with our terminal and environment, and waits for its end. A stop ends it politely
// (SIGTERM, on which the tools remove their temporary files). Its exit code, kExitInterrupted when
// a signal ended it, or -1 when it cannot start.
int run_program(const std::vector<std::string>& words, const std::stop_token& stop = {});

// The Python of `models get`: $SPARING_PYTHON, else the set-up's private one, else "python3".
std::string tool_python();

// The Python of `models quantize`: $SPARING_QUANTIZE_PYTHON, else the environment that
// `scripts/setup --quantize` makes; empty when there is none.
std::filesystem::path quantize_python();

}  // namespace sparing::cli

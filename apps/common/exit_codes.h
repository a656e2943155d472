// The process's exit codes, documented in docs/cli.md.
#pragma once

#include "sparing/base/result.h"

namespace sparing::cli {

inline constexpr int kExitOk = 0;
inline constexpr int kExitInternal = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitInput = 3;
inline constexpr int kExitModel = 4;
inline constexpr int kExitOutput = 5;
inline constexpr int kExitNotSupported = 6;
inline constexpr int kExitRefused = 7;     // a quantised model that is not good enough
inline constexpr int kExitSomeInputs = 8;  // some of several inputs failed, the rest is complete
// All is done but the folder of --explain or --export-canvases.
inline constexpr int kExitLacking = 9;
inline constexpr int kExitInterrupted = 130;  // 128 + SIGINT, as shells report it

constexpr int exit_code(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument: return kExitUsage;
    case ErrorCode::kNotSupported: return kExitNotSupported;
    case ErrorCode::kInput: return kExitInput;
    case ErrorCode::kModel: return kExitModel;
    case ErrorCode::kOutput: return kExitOutput;
    case ErrorCode::kInterrupted: return kExitInterrupted;
    case ErrorCode::kInternal: return kExitInternal;
  }
  return kExitInternal;
}

}  // namespace sparing::cli

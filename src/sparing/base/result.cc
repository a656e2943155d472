#include "sparing/base/result.h"

namespace sparing {

std::string_view to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument: return "invalid_argument";
    case ErrorCode::kNotSupported: return "not_supported";
    case ErrorCode::kInput: return "input";
    case ErrorCode::kModel: return "model";
    case ErrorCode::kOutput: return "output";
    case ErrorCode::kInterrupted: return "interrupted";
    case ErrorCode::kInternal: return "internal";
  }
  return "internal";
}

std::string Error::to_string() const {
  std::string line = thing;
  if (!problem.empty()) line += (line.empty() ? "" : ": ") + problem;
  if (!fix.empty()) line += (line.empty() ? "" : "; ") + fix;
  // One line that a terminal shows as it is, whatever file names or engine messages hold.
  for (char& c : line) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) c = ' ';
  }
  return line;
}

}  // namespace sparing

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

namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

// Bytes of the UTF-8 character that the text begins with; 0: it is none.
std::size_t character_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  const std::size_t length = first < 0x80                    ? 1
                             : first >= 0xC2 && first < 0xE0 ? 2
                             : first >= 0xE0 && first < 0xF0 ? 3
                             : first >= 0xF0 && first < 0xF5 ? 4
                                                             : 0;
  if (length == 0 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  if (length < 3) return length;
  const unsigned second = byte(1);
  // Longer than need be, a surrogate, or beyond the last one.
  const bool wrong = (first == 0xE0 && second < 0xA0) || (first == 0xED && second >= 0xA0) ||
                     (first == 0xF0 && second < 0x90) || (first == 0xF4 && second >= 0x90);
  return wrong ? 0 : length;
}

// One line that a terminal shows as it is, whatever file names, files or engine messages hold.
std::string printable(std::string_view text) {
  std::string line;
  while (!text.empty()) {
    const std::size_t length = character_length(text);
    const auto first = static_cast<unsigned char>(text[0]);
    // U+0080 to U+009F are control characters, too.
    const bool control =
        first < 0x20 || first == 0x7f ||
        (first == 0xC2 && length == 2 && static_cast<unsigned char>(text[1]) < 0xA0);
    if (control) {
      line += ' ';
    } else {
      line += length > 0 ? text.substr(0, length) : kReplacement;
    }
    text.remove_prefix(length > 0 ? length : 1);
  }
  return line;
}

}  // namespace

std::string Error::to_string() const {
  std::string line = thing;
  if (!problem.empty()) line += (line.empty() ? "" : ": ") + problem;
  if (!fix.empty()) line += (line.empty() ? "" : "; ") + fix;
  return printable(line);
}

}  // namespace sparing

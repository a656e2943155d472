#include "sparing/backends/openvino_error.h"

#include <algorithm>
#include <utility>

namespace sparing::openvino {
namespace {

constexpr std::size_t kMaxLength = 300;

bool starts_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

std::string_view trim(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

// "[CPU] Add node with name 'y' Check 'a == b' failed at src/x.cpp:52:" without the check.
std::string_view without_check(std::string_view line) {
  const std::size_t check = line.find("Check '");
  if (check == std::string_view::npos) return line;
  const std::size_t failed = line.find("' failed at ", check);
  return failed == std::string_view::npos ? line : line.substr(0, check);
}

bool is_heading(std::string_view line) {
  return starts_with(line, "Exception from ") || starts_with(line, "FrontEnd API failed with") ||
         line == "Summary:" || line == "Model wasn't fully converted.";
}

}  // namespace

std::string readable_message(std::string_view what) {
  std::string message;
  while (!what.empty()) {
    const std::size_t end = std::min(what.find('\n'), what.size());
    std::string_view line = trim(what.substr(0, end));
    what.remove_prefix(std::min(end + 1, what.size()));
    if (starts_with(line, "-- ")) line.remove_prefix(3);
    line = trim(without_check(line));
    if (line.empty() || is_heading(line)) continue;
    if (!message.empty()) message += ' ';
    message += line;
  }
  while (!message.empty() && (message.back() == '.' || message.back() == ':')) message.pop_back();
  if (message.size() > kMaxLength) {
    std::size_t cut = kMaxLength - 3;
    // Not inside a UTF-8 sequence.
    while (cut > 0 && (static_cast<unsigned char>(message[cut]) & 0xC0) == 0x80) --cut;
    message = message.substr(0, cut) + "...";
  }
  return message.empty() ? "the engine gave no reason" : message;
}

Error engine_error(ErrorCode code, std::string thing, const std::exception& exception,
                   std::string fix) {
  return {code, std::move(thing), readable_message(exception.what()), std::move(fix)};
}

}  // namespace sparing::openvino

#include "sparing/io/json_text.h"

#include <array>
#include <charconv>

#include <nlohmann/json.hpp>

namespace sparing {
namespace {

template <class T>
void append_shortest(std::string& text, T value) {
  std::array<char, 64> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  text.append(digits.data(), end);
}

}  // namespace

void append_json_string(std::string& text, std::string_view value) {
  using Json = nlohmann::json;
  text += Json(value).dump(-1, ' ', false, Json::error_handler_t::replace);
}

void append_number(std::string& text, std::int64_t value) { append_shortest(text, value); }
void append_number(std::string& text, float value) { append_shortest(text, value); }
void append_number(std::string& text, double value) { append_shortest(text, value); }

}  // namespace sparing

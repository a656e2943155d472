#include "sparing/base/color.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace sparing {
namespace {

struct NamedColor {
  std::string_view name;
  Rgb color;
};
// HTML 4's sixteen, and orange; "gray" is spelt both ways.
constexpr std::array<NamedColor, 18> kColors{{
    {"black", {0, 0, 0}},
    {"silver", {192, 192, 192}},
    {"grey", {128, 128, 128}},
    {"gray", {128, 128, 128}},
    {"white", {255, 255, 255}},
    {"maroon", {128, 0, 0}},
    {"red", {255, 0, 0}},
    {"purple", {128, 0, 128}},
    {"fuchsia", {255, 0, 255}},
    {"green", {0, 128, 0}},
    {"lime", {0, 255, 0}},
    {"olive", {128, 128, 0}},
    {"yellow", {255, 255, 0}},
    {"navy", {0, 0, 128}},
    {"blue", {0, 0, 255}},
    {"teal", {0, 128, 128}},
    {"aqua", {0, 255, 255}},
    {"orange", {255, 165, 0}},
}};

// The value of a hexadecimal digit; -1: it is none.
int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::optional<Rgb> parse_digits(std::string_view digits) {
  if (digits.size() != 3 && digits.size() != 6) return std::nullopt;
  const std::size_t each = digits.size() / 3;
  std::array<std::uint8_t, 3> channels{};
  for (std::size_t c = 0; c < 3; ++c) {
    // One digit stands for the same one twice.
    const int high = digit(digits[c * each]), low = digit(digits[c * each + each - 1]);
    if (high < 0 || low < 0) return std::nullopt;
    channels[c] = static_cast<std::uint8_t>(high * 16 + low);
  }
  return Rgb{channels[0], channels[1], channels[2]};
}

}  // namespace

std::optional<Rgb> parse_color(std::string_view text) {
  if (!text.empty() && text.front() == '#') return parse_digits(text.substr(1));
  const auto same = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == b;  // names are in lower case
  };
  for (const NamedColor& row : kColors) {
    if (std::equal(text.begin(), text.end(), row.name.begin(), row.name.end(), same)) {
      return row.color;
    }
  }
  return std::nullopt;
}

std::string color_names() {
  std::string names;
  for (const NamedColor& row : kColors) {
    names += (names.empty() ? "" : ", ") + std::string(row.name);
  }
  return names;
}

}  // namespace sparing

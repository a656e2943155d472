// Colours as people name them.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sparing {

// 0..255 each, not linear (sRGB's transfer), as everywhere in 8-bit pictures.
struct Rgb {
  std::uint8_t r = 0, g = 0, b = 0;
  friend auto operator<=>(const Rgb&, const Rgb&) = default;
};

// "#rrggbb", "#rgb" (hexadecimal digits in either case), or a name out of a short list; none: it is
// neither.
std::optional<Rgb> parse_color(std::string_view text);
// The names that parse_color() knows, for messages: "black, white, ...".
std::string color_names();

}  // namespace sparing

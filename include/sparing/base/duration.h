// Durations as people write them: "25ms", "1.5s", "2min".
#pragma once

#include <optional>
#include <string_view>

namespace sparing {

// Whether it is one of us, ms, s, min and h.
bool is_duration_unit(std::string_view unit);

// The duration in `unit`, one of those above. `text` is a plain decimal, whatever the locale, and
// behind it a unit, with or without one space between; without a unit it is in `unit`. None: it is
// no such text. Infinity and signs are let through, for ranges to refuse.
std::optional<double> parse_duration(std::string_view text, std::string_view unit);

}  // namespace sparing

#include "sparing/base/duration.h"

#include <charconv>
#include <cmath>
#include <system_error>

namespace sparing {
namespace {

struct DurationUnit {
  std::string_view name;
  double microseconds;  // whole, so that 25 ms are 0.025 s to the last digit
};
constexpr DurationUnit kUnits[] = {
    {"us", 1}, {"ms", 1e3}, {"s", 1e6}, {"min", 60e6}, {"h", 3600e6}};

const DurationUnit* find_unit(std::string_view name) {
  for (const DurationUnit& unit : kUnits) {
    if (unit.name == name) return &unit;
  }
  return nullptr;
}

}  // namespace

bool is_duration_unit(std::string_view unit) { return find_unit(unit) != nullptr; }

std::optional<double> parse_duration(std::string_view text, std::string_view unit) {
  const DurationUnit* const wanted = find_unit(unit);
  if (wanted == nullptr) return std::nullopt;
  if (text.starts_with('+')) text.remove_prefix(1);
  double number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc() || std::isnan(number)) return std::nullopt;
  std::string_view rest = text.substr(static_cast<std::size_t>(end - text.data()));
  if (rest.empty()) return number;
  if (rest.starts_with(' ')) rest.remove_prefix(1);
  const DurationUnit* const given = find_unit(rest);
  if (given == nullptr) return std::nullopt;
  // One of the two is a multiple of the other; dividing by it rounds once.
  return given->microseconds >= wanted->microseconds
             ? number * (given->microseconds / wanted->microseconds)
             : number / (wanted->microseconds / given->microseconds);
}

}  // namespace sparing

#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <optional>
#include <utility>

#include "sparing/compose/background.h"

namespace sparing {
namespace {

// The effects, in the order of BackgroundEffect.
constexpr std::array<BackgroundEffectInfo, 4> kEffects{{
    {BackgroundEffect::kBlur, "blur", "[:RADIUS]",
     "blurred; the radius in pixels, or as a part of the height (0.04 or 4%)"},
    {BackgroundEffect::kReplace, "replace", "=PATH",
     "a picture or a video (played again when it ends), scaled to fill"},
    {BackgroundEffect::kColor, "colour", "[=COLOUR]", "one colour: #rrggbb or a name"},
    {BackgroundEffect::kCutout, "cutout", "", "transparent (.mov, .webm or a folder of PNGs)"},
}};

Error invalid(std::string_view text, std::string problem, std::string fix) {
  return {ErrorCode::kInvalidArgument, "background '" + std::string(text) + "'", std::move(problem),
          std::move(fix)};
}

std::string effect_list() {
  std::string list;
  for (const BackgroundEffectInfo& row : kEffects) {
    list += std::string(row.name) + std::string(row.argument) + ", ";
  }
  return list + "none";
}

const BackgroundEffectInfo* find_effect(std::string_view name) {
  if (name == "color") name = "colour";
  for (const BackgroundEffectInfo& row : kEffects) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

// "24" and "24px" are pixels, "0.04" and "4%" parts of the height.
std::optional<double> parse_radius(std::string_view text) {
  double scale = 1;
  bool pixels = false;
  if (text.ends_with('%')) {
    text.remove_suffix(1);
    scale = 0.01;
  } else if (text.ends_with("px")) {
    text.remove_suffix(2);
    pixels = true;
  }
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  value *= scale;
  if (!std::isfinite(value) || value <= 0 || value > 1000) return std::nullopt;
  // 100 % and more would be taken for pixels, and less than a pixel for a part of the height.
  if (scale != 1 && value >= 1) return std::nullopt;
  if (pixels && value < 1) return std::nullopt;
  return value;
}

Status check_replacement(std::string_view text, const std::string& path) {
  if (path.empty()) {
    return invalid(text, "it names no file", "give replace=PATH of a picture or a video");
  }
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) {
    return Error{ErrorCode::kInput, "background '" + path + "'", "no such file or directory",
                 "check the path"};
  }
  return {};
}

// The argument of an effect, without the sign before it; none: there was none.
Status apply(std::string_view text, std::optional<std::string_view> argument,
             BackgroundOptions& options) {
  switch (options.effect) {
    case BackgroundEffect::kBlur:
      if (argument) {
        const std::optional<double> radius = parse_radius(*argument);
        if (!radius) {
          return invalid(text, "'" + std::string(*argument) + "' is no radius",
                         "give pixels (1 to 1000) or a part of the height (0.04 or 4%)");
        }
        options.blur_radius = *radius;
      }
      return {};
    case BackgroundEffect::kReplace:
      options.replacement = argument.value_or("");
      return check_replacement(text, options.replacement);
    case BackgroundEffect::kColor:
      if (argument) {
        const std::optional<Rgb> color = parse_color(*argument);
        if (!color) {
          return invalid(text, "'" + std::string(*argument) + "' is no colour",
                         "give #rrggbb or one of " + color_names());
        }
        options.color = *color;
      }
      return {};
    default:
      if (argument) return invalid(text, "it takes nothing behind the name", "leave that out");
      return {};
  }
}

}  // namespace

std::span<const BackgroundEffectInfo> background_effects() { return kEffects; }

Result<BackgroundOptions> parse_background(std::string_view text) {
  BackgroundOptions options;
  if (text == "none") return options;
  // "=" and ":" are the same, so that nobody has to remember which.
  const std::size_t sign = text.find_first_of(":=");
  const BackgroundEffectInfo* row = find_effect(text.substr(0, sign));
  if (row == nullptr) {
    return invalid(text, "there is no such effect", "give one of " + effect_list());
  }
  options.effect = row->effect;
  std::optional<std::string_view> argument;
  if (sign != std::string_view::npos) argument = text.substr(sign + 1);
  SPARING_RETURN_IF_ERROR(apply(text, argument, options));
  return options;
}

}  // namespace sparing

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "sparing/compose/privacy.h"

namespace sparing {
namespace {

Error invalid(std::string_view text, std::string problem, std::string fix) {
  return {ErrorCode::kInvalidArgument, "privacy '" + std::string(text) + "'", std::move(problem),
          std::move(fix)};
}

std::optional<std::uint8_t> find_class(std::string_view name, std::span<const std::string> labels) {
  const auto found = std::find(labels.begin(), labels.end(), name);
  if (found != labels.end()) return static_cast<std::uint8_t>(found - labels.begin());
  int number = -1;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  const int count = labels.empty() ? kMaxClasses : static_cast<int>(labels.size());
  if (number < 0 || number >= count) return std::nullopt;
  return static_cast<std::uint8_t>(number);
}

std::string class_list(std::span<const std::string> labels) {
  std::string list;
  for (const std::string& label : labels) list += (list.empty() ? "" : ", ") + label;
  return list.empty() ? "numbers of classes" : "one of " + list;
}

Status parse_fill(std::string_view text, std::string_view fill, PrivacyOptions& options) {
  const std::size_t sign = fill.find('=');
  const std::string_view name = fill.substr(0, sign);
  const bool color = name == "colour" || name == "color";
  if (!color && sign != std::string_view::npos) {
    return invalid(text, "'" + std::string(name) + "' takes no colour", "leave that out");
  }
  if (color) {
    options.fill = PrivacyFill::kColor;
    if (sign == std::string_view::npos) return {};
    const std::optional<Rgb> parsed = parse_color(fill.substr(sign + 1));
    if (!parsed) {
      return invalid(text, "'" + std::string(fill.substr(sign + 1)) + "' is no colour",
                     "give #rrggbb or one of " + color_names());
    }
    options.color = *parsed;
  } else if (name == "pixelate") {
    options.fill = PrivacyFill::kPixelate;
  } else if (name == "blur") {
    options.fill = PrivacyFill::kBlur;
  } else {
    return invalid(text, "there is no fill '" + std::string(fill) + "'",
                   "give colour[=COLOUR], pixelate or blur");
  }
  return {};
}

}  // namespace

Result<PrivacyOptions> parse_privacy(std::string_view text, std::span<const std::string> labels) {
  PrivacyOptions options;
  const std::size_t colon = text.find(':');
  if (colon != std::string_view::npos) {
    SPARING_RETURN_IF_ERROR(parse_fill(text, text.substr(colon + 1), options));
  }
  std::string_view names = text.substr(0, colon);
  while (true) {
    const std::size_t comma = names.find(',');
    const std::string_view name = names.substr(0, comma);
    const std::optional<std::uint8_t> id = find_class(name, labels);
    if (!id) {
      return invalid(
          text,
          name.empty() ? "a class is missing" : "there is no class '" + std::string(name) + "'",
          "give " + class_list(labels));
    }
    if (std::find(options.classes.begin(), options.classes.end(), *id) == options.classes.end()) {
      options.classes.push_back(*id);
    }
    if (comma == std::string_view::npos) return options;
    names.remove_prefix(comma + 1);
  }
}

}  // namespace sparing

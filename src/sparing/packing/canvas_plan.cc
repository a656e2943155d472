#include "sparing/packing/canvas_plan.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>
#include <string_view>

namespace sparing {
namespace {

constexpr int kMaxSide = 32768;

int round_up(int value, int step) { return (value + step - 1) / step * step; }

std::optional<int> parse_side(std::string_view text) {
  int value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (value < 1 || value > kMaxSide) return std::nullopt;
  return value;
}

Result<Size> parse_template(std::string_view text) {
  const std::size_t x = text.find('x');
  if (x != std::string_view::npos) {
    const std::optional<int> width = parse_side(text.substr(0, x));
    const std::optional<int> height = parse_side(text.substr(x + 1));
    if (width && height) return Size{*width, *height};
  }
  return Error{ErrorCode::kInvalidArgument, "canvas '" + std::string(text) + "'",
               "not a width and a height", "give sides from 1 to 32768, e.g. 640x640"};
}

}  // namespace

Result<std::vector<CanvasShape>> canvas_shapes(const CanvasOptions& options) {
  SPARING_RETURN_IF_ERROR(validate_options(options));
  if (options.templates.empty()) {
    return Error{ErrorCode::kInvalidArgument, "canvases", "none given", "give at least one WxH"};
  }
  std::vector<CanvasShape> shapes;
  const auto add = [&](Size size, std::size_t index) {
    const bool known = std::any_of(shapes.begin(), shapes.end(),
                                   [&](const CanvasShape& shape) { return shape.size == size; });
    if (!known) shapes.push_back({size, static_cast<int>(index)});
  };
  const int stride = options.stride;
  const int least = round_up(options.min_height, stride);
  for (std::size_t i = 0; i < options.templates.size(); ++i) {
    SPARING_ASSIGN_OR_RETURN(const Size given, parse_template(options.templates[i]));
    const int width = round_up(std::max(given.width, options.min_width), stride);
    const int height = round_up(std::max(given.height, options.min_height), stride);
    add({width, height}, i);
    if (options.height_step == 0) continue;
    const int step = round_up(options.height_step, stride);
    for (int cropped = height - step; cropped > least; cropped -= step) add({width, cropped}, i);
    add({width, least}, i);
  }
  return shapes;
}

int cropped_height(const CanvasShape& shape, int used_height, const CanvasOptions& options) {
  if (options.height_step == 0) return shape.size.height;
  const int height = shape.size.height;
  const int least = std::min(round_up(options.min_height, options.stride), height);
  if (used_height <= least) return least;
  const int step = round_up(options.height_step, options.stride);
  return height - std::max(0, height - used_height) / step * step;
}

CanvasMenu canvas_menu(std::span<const CanvasShape> shapes,
                       std::span<const LatencyProfile* const> processors) {
  CanvasMenu menu;
  for (std::size_t p = 0; p < processors.size(); ++p) {
    for (const CanvasShape& shape : shapes) {
      if (!processors[p]->runs(shape.size)) continue;
      const std::int64_t area = static_cast<std::int64_t>(shape.size.width) * shape.size.height;
      menu.items.push_back({area, processors[p]->estimate(shape.size), static_cast<int>(p)});
      menu.shapes.push_back(shape);
    }
  }
  return menu;
}

}  // namespace sparing

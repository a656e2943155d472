#include "sparing/packing/packer.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "sparing/packing/bin.h"

namespace sparing {
namespace {

constexpr int kMaxSide = 32768;

Status check_sizes(std::span<const Size> sizes, const char* kind) {
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const Size size = sizes[i];
    if (size.width >= 1 && size.height >= 1 && size.width <= kMaxSide && size.height <= kMaxSide) {
      continue;
    }
    return Error{ErrorCode::kInvalidArgument, std::string(kind) + " " + std::to_string(i),
                 std::to_string(size.width) + "x" + std::to_string(size.height) + " pixels",
                 "give sides from 1 to " + std::to_string(kMaxSide)};
  }
  return ok_status();
}

PackAlgorithm algorithm_of(std::string_view name) {
  for (const PackAlgorithmInfo& info : kPackAlgorithms) {
    if (info.name == name) return info.algorithm;
  }
  return PackAlgorithm::kSkyline;  // "": not set
}

}  // namespace

Result<Packing> pack_rects(std::span<const Size> items, std::span<const Size> canvases,
                           const PackOptions& options) {
  SPARING_RETURN_IF_ERROR(validate_options(options));
  SPARING_RETURN_IF_ERROR(check_sizes(items, "item"));
  SPARING_RETURN_IF_ERROR(check_sizes(canvases, "canvas"));
  std::vector<std::unique_ptr<packing::Bin>> bins;
  std::int64_t canvas_area = 0;
  // Items carry their gap to the right and below; so may the last ones, into a wider canvas.
  const int grow = options.gap - 2 * options.border;
  for (const Size canvas : canvases) {
    const Size inner{std::max(canvas.width + grow, 0), std::max(canvas.height + grow, 0)};
    bins.push_back(packing::make_bin(algorithm_of(options.algorithm), inner));
    canvas_area += static_cast<std::int64_t>(canvas.width) * canvas.height;
  }

  Packing result;
  result.placements.resize(items.size());
  result.used_heights.resize(canvases.size());
  std::int64_t placed_area = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const Size grown{items[i].width + options.gap, items[i].height + options.gap};
    const std::int64_t needed = static_cast<std::int64_t>(grown.width) * grown.height;
    std::optional<std::size_t> best;
    PixelRect place;
    for (std::size_t b = 0; b < bins.size(); ++b) {
      const std::int64_t room = bins[b]->free_area();
      if (room < needed || (best && room >= bins[*best]->free_area())) continue;
      if (const std::optional<PixelRect> found = bins[b]->find(grown)) {
        best = b;
        place = *found;
      }
    }
    if (!best) continue;
    bins[*best]->take(place);
    const PixelRect rect{place.x + options.border, place.y + options.border, items[i].width,
                         items[i].height};
    result.placements[i] = {static_cast<int>(*best), rect};
    int& height = result.used_heights[*best];
    height = std::max(height, rect.y + rect.height + options.border);
    placed_area += static_cast<std::int64_t>(rect.width) * rect.height;
  }
  if (canvas_area > 0) {
    result.fill = static_cast<double>(placed_area) / static_cast<double>(canvas_area);
  }
  return result;
}

}  // namespace sparing

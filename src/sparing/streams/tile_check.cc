#include "sparing/streams/tile_check.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "sparing/packing/way_cost.h"
#include "sparing/pipeline/detector.h"

namespace sparing {
namespace {

// Two strides of most networks: what is smaller shows no object whole.
constexpr int kLeastSide = 64;
constexpr std::int64_t kMostTiles = 4096;

std::string text_of(Size size) {
  return std::to_string(size.width) + "x" + std::to_string(size.height);
}

std::int64_t tiles_of(Size frame, Size tile, const StreamOptions& options) {
  const double scale = options.scale > 0 ? options.scale : 1;
  return tile_count(frame, tile_in_frame(frame, tile, scale), options.tile_overlap);
}

}  // namespace

Status check_tiles(const StreamOptions& options, std::span<const Size> frames) {
  SPARING_ASSIGN_OR_RETURN(const Size tile, parse_size(options.tile));
  if (std::min(tile.width, tile.height) < kLeastSide) {
    const std::string side = std::to_string(kLeastSide);
    return Error{ErrorCode::kInvalidArgument, "--tile",
                 "'" + options.tile + "' has a side under " + side +
                     " pixels, in which a network sees nothing whole",
                 "give at least " + side + "x" + side + ", better 320x320 or more"};
  }
  if (options.mode != "tiles") return {};
  for (const Size& frame : frames) {
    if (frame.width <= 0 || frame.height <= 0) continue;
    const std::int64_t count = tiles_of(frame, tile, options);
    if (count <= kMostTiles) continue;
    Size larger = tile;
    while (tiles_of(frame, larger, options) > kMostTiles) {
      larger = {2 * larger.width, 2 * larger.height};
    }
    return Error{ErrorCode::kInvalidArgument, "--tile",
                 "'" + options.tile + "' makes " + std::to_string(count) + " tiles of a frame of " +
                     text_of(frame) + ", and at most " + std::to_string(kMostTiles) +
                     " are looked at",
                 "give --tile " + text_of(larger) + " or larger ones, a lower --scale, or less " +
                     "--tile-overlap"};
  }
  return {};
}

}  // namespace sparing

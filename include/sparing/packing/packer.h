// Where rectangles go on canvases (Mondrian, section 4.3.2, "ROI Packing"): two-dimensional bin
// packing, whose exact solution is out of reach (NP-hard). Plain functions without state;
// thread-safe.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "sparing/base/geometry.h"
#include "sparing/base/options.h"
#include "sparing/base/result.h"

namespace sparing {

// All put one rectangle after the other, in the order given, and none moves what lies already.
enum class PackAlgorithm {
  // The free space as rectangles that do not overlap: each rectangle goes to the smallest that
  // holds it (best area fit), and what is left is cut in two along the shorter axis. The paper's.
  kGuillotine,
  // The free space as all its largest rectangles, which overlap; goes to where the shorter of the
  // remaining sides is least (best short side fit). Tightest, slowest: about n^3 at worst.
  kMaxRects,
  // The free space above a line of steps, lowest place first, and rectangles of what was enclosed
  // below it. Fills from the top down, so that canvases can be cropped.
  kSkyline,
};

struct PackAlgorithmInfo {
  PackAlgorithm algorithm;
  std::string_view name;
};

inline constexpr std::array kPackAlgorithms = {
    PackAlgorithmInfo{PackAlgorithm::kGuillotine, "guillotine"},
    PackAlgorithmInfo{PackAlgorithm::kMaxRects, "maxrects"},
    PackAlgorithmInfo{PackAlgorithm::kSkyline, "skyline"},
};

struct PackOptions {
  std::string algorithm = "skyline";
  int gap = 3;
  int border = 0;

  static constexpr auto fields() {
    return std::tuple{
        option("packing", &PackOptions::algorithm)
            .help("how regions are placed on canvases")
            .choices("guillotine|maxrects|skyline"),
        option("gap", &PackOptions::gap)
            .help("least distance between regions on a canvas")
            .unit("px")
            .range(0, 64),
        option("border", &PackOptions::border)
            .help("least distance of regions from the canvas's edges")
            .unit("px")
            .range(0, 64),
    };
  }
};

struct Placement {
  int canvas = -1;  // index of the canvas; -1: found no room
  PixelRect rect;   // on the canvas, of the item's size; empty when it found no room

  bool placed() const { return canvas >= 0; }
  friend bool operator==(const Placement&, const Placement&) = default;
};

struct Packing {
  std::vector<Placement> placements;  // one for each item
  // For each canvas: rows from the top down to the last one needed, border included; 0: unused.
  std::vector<int> used_heights;
  double fill = 0;  // area of the placed items / area of all canvases, 0..1
};

// Places `items` one after the other, without turning them: of the canvases with room for an item,
// on the one with the least area left (the paper's rule); of equals on the first. Items never
// overlap nor leave their canvas, and keep the gap and the border. An item without room is left
// out, and later, smaller ones still tried. The result depends on nothing but the arguments.
// kInvalidArgument: an option out of range, an item or canvas without area or larger than 32768 on
// a side.
Result<Packing> pack_rects(std::span<const Size> items, std::span<const Size> canvases,
                           const PackOptions& options = {});

}  // namespace sparing

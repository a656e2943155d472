// Pictures side by side with lines of text and a curve over time: what `--compare` renders.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sparing/base/color.h"
#include "sparing/base/result.h"
#include "sparing/io/picture.h"

namespace sparing {

struct PanelItem {
  const Picture* picture = nullptr;
  std::string title;  // one line above
  // Below; ASCII, other characters as '?'. Cut at the picture's edge: at least 40 characters fit
  // where it is 240 pixels wide or more.
  std::vector<std::string> lines;
  Rgb color{255, 255, 255};  // of the title, and of its curve
  // Its value at this picture for the curve; none: the curve has a gap here.
  std::optional<double> curve;
};

struct ComparisonPanelOptions {
  Size most{1920, 1080};    // pictures are made smaller to fit; at least 320x240
  bool curves = false;      // a strip at the bottom
  std::string curve_title;  // "F-TC per frame"
  // Values at the strip's lower and upper edge; what is beyond is drawn on the edge.
  double curve_low = 0, curve_high = 100;
};

// The layout is that of the first call (number of items and lines, first picture's shape) and
// stays, so that the panels make a video. Not thread-safe.
class ComparisonPanel {
 public:
  // kInvalidArgument: a size or range of the curve that does not do.
  static Result<ComparisonPanel> create(const ComparisonPanelOptions& options);
  ~ComparisonPanel();
  ComparisonPanel(ComparisonPanel&& other) noexcept;
  ComparisonPanel& operator=(ComparisonPanel&& other) noexcept;

  // Draws the items into `panel`, whose sides are even, with the first picture's colour space and
  // times. Pictures of any sizes: each is scaled into its cell, aspect ratio kept.
  // kInvalidArgument: no items, an item without a picture, another number of items than before.
  Status draw(std::span<const PanelItem> items, Picture& panel);

 private:
  struct Impl;
  explicit ComparisonPanel(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace sparing

// Accuracy against cost as a picture.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "plot_svg.h"
#include "streams_rows.h"

namespace sparing::bench {

struct PlotPanel {
  std::string title;
  std::vector<Row> rows;
};

// One panel a clip: AP over the detector time a frame (logarithmic), a series a method, its best
// rows joined by a line.
Svg draw_panels(std::span<const PlotPanel> panels, const std::string& subtitle, Size& size);

// The same into a file.
Status plot_panels(std::span<const PlotPanel> panels, const std::string& subtitle,
                   const std::filesystem::path& file);

}  // namespace sparing::bench

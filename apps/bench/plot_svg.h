// The few shapes that plots are drawn from.
#pragma once

#include <filesystem>
#include <sstream>
#include <string>

#include "sparing/base/geometry.h"
#include "sparing/base/result.h"

namespace sparing::bench {

// Colours that people with colour blindness tell apart, ours first.
inline constexpr const char* kPlotColors[] = {"#0072b2", "#e69f00", "#d55e00", "#009e73",
                                              "#f0c8dc", "#cc79a7", "#999999", "#56b4e9"};

// At most two decimals.
std::string plot_number(double value);

// Collects shapes; document() is a self-contained SVG. Texts are escaped, styles are not.
class Svg {
 public:
  void text(Point at, const std::string& style, const std::string& content);
  void rect(const Rect& rect, const char* color, const std::string& tip);
  void line(Point from, Point to, const char* style);
  void circle(Point centre, double radius, const std::string& style, const std::string& tip);
  // A line through "x,y x,y ..." points.
  void polyline(const std::string& points, const std::string& style);
  std::string document(double width, double height) const;

 private:
  std::ostringstream out_;
};

// Writes the document. kOutput: it cannot be written.
Status write_svg(const Svg& svg, double width, double height, const std::filesystem::path& file);

}  // namespace sparing::bench

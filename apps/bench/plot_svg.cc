#include "plot_svg.h"

#include <cmath>
#include <cstdio>
#include <fstream>

namespace sparing::bench {
namespace {

// Text of ours has no more than these.
std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '&')
      result += "&amp;";
    else if (c == '<')
      result += "&lt;";
    else if (c == '>')
      result += "&gt;";
    else if (c == '"')
      result += "&quot;";
    else
      result += c;
  }
  return result;
}

}  // namespace

std::string plot_number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", std::round(value * 100) / 100);
  return text;
}

void Svg::text(Point at, const std::string& style, const std::string& content) {
  out_ << "<text x=\"" << plot_number(at.x) << "\" y=\"" << plot_number(at.y) << "\" " << style
       << ">" << escaped(content) << "</text>\n";
}

void Svg::rect(const Rect& rect, const char* color, const std::string& tip) {
  out_ << "<rect x=\"" << plot_number(rect.x) << "\" y=\"" << plot_number(rect.y) << "\" width=\""
       << plot_number(rect.width) << "\" height=\"" << plot_number(rect.height) << "\" fill=\""
       << color << "\"><title>" << escaped(tip) << "</title></rect>\n";
}

void Svg::line(Point from, Point to, const char* style) {
  out_ << "<line x1=\"" << plot_number(from.x) << "\" y1=\"" << plot_number(from.y) << "\" x2=\""
       << plot_number(to.x) << "\" y2=\"" << plot_number(to.y) << "\" " << style << "/>\n";
}

void Svg::circle(Point centre, double radius, const std::string& style, const std::string& tip) {
  out_ << "<circle cx=\"" << plot_number(centre.x) << "\" cy=\"" << plot_number(centre.y)
       << "\" r=\"" << plot_number(radius) << "\" " << style << "><title>" << escaped(tip)
       << "</title></circle>\n";
}

void Svg::polyline(const std::string& points, const std::string& style) {
  out_ << "<polyline points=\"" << escaped(points) << "\" " << style << "/>\n";
}

std::string Svg::document(double width, double height) const {
  std::ostringstream all;
  all << "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " << plot_number(width) << " "
      << plot_number(height) << "\" width=\"" << plot_number(width) << "\" height=\""
      << plot_number(height) << "\" font-family=\"sans-serif\" font-size=\"12\" fill=\"#222\">\n"
      << "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
      << out_.str() << "</svg>\n";
  return all.str();
}

Status write_svg(const Svg& svg, double width, double height, const std::filesystem::path& file) {
  std::ofstream out(file);
  out << svg.document(width, height);
  out.close();
  if (out) return {};
  return Error{ErrorCode::kOutput, "file '" + file.string() + "'", "cannot be written",
               "check the folder's permissions and free space"};
}

}  // namespace sparing::bench

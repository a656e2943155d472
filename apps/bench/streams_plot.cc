#include "streams_plot.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>

namespace sparing::bench {
namespace {

constexpr double kLeft = 56;
constexpr double kTop = 84;
constexpr double kWidth = 400;  // of a plot
constexpr double kHeight = 300;
constexpr double kColumn = kWidth + 84;
constexpr double kLine = kHeight + 84;
constexpr std::size_t kColumns = 2;

// A linear or logarithmic axis from pixel `from` to pixel `to`.
struct Axis {
  double low, high, from, to;
  double operator()(double value) const {
    return from + (to - from) * std::clamp((value - low) / (high - low), 0.0, 1.0);
  }
};

// Of all methods, ours first, so that colours mean the same in all panels.
std::vector<std::string> methods_of(std::span<const PlotPanel> panels) {
  std::set<std::string> names;
  for (const PlotPanel& panel : panels) {
    for (const Row& row : panel.rows) names.insert(row.method);
  }
  std::vector<std::string> methods(names.begin(), names.end());
  std::stable_partition(methods.begin(), methods.end(),
                        [](const std::string& name) { return name.rfind("Sparing", 0) == 0; });
  return methods;
}

struct Range {
  double low = 1e30;
  double high = -1e30;
  void add(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

void draw_axes(Svg& svg, const Axis& x, const Axis& y, const PlotPanel& panel) {
  svg.text({x.from, y.to - 10}, "font-weight=\"bold\"", panel.title);
  for (double tick = std::ceil(y.low * 20 - 1e-9) / 20; tick <= y.high + 1e-9; tick += 0.05) {
    svg.line({x.from, y(tick)}, {x.to, y(tick)}, "stroke=\"#e4e4e4\"");
    svg.text({x.from - 6, y(tick) + 4}, "text-anchor=\"end\" font-size=\"10\"", plot_number(tick));
  }
  for (double exponent = std::floor(x.low); exponent <= x.high; ++exponent) {
    for (const int digit : {1, 2, 5}) {
      const double tick = exponent + std::log10(digit);
      if (tick < x.low - 1e-9 || tick > x.high + 1e-9) continue;
      svg.line({x(tick), y.from}, {x(tick), y.to}, "stroke=\"#e4e4e4\"");
      char label[32];
      std::snprintf(label, sizeof label, "%g", std::pow(10, tick));
      svg.text({x(tick), y.from + 14}, "text-anchor=\"middle\" font-size=\"10\"", label);
    }
  }
  svg.text({(x.from + x.to) / 2, y.from + 30}, "text-anchor=\"middle\" fill=\"#555\"",
           "detector time, ms a frame (log)");
}

void draw_series(Svg& svg, const Axis& x, const Axis& y, const PlotPanel& panel,
                 const std::string& method, const std::string& color) {
  const auto place = [&](const Row& row) {
    return Point{x(std::log10(std::max(row.ms_per_frame(), 1e-6))), y(row.accuracy.ap)};
  };
  std::string points;
  for (const Row* row : pareto(panel.rows, method)) {
    const Point at = place(*row);
    points += plot_number(at.x) + "," + plot_number(at.y) + " ";
  }
  const bool own = method.rfind("Sparing", 0) == 0;
  svg.polyline(points, "fill=\"none\" stroke=\"" + color + "\" stroke-width=\"" +
                           (own ? "2.5" : "1.2") + "\"");
  for (const Row& row : panel.rows) {
    if (row.method != method) continue;
    char tip[200];
    std::snprintf(tip, sizeof tip, "%s: AP %.3f, %.2f ms a frame", row.name().c_str(),
                  row.accuracy.ap, row.ms_per_frame());
    svg.circle(place(row), own ? 4 : 2.5, "fill=\"" + color + "\"", tip);
  }
}

void draw_panel(Svg& svg, const PlotPanel& panel, Point corner,
                const std::vector<std::string>& methods) {
  Range cost;
  Range ap;
  for (const Row& row : panel.rows) {
    cost.add(std::log10(std::max(row.ms_per_frame(), 1e-6)));
    ap.add(row.accuracy.ap);
  }
  if (panel.rows.empty()) return;
  const Axis x{cost.low - 0.05, cost.high + 0.05, corner.x, corner.x + kWidth};
  const double low = std::max(0.0, std::floor(ap.low * 20) / 20);
  const double high = std::max(low + 0.05, std::ceil(ap.high * 20) / 20);
  const Axis y{low, high, corner.y + kHeight, corner.y};
  draw_axes(svg, x, y, panel);
  // Ours last, on top.
  for (std::size_t i = methods.size(); i-- > 0;) {
    draw_series(svg, x, y, panel, methods[i], kPlotColors[i % std::size(kPlotColors)]);
  }
}

void draw_legend(Svg& svg, const std::vector<std::string>& methods) {
  double x = kLeft;
  for (std::size_t i = 0; i < methods.size(); ++i) {
    const char* color = kPlotColors[i % std::size(kPlotColors)];
    svg.rect({x, 52, 10, 10}, color, methods[i]);
    svg.text({x + 14, 61}, "font-size=\"11\"", methods[i]);
    x += 30 + 6.4 * static_cast<double>(methods[i].size());
  }
}

}  // namespace

Svg draw_panels(std::span<const PlotPanel> panels, const std::string& subtitle, Size& size) {
  const std::vector<std::string> methods = methods_of(panels);
  Svg svg;
  svg.text({kLeft, 24}, "font-size=\"18\" font-weight=\"bold\"", "Accuracy against detector time");
  svg.text({kLeft, 42}, "fill=\"#555\"", subtitle);
  draw_legend(svg, methods);
  for (std::size_t i = 0; i < panels.size(); ++i) {
    const Point corner{kLeft + kColumn * static_cast<double>(i % kColumns),
                       kTop + 16 + kLine * static_cast<double>(i / kColumns)};
    draw_panel(svg, panels[i], corner, methods);
  }
  const std::size_t columns = std::min(kColumns, std::max<std::size_t>(panels.size(), 1));
  const std::size_t lines = (panels.size() + kColumns - 1) / kColumns;
  size.width = static_cast<int>(std::max(kLeft + kColumn * static_cast<double>(columns), 960.0));
  size.height = static_cast<int>(kTop + kLine * static_cast<double>(lines) + 16);
  return svg;
}

Status plot_panels(std::span<const PlotPanel> panels, const std::string& subtitle,
                   const std::filesystem::path& file) {
  Size size;
  const Svg svg = draw_panels(panels, subtitle, size);
  return write_svg(svg, size.width, size.height, file);
}

}  // namespace sparing::bench

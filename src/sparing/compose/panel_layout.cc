#include "sparing/compose/panel_layout.h"

#include <algorithm>
#include <cmath>

#include "sparing/io/glyphs.h"

namespace sparing {
namespace {

// A line of text should have so many characters' room.
constexpr int kWantedColumns = 40;

int even(double value) { return std::max(2, static_cast<int>(value) / 2 * 2); }

struct Arrangement {
  PanelLayout layout;
  double zoom = 0;
};

Arrangement arrange(const PanelContent& content, int columns) {
  Arrangement result;
  PanelLayout& layout = result.layout;
  layout.columns = columns;
  layout.rows = (content.items + columns - 1) / columns;
  const int side = std::min(content.most.width, content.most.height);
  layout.gap = even(side / 90.0);
  const double cell_width =
      static_cast<double>(content.most.width - layout.gap * (columns + 1)) / columns;
  const double drawn_width = std::min<double>(cell_width, content.picture.width);
  layout.text_scale =
      std::clamp(static_cast<int>(drawn_width / (kWantedColumns * kGlyphAdvance)), 1, 4);
  const int line = PanelLayout::line_height(layout.text_scale);
  layout.title_height = even(line + layout.text_scale * 2 + 1);
  layout.text_height =
      content.lines > 0 ? even(line * content.lines + layout.text_scale * 2 + 1) : 0;
  const int strip = content.strip ? even(std::max(side / 8.0, 5.0 * line)) : 0;

  const int around = layout.gap * (layout.rows + 1) + (strip > 0 ? strip + layout.gap : 0);
  const double cell_height = static_cast<double>(content.most.height - around) / layout.rows -
                             layout.title_height - layout.text_height;
  result.zoom =
      std::min({1.0, cell_width / content.picture.width, cell_height / content.picture.height});
  layout.picture = {even(content.picture.width * result.zoom),
                    even(content.picture.height * result.zoom)};
  layout.panel = {
      layout.gap + columns * (layout.picture.width + layout.gap),
      around + layout.rows * (layout.title_height + layout.picture.height + layout.text_height)};
  if (strip > 0) {
    layout.strip = {layout.gap, layout.panel.height - layout.gap - strip,
                    layout.panel.width - 2 * layout.gap, strip};
  }
  return result;
}

}  // namespace

int PanelLayout::line_height(int scale) { return (kGlyphHeight + 2) * scale; }

int PanelLayout::text_columns() const {
  return std::max(0, picture.width / (kGlyphAdvance * text_scale));
}

PixelRect PanelLayout::cell(int item) const {
  const int height = title_height + picture.height + text_height;
  return {gap + item % columns * (picture.width + gap), gap + item / columns * (height + gap),
          picture.width, height};
}

PixelRect PanelLayout::picture_of(int item) const {
  const PixelRect whole = cell(item);
  return {whole.x, whole.y + title_height, picture.width, picture.height};
}

PanelLayout lay_out(const PanelContent& content) {
  Arrangement best;
  best.zoom = -1e9;
  for (int columns = content.items; columns >= 1; --columns) {
    Arrangement candidate = arrange(content, columns);
    if (candidate.zoom > best.zoom + 1e-9) best = candidate;
  }
  return best.layout;
}

}  // namespace sparing

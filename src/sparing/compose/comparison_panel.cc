#include "sparing/compose/comparison_panel.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <deque>
#include <exception>
#include <utility>

#include "sparing/compose/panel_layout.h"
#include "sparing/io/glyphs.h"
#include "sparing/io/overlay.h"
#include "sparing/io/picture_canvas.h"

namespace sparing {
namespace {

constexpr Rgb kGround{24, 24, 24};
constexpr Rgb kStripGround{8, 8, 8};
constexpr Rgb kText{235, 235, 235};

Error invalid(std::string thing, std::string problem, std::string fix) {
  return {ErrorCode::kInvalidArgument, std::move(thing), std::move(problem), std::move(fix)};
}

// The fewest digits: "0", "0.5", "100".
std::string number_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

}  // namespace

struct ComparisonPanel::Impl {
  ComparisonPanelOptions options;
  std::optional<PanelLayout> layout;
  int items = 0;
  PictureConverter converter;
  Picture scaled;
  std::vector<std::deque<std::optional<double>>> curves;  // by item, the last that fit the strip

  void begin(std::span<const PanelItem> given) {
    PanelContent content;
    content.items = items = static_cast<int>(given.size());
    for (const PanelItem& item : given) {
      content.lines = std::max(content.lines, static_cast<int>(item.lines.size()));
    }
    content.picture = given.front().picture->size();
    content.most = options.most;
    content.strip = options.curves;
    layout = lay_out(content);
    curves.resize(given.size());
  }

  void text(const YuvCanvas& canvas, const std::string& line, Point at, std::uint8_t luma) const {
    std::u32string characters = display_characters(line);
    const auto most = static_cast<std::size_t>(layout->text_columns());
    if (characters.size() > most) characters.resize(most);
    draw_text(canvas, characters, static_cast<int>(at.x), static_cast<int>(at.y),
              layout->text_scale, luma);
  }

  // Into the cell's middle, its aspect ratio kept.
  Status draw_picture(const Picture& picture, int index, Picture& panel) {
    const PixelRect place = layout->picture_of(index);
    const double zoom = std::min(static_cast<double>(place.width) / picture.size().width,
                                 static_cast<double>(place.height) / picture.size().height);
    const auto even = [](double extent, int most) {
      return std::clamp(static_cast<int>(std::lround(extent / 2)) * 2, 2, most);
    };
    const Size size{even(picture.size().width * zoom, place.width),
                    even(picture.size().height * zoom, place.height)};
    SPARING_RETURN_IF_ERROR(converter.stretch(picture.view(), size, panel.color_space(), scaled));
    const int left = place.x + (place.width - size.width) / 4 * 2;
    const int top = place.y + (place.height - size.height) / 4 * 2;
    for (int p = 0; p < 3; ++p) {
      const int shift = p > 0 ? 1 : 0;
      for (int y = 0; y < size.height >> shift; ++y) {
        std::memcpy(panel.row(p, (top >> shift) + y) + (left >> shift), scaled.row(p, y),
                    static_cast<std::size_t>(size.width >> shift));
      }
    }
    return {};
  }

  void draw_words(const PanelItem& item, int index, Picture& panel) const {
    const YuvCanvas canvas = canvas_of(panel);
    const ColorSpace& space = panel.color_space();
    const PixelRect cell = layout->cell(index);
    const int scale = layout->text_scale;
    // The curve's colour beside the title: text itself has no colour.
    const int swatch = 7 * scale;
    fill_rect(canvas, {cell.x, cell.y + scale, swatch, swatch}, to_yuv(item.color, space));
    const std::uint8_t luma = to_yuv(kText, space).y;
    std::string title = item.title;
    const auto room = static_cast<std::size_t>(std::max(0, layout->text_columns() - 2));
    if (title.size() > room) title.resize(room);
    text(canvas, title,
         {static_cast<double>(cell.x + 2 * kGlyphAdvance * scale),
          static_cast<double>(cell.y + scale)},
         luma);
    const PixelRect picture = layout->picture_of(index);
    int y = picture.y + picture.height + 2 * scale;
    const int bottom = cell.y + cell.height;
    for (const std::string& line : item.lines) {
      if (y + kGlyphHeight * scale > bottom) break;  // more lines than in the first panel
      text(canvas, line, {static_cast<double>(cell.x), static_cast<double>(y)}, luma);
      y += PanelLayout::line_height(scale);
    }
  }

  int strip_row(double value, const PixelRect& plot) const {
    const double part = (value - options.curve_low) / (options.curve_high - options.curve_low);
    return plot.y +
           static_cast<int>(std::lround((1 - std::clamp(part, 0.0, 1.0)) * (plot.height - 2)));
  }

  void draw_curves(std::span<const PanelItem> given, Picture& panel) {
    const YuvCanvas canvas = canvas_of(panel);
    const ColorSpace& space = panel.color_space();
    const PixelRect& strip = layout->strip;
    const int scale = layout->text_scale;
    const std::uint8_t ink = to_yuv(kText, space).y;
    const std::string low = number_text(options.curve_low), high = number_text(options.curve_high);
    const int margin =
        static_cast<int>(std::max(low.size(), high.size()) + 1) * kGlyphAdvance * scale;
    fill_rect(canvas, strip, to_yuv(kStripGround, space));
    draw_text(canvas, display_characters(high), strip.x + scale, strip.y + scale, scale, ink);
    draw_text(canvas, display_characters(low), strip.x + scale,
              strip.y + strip.height - kGlyphHeight * scale, scale, ink);
    const PixelRect plot{strip.x + margin, strip.y, std::max(2, strip.width - margin),
                         strip.height};
    const std::size_t most = static_cast<std::size_t>(plot.width / 2);  // two pixels a picture
    for (std::size_t i = 0; i < given.size(); ++i) {
      std::deque<std::optional<double>>& curve = curves[i];
      curve.push_back(given[i].curve);
      if (curve.size() > most) curve.pop_front();
      const YuvColor color = to_yuv(given[i].color, space);
      std::optional<int> before;
      for (std::size_t k = 0; k < curve.size(); ++k) {
        if (!curve[k] || !std::isfinite(*curve[k])) {
          before.reset();
          continue;
        }
        const int y = strip_row(*curve[k], plot);
        const int from = std::min(before.value_or(y), y), to = std::max(before.value_or(y), y);
        fill_rect(canvas, {plot.x + 2 * static_cast<int>(k), from, 2, to - from + 2}, color);
        before = y;
      }
    }
    const std::u32string title = display_characters(options.curve_title);
    draw_text(canvas, title, plot.x + 2 * scale, strip.y + scale, scale, ink);
  }

  Status draw(std::span<const PanelItem> given, Picture& panel) {
    if (given.empty()) return invalid("comparison", "there is nothing to show", "give pictures");
    for (const PanelItem& item : given) {
      if (item.picture == nullptr || item.picture->empty()) {
        return invalid("comparison '" + item.title + "'", "it has no picture", "give one");
      }
    }
    if (!layout) begin(given);
    if (static_cast<int>(given.size()) != items) {
      return invalid("comparison",
                     std::to_string(given.size()) + " pictures after " + std::to_string(items),
                     "give as many each time");
    }
    const Picture& first = *given.front().picture;
    SPARING_RETURN_IF_ERROR(panel.allocate(layout->panel, first.color_space()));
    panel.timestamp = first.timestamp;
    panel.duration = first.duration;
    const YuvColor ground = to_yuv(kGround, panel.color_space());
    panel.fill(ground.y, ground.u, ground.v);
    for (int i = 0; i < items; ++i) {
      const PanelItem& item = given[static_cast<std::size_t>(i)];
      SPARING_RETURN_IF_ERROR(draw_picture(*item.picture, i, panel));
      draw_words(item, i, panel);
    }
    if (options.curves) draw_curves(given, panel);
    return {};
  }
};

ComparisonPanel::ComparisonPanel(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ComparisonPanel::~ComparisonPanel() = default;
ComparisonPanel::ComparisonPanel(ComparisonPanel&& other) noexcept = default;
ComparisonPanel& ComparisonPanel::operator=(ComparisonPanel&& other) noexcept = default;

Result<ComparisonPanel> ComparisonPanel::create(const ComparisonPanelOptions& options) {
  const Size most = options.most;
  if (most.width < 320 || most.height < 240 || most.width > kMaxFrameExtent ||
      most.height > kMaxFrameExtent) {
    return invalid(
        "size of the comparison",
        std::to_string(most.width) + "x" + std::to_string(most.height) + " is out of range",
        "give 320x240 to 16384x16384");
  }
  if (!(options.curve_high > options.curve_low) || !std::isfinite(options.curve_high) ||
      !std::isfinite(options.curve_low)) {
    return invalid(
        "range of the curve",
        number_text(options.curve_low) + " to " + number_text(options.curve_high) + " is no range",
        "give two numbers, the lower one first");
  }
  auto impl = std::make_unique<Impl>();
  impl->options = options;
  return ComparisonPanel(std::move(impl));
}

Status ComparisonPanel::draw(std::span<const PanelItem> items, Picture& panel) {
  try {
    return impl_->draw(items, panel);
  } catch (const std::bad_alloc&) {
    return Error{ErrorCode::kInternal, "comparison of pictures", "out of memory", "free memory"};
  }
}

}  // namespace sparing

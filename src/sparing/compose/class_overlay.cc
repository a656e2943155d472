#include "sparing/compose/class_overlay.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <exception>
#include <utility>

#include "sparing/compose/blend.h"
#include "sparing/compose/label_check.h"
#include "sparing/io/glyphs.h"
#include "sparing/io/overlay.h"
#include "sparing/io/picture_canvas.h"

namespace sparing {
namespace {

// How much of the picture's luma stays on a border.
constexpr std::uint8_t kBorderAlpha = 80;
constexpr std::uint8_t kUntouched = 255;

}  // namespace

Rgb class_palette_color(int class_id) { return class_color(class_id); }

struct ClassOverlay::Impl {
  ClassOverlayOptions options;
  // By label: how much of the picture stays, and what is laid over it.
  std::array<std::uint8_t, 256> keep{};
  std::array<YuvColor, 256> colors{};
  std::vector<int> columns;  // label column of each pixel
  std::vector<std::uint8_t> upper, lower, below;
  std::vector<std::uint8_t> alpha, color, color_v, black;

  Rgb rgb(std::size_t label) const {
    return label < options.palette.size() ? options.palette[label]
                                          : class_color(static_cast<int>(label));
  }

  void prepare(const LabelMap& labels, const Picture& picture) {
    const int width = picture.size().width;
    const auto kept = static_cast<std::uint8_t>(std::lround(255 * (1 - options.strength)));
    for (std::size_t label = 0; label < 256; ++label) {
      keep[label] = label == kIgnoreLabel ? kUntouched : kept;
      colors[label] = to_yuv(rgb(label), picture.color_space());
    }
    columns.resize(static_cast<std::size_t>(width));
    for (int x = 0; x < width; ++x) {
      // The label pixel under the pixel's centre.
      columns[static_cast<std::size_t>(x)] =
          static_cast<int>((2LL * x + 1) * labels.size.width / (2LL * width));
    }
    const auto count = static_cast<std::size_t>(width);
    for (auto* row : {&upper, &lower, &below, &alpha, &color, &color_v}) row->resize(count);
    black.assign(count, to_yuv({0, 0, 0}, picture.color_space()).y);
  }

  void label_row(const LabelMap& labels, int y, int height, std::vector<std::uint8_t>& out) const {
    const int inside = std::clamp(y, 0, height - 1);
    const auto row =
        labels.row(static_cast<int>((2LL * inside + 1) * labels.size.height / (2LL * height)));
    for (std::size_t x = 0; x < out.size(); ++x) out[x] = row[static_cast<std::size_t>(columns[x])];
  }

  void tint_luma(const std::vector<std::uint8_t>& row, std::uint8_t* luma) {
    for (std::size_t x = 0; x < row.size(); ++x) {
      alpha[x] = keep[row[x]];
      color[x] = colors[row[x]].y;
    }
    blend_row(luma, alpha.data(), color.data(), static_cast<int>(row.size()));
  }

  // A chroma sample gets the mean of its four pixels' colours.
  void tint_chroma(int width, std::uint8_t* u, std::uint8_t* v) {
    const int count = (width + 1) / 2;
    for (int i = 0; i < count; ++i) {
      const auto left = static_cast<std::size_t>(2 * i);
      const auto right = static_cast<std::size_t>(std::min(2 * i + 1, width - 1));
      const std::uint8_t four[4] = {upper[left], upper[right], lower[left], lower[right]};
      int cover = 0, sum_u = 0, sum_v = 0;
      for (const std::uint8_t label : four) {
        const int weight = 255 - keep[label];
        cover += weight;
        sum_u += weight * colors[label].u;
        sum_v += weight * colors[label].v;
      }
      const auto at = static_cast<std::size_t>(i);
      alpha[at] = static_cast<std::uint8_t>(255 - (cover + 2) / 4);
      const int divisor = std::max(cover, 1);
      color[at] = static_cast<std::uint8_t>((sum_u + divisor / 2) / divisor);
      color_v[at] = static_cast<std::uint8_t>((sum_v + divisor / 2) / divisor);
    }
    blend_row(u, alpha.data(), color.data(), count);
    blend_row(v, alpha.data(), color_v.data(), count);
  }

  // Darkens pixels whose neighbour `line` pixels on, to the right or below, is of another class.
  void draw_borders(int line, std::uint8_t* luma) {
    const auto width = upper.size();
    for (std::size_t x = 0; x < width; ++x) {
      const std::size_t right = std::min(x + static_cast<std::size_t>(line), width - 1);
      const bool border = upper[x] != upper[right] || upper[x] != below[x];
      alpha[x] = border ? kBorderAlpha : kUntouched;
    }
    blend_row(luma, alpha.data(), black.data(), static_cast<int>(width));
  }

  void draw_legend(Picture& picture) const {
    const Size size = picture.size();
    const int scale = std::max(1, (std::min(size.width, size.height) + 180) / 360);
    const int row = (kGlyphHeight + 2) * scale, swatch = 8 * scale;
    std::size_t longest = 0;
    for (const std::string& label : options.labels) {
      longest = std::max(longest, display_characters(label).size());
    }
    const int count = std::min(static_cast<int>(options.labels.size()), size.height / row - 1);
    if (count < 1) return;
    const int width = swatch + (static_cast<int>(longest) + 2) * kGlyphAdvance * scale;
    const YuvCanvas canvas = canvas_of(picture);
    const ColorSpace& space = picture.color_space();
    fill_rect(canvas, {0, 0, width, count * row + 2 * scale}, to_yuv({24, 24, 24}, space));
    const std::uint8_t white = to_yuv({255, 255, 255}, space).y;
    for (int i = 0; i < count; ++i) {
      const int top = i * row + 2 * scale;
      const auto label = static_cast<std::size_t>(i);
      fill_rect(canvas, {2 * scale, top, swatch, swatch}, colors[label]);
      draw_text(canvas, display_characters(options.labels[label]), swatch + 6 * scale, top, scale,
                white);
    }
  }

  Status draw(const LabelMap& labels, Picture& picture) {
    SPARING_RETURN_IF_ERROR(check_labels(labels, picture));
    const Size size = picture.size();
    prepare(labels, picture);
    const int line = std::max(1, (std::min(size.width, size.height) + 240) / 480);
    for (int y = 0; y < size.height; ++y) {
      label_row(labels, y, size.height, upper);
      if (y % 2 == 0) {
        label_row(labels, y + 1, size.height, lower);
        tint_chroma(size.width, picture.row(1, y / 2), picture.row(2, y / 2));
      }
      tint_luma(upper, picture.row(0, y));
      if (!options.borders) continue;
      label_row(labels, y + line, size.height, below);
      draw_borders(line, picture.row(0, y));
    }
    if (options.legend) draw_legend(picture);
    return {};
  }
};

ClassOverlay::ClassOverlay(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ClassOverlay::~ClassOverlay() = default;
ClassOverlay::ClassOverlay(ClassOverlay&& other) noexcept = default;
ClassOverlay& ClassOverlay::operator=(ClassOverlay&& other) noexcept = default;

Result<ClassOverlay> ClassOverlay::create(const ClassOverlayOptions& options) {
  if (!(options.strength >= 0 && options.strength <= 1)) {
    return Error{ErrorCode::kInvalidArgument, "strength of the overlay",
                 std::to_string(options.strength) + " is out of range", "give 0 to 1"};
  }
  auto impl = std::make_unique<Impl>();
  impl->options = options;
  return ClassOverlay(std::move(impl));
}

Status ClassOverlay::draw(const LabelMap& labels, Picture& picture) {
  try {
    return impl_->draw(labels, picture);
  } catch (const std::bad_alloc&) {
    return Error{ErrorCode::kInternal, "overlay of a picture", "out of memory", "free memory"};
  }
}

}  // namespace sparing

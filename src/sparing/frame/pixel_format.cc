#include "sparing/frame/pixel_format.h"

#include <algorithm>

namespace sparing {
namespace {

constexpr bool table_follows_enum() {
  for (std::size_t i = 0; i < kPixelFormats.size(); ++i) {
    if (static_cast<std::size_t>(kPixelFormats[i].format) != i) return false;
  }
  return true;
}
static_assert(table_follows_enum());

bool is_chroma(const PixelFormatInfo& format, std::size_t component) {
  return format.model == ColorModel::kYuv && (component == 1 || component == 2);
}

}  // namespace

std::optional<PixelFormat> pixel_format_from_name(std::string_view name) {
  for (const PixelFormatInfo& row : kPixelFormats) {
    if (row.name == name) return row.format;
  }
  return std::nullopt;
}

PlaneExtent plane_extent(PixelFormat format, int plane, Size coded_size) {
  const PixelFormatInfo& row = info(format);
  PlaneExtent extent;
  for (std::size_t c = 0; c < row.components.size(); ++c) {
    const ComponentLayout& component = row.components[c];
    if (component.plane != plane) continue;
    const bool chroma = is_chroma(row, c);
    const int columns = chroma_extent(coded_size.width, chroma ? row.chroma_shift_x : 0);
    const int rows = chroma_extent(coded_size.height, chroma ? row.chroma_shift_y : 0);
    extent.row_bytes = std::max(extent.row_bytes, columns * component.step);
    extent.rows = std::max(extent.rows, rows);
  }
  return extent;
}

}  // namespace sparing

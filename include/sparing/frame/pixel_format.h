// Pixel formats in one ordered table. A new format is one row here (and, where it should be fast,
// one kernel); the reference, the tests and the fuzzers iterate the table.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include "sparing/base/geometry.h"

namespace sparing {

enum class PixelFormat { kI420, kNv12, kRgb24, kBgr24, kRgba, kBgra, kGray8 };

enum class ColorModel { kYuv, kRgb, kGray };

inline constexpr int kMaxPlanes = 4;

// Where the samples of one component lie: sample (x, y) of the component's own grid is the byte at
// plane[plane].data + y * stride + x * step + offset.
struct ComponentLayout {
  int plane = -1;  // -1: the format does not have this component
  int step = 0;    // bytes from one sample to the next
  int offset = 0;  // bytes
};

struct PixelFormatInfo {
  PixelFormat format;
  std::string_view name;  // WebCodecs' spelling where it has one: "I420", "NV12"
  ColorModel model;
  int planes;
  int chroma_shift_x;  // chroma has ceil(width / 2^shift) columns
  int chroma_shift_y;
  // Y, U, V for kYuv; R, G, B for kRgb; Y alone for kGray; then alpha, which import ignores.
  std::array<ComponentLayout, 4> components;
};

// In the order of PixelFormat.
// clang-format off: one row a format
inline constexpr std::array<PixelFormatInfo, 7> kPixelFormats{{
    {PixelFormat::kI420, "I420", ColorModel::kYuv, 3, 1, 1, {{{0, 1, 0}, {1, 1, 0}, {2, 1, 0}, {}}}},
    {PixelFormat::kNv12, "NV12", ColorModel::kYuv, 2, 1, 1, {{{0, 1, 0}, {1, 2, 0}, {1, 2, 1}, {}}}},
    {PixelFormat::kRgb24, "RGB24", ColorModel::kRgb, 1, 0, 0, {{{0, 3, 0}, {0, 3, 1}, {0, 3, 2}, {}}}},
    {PixelFormat::kBgr24, "BGR24", ColorModel::kRgb, 1, 0, 0, {{{0, 3, 2}, {0, 3, 1}, {0, 3, 0}, {}}}},
    {PixelFormat::kRgba, "RGBA", ColorModel::kRgb, 1, 0, 0,
     {{{0, 4, 0}, {0, 4, 1}, {0, 4, 2}, {0, 4, 3}}}},
    {PixelFormat::kBgra, "BGRA", ColorModel::kRgb, 1, 0, 0,
     {{{0, 4, 2}, {0, 4, 1}, {0, 4, 0}, {0, 4, 3}}}},
    {PixelFormat::kGray8, "GRAY8", ColorModel::kGray, 1, 0, 0, {{{0, 1, 0}, {}, {}, {}}}},
}};
// clang-format on

constexpr const PixelFormatInfo& info(PixelFormat format) {
  return kPixelFormats[static_cast<std::size_t>(format)];
}
std::optional<PixelFormat> pixel_format_from_name(std::string_view name);

// Samples per row (or rows) of a plane of a picture with `luma` columns (or rows).
constexpr int chroma_extent(int luma, int shift) { return (luma + (1 << shift) - 1) >> shift; }

// What a plane holds: `rows` rows of `row_bytes` bytes each, padding not counted.
struct PlaneExtent {
  int row_bytes = 0;
  int rows = 0;
  friend bool operator==(const PlaneExtent&, const PlaneExtent&) = default;
};
// Preconditions: 0 <= plane < info(format).planes, coded_size positive.
PlaneExtent plane_extent(PixelFormat format, int plane, Size coded_size);

}  // namespace sparing

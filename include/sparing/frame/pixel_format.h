// Pixel formats in one ordered table. A new format is one row here; the import kernels, the
// reference, the tests and the fuzzers read and iterate the table.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include "sparing/base/geometry.h"

namespace sparing {

// clang-format off: one line a family
enum class PixelFormat {
  kI420, kI420A, kI422, kI444,  // planar
  kNv12, kNv16, kNv21,          // two planes, chroma interleaved
  kYuyv, kUyvy,                 // packed 4:2:2
  kP010, kI010, kI210, kI410,   // 10 bits in 16
  kRgba, kRgbx, kBgra, kBgrx, kRgb24, kBgr24,
  kGray8, kGray16,
};
// clang-format on

enum class ColorModel { kYuv, kRgb, kGray };

inline constexpr int kMaxPlanes = 4;

// Where the samples of one component lie: sample (x, y) of the component's own grid begins at the
// byte plane[plane].data + y * stride + x * step + offset.
struct ComponentLayout {
  int plane = -1;  // -1: the format does not have this component
  int step = 0;    // bytes from one sample to the next
  int offset = 0;  // bytes
};

// How one sample is stored: in 1 byte, or in 2 bytes, little-endian, at any address. Its value is
// the stored number / 2^shift, on a scale of 0 .. 2^bits - 1.
struct SampleLayout {
  int bytes = 1;
  int bits = 8;
  int shift = 0;
};
inline constexpr SampleLayout kSample8{1, 8, 0};
inline constexpr SampleLayout kSample10{2, 10, 0};
inline constexpr SampleLayout kSample10High{2, 10, 6};  // in the upper bits
inline constexpr SampleLayout kSample16{2, 16, 0};

struct PixelFormatInfo {
  PixelFormat format;
  std::string_view name;  // WebCodecs' spelling where it has one: "I420", "NV12"
  ColorModel model;
  int planes;
  int chroma_shift_x;  // chroma has ceil(width / 2^shift) columns
  int chroma_shift_y;
  SampleLayout sample;
  // Y, U, V for kYuv; R, G, B for kRgb; Y alone for kGray; then alpha, which import ignores.
  std::array<ComponentLayout, 4> components;
};

// In the order of PixelFormat.
// clang-format off: one row a format
inline constexpr std::array<PixelFormatInfo, 21> kPixelFormats{{
    {PixelFormat::kI420, "I420", ColorModel::kYuv, 3, 1, 1, kSample8,
     {{{0, 1, 0}, {1, 1, 0}, {2, 1, 0}, {}}}},
    {PixelFormat::kI420A, "I420A", ColorModel::kYuv, 4, 1, 1, kSample8,
     {{{0, 1, 0}, {1, 1, 0}, {2, 1, 0}, {3, 1, 0}}}},
    {PixelFormat::kI422, "I422", ColorModel::kYuv, 3, 1, 0, kSample8,
     {{{0, 1, 0}, {1, 1, 0}, {2, 1, 0}, {}}}},
    {PixelFormat::kI444, "I444", ColorModel::kYuv, 3, 0, 0, kSample8,
     {{{0, 1, 0}, {1, 1, 0}, {2, 1, 0}, {}}}},
    {PixelFormat::kNv12, "NV12", ColorModel::kYuv, 2, 1, 1, kSample8,
     {{{0, 1, 0}, {1, 2, 0}, {1, 2, 1}, {}}}},
    {PixelFormat::kNv16, "NV16", ColorModel::kYuv, 2, 1, 0, kSample8,
     {{{0, 1, 0}, {1, 2, 0}, {1, 2, 1}, {}}}},
    {PixelFormat::kNv21, "NV21", ColorModel::kYuv, 2, 1, 1, kSample8,
     {{{0, 1, 0}, {1, 2, 1}, {1, 2, 0}, {}}}},
    {PixelFormat::kYuyv, "YUYV", ColorModel::kYuv, 1, 1, 0, kSample8,
     {{{0, 2, 0}, {0, 4, 1}, {0, 4, 3}, {}}}},
    {PixelFormat::kUyvy, "UYVY", ColorModel::kYuv, 1, 1, 0, kSample8,
     {{{0, 2, 1}, {0, 4, 0}, {0, 4, 2}, {}}}},
    {PixelFormat::kP010, "P010", ColorModel::kYuv, 2, 1, 1, kSample10High,
     {{{0, 2, 0}, {1, 4, 0}, {1, 4, 2}, {}}}},
    {PixelFormat::kI010, "I420P10", ColorModel::kYuv, 3, 1, 1, kSample10,
     {{{0, 2, 0}, {1, 2, 0}, {2, 2, 0}, {}}}},
    {PixelFormat::kI210, "I422P10", ColorModel::kYuv, 3, 1, 0, kSample10,
     {{{0, 2, 0}, {1, 2, 0}, {2, 2, 0}, {}}}},
    {PixelFormat::kI410, "I444P10", ColorModel::kYuv, 3, 0, 0, kSample10,
     {{{0, 2, 0}, {1, 2, 0}, {2, 2, 0}, {}}}},
    {PixelFormat::kRgba, "RGBA", ColorModel::kRgb, 1, 0, 0, kSample8,
     {{{0, 4, 0}, {0, 4, 1}, {0, 4, 2}, {0, 4, 3}}}},
    {PixelFormat::kRgbx, "RGBX", ColorModel::kRgb, 1, 0, 0, kSample8,
     {{{0, 4, 0}, {0, 4, 1}, {0, 4, 2}, {}}}},
    {PixelFormat::kBgra, "BGRA", ColorModel::kRgb, 1, 0, 0, kSample8,
     {{{0, 4, 2}, {0, 4, 1}, {0, 4, 0}, {0, 4, 3}}}},
    {PixelFormat::kBgrx, "BGRX", ColorModel::kRgb, 1, 0, 0, kSample8,
     {{{0, 4, 2}, {0, 4, 1}, {0, 4, 0}, {}}}},
    {PixelFormat::kRgb24, "RGB24", ColorModel::kRgb, 1, 0, 0, kSample8,
     {{{0, 3, 0}, {0, 3, 1}, {0, 3, 2}, {}}}},
    {PixelFormat::kBgr24, "BGR24", ColorModel::kRgb, 1, 0, 0, kSample8,
     {{{0, 3, 2}, {0, 3, 1}, {0, 3, 0}, {}}}},
    {PixelFormat::kGray8, "GRAY8", ColorModel::kGray, 1, 0, 0, kSample8,
     {{{0, 1, 0}, {}, {}, {}}}},
    {PixelFormat::kGray16, "GRAY16", ColorModel::kGray, 1, 0, 0, kSample16,
     {{{0, 2, 0}, {}, {}, {}}}},
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

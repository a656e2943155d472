#include "sparing/frame/pixel_format.h"

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace sparing {
namespace {

TEST(PixelFormat, NamesFindTheirRow) {
  std::set<std::string> names;
  for (const PixelFormatInfo& row : kPixelFormats) {
    EXPECT_EQ(pixel_format_from_name(row.name), row.format) << row.name;
    EXPECT_EQ(&info(row.format), &row);
    names.insert(std::string(row.name));
  }
  EXPECT_EQ(names.size(), kPixelFormats.size());
  EXPECT_EQ(pixel_format_from_name("i420"), std::nullopt);
  EXPECT_EQ(pixel_format_from_name(""), std::nullopt);
}

// Every component that the model needs is there, names a plane of the format, and shares no byte
// with another one.
TEST(PixelFormat, RowsAreConsistent) {
  for (const PixelFormatInfo& row : kPixelFormats) {
    SCOPED_TRACE(row.name);
    const std::size_t needed = row.model == ColorModel::kGray ? 1 : 3;
    std::set<std::pair<int, int>> bytes;  // of the first pixel: plane, offset
    std::set<int> planes;
    int used = 0;
    for (std::size_t c = 0; c < row.components.size(); ++c) {
      const ComponentLayout& component = row.components[c];
      if (c < 3) {
        EXPECT_EQ(component.plane >= 0, c < needed);
      }
      if (component.plane < 0) continue;
      EXPECT_LT(component.plane, row.planes);
      EXPECT_GE(component.offset, 0);
      EXPECT_LE(component.offset + row.sample.bytes, component.step);
      for (int b = 0; b < row.sample.bytes; ++b) {
        bytes.insert({component.plane, component.offset + b});
        ++used;
      }
      planes.insert(component.plane);
    }
    EXPECT_EQ(static_cast<int>(bytes.size()), used);
    EXPECT_EQ(static_cast<int>(planes.size()), row.planes);
    EXPECT_LE(row.planes, kMaxPlanes);
    if (row.model != ColorModel::kYuv) {
      EXPECT_EQ(row.chroma_shift_x + row.chroma_shift_y, 0);
    }
  }
}

TEST(PixelFormat, SampleLayouts) {
  for (const PixelFormatInfo& row : kPixelFormats) {
    SCOPED_TRACE(row.name);
    const SampleLayout& sample = row.sample;
    EXPECT_TRUE(sample.bytes == 1 || sample.bytes == 2);
    EXPECT_GE(sample.bits, 8);
    EXPECT_GE(sample.shift, 0);
    EXPECT_LE(sample.bits + sample.shift, 8 * sample.bytes);
  }
  const auto layout = [](PixelFormat format) {
    const SampleLayout& s = info(format).sample;
    return std::array{s.bytes, s.bits, s.shift};
  };
  EXPECT_EQ(layout(PixelFormat::kI420), (std::array{1, 8, 0}));
  EXPECT_EQ(layout(PixelFormat::kP010), (std::array{2, 10, 6}));
  EXPECT_EQ(layout(PixelFormat::kI010), (std::array{2, 10, 0}));
  EXPECT_EQ(layout(PixelFormat::kI210), (std::array{2, 10, 0}));
  EXPECT_EQ(layout(PixelFormat::kI410), (std::array{2, 10, 0}));
  EXPECT_EQ(layout(PixelFormat::kGray16), (std::array{2, 16, 0}));
}

TEST(PixelFormat, ChromaExtentRoundsUp) {
  EXPECT_EQ(chroma_extent(1, 1), 1);
  EXPECT_EQ(chroma_extent(2, 1), 1);
  EXPECT_EQ(chroma_extent(3, 1), 2);
  EXPECT_EQ(chroma_extent(1920, 1), 960);
  EXPECT_EQ(chroma_extent(7, 0), 7);
}

// By hand, for every row: what each plane holds of a picture of odd size, and of a single pixel.
TEST(PixelFormat, PlaneExtents) {
  struct Case {
    PixelFormat format;
    std::vector<PlaneExtent> of_5x3;
    std::vector<PlaneExtent> of_1x1;
  };
  using P = PixelFormat;
  const std::vector<Case> cases{
      {P::kI420, {{5, 3}, {3, 2}, {3, 2}}, {{1, 1}, {1, 1}, {1, 1}}},
      {P::kI420A, {{5, 3}, {3, 2}, {3, 2}, {5, 3}}, {{1, 1}, {1, 1}, {1, 1}, {1, 1}}},
      {P::kI422, {{5, 3}, {3, 3}, {3, 3}}, {{1, 1}, {1, 1}, {1, 1}}},
      {P::kI444, {{5, 3}, {5, 3}, {5, 3}}, {{1, 1}, {1, 1}, {1, 1}}},
      {P::kNv12, {{5, 3}, {6, 2}}, {{1, 1}, {2, 1}}},
      {P::kNv16, {{5, 3}, {6, 3}}, {{1, 1}, {2, 1}}},
      {P::kNv21, {{5, 3}, {6, 2}}, {{1, 1}, {2, 1}}},
      {P::kYuyv, {{12, 3}}, {{4, 1}}},
      {P::kUyvy, {{12, 3}}, {{4, 1}}},
      {P::kP010, {{10, 3}, {12, 2}}, {{2, 1}, {4, 1}}},
      {P::kI010, {{10, 3}, {6, 2}, {6, 2}}, {{2, 1}, {2, 1}, {2, 1}}},
      {P::kI210, {{10, 3}, {6, 3}, {6, 3}}, {{2, 1}, {2, 1}, {2, 1}}},
      {P::kI410, {{10, 3}, {10, 3}, {10, 3}}, {{2, 1}, {2, 1}, {2, 1}}},
      {P::kRgba, {{20, 3}}, {{4, 1}}},
      {P::kRgbx, {{20, 3}}, {{4, 1}}},
      {P::kBgra, {{20, 3}}, {{4, 1}}},
      {P::kBgrx, {{20, 3}}, {{4, 1}}},
      {P::kRgb24, {{15, 3}}, {{3, 1}}},
      {P::kBgr24, {{15, 3}}, {{3, 1}}},
      {P::kGray8, {{5, 3}}, {{1, 1}}},
      {P::kGray16, {{10, 3}}, {{2, 1}}},
  };
  ASSERT_EQ(cases.size(), kPixelFormats.size());
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Case& c = cases[i];
    ASSERT_EQ(c.format, kPixelFormats[i].format);
    SCOPED_TRACE(kPixelFormats[i].name);
    ASSERT_EQ(c.of_5x3.size(), static_cast<std::size_t>(kPixelFormats[i].planes));
    ASSERT_EQ(c.of_1x1.size(), c.of_5x3.size());
    for (std::size_t p = 0; p < c.of_5x3.size(); ++p) {
      SCOPED_TRACE(p);
      EXPECT_EQ(plane_extent(c.format, static_cast<int>(p), {5, 3}), c.of_5x3[p]);
      EXPECT_EQ(plane_extent(c.format, static_cast<int>(p), {1, 1}), c.of_1x1[p]);
    }
  }
}

// The last sample of every component lies within its plane.
TEST(PixelFormat, PlanesHoldEverySample) {
  for (const PixelFormatInfo& row : kPixelFormats) {
    for (const Size size : {Size{1, 1}, Size{2, 2}, Size{7, 5}, Size{1920, 1080}}) {
      for (std::size_t c = 0; c < row.components.size(); ++c) {
        const ComponentLayout& component = row.components[c];
        if (component.plane < 0) continue;
        const bool chroma = row.model == ColorModel::kYuv && (c == 1 || c == 2);
        const int columns = chroma_extent(size.width, chroma ? row.chroma_shift_x : 0);
        const int rows = chroma_extent(size.height, chroma ? row.chroma_shift_y : 0);
        const PlaneExtent extent = plane_extent(row.format, component.plane, size);
        const int end = (columns - 1) * component.step + component.offset + row.sample.bytes;
        EXPECT_LE(end, extent.row_bytes) << row.name << " component " << c;
        EXPECT_EQ(rows, extent.rows) << row.name << " component " << c;
      }
    }
  }
}

}  // namespace
}  // namespace sparing

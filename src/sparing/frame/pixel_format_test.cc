#include "sparing/frame/pixel_format.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

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

// Every component names a plane of the format, and its samples do not overlap the next one's.
TEST(PixelFormat, RowsAreConsistent) {
  for (const PixelFormatInfo& row : kPixelFormats) {
    SCOPED_TRACE(row.name);
    const std::size_t needed = row.model == ColorModel::kGray ? 1 : 3;
    for (std::size_t c = 0; c < row.components.size(); ++c) {
      const ComponentLayout& component = row.components[c];
      if (c < needed) {
        ASSERT_GE(component.plane, 0);
      }
      if (component.plane < 0) continue;
      EXPECT_LT(component.plane, row.planes);
      EXPECT_GT(component.step, 0);
      EXPECT_LT(component.offset, component.step);
    }
    std::set<std::pair<int, int>> places;
    int used = 0;
    for (const ComponentLayout& component : row.components) {
      if (component.plane < 0) continue;
      places.insert({component.plane, component.offset});
      ++used;
    }
    EXPECT_EQ(static_cast<int>(places.size()), used);
  }
}

TEST(PixelFormat, ChromaExtentRoundsUp) {
  EXPECT_EQ(chroma_extent(1, 1), 1);
  EXPECT_EQ(chroma_extent(2, 1), 1);
  EXPECT_EQ(chroma_extent(3, 1), 2);
  EXPECT_EQ(chroma_extent(1920, 1), 960);
  EXPECT_EQ(chroma_extent(7, 0), 7);
}

TEST(PixelFormat, PlaneExtents) {
  using E = PlaneExtent;
  EXPECT_EQ(plane_extent(PixelFormat::kI420, 0, {5, 3}), (E{5, 3}));
  EXPECT_EQ(plane_extent(PixelFormat::kI420, 1, {5, 3}), (E{3, 2}));
  EXPECT_EQ(plane_extent(PixelFormat::kI420, 2, {5, 3}), (E{3, 2}));
  EXPECT_EQ(plane_extent(PixelFormat::kNv12, 0, {5, 3}), (E{5, 3}));
  EXPECT_EQ(plane_extent(PixelFormat::kNv12, 1, {5, 3}), (E{6, 2}));
  EXPECT_EQ(plane_extent(PixelFormat::kNv12, 1, {1, 1}), (E{2, 1}));
  EXPECT_EQ(plane_extent(PixelFormat::kRgb24, 0, {5, 3}), (E{15, 3}));
  EXPECT_EQ(plane_extent(PixelFormat::kBgr24, 0, {5, 3}), (E{15, 3}));
  EXPECT_EQ(plane_extent(PixelFormat::kRgba, 0, {5, 3}), (E{20, 3}));
  EXPECT_EQ(plane_extent(PixelFormat::kBgra, 0, {5, 3}), (E{20, 3}));
  EXPECT_EQ(plane_extent(PixelFormat::kGray8, 0, {5, 3}), (E{5, 3}));
}

}  // namespace
}  // namespace sparing

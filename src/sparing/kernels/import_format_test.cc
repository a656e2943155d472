// Every pixel format: its bytes as the world writes them down, not as kPixelFormats does.
#include <gtest/gtest.h>

#include <random>

#include "sparing/kernels/import.h"
#include "sparing/kernels/import_test_util.h"

namespace sparing {
namespace {

using test::TestFrame;
using test::TestTensor;

// The bytes of one pixel of the formats without chroma planes.
struct RgbFormat {
  PixelFormat format;
  int bytes;
  std::array<int, 3> rgb;
};
constexpr RgbFormat kRgbFormats[] = {
    {PixelFormat::kRgba, 4, {0, 1, 2}},  {PixelFormat::kRgbx, 4, {0, 1, 2}},
    {PixelFormat::kBgra, 4, {2, 1, 0}},  {PixelFormat::kBgrx, 4, {2, 1, 0}},
    {PixelFormat::kRgb24, 3, {0, 1, 2}}, {PixelFormat::kBgr24, 3, {2, 1, 0}},
    {PixelFormat::kGray8, 1, {0, 0, 0}}};

// At scale 1 every pixel arrives as it is, turned and mirrored.
TEST(ImportFormats, RgbAndGreyTurned) {
  for (const RgbFormat& row : kRgbFormats) {
    SCOPED_TRACE(info(row.format).name);
    TestFrame frame(row.format, {3, 2});
    std::mt19937 random(1);
    frame.fill_random(random);
    frame.view().rotation = Rotation::k90;
    frame.view().flip = true;
    const TestTensor tensor(DataType::kUint8, {1, 3, 2, 3}, Layout::kNhwc);
    ASSERT_TRUE(import_frame_reference(frame.view(), {}, tensor.view()).ok());
    // Turned clockwise, (x, y) of the 3 x 2 picture goes to (1 - y, x); mirrored, to (y, x).
    for (int c = 0; c < 3; ++c) {
      for (int y = 0; y < 2; ++y) {
        for (int x = 0; x < 3; ++x) {
          EXPECT_EQ(tensor.get<std::uint8_t>(0, c, x, y),
                    frame.at(0, x * row.bytes + row.rgb[static_cast<std::size_t>(c)], y))
              << c << ": " << x << "," << y;
        }
      }
    }
  }
}

}  // namespace
}  // namespace sparing

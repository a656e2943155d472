#include "sparing/io/picture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "sparing/io/test_samples.h"

namespace sparing {
namespace {

SharedFrame ramp_frame(PixelFormat format, Size size) {
  auto frame = allocate_frame(format, size);
  EXPECT_TRUE(frame.ok());
  for (int c = 0; c < 3; ++c) {
    const Size grid = testing::component_size(info(format), c, size);
    for (int y = 0; y < grid.height; ++y) {
      for (int x = 0; x < grid.width; ++x) {
        testing::set_sample(*frame, c, x, y, (16 + x * 3 + y * 5 + c * 40) % 220);
      }
    }
  }
  frame->view().timestamp = {7, {1, 30}};
  frame->view().duration = {1, {1, 30}};
  return *frame;
}

TEST(Picture, HoldsPixelsOfItsOwn) {
  Picture picture;
  EXPECT_TRUE(picture.empty());
  ASSERT_TRUE(picture.allocate({5, 3}, {}).ok());
  EXPECT_EQ(picture.plane_size(0), (Size{5, 3}));
  EXPECT_EQ(picture.plane_size(1), (Size{3, 2}));
  EXPECT_EQ(picture.color_space().matrix, ColorMatrix::kBt601);
  picture.fill(1, 2, 3);
  EXPECT_EQ(picture.row(0, 2)[4], 1);
  EXPECT_EQ(picture.row(1, 1)[2], 2);
  EXPECT_EQ(picture.row(2, 1)[2], 3);
  EXPECT_EQ(picture.view().format, PixelFormat::kI420);
  ASSERT_TRUE(picture.add_alpha().ok());
  picture.alpha_row(2)[4] = 77;
  EXPECT_EQ(picture.view().format, PixelFormat::kI420A);
  EXPECT_TRUE(validate(picture.view()).ok());
  EXPECT_EQ(testing::sample(picture.view(), 3, 4, 2), 77);

  Picture other;
  ASSERT_TRUE(other.copy_from(picture).ok());
  picture.fill(9, 9, 9);
  EXPECT_EQ(other.row(0, 0)[0], 1);
  EXPECT_EQ(other.alpha_row(2)[4], 77);
  Picture moved = std::move(other);
  EXPECT_TRUE(other.empty());  // NOLINT: what a moved picture is, is said
  EXPECT_EQ(moved.row(2, 1)[2], 3);
  ASSERT_TRUE(moved.allocate({5, 3}, {}).ok());
  EXPECT_FALSE(moved.has_alpha());
  EXPECT_EQ(moved.allocate({0, 3}, {}).error().code, ErrorCode::kInvalidArgument);
}

TEST(PictureConverter, TurnsFramesUpright) {
  for (const PixelFormat format : {PixelFormat::kI420, PixelFormat::kNv12}) {
    for (const Size size : {Size{6, 4}, Size{7, 5}}) {
      for (const Rotation rotation :
           {Rotation::k0, Rotation::k90, Rotation::k180, Rotation::k270}) {
        for (const bool flip : {false, true}) {
          SharedFrame frame = ramp_frame(format, size);
          frame.view().rotation = rotation;
          frame.view().flip = flip;
          PictureConverter converter;
          Picture picture;
          ASSERT_TRUE(converter.convert(frame.view(), picture).ok());
          ASSERT_EQ(picture.size(), display_size(frame.view()));
          EXPECT_EQ(picture.timestamp, (Timestamp{7, {1, 30}}));
          EXPECT_EQ(picture.duration, (Timestamp{1, {1, 30}}));
          const Affine to_coded = display_to_coded(frame.view());
          for (int y = 0; y < picture.size().height; ++y) {
            for (int x = 0; x < picture.size().width; ++x) {
              const Point p = to_coded({x + 0.5, y + 0.5});
              ASSERT_EQ(picture.row(0, y)[x],
                        testing::sample(frame.view(), 0, static_cast<int>(std::floor(p.x)),
                                        static_cast<int>(std::floor(p.y))));
            }
          }
        }
      }
    }
  }
}

TEST(PictureConverter, FillsBothWays) {
  // Luma tells the column of a wide frame and the row of a tall one; filling a square keeps the
  // middle of it.
  const auto check = [](Size size, Rotation rotation, bool along_x) {
    auto frame = allocate_frame(PixelFormat::kI420, size);
    ASSERT_TRUE(frame.ok());
    for (int y = 0; y < size.height; ++y) {
      for (int x = 0; x < size.width; ++x) {
        testing::set_sample(*frame, 0, x, y, along_x ? x : y);
      }
    }
    for (int c = 1; c < 3; ++c) {
      for (int y = 0; y < size.height / 2; ++y) {
        for (int x = 0; x < size.width / 2; ++x) testing::set_sample(*frame, c, x, y, 128);
      }
    }
    frame->view().rotation = rotation;
    PictureConverter converter;
    Picture picture;
    const ColorSpace space{ColorMatrix::kBt601, ColorRange::kLimited};
    ASSERT_TRUE(converter.fill(frame->view(), {80, 80}, space, picture).ok());
    ASSERT_EQ(picture.size(), (Size{80, 80}));
    // 200 long: 60..140 are kept.
    const bool turned = rotation == Rotation::k90 || rotation == Rotation::k270;
    const bool backwards = rotation == Rotation::k90    ? !along_x
                           : rotation == Rotation::k270 ? along_x
                                                        : rotation == Rotation::k180;
    for (int i = 0; i < 80; i += 13) {
      const bool on_x = along_x != turned;
      const int value = on_x ? picture.row(0, 40)[i] : picture.row(0, i)[40];
      EXPECT_NEAR(value, backwards ? 139 - i : 60 + i, 1);
    }
    EXPECT_EQ(picture.row(1, 20)[20], 128);
  };
  for (const Rotation rotation : {Rotation::k0, Rotation::k90, Rotation::k180, Rotation::k270}) {
    check({200, 80}, rotation, true);
    check({80, 200}, rotation, false);
  }
}

TEST(PictureConverter, KeepsGreyGreyBetweenMatrices) {
  SharedFrame frame = ramp_frame(PixelFormat::kI420, {64, 48});
  for (int c = 1; c < 3; ++c) {
    for (int y = 0; y < 24; ++y) {
      for (int x = 0; x < 32; ++x) testing::set_sample(frame, c, x, y, 128);
    }
  }
  frame.view().color_space.matrix = ColorMatrix::kBt709;
  PictureConverter converter;
  Picture picture;
  const ColorSpace space{ColorMatrix::kBt601, ColorRange::kLimited};
  ASSERT_TRUE(converter.stretch(frame.view(), {32, 24}, space, picture).ok());
  EXPECT_EQ(picture.color_space().matrix, ColorMatrix::kBt601);
  EXPECT_NEAR(picture.row(1, 6)[8], 128, 1);
  EXPECT_NEAR(picture.row(2, 6)[8], 128, 1);
}

TEST(PictureConverter, RefusesWhatIsNoFrame) {
  VideoFrame frame;
  Picture picture;
  PictureConverter converter;
  EXPECT_EQ(converter.convert(frame, picture).error().code, ErrorCode::kInvalidArgument);
  const SharedFrame good = ramp_frame(PixelFormat::kI420, {8, 8});
  EXPECT_FALSE(converter.fill(good.view(), {0, 8}, {}, picture).ok());
}

}  // namespace
}  // namespace sparing

#include "sparing/frame/video_frame.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

namespace sparing {
namespace {

using ::testing::HasSubstr;

constexpr Rotation kRotations[] = {Rotation::k0, Rotation::k90, Rotation::k180, Rotation::k270};

VideoFrame gray_frame(Size size, const std::uint8_t* data) {
  VideoFrame frame;
  frame.format = PixelFormat::kGray8;
  frame.coded_size = size;
  frame.planes[0] = {data, size.width};
  return frame;
}

struct Picture {
  int width;
  int height;
  std::vector<int> pixels;
  int at(int x, int y) const { return pixels[static_cast<std::size_t>(y * width + x)]; }
};

// One quarter turn clockwise: the left column, read upwards, becomes the top row.
Picture turn_clockwise(const Picture& in) {
  Picture out{in.height, in.width, {}};
  for (int y = 0; y < out.height; ++y) {
    for (int x = 0; x < out.width; ++x) out.pixels.push_back(in.at(y, in.height - 1 - x));
  }
  return out;
}

Picture mirror(const Picture& in) {
  Picture out{in.width, in.height, {}};
  for (int y = 0; y < out.height; ++y) {
    for (int x = 0; x < out.width; ++x) out.pixels.push_back(in.at(in.width - 1 - x, y));
  }
  return out;
}

TEST(VideoFrame, DisplayToCodedAgreesWithTurningPixels) {
  constexpr int kCodedWidth = 9;
  const std::uint8_t byte = 0;
  for (const Rotation rotation : kRotations) {
    for (const bool flip : {false, true}) {
      VideoFrame frame = gray_frame({kCodedWidth, 7}, &byte);
      frame.visible_rect = {2, 1, 5, 4};
      frame.rotation = rotation;
      frame.flip = flip;
      Picture shown{5, 4, {}};  // each pixel is its own coded position
      for (int y = 1; y < 5; ++y) {
        for (int x = 2; x < 7; ++x) shown.pixels.push_back(y * kCodedWidth + x);
      }
      for (int turns = static_cast<int>(rotation) / 90; turns > 0; --turns) {
        shown = turn_clockwise(shown);
      }
      if (flip) shown = mirror(shown);

      ASSERT_EQ(display_size(frame), (Size{shown.width, shown.height}));
      const Affine map = display_to_coded(frame);
      for (int y = 0; y < shown.height; ++y) {
        for (int x = 0; x < shown.width; ++x) {
          const Point coded = map({x + 0.5, y + 0.5});
          const int position = static_cast<int>(std::floor(coded.y)) * kCodedWidth +
                               static_cast<int>(std::floor(coded.x));
          EXPECT_EQ(position, shown.at(x, y))
              << static_cast<int>(rotation) << " " << flip << " " << x << "," << y;
          EXPECT_DOUBLE_EQ(coded.x - std::floor(coded.x), 0.5);
        }
      }
    }
  }
}

TEST(VideoFrame, FractionalVisibleRectKeepsItsCorners) {
  const std::uint8_t byte = 0;
  VideoFrame frame = gray_frame({20, 10}, &byte);
  frame.visible_rect = {1.25, 2.5, 10.5, 6.25};
  for (const Rotation rotation : kRotations) {
    for (const bool flip : {false, true}) {
      frame.rotation = rotation;
      frame.flip = flip;
      const Rect display = display_rect(frame);
      const Affine map = display_to_coded(frame);
      const Point p = map({0, 0});
      const Point q = map({display.width, display.height});
      EXPECT_DOUBLE_EQ(std::min(p.x, q.x), 1.25);
      EXPECT_DOUBLE_EQ(std::max(p.x, q.x), 11.75);
      EXPECT_DOUBLE_EQ(std::min(p.y, q.y), 2.5);
      EXPECT_DOUBLE_EQ(std::max(p.y, q.y), 8.75);
      EXPECT_EQ(map.determinant(), flip ? -1 : 1);  // nothing is scaled
    }
  }
}

TEST(VideoFrame, DisplaySizeRoundsToNearestAndIsAtLeastOne) {
  const std::uint8_t byte = 0;
  VideoFrame frame = gray_frame({20, 10}, &byte);
  EXPECT_EQ(display_size(frame), (Size{20, 10}));
  EXPECT_EQ(visible_rect(frame), (Rect{0, 0, 20, 10}));
  frame.visible_rect = {0, 0, 10.5, 6.25};
  EXPECT_EQ(display_size(frame), (Size{11, 6}));
  frame.rotation = Rotation::k270;
  EXPECT_EQ(display_size(frame), (Size{6, 11}));
  EXPECT_EQ(display_rect(frame), (Rect{0, 0, 6.25, 10.5}));
  frame.visible_rect = {3, 3, 0.25, 0.125};
  EXPECT_EQ(display_size(frame), (Size{1, 1}));
}

TEST(VideoFrame, ResolveFillsInWhatIsMissing) {
  const ColorSpace small = resolve({}, PixelFormat::kI420, {1280, 719});
  EXPECT_EQ(small.matrix, ColorMatrix::kBt601);
  EXPECT_EQ(small.range, ColorRange::kLimited);
  EXPECT_EQ(small.siting, ChromaSiting::kLeft);
  EXPECT_EQ(small.primaries, ColorPrimaries::kUnspecified);
  EXPECT_EQ(resolve({}, PixelFormat::kNv12, {1280, 720}).matrix, ColorMatrix::kBt709);

  const ColorSpace given{ColorMatrix::kBt2020, ColorRange::kFull, ColorPrimaries::kBt2020,
                         ColorTransfer::kPq, ChromaSiting::kTopLeft};
  EXPECT_EQ(resolve(given, PixelFormat::kI420, {64, 48}), given);
  EXPECT_EQ(resolve(given, PixelFormat::kRgba, {64, 48}), given);
}

TEST(VideoFrame, ResolveOfRgbAndGreyIsFullRange) {
  for (const PixelFormatInfo& row : kPixelFormats) {
    if (row.model == ColorModel::kYuv) continue;
    ColorSpace expected;
    expected.range = ColorRange::kFull;
    EXPECT_EQ(resolve({}, row.format, {1920, 1080}), expected) << row.name;
  }
}

TEST(VideoFrame, ValidateAcceptsEveryFormatAtOddSizesAndNegativeStrides) {
  for (const PixelFormatInfo& row : kPixelFormats) {
    for (const Size size : {Size{1, 1}, Size{5, 3}, Size{16384, 1}, Size{1, 16384}}) {
      Result<SharedFrame> frame = allocate_frame(row.format, size);
      ASSERT_TRUE(frame.ok()) << row.name;
      EXPECT_TRUE(validate(frame->view()).ok()) << row.name;
      VideoFrame upside_down = frame->view();
      for (int p = 0; p < row.planes; ++p) {
        Plane& plane = upside_down.planes[static_cast<std::size_t>(p)];
        plane.stride = -plane_extent(row.format, p, size).row_bytes;
      }
      EXPECT_TRUE(validate(upside_down).ok()) << row.name;
    }
  }
}

TEST(VideoFrame, HdrIsPqOrHlg) {
  EXPECT_FALSE(is_hdr({}));
  for (const auto& [transfer, hdr] :
       {std::pair{ColorTransfer::kUnspecified, false}, std::pair{ColorTransfer::kSdr, false},
        std::pair{ColorTransfer::kPq, true}, std::pair{ColorTransfer::kHlg, true}}) {
    ColorSpace space;
    space.transfer = transfer;
    EXPECT_EQ(is_hdr(space), hdr) << static_cast<int>(transfer);
  }
}

class ValidateErrors : public ::testing::Test {
 protected:
  void SetUp() override {
    frame_.format = PixelFormat::kI420;
    frame_.coded_size = {6, 4};
    frame_.planes = {Plane{bytes_, 6}, Plane{bytes_, 3}, Plane{bytes_, 3}, Plane{}};
    ASSERT_TRUE(validate(frame_).ok());
  }
  void expect_invalid(const char* text) {
    const Status status = validate(frame_);
    ASSERT_FALSE(status.ok()) << text;
    EXPECT_EQ(status.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(status.error().to_string(), HasSubstr(text));
    EXPECT_FALSE(status.error().fix.empty());
  }
  std::uint8_t bytes_[64] = {};
  VideoFrame frame_;
};

TEST_F(ValidateErrors, Sizes) {
  for (const Size size : {Size{0, 4}, Size{6, 0}, Size{-6, 4}, Size{16385, 4}, Size{6, 16385}}) {
    frame_.coded_size = size;
    expect_invalid("coded size");
  }
}

TEST_F(ValidateErrors, MissingPlane) {
  frame_.planes[2].data = nullptr;
  expect_invalid("plane 2 of the I420 frame: has no memory");
  frame_.planes[2].data = bytes_;
  frame_.format = PixelFormat::kI420A;
  expect_invalid("plane 3 of the I420A frame: has no memory");
}

TEST_F(ValidateErrors, ShortStrides) {
  frame_.planes[0].stride = 5;
  expect_invalid("plane 0 of the I420 frame: stride 5");
  frame_.planes[0].stride = -5;
  expect_invalid("stride -5");
  frame_.planes[0].stride = -6;
  frame_.planes[1].stride = 2;
  expect_invalid("plane 1");
  frame_.format = PixelFormat::kNv12;  // needs 6 bytes of interleaved chroma
  frame_.planes[1].stride = 5;
  expect_invalid("plane 1 of the NV12 frame: stride 5");
  frame_.planes[1].stride = 6;
  frame_.format = PixelFormat::kP010;  // two bytes a sample
  expect_invalid("plane 0 of the P010 frame: stride -6");
  frame_.format = PixelFormat::kYuyv;  // an odd column takes a whole pair
  frame_.coded_size = {5, 4};
  frame_.planes[0].stride = 11;
  expect_invalid("plane 0 of the YUYV frame: stride 11");
  frame_.planes[0].stride = 12;
  EXPECT_TRUE(validate(frame_).ok());
}

TEST_F(ValidateErrors, VisibleRectangle) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  for (const Rect& rect : {Rect{nan, 0, 2, 2}, Rect{0, 0, nan, 2}, Rect{0, 0, infinity, 2}}) {
    frame_.visible_rect = rect;
    expect_invalid("not finite");
  }
  for (const Rect& rect : {Rect{-0.5, 0, 2, 2}, Rect{0, -1, 2, 2}, Rect{4.5, 0, 2, 2},
                           Rect{0, 1, 2, 3.01}, Rect{100, 100, 2, 2}}) {
    frame_.visible_rect = rect;
    expect_invalid("outside the coded picture");
  }
  frame_.visible_rect = {0, 0, -2, 2};
  expect_invalid("negative extent");
  frame_.visible_rect = {0.5, 0.25, 5.5, 3.75};
  EXPECT_TRUE(validate(frame_).ok());
}

TEST_F(ValidateErrors, ValuesThatAreNoEnumerators) {
  frame_.rotation = static_cast<Rotation>(45);
  expect_invalid("45 is not a quarter turn");
  frame_.rotation = Rotation::k0;
  frame_.format = static_cast<PixelFormat>(99);
  expect_invalid("99 is not a format");
}

TEST_F(ValidateErrors, ColorSpace) {
  const ColorSpace good;
  frame_.color_space.matrix = static_cast<ColorMatrix>(4);
  expect_invalid("matrix of the colour space: 4");
  frame_.color_space = good;
  frame_.color_space.range = static_cast<ColorRange>(-1);
  expect_invalid("range of the colour space: -1");
  frame_.color_space = good;
  frame_.color_space.primaries = static_cast<ColorPrimaries>(4);
  expect_invalid("primaries of the colour space: 4");
  frame_.color_space = good;
  frame_.color_space.transfer = static_cast<ColorTransfer>(4);
  expect_invalid("transfer of the colour space: 4");
  frame_.color_space = good;
  frame_.color_space.siting = static_cast<ChromaSiting>(9);
  expect_invalid("siting of the colour space: 9");
}

TEST_F(ValidateErrors, DeviceFrameIsNotSupported) {
  frame_.storage = FrameStorage::kDeviceHandle;
  const Status status = validate(frame_);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kNotSupported);
}

TEST(SharedFrame, SharesWithoutCopyingAndReleasesLast) {
  bool released = false;
  std::uint8_t pixels[4] = {1, 2, 3, 4};
  SharedFrame second;
  {
    // As a decoder's reference-counted buffer would be wrapped.
    const std::shared_ptr<const void> owner(pixels, [&](const void*) { released = true; });
    SharedFrame first(gray_frame({2, 2}, pixels), owner);
    second = first;
    EXPECT_EQ(second.view().planes[0].data, pixels);
    EXPECT_EQ(second.use_count(), 3);
  }
  EXPECT_FALSE(released);
  EXPECT_EQ(second.use_count(), 1);
  SharedFrame third = std::move(second);
  EXPECT_EQ(third.use_count(), 1);
  third = SharedFrame();
  EXPECT_TRUE(released);
  EXPECT_FALSE(third);
}

TEST(AllocateFrame, IsZeroedAlignedAndHasRoomForEachPlane) {
  for (const PixelFormatInfo& row : kPixelFormats) {
    SCOPED_TRACE(row.name);
    Result<SharedFrame> frame = allocate_frame(row.format, {67, 35});
    ASSERT_TRUE(frame.ok());
    ASSERT_TRUE(validate(frame->view()).ok());
    for (int p = 0; p < row.planes; ++p) {
      const Plane& plane = frame->view().planes[static_cast<std::size_t>(p)];
      const PlaneExtent extent = plane_extent(row.format, p, {67, 35});
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(plane.data) % 64, 0u);
      EXPECT_EQ(plane.stride % 64, 0);
      EXPECT_EQ(mutable_plane(*frame, p), plane.data);
      for (int y = 0; y < extent.rows; ++y) {
        std::uint8_t* bytes = mutable_plane(*frame, p) + y * plane.stride;
        for (int x = 0; x < extent.row_bytes; ++x) ASSERT_EQ(bytes[x], 0);
        std::memset(bytes, p + 1, static_cast<std::size_t>(extent.row_bytes));
      }
    }
    for (int p = 0; p < row.planes; ++p) {  // no plane overlaps another
      const Plane& plane = frame->view().planes[static_cast<std::size_t>(p)];
      const PlaneExtent extent = plane_extent(row.format, p, {67, 35});
      EXPECT_EQ(plane.data[0], p + 1);
      EXPECT_EQ(plane.data[(extent.rows - 1) * plane.stride + extent.row_bytes - 1], p + 1);
    }
    for (std::size_t p = static_cast<std::size_t>(row.planes); p < kMaxPlanes; ++p) {
      EXPECT_EQ(frame->view().planes[p].data, nullptr);
    }
  }
}

TEST(AllocateFrame, RefusesSizesOutOfRange) {
  for (const Size size : {Size{0, 1}, Size{1, -1}, Size{16385, 1}}) {
    const Result<SharedFrame> frame = allocate_frame(PixelFormat::kI420, size);
    ASSERT_FALSE(frame.ok());
    EXPECT_EQ(frame.error().code, ErrorCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace sparing

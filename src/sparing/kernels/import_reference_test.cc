// The reference against values worked out by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

#include "sparing/kernels/import.h"
#include "sparing/kernels/import_test_util.h"

namespace sparing {
namespace {

using test::kCanary;
using test::TestFrame;
using test::TestTensor;
using ::testing::ElementsAre;

TestTensor run(TestFrame& frame, int channels, Size size, const ImportOptions& options = {}) {
  TestTensor tensor(DataType::kFloat32, {1, channels, size.height, size.width}, Layout::kNchw);
  const Result<Affine> map = import_frame_reference(frame.view(), options, tensor.view());
  EXPECT_TRUE(map.ok());
  return tensor;
}

TestFrame gray_row(std::initializer_list<int> values) {
  TestFrame frame(PixelFormat::kGray8, {static_cast<int>(values.size()), 1});
  int x = 0;
  for (const int value : values) frame.at(0, x++, 0) = static_cast<std::uint8_t>(value);
  return frame;
}

TEST(ImportReference, UpscalesAtHalfPixelCentres) {
  TestFrame frame = gray_row({0, 100});
  // Centres at 0.25, 0.75, 1.25, 1.75 of the source: taps at -0.25 (clamped), 0.25, 0.75, 1.25.
  EXPECT_THAT(run(frame, 1, {4, 1}).channel(0), ElementsAre(0, 25, 75, 100));
}

TEST(ImportReference, DownscalesWithTwoTaps) {
  TestFrame frame = gray_row({10, 20, 30, 40, 50, 60, 70, 80});
  EXPECT_THAT(run(frame, 1, {4, 1}).channel(0), ElementsAre(15, 35, 55, 75));
  // Centres at 2 and 6: between samples 1 and 2, and 5 and 6; the others do not count.
  EXPECT_THAT(run(frame, 1, {2, 1}).channel(0), ElementsAre(25, 65));
}

TEST(ImportReference, FractionalRectangle) {
  TestFrame frame = gray_row({10, 20, 30, 40});
  ImportOptions options;
  options.visible_rect = {0.25, 0, 2, 1};
  EXPECT_THAT(run(frame, 1, {2, 1}, options).channel(0), ElementsAre(12.5, 22.5));
}

TEST(ImportReference, RectangleBeyondTheEdgeRepeatsTheEdge) {
  TestFrame frame = gray_row({10, 20, 30, 40});
  ImportOptions options;
  options.visible_rect = {-2, -1, 8, 3};
  EXPECT_THAT(run(frame, 1, {8, 1}, options).channel(0),
              ElementsAre(10, 10, 10, 20, 30, 40, 40, 40));
}

TEST(ImportReference, InterpolatesRowsToo) {
  TestFrame frame(PixelFormat::kGray8, {2, 2});
  frame.at(0, 0, 0) = 0;
  frame.at(0, 1, 0) = 40;
  frame.at(0, 0, 1) = 80;
  frame.at(0, 1, 1) = 200;
  EXPECT_THAT(run(frame, 1, {1, 1}).channel(0), ElementsAre(80));
  ImportOptions options;
  options.visible_rect = {0.25, 0.75, 1, 1};  // sample position (0.25, 0.75)
  EXPECT_THAT(run(frame, 1, {1, 1}, options).channel(0), ElementsAre(0.25 * 10 + 0.75 * 110));
}

TEST(ImportReference, PaddingBeyondTheVisibleRectangleNeverShows) {
  TestFrame frame = gray_row({255, 10, 20, 30, 255, 255});
  frame.view().visible_rect = {1, 0, 3, 1};
  EXPECT_THAT(run(frame, 1, {6, 1}).channel(0), ElementsAre(10, 12.5, 17.5, 22.5, 27.5, 30));
  ImportOptions options;
  options.visible_rect = {-1, 0, 5, 1};
  EXPECT_THAT(run(frame, 1, {5, 1}, options).channel(0), ElementsAre(10, 10, 20, 30, 30));
  // A column that the visible rectangle only touches counts as visible.
  frame.view().visible_rect = {1, 0, 3.5, 1};
  options.visible_rect = {0, 0, 5, 1};
  EXPECT_THAT(run(frame, 1, {5, 1}, options).channel(0), ElementsAre(10, 20, 30, 255, 255));
}

TEST(ImportReference, ChromaPaddingNeverShowsEither) {
  TestFrame frame(PixelFormat::kI420, {8, 2});
  frame.view().color_space.range = ColorRange::kFull;
  frame.fill_plane(0, 100);
  frame.fill_plane(1, 128);
  frame.fill_plane(2, 128);
  frame.at(2, 2, 0) = 255;  // of columns 4 and 5
  frame.view().visible_rect = {0, 0, 4, 2};
  EXPECT_THAT(run(frame, 3, {4, 2}).channel(0), ::testing::Each(100.0f));
  frame.view().visible_rect = {0, 0, 4.5, 2};
  EXPECT_NE(run(frame, 3, {9, 2}).channel(0).back(), 100.0f);
}

struct PureColor {
  ColorMatrix matrix;
  ColorRange range;
  std::array<int, 3> yuv;
  std::array<double, 3> rgb;
};

// Red, green and blue as encoders round them to 8 bits, and what they decode to: computed with
// exact fractions from Kr, Kb and the definition of Y'CbCr, outside this program.
const PureColor kPureColors[] = {
    {ColorMatrix::kBt601, ColorRange::kLimited, {81, 90, 240}, {254.439932, 0, 0}},
    {ColorMatrix::kBt601, ColorRange::kLimited, {145, 54, 34}, {0.178962, 255, 0.930301}},
    {ColorMatrix::kBt601, ColorRange::kLimited, {41, 240, 110}, {0.381107, 0, 255}},
    {ColorMatrix::kBt601, ColorRange::kFull, {76, 85, 255}, {254.054, 0.102552, 0}},
    {ColorMatrix::kBt601, ColorRange::kFull, {150, 44, 21}, {0, 255, 1.152}},
    {ColorMatrix::kBt601, ColorRange::kFull, {29, 255, 107}, {0, 0.291554, 254.044}},
    {ColorMatrix::kBt709, ColorRange::kLimited, {63, 102, 240}, {255, 0.584647, 0}},
    {ColorMatrix::kBt709, ColorRange::kLimited, {173, 42, 26}, {0, 255, 1.141666}},
    {ColorMatrix::kBt709, ColorRange::kLimited, {32, 240, 118}, {0.702726, 0.075385, 255}},
    {ColorMatrix::kBt709, ColorRange::kFull, {54, 99, 255}, {253.9996, 0, 0.1876}},
    {ColorMatrix::kBt709, ColorRange::kFull, {182, 30, 12}, {0, 254.660194, 0.1512}},
    {ColorMatrix::kBt709, ColorRange::kFull, {18, 255, 116}, {0, 0, 253.6612}},
    {ColorMatrix::kBt2020, ColorRange::kLimited, {74, 97, 240}, {255, 0.493832, 1.139305}},
    {ColorMatrix::kBt2020, ColorRange::kLimited, {164, 47, 25}, {0, 254.495886, 0}},
    {ColorMatrix::kBt2020, ColorRange::kLimited, {29, 240, 119}, {0.028919, 0.010281, 255}},
    {ColorMatrix::kBt2020, ColorRange::kFull, {67, 92, 255}, {254.2742, 0.362065, 0}},
    {ColorMatrix::kBt2020, ColorRange::kFull, {173, 36, 11}, {0.4718, 254.987204, 0}},
    {ColorMatrix::kBt2020, ColorRange::kFull, {15, 255, 118}, {0.254, 0, 253.9378}},
    // Others cap the blue gain at 2 here and get 224.
    {ColorMatrix::kBt709, ColorRange::kLimited, {16, 240, 128}, {0, 0, 236.589}},
    {ColorMatrix::kBt709, ColorRange::kLimited, {235, 128, 128}, {255, 255, 255}},
    {ColorMatrix::kBt709, ColorRange::kLimited, {16, 128, 128}, {0, 0, 0}},
    {ColorMatrix::kBt601,
     ColorRange::kLimited,
     {126, 128, 128},
     {128.082192, 128.082192, 128.082192}},
    {ColorMatrix::kBt601, ColorRange::kFull, {126, 128, 128}, {126, 126, 126}},
    {ColorMatrix::kBt601, ColorRange::kLimited, {0, 128, 128}, {0, 0, 0}},          // below black
    {ColorMatrix::kBt601, ColorRange::kLimited, {255, 128, 128}, {255, 255, 255}},  // above white
};

TEST(ImportReference, PureColours) {
  for (const PureColor& color : kPureColors) {
    TestFrame frame(PixelFormat::kI420, {2, 2});
    frame.view().color_space.matrix = color.matrix;
    frame.view().color_space.range = color.range;
    for (int p = 0; p < 3; ++p) {
      frame.fill_plane(p, static_cast<std::uint8_t>(color.yuv[static_cast<std::size_t>(p)]));
    }
    const TestTensor rgb = run(frame, 3, {1, 1});
    for (int c = 0; c < 3; ++c) {
      EXPECT_NEAR(rgb.get<float>(0, c, 0, 0), color.rgb[static_cast<std::size_t>(c)], 1e-4)
          << static_cast<int>(color.matrix) << " " << static_cast<int>(color.range) << " Y "
          << color.yuv[0] << " channel " << c;
    }
    ImportOptions bgr;
    bgr.order = ChannelOrder::kBgr;
    const TestTensor reversed = run(frame, 3, {1, 1}, bgr);
    for (int c = 0; c < 3; ++c) {
      EXPECT_EQ(reversed.get<float>(0, c, 0, 0), rgb.get<float>(0, 2 - c, 0, 0));
    }
  }
}

TEST(ImportReference, UnspecifiedColourFollowsResolve) {
  // Blue of BT.601 limited on a small picture: (41, 240, 110).
  TestFrame frame(PixelFormat::kNv12, {2, 2});
  frame.fill_plane(0, 41);
  frame.at(1, 0, 0) = 240;
  frame.at(1, 1, 0) = 110;
  const TestTensor blue = run(frame, 3, {1, 1});
  EXPECT_NEAR(blue.get<float>(0, 0, 0, 0), 0.381107, 1e-4);
  EXPECT_NEAR(blue.get<float>(0, 1, 0, 0), 0, 1e-4);
  EXPECT_NEAR(blue.get<float>(0, 2, 0, 0), 255, 1e-4);
}

// Red of a full-range picture with Y = 100, by column of Cr values (and grey U).
std::vector<float> red_of(ChromaSiting siting, bool columns, std::initializer_list<int> cr) {
  const int n = static_cast<int>(cr.size());
  TestFrame frame(PixelFormat::kI420, columns ? Size{2 * n, 2} : Size{2, 2 * n});
  frame.view().color_space = {ColorMatrix::kBt601, ColorRange::kFull, {}, {}, siting};
  frame.fill_plane(0, 100);
  frame.fill_plane(1, 128);
  int i = 0;
  for (const int value : cr) {
    frame.at(2, columns ? i : 0, columns ? 0 : i) = static_cast<std::uint8_t>(value);
    ++i;
  }
  const TestTensor tensor = run(frame, 3, frame.view().coded_size);
  std::vector<float> line;
  for (int k = 0; k < 2 * n; ++k) {
    line.push_back(columns ? tensor.get<float>(0, 0, 0, k) : tensor.get<float>(0, 0, k, 0));
  }
  return line;
}

TEST(ImportReference, ChromaSiting) {
  const auto red = [](std::initializer_list<double> cr) {
    std::vector<float> values;
    for (const double v : cr) values.push_back(static_cast<float>(100 + 1.402 * v));
    return ::testing::Pointwise(::testing::FloatEq(), values);
  };
  // Left: sample k on luma column 2k. Centre: between columns 2k and 2k+1.
  EXPECT_THAT(red_of(ChromaSiting::kLeft, true, {128, 168}), red({0, 20, 40, 40}));
  EXPECT_THAT(red_of(ChromaSiting::kUnspecified, true, {128, 168}), red({0, 20, 40, 40}));
  EXPECT_THAT(red_of(ChromaSiting::kTopLeft, true, {128, 168}), red({0, 20, 40, 40}));
  EXPECT_THAT(red_of(ChromaSiting::kCenter, true, {128, 168}), red({0, 10, 30, 40}));
  EXPECT_THAT(red_of(ChromaSiting::kLeft, false, {128, 168}), red({0, 10, 30, 40}));
  EXPECT_THAT(red_of(ChromaSiting::kCenter, false, {128, 168}), red({0, 10, 30, 40}));
  EXPECT_THAT(red_of(ChromaSiting::kTopLeft, false, {128, 168}), red({0, 20, 40, 40}));
}

TEST(ImportReference, YuvTurnedHalfWay) {
  TestFrame frame(PixelFormat::kNv12, {4, 2});
  frame.view().color_space.range = ColorRange::kFull;
  frame.view().rotation = Rotation::k180;
  frame.fill_plane(1, 128);
  for (int i = 0; i < 8; ++i) frame.at(0, i % 4, i / 4) = static_cast<std::uint8_t>(10 * i);
  EXPECT_THAT(run(frame, 3, {4, 2}).channel(1), ElementsAre(70, 60, 50, 40, 30, 20, 10, 0));
}

TEST(ImportReference, LimitedRangeOfRgbAndGrey) {
  for (const PixelFormat format : {PixelFormat::kRgb24, PixelFormat::kGray8}) {
    TestFrame frame(format, {1, 1});
    frame.view().color_space.range = ColorRange::kLimited;
    frame.fill_plane(0, 126);
    EXPECT_NEAR(run(frame, 3, {1, 1}).get<float>(0, 1, 0, 0), 128.082192, 1e-4);
    frame.fill_plane(0, 240);
    EXPECT_EQ(run(frame, 3, {1, 1}).get<float>(0, 1, 0, 0), 255);
  }
}

TEST(ImportReference, OneChannelIsLuma) {
  TestFrame rgb(PixelFormat::kBgra, {1, 1});
  rgb.at(0, 0, 0) = 10;
  rgb.at(0, 1, 0) = 100;
  rgb.at(0, 2, 0) = 200;
  rgb.at(0, 3, 0) = 77;  // alpha
  EXPECT_NEAR(run(rgb, 1, {1, 1}).get<float>(0, 0, 0, 0), 59.8 + 58.7 + 1.14, 1e-4);
  rgb.view().color_space.matrix = ColorMatrix::kBt709;
  EXPECT_NEAR(run(rgb, 1, {1, 1}).get<float>(0, 0, 0, 0), 42.52 + 71.52 + 0.722, 1e-4);

  TestFrame yuv(PixelFormat::kI420, {2, 2});
  yuv.fill_plane(0, 126);
  yuv.fill_plane(1, 3);  // chroma does not matter
  EXPECT_NEAR(run(yuv, 1, {1, 1}).get<float>(0, 0, 0, 0), 128.082192, 1e-4);
  yuv.view().color_space.range = ColorRange::kFull;
  EXPECT_EQ(run(yuv, 1, {1, 1}).get<float>(0, 0, 0, 0), 126);
}

TEST(ImportReference, MeanAndStdByTensorChannelAfterClamping) {
  TestFrame frame(PixelFormat::kRgb24, {1, 1});
  frame.at(0, 0, 0) = 10;
  frame.at(0, 1, 0) = 20;
  frame.at(0, 2, 0) = 30;
  ImportOptions options;
  options.order = ChannelOrder::kBgr;
  options.mean = {1, 2, 3};
  options.std = {2, -4, 0.5f};
  const TestTensor tensor = run(frame, 3, {1, 1}, options);
  EXPECT_EQ(tensor.get<float>(0, 0, 0, 0), 14.5f);
  EXPECT_EQ(tensor.get<float>(0, 1, 0, 0), -4.5f);
  EXPECT_EQ(tensor.get<float>(0, 2, 0, 0), 14.0f);
}

TEST(ImportReference, QuantizationOfIntegersRoundsHalfToEvenAndSaturates) {
  TestFrame frame = gray_row({0, 1, 3, 5, 100, 255});
  ImportOptions options;
  options.mean = {3, 0, 0};
  options.quantization = {2, 10};  // -1.5, -1, 0, 1, 48.5, 126 and 10
  const auto stored = [&](DataType type) {
    TestTensor tensor(type, {1, 1, 1, 6}, Layout::kNchw);
    EXPECT_TRUE(import_frame_reference(frame.view(), options, tensor.view()).ok());
    return tensor;
  };
  EXPECT_THAT(stored(DataType::kUint8).channel<std::uint8_t>(0),
              ElementsAre(8, 9, 10, 11, 58, 136));
  EXPECT_THAT(stored(DataType::kInt8).channel<std::int8_t>(0), ElementsAre(8, 9, 10, 11, 58, 127));
  EXPECT_THAT(stored(DataType::kInt32).channel<std::int32_t>(0),
              ElementsAre(8, 9, 10, 11, 58, 136));
  options.quantization = {-0.5f, -7};
  EXPECT_THAT(stored(DataType::kInt64).channel<std::int64_t>(0),
              ElementsAre(-1, -3, -7, -11, -201, -511));
  EXPECT_THAT(stored(DataType::kInt8).channel<std::int8_t>(0),
              ElementsAre(-1, -3, -7, -11, -128, -128));
}

TEST(ImportReference, AlphaIsNotNormalisedButQuantized) {
  TestFrame frame(PixelFormat::kRgba, {1, 1});
  frame.fill_plane(0, 77);  // its own alpha is ignored
  ImportOptions options;
  options.mean = {7, 7, 7};
  options.std = {10, 10, 10};
  options.order = ChannelOrder::kBgr;
  options.destination = {{0, 0, 1, 1}};
  const TestTensor floats = run(frame, 4, {1, 1}, options);
  EXPECT_EQ(floats.get<float>(0, 0, 0, 0), 7);
  EXPECT_EQ(floats.get<float>(0, 2, 0, 0), 7);
  EXPECT_EQ(floats.get<float>(0, 3, 0, 0), 255);
  options.alpha = -3;
  options.quantization = {0.5f, 1};
  const TestTensor bytes(DataType::kInt8, {1, 1, 1, 4}, Layout::kNhwc);
  ASSERT_TRUE(import_frame_reference(frame.view(), options, bytes.view()).ok());
  EXPECT_EQ(bytes.get<std::int8_t>(0, 1, 0, 0), 15);
  EXPECT_EQ(bytes.get<std::int8_t>(0, 3, 0, 0), -5);
}

TEST(ImportReference, OptionsColourReplacesTheFramesFieldByField) {
  TestFrame frame(PixelFormat::kI444, {1, 1});
  frame.at(0, 0, 0) = 63;  // red of BT.709 limited
  frame.at(1, 0, 0) = 102;
  frame.at(2, 0, 0) = 240;
  frame.view().color_space.matrix = ColorMatrix::kBt2020;
  frame.view().color_space.range = ColorRange::kLimited;
  ImportOptions options;
  options.color_space.matrix = ColorMatrix::kBt709;
  EXPECT_NEAR(run(frame, 3, {1, 1}, options).get<float>(0, 1, 0, 0), 0.584647, 1e-4);
  options.color_space.range = ColorRange::kFull;
  EXPECT_NEAR(run(frame, 1, {1, 1}, options).get<float>(0, 0, 0, 0), 63, 1e-4);
  frame.view().color_space.range = ColorRange::kUnspecified;  // resolve() comes last
  EXPECT_NEAR(run(frame, 1, {1, 1}, options).get<float>(0, 0, 0, 0), 63, 1e-4);
}

double decoded(const TestTensor& tensor, int n, int c, int y, int x) {
  switch (tensor.view().type) {
    case DataType::kFloat32: return tensor.get<float>(n, c, y, x);
    case DataType::kBfloat16: {
      const std::uint32_t bits = static_cast<std::uint32_t>(tensor.get<std::uint16_t>(n, c, y, x))
                                 << 16;
      float value;
      std::memcpy(&value, &bits, sizeof value);
      return value;
    }
    case DataType::kFloat16: {  // normal numbers only
      const std::uint16_t bits = tensor.get<std::uint16_t>(n, c, y, x);
      return std::ldexp(1024 + bits % 1024, bits / 1024 - 25);
    }
    case DataType::kUint8: return tensor.get<std::uint8_t>(n, c, y, x);
    case DataType::kInt8: return tensor.get<std::int8_t>(n, c, y, x);
    case DataType::kInt32: return tensor.get<std::int32_t>(n, c, y, x);
    case DataType::kInt64: return static_cast<double>(tensor.get<std::int64_t>(n, c, y, x));
  }
  return -1;
}

// Into a sub-rectangle of image 1 of 2, in every type and layout: the values 0.5, 1.5, ... arrive
// rounded as the type says, and no other byte of the tensor changes.
TEST(ImportReference, EveryTypeAndLayoutIntoASubRectangle) {
  TestFrame frame(PixelFormat::kGray8, {4, 2});
  for (int i = 0; i < 8; ++i) frame.at(0, i % 4, i / 4) = static_cast<std::uint8_t>(2 * i + 1);
  ImportOptions options;
  options.std = {2, 2, 2};
  options.batch_index = 1;
  options.destination = {{3, 2, 4, 2}};
  for (const DataTypeInfo& type : kDataTypes) {
    for (const Layout layout : {Layout::kNchw, Layout::kNhwc}) {
      for (const int channels : {1, 3}) {
        SCOPED_TRACE(type.name);
        const Shape shape =
            layout == Layout::kNchw ? Shape{2, channels, 5, 9} : Shape{2, 5, 9, channels};
        const TestTensor tensor(type.type, shape, layout);
        ASSERT_TRUE(import_frame_reference(frame.view(), options, tensor.view()).ok());
        const bool integer = type.type != DataType::kFloat32 && type.type != DataType::kFloat16 &&
                             type.type != DataType::kBfloat16;
        std::size_t written = 0;
        for (int c = 0; c < channels; ++c) {
          for (int i = 0; i < 8; ++i) {
            const double exact = i + 0.5;
            const double even = i % 2 == 0 ? i : i + 1;
            EXPECT_EQ(decoded(tensor, 1, c, 2 + i / 4, 3 + i % 4), integer ? even : exact);
            written += type.size;
          }
        }
        const auto untouched = static_cast<std::size_t>(
            std::count(tensor.bytes().begin(), tensor.bytes().end(), kCanary));
        EXPECT_EQ(untouched + written, tensor.bytes().size());
      }
    }
  }
}

}  // namespace
}  // namespace sparing

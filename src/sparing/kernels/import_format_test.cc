// Every pixel format: its bytes as the world writes them down, not as kPixelFormats does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>
#include <random>
#include <vector>

#include "sparing/kernels/import.h"
#include "sparing/kernels/import_test_util.h"

namespace sparing {
namespace {

using test::TestFrame;
using test::TestTensor;

void put16(TestFrame& frame, int plane, int index, int y, int value) {
  frame.at(plane, 2 * index, y) = static_cast<std::uint8_t>(value % 256);
  frame.at(plane, 2 * index + 1, y) = static_cast<std::uint8_t>(value / 256);
}

// Writes luma or one of U and V (component 1 and 2) at a position of its own grid; 10-bit formats
// take values of 10 bits.
void put(TestFrame& frame, int component, int x, int y, int value) {
  const auto byte = static_cast<std::uint8_t>(value);
  switch (frame.view().format) {
    case PixelFormat::kI420:
    case PixelFormat::kI420A:
    case PixelFormat::kI422:
    case PixelFormat::kI444: frame.at(component, x, y) = byte; return;
    case PixelFormat::kNv12:
    case PixelFormat::kNv16:
      frame.at(component > 0, component > 0 ? 2 * x + component - 1 : x, y) = byte;
      return;
    case PixelFormat::kNv21:
      frame.at(component > 0, component > 0 ? 2 * x + 2 - component : x, y) = byte;
      return;
    case PixelFormat::kYuyv:
      frame.at(0, component > 0 ? 4 * x + 2 * component - 1 : 2 * x, y) = byte;
      return;
    case PixelFormat::kUyvy:
      frame.at(0, component > 0 ? 4 * x + 2 * component - 2 : 2 * x + 1, y) = byte;
      return;
    case PixelFormat::kP010:
      put16(frame, component > 0, component > 0 ? 2 * x + component - 1 : x, y, value * 64);
      return;
    case PixelFormat::kI010:
    case PixelFormat::kI210:
    case PixelFormat::kI410: put16(frame, component, x, y, value); return;
    default: FAIL() << "not a YUV format";
  }
}

// 4:2:0 and the like: how many luma columns and rows share one chroma sample.
Size chroma_block(PixelFormat format) {
  switch (format) {
    case PixelFormat::kI444:
    case PixelFormat::kI410: return {1, 1};
    case PixelFormat::kI422:
    case PixelFormat::kNv16:
    case PixelFormat::kYuyv:
    case PixelFormat::kUyvy:
    case PixelFormat::kI210: return {2, 1};
    default: return {2, 2};
  }
}

bool ten_bits(PixelFormat format) {
  return format == PixelFormat::kP010 || format == PixelFormat::kI010 ||
         format == PixelFormat::kI210 || format == PixelFormat::kI410;
}

struct Picture {
  Size size;
  Size block;
  std::vector<int> samples[3];  // Y, U, V

  Size grid(int component) const {
    if (component == 0) return size;
    return {(size.width + block.width - 1) / block.width,
            (size.height + block.height - 1) / block.height};
  }
  int at(int component, int x, int y) const {
    return samples[component][static_cast<std::size_t>(y * grid(component).width + x)];
  }
};

Picture random_picture(Size size, Size block, int limit, unsigned seed) {
  std::mt19937 random(seed);
  Picture picture{size, block, {}};
  for (int c = 0; c < 3; ++c) {
    const Size grid = picture.grid(c);
    for (int i = 0; i < grid.width * grid.height; ++i) {
      picture.samples[c].push_back(static_cast<int>(random() % static_cast<unsigned>(limit)));
    }
  }
  return picture;
}

// `scale` brings 8-bit values to 10 bits. Bytes that no sample uses are left random.
TestFrame written(const Picture& picture, PixelFormat format, int scale,
                  TestFrame::Options layout = {}) {
  TestFrame frame(format, picture.size, layout);
  std::mt19937 random(99);
  frame.fill_random(random);
  for (int c = 0; c < 3; ++c) {
    const Size grid = picture.grid(c);
    for (int y = 0; y < grid.height; ++y) {
      for (int x = 0; x < grid.width; ++x) put(frame, c, x, y, picture.at(c, x, y) * scale);
    }
  }
  return frame;
}

TestTensor run(TestFrame& frame, Size size, const ImportOptions& options = {}) {
  TestTensor tensor(DataType::kFloat32, {1, 3, size.height, size.width}, Layout::kNchw);
  EXPECT_TRUE(import_frame_reference(frame.view(), options, tensor.view()).ok());
  return tensor;
}

void expect_near(const TestTensor& a, const TestTensor& b, float tolerance) {
  for (int c = 0; c < 3; ++c) {
    EXPECT_THAT(a.channel(c), ::testing::Pointwise(::testing::FloatNear(tolerance), b.channel(c)));
  }
}

TEST(ImportFormats, PureColoursInEveryYuvFormat) {
  // BT.601 limited, as encoders round to 8 bits; computed outside this program.
  const struct {
    std::array<int, 3> yuv;
    std::array<double, 3> rgb;
  } colors[] = {{{81, 90, 240}, {254.439932, 0, 0}},
                {{145, 54, 34}, {0.178962, 255, 0.930301}},
                {{41, 240, 110}, {0.381107, 0, 255}},
                {{235, 128, 128}, {255, 255, 255}}};
  int formats = 0;
  for (const PixelFormatInfo& row : kPixelFormats) {
    if (row.model != ColorModel::kYuv) continue;
    SCOPED_TRACE(row.name);
    ++formats;
    const int scale = ten_bits(row.format) ? 4 : 1;
    for (const auto& color : colors) {
      for (const Size size : {Size{1, 1}, Size{5, 3}, Size{4, 6}}) {
        Picture picture{size, chroma_block(row.format), {}};
        for (int c = 0; c < 3; ++c) {
          const Size grid = picture.grid(c);
          picture.samples[c].assign(static_cast<std::size_t>(grid.width * grid.height),
                                    color.yuv[static_cast<std::size_t>(c)]);
        }
        TestFrame frame = written(picture, row.format, scale);
        const TestTensor tensor = run(frame, {3, 4});
        for (int c = 0; c < 3; ++c) {
          const auto expected = static_cast<float>(color.rgb[static_cast<std::size_t>(c)]);
          EXPECT_THAT(tensor.channel(c), ::testing::Each(::testing::FloatNear(expected, 1e-3f)));
        }
      }
    }
  }
  EXPECT_EQ(formats, 13);
}

// One picture, written in each format of the same subsampling, gives the same values.
TEST(ImportFormats, TheSamePictureInAnotherLayout) {
  ImportOptions options;
  options.visible_rect = {0.7, -0.4, 7.9, 5.2};
  std::map<std::pair<int, int>, int> seen;
  for (const PixelFormatInfo& row : kPixelFormats) {
    if (row.model != ColorModel::kYuv) continue;
    SCOPED_TRACE(row.name);
    const Size block = chroma_block(row.format);
    const Picture picture = random_picture({9, 5}, block, 256, 11);
    const PixelFormat plain = block.width == 1    ? PixelFormat::kI444
                              : block.height == 1 ? PixelFormat::kI422
                                                  : PixelFormat::kI420;
    for (const Filter filter : {Filter::kBilinear, Filter::kArea}) {
      options.filter = filter;
      TestFrame expected = written(picture, plain, 1);
      TestFrame frame = written(picture, row.format, ten_bits(row.format) ? 4 : 1,
                                {.extra_stride = 5, .bottom_up = true, .misalign = 1});
      if (ten_bits(row.format)) {  // limited range: 4 times 8 bits is the same colour
        expect_near(run(frame, {6, 7}, options), run(expected, {6, 7}, options), 1e-3f);
      } else {
        EXPECT_EQ(run(frame, {6, 7}, options).bytes(), run(expected, {6, 7}, options).bytes());
      }
    }
    ++seen[{block.width, block.height}];
  }
  EXPECT_EQ(seen.size(), 3u);
}

TEST(ImportFormats, TenBitsInFullAndLimitedRange) {
  const auto pixel = [](PixelFormat format, ColorRange range, std::array<int, 3> yuv) {
    TestFrame frame(format, {1, 1});
    for (int c = 0; c < 3; ++c) put(frame, c, 0, 0, yuv[static_cast<std::size_t>(c)]);
    frame.view().color_space = {ColorMatrix::kBt2020, range, {}, {}, {}};
    return run(frame, {1, 1});
  };
  for (const PixelFormat format :
       {PixelFormat::kP010, PixelFormat::kI010, PixelFormat::kI210, PixelFormat::kI410}) {
    SCOPED_TRACE(info(format).name);
    const TestTensor dark = pixel(format, ColorRange::kFull, {341, 512, 512});
    const TestTensor white = pixel(format, ColorRange::kFull, {1023, 512, 512});
    const TestTensor odd = pixel(format, ColorRange::kLimited, {503, 512, 512});
    for (int c = 0; c < 3; ++c) {
      EXPECT_FLOAT_EQ(dark.get<float>(0, c, 0, 0), 85);
      EXPECT_FLOAT_EQ(white.get<float>(0, c, 0, 0), 255);
      EXPECT_FLOAT_EQ(odd.get<float>(0, c, 0, 0), static_cast<float>((503 - 64) * 255.0 / 876));
    }
    // Kr of BT.2020 is .2627; the gain of V is 2 (1 - Kr).
    const TestTensor full = pixel(format, ColorRange::kFull, {400, 512, 600});
    EXPECT_NEAR(full.get<float>(0, 0, 0, 0), (400 + 1.4746 * 88) * 255 / 1023, 1e-4);
    const TestTensor limited = pixel(format, ColorRange::kLimited, {400, 512, 600});
    EXPECT_NEAR(limited.get<float>(0, 0, 0, 0), (400 - 64) * 255.0 / 876 + 1.4746 * 88 * 255 / 896,
                1e-4);
  }
}

TEST(ImportFormats, LowBitsOfP010CountAsTheFractionTheyAre) {
  TestFrame frame(PixelFormat::kP010, {1, 1});
  frame.view().color_space.range = ColorRange::kFull;
  put16(frame, 0, 0, 0, 100 * 64 + 16);
  put16(frame, 1, 0, 0, 512 * 64);
  put16(frame, 1, 1, 0, 512 * 64);
  EXPECT_FLOAT_EQ(run(frame, {1, 1}).get<float>(0, 1, 0, 0), 100.25f * 255 / 1023);
}

TEST(ImportFormats, Gray16) {
  for (int k = 0; k < 256; k += 5) {
    TestFrame frame(PixelFormat::kGray16, {1, 1}, {.extra_stride = 0, .misalign = 1});
    put16(frame, 0, 0, 0, k * 257);
    EXPECT_FLOAT_EQ(run(frame, {1, 1}).get<float>(0, 2, 0, 0), static_cast<float>(k));
  }
  TestFrame row(PixelFormat::kGray16, {3, 1});
  put16(row, 0, 0, 0, 16 * 256);
  put16(row, 0, 1, 0, 235 * 256);
  put16(row, 0, 2, 0, 126 * 256);
  row.view().color_space.range = ColorRange::kLimited;
  const TestTensor tensor = run(row, {3, 1});
  EXPECT_FLOAT_EQ(tensor.get<float>(0, 0, 0, 0), 0);
  EXPECT_FLOAT_EQ(tensor.get<float>(0, 0, 0, 1), 255);
  EXPECT_NEAR(tensor.get<float>(0, 0, 0, 2), 128.082192, 1e-4);
}

// Chroma replicated by the kernel, and by hand into a picture with chroma for every pixel.
TEST(ImportFormats, ReplicatedChromaIsThatOfTheUpsampledPicture) {
  const Filter filters[] = {Filter::kBilinear, Filter::kNearest, Filter::kArea, Filter::kTriangle};
  for (const PixelFormatInfo& row : kPixelFormats) {
    if (row.model != ColorModel::kYuv) continue;
    SCOPED_TRACE(row.name);
    const int limit = ten_bits(row.format) ? 1024 : 256;
    const Picture picture = random_picture({11, 7}, chroma_block(row.format), limit, 21);
    Picture upsampled{picture.size, {1, 1}, {}};
    for (int c = 0; c < 3; ++c) {
      const int dx = c == 0 ? 1 : picture.block.width;
      const int dy = c == 0 ? 1 : picture.block.height;
      for (int i = 0; i < 11 * 7; ++i) {
        upsampled.samples[c].push_back(picture.at(c, i % 11 / dx, i / 11 / dy));
      }
    }
    TestFrame frame = written(picture, row.format, 1);
    TestFrame whole =
        written(upsampled, ten_bits(row.format) ? PixelFormat::kI410 : PixelFormat::kI444, 1);
    ImportOptions options;
    options.chroma = ChromaUpsampling::kReplicate;
    for (VideoFrame* view : {&frame.view(), &whole.view()}) view->visible_rect = {1, 1, 9.5, 5};
    for (const Filter filter : filters) {
      options.filter = filter;
      for (const ChromaSiting siting : {ChromaSiting::kLeft, ChromaSiting::kCenter}) {
        options.color_space.siting = siting;
        for (const Rect& rect : {Rect{0, 0, 9.5, 5}, Rect{-0.7, 1.1, 7.3, 5.9}}) {
          options.visible_rect = rect;
          EXPECT_EQ(run(frame, {4, 9}, options).bytes(), run(whole, {4, 9}, options).bytes());
        }
      }
    }
  }
}

// The bytes of one pixel of the formats without chroma.
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

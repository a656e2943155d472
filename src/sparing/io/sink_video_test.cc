#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <random>

#include "sparing/io/overlay.h"
#include "sparing/io/sink.h"
#include "sparing/io/source.h"
#include "sparing/io/test_samples.h"
#include "sparing/io/test_video.h"
#include "sparing/io/upright.h"
#include "sparing/io/video_encoder.h"

namespace sparing {
namespace {

namespace fs = std::filesystem;

using testing::TestDirectory;

// `value` on the scale of 8 bits, in the format's own.
int scaled(const PixelFormatInfo& format, int value) { return value << (format.sample.bits - 8); }

void fill(const SharedFrame& frame, int component, const std::function<int(int, int)>& value) {
  const PixelFormatInfo& format = info(frame.view().format);
  const Size grid = testing::component_size(format, component, frame.view().coded_size);
  for (int y = 0; y < grid.height; ++y) {
    for (int x = 0; x < grid.width; ++x) {
      testing::set_sample(frame, component, x, y, scaled(format, value(x, y)));
    }
  }
}

SharedFrame make_frame(PixelFormat format, Size size, std::uint8_t value = 128) {
  auto frame = allocate_frame(format, size);
  EXPECT_TRUE(frame.ok());
  for (int c = 0; c < 4; ++c) {
    if (info(format).components[static_cast<std::size_t>(c)].plane < 0) continue;
    const bool chroma = testing::is_chroma(info(format), c);
    fill(*frame, c, [&](int, int) { return chroma ? 128 : value; });
  }
  frame->view().timestamp = {0, {1, 10}};
  frame->view().duration = {1, {1, 10}};
  return *frame;
}

// Frames with their own times as one video.
void render(const fs::path& path, const std::vector<SharedFrame>& frames,
            const std::vector<Detection>& detections) {
  RunInfo run;
  run.sources.resize(1);
  run.sources[0].frame_rate = {10, 1};
  run.labels = {"person"};
  auto sink = open_sink(path, run, {.video_crf = 4});
  ASSERT_TRUE(sink.ok()) << sink.error().to_string();
  for (std::size_t i = 0; i < frames.size(); ++i) {
    FrameResult result;
    result.source.frame = frames[i];
    result.source.index = static_cast<std::int64_t>(i);
    result.detections = detections;
    const Status status = (*sink)->write(result);
    ASSERT_TRUE(status.ok()) << status.error().to_string();
  }
  const Status status = (*sink)->finish();
  ASSERT_TRUE(status.ok()) << status.error().to_string();
}

std::vector<SharedFrame> decode(const fs::path& path) {
  std::vector<SharedFrame> frames;
  auto source = open_source(path.string());
  EXPECT_TRUE(source.ok()) << source.error().to_string();
  while (source.ok()) {
    auto frame = (*source)->next();
    EXPECT_TRUE(frame.ok()) << frame.error().to_string();
    if (!frame.ok() || !*frame) break;
    frames.push_back((*frame)->frame);
  }
  return frames;
}

Timestamp stream_duration(const fs::path& path) {
  AVFormatContext* format = nullptr;
  EXPECT_EQ(avformat_open_input(&format, path.c_str(), nullptr, nullptr), 0);
  const AVStream& stream = *format->streams[0];
  const Timestamp duration{stream.duration, ffmpeg::to_rational(stream.time_base)};
  avformat_close_input(&format);
  return duration;
}

YuvColor pixel(const VideoFrame& view, int x, int y) {
  const auto at = [&](int p, int px, int py) {
    return view.planes[p].data[py * view.planes[p].stride + px];
  };
  return {at(0, x, y), at(1, x / 2, y / 2), at(2, x / 2, y / 2)};
}

void expect_color(const YuvColor& found, const YuvColor& expected, int tolerance) {
  EXPECT_NEAR(found.y, expected.y, tolerance);
  EXPECT_NEAR(found.u, expected.u, tolerance);
  EXPECT_NEAR(found.v, expected.v, tolerance);
}

class RenderedSize : public ::testing::TestWithParam<Size> {};

TEST_P(RenderedSize, FromEveryPixelFormat) {
  const Size size = GetParam();
  const TestDirectory dir;
  for (const PixelFormatInfo& format : kPixelFormats) {
    SCOPED_TRACE(format.name);
    const SharedFrame frame = make_frame(format.format, size);
    render(dir / "a.mp4", {frame}, {});
    const std::vector<SharedFrame> decoded = decode(dir / "a.mp4");
    ASSERT_EQ(decoded.size(), 1u);
    const VideoFrame& view = decoded[0].view();
    EXPECT_EQ(view.coded_size, (Size{(size.width + 1) / 2 * 2, (size.height + 1) / 2 * 2}));
    // Grey stays grey, up to the padded edge: 128 of luma, or the same grey as RGB in limited
    // range.
    const bool rgb = format.model == ColorModel::kRgb;
    const std::uint8_t grey =
        rgb ? static_cast<std::uint8_t>(std::lround(16 + 219 * 128 / 255.0)) : std::uint8_t{128};
    const bool full = format.model == ColorModel::kGray;
    EXPECT_EQ(view.color_space.range, full ? ColorRange::kFull : ColorRange::kLimited);
    for (const int y : {0, view.coded_size.height - 1}) {
      for (const int x : {0, view.coded_size.width - 1}) {
        expect_color(pixel(view, x, y), {grey, 128, 128}, 2);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, RenderedSize,
                         ::testing::Values(Size{1, 1}, Size{3, 3}, Size{2, 2}, Size{1, 7},
                                           Size{64, 48}, Size{1512, 949}),
                         [](const auto& test) {
                           return std::to_string(test.param.width) + "x" +
                                  std::to_string(test.param.height);
                         });

TEST(VideoSink, DrawsBoxesInTheColourOfTheirClass) {
  const TestDirectory dir;
  for (const Size size : {Size{1512, 949}, Size{320, 241}}) {
    const float w = static_cast<float>(size.width), h = static_cast<float>(size.height);
    const Box box{std::floor(w / 4), std::floor(h / 2), std::floor(w / 2), std::floor(h * 3 / 4)};
    for (const int class_id : {0, 1, 2, 17}) {
      render(dir / "a.mp4", {make_frame(PixelFormat::kI420, size)}, {{box, 0.9f, class_id}});
      const std::vector<SharedFrame> decoded = decode(dir / "a.mp4");
      ASSERT_EQ(decoded.size(), 1u);
      const VideoFrame& view = decoded[0].view();
      const YuvColor expected =
          to_yuv(class_color(class_id), resolve(view.color_space, view.format, view.coded_size));
      const int x0 = static_cast<int>(box.x0), x1 = static_cast<int>(box.x1);
      const int y0 = static_cast<int>(box.y0), y1 = static_cast<int>(box.y1);
      const int middle = (y0 + y1) / 2;
      // Luma exactly on the line, at each side; colour a little less sharply.
      EXPECT_NEAR(pixel(view, x0, middle).y, expected.y, 12);
      EXPECT_NEAR(pixel(view, x1 - 1, middle).y, expected.y, 12);
      EXPECT_NEAR(pixel(view, (x0 + x1) / 2, y0).y, expected.y, 12);
      EXPECT_NEAR(pixel(view, (x0 + x1) / 2, y1 - 1).y, expected.y, 12);
      expect_color(pixel(view, x0, middle), expected, 40);
      // Nothing inside, nothing outside.
      expect_color(pixel(view, (x0 + x1) / 2, middle), {128, 128, 128}, 4);
      expect_color(pixel(view, x1 + 12, middle), {128, 128, 128}, 4);
      expect_color(pixel(view, 2, 2), {128, 128, 128}, 4);
    }
  }
}

TEST(VideoSink, KeepsVariableTimesFromZeroOn) {
  const TestDirectory dir;
  for (const std::int64_t start :
       {std::int64_t{0}, std::int64_t{-3000}, std::int64_t{8000000000}}) {
    std::vector<SharedFrame> frames;
    const std::vector<std::int64_t> times{0, 3003, 6006, 6007, 90000, 99000};
    for (const std::int64_t time : times) {
      frames.push_back(make_frame(PixelFormat::kI420, {32, 32}));
      frames.back().view().timestamp = {start + time, {1, 90000}};
      frames.back().view().duration = {3003, {1, 90000}};
    }
    render(dir / "a.mp4", frames, {});
    const std::vector<SharedFrame> decoded = decode(dir / "a.mp4");
    ASSERT_EQ(decoded.size(), times.size());
    for (std::size_t i = 0; i < times.size(); ++i) {
      EXPECT_EQ(decoded[i].view().timestamp, (Timestamp{times[i], {1, 90000}}));
    }
    EXPECT_EQ(stream_duration(dir / "a.mp4"), (Timestamp{99000 + 3003, {1, 90000}}));
  }
}

TEST(VideoSink, ScalesLaterFramesOfAnotherSize) {
  const TestDirectory dir;
  SharedFrame second = make_frame(PixelFormat::kI420, {128, 96});
  second.view().timestamp = {1, {1, 10}};
  render(dir / "a.mp4", {make_frame(PixelFormat::kI420, {64, 48}), second}, {});
  const std::vector<SharedFrame> decoded = decode(dir / "a.mp4");
  ASSERT_EQ(decoded.size(), 2u);
  EXPECT_EQ(decoded[1].view().coded_size, (Size{64, 48}));
}

TEST(VideoSink, WithoutFramesThereIsNoVideo) {
  const TestDirectory dir;
  RunInfo run;
  run.sources.resize(1);
  auto sink = open_sink(dir / "a.mp4", run);
  ASSERT_TRUE(sink.ok());
  const Status status = (*sink)->finish();
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kOutput);
  sink->reset();
  EXPECT_TRUE(dir.names().empty());
}

TEST(VideoEncoder, EveryEncoderOfThisBuildWorks) {
  const TestDirectory dir;
  int found = 0;
  for (const VideoEncoderInfo& row : video_encoders()) {
    if (avcodec_find_encoder_by_name(row.name.data()) == nullptr) continue;
    SCOPED_TRACE(row.name);
    ++found;
    VideoFormat format;
    format.size = {160, 120};
    format.time_base = {1, 1000000};  // finer than MPEG-4 can say
    format.frame_rate = {30, 1};
    const fs::path path = dir / (std::string(row.name) + ".mp4");
    auto encoder = VideoEncoder::open("file:" + path.string(), path, format, row.name);
    ASSERT_TRUE(encoder.ok()) << encoder.error().to_string();
    EXPECT_EQ((*encoder)->encoder(), row.name);
    for (std::int64_t i = 0; i < 10; ++i) {
      const YuvCanvas canvas = canvas_of(*(*encoder)->picture());
      fill_rect(canvas, {0, 0, 160, 120}, {static_cast<std::uint8_t>(40 + 10 * i), 100, 150});
      ASSERT_TRUE((*encoder)->write(i * 33333, 33333).ok());
    }
    const Status status = (*encoder)->finish();
    ASSERT_TRUE(status.ok()) << status.error().to_string();
    const std::vector<SharedFrame> decoded = decode(path);
    ASSERT_EQ(decoded.size(), 10u);
    for (std::size_t i = 0; i < decoded.size(); ++i) {
      const double time = static_cast<double>(i) * 0.033333;
      EXPECT_NEAR(decoded[i].view().timestamp.seconds(), time, 2e-5);
      expect_color(pixel(decoded[i].view(), 80, 60),
                   {static_cast<std::uint8_t>(40 + 10 * i), 100, 150}, 12);
    }
  }
  EXPECT_GE(found, 1);
}

constexpr Rotation kRotations[] = {Rotation::k0, Rotation::k90, Rotation::k180, Rotation::k270};

// What the frame shows upright in I420.
struct UprightPicture {
  ffmpeg::Frame frame;
  YuvCanvas canvas;
};
UprightPicture upright(UprightConverter& converter, const VideoFrame& view) {
  const Size size = display_size(view);
  UprightPicture picture;
  picture.frame.reset(av_frame_alloc());
  picture.frame->format = AV_PIX_FMT_YUV420P;
  picture.frame->width = size.width + size.width % 2;
  picture.frame->height = size.height + size.height % 2;
  EXPECT_EQ(av_frame_get_buffer(picture.frame.get(), 0), 0);
  picture.canvas = canvas_of(*picture.frame);
  const Status status = converter.convert(view, upright_color_space(view), size, picture.canvas);
  EXPECT_TRUE(status.ok());
  return picture;
}

// Pixel (x, y) of the upright picture is what display_to_coded says it is, of every format.
TEST(Upright, FollowsCropRotationAndFlip) {
  constexpr Size kCoded{13, 9};
  UprightConverter converter;
  for (const PixelFormatInfo& format : kPixelFormats) {
    SharedFrame frame = make_frame(format.format, kCoded);
    const auto value = [](int x, int y) { return 20 + 13 * y + x; };
    const bool rgb = format.model == ColorModel::kRgb;
    for (int c = 0; c < (rgb ? 3 : 1); ++c) fill(frame, c, value);
    for (const Rect& visible : {Rect{}, Rect{2, 4, 8, 5}}) {
      for (const Rotation rotation : kRotations) {
        for (const bool flip : {false, true}) {
          SCOPED_TRACE(std::string(format.name) + " " + std::to_string(static_cast<int>(rotation)) +
                       (flip ? " flipped" : ""));
          VideoFrame& view = frame.view();
          view.visible_rect = visible;
          view.rotation = rotation;
          view.flip = flip;
          const Size size = display_size(view);
          const UprightPicture picture = upright(converter, view);
          const YuvCanvas& canvas = picture.canvas;
          const Affine map = display_to_coded(view);
          for (int y = 0; y < canvas.size.height; ++y) {
            for (int x = 0; x < canvas.size.width; ++x) {
              // The padding repeats the last row and column.
              const Point coded =
                  map({std::min(x, size.width - 1) + 0.5, std::min(y, size.height - 1) + 0.5});
              const int shown = value(static_cast<int>(coded.x), static_cast<int>(coded.y));
              const double expected = rgb ? 16 + 219 * shown / 255.0 : shown;
              ASSERT_NEAR(canvas.planes[0][y * canvas.strides[0] + x], expected, rgb ? 2 : 0)
                  << x << "," << y;
            }
          }
        }
      }
    }
  }
}

// Each component ends up in its own place: a colour that has three different values, of every
// format, cropped at a chroma sample.
TEST(Upright, KeepsTheColourOfEveryFormat) {
  constexpr std::array kYuv{90, 70, 180};
  constexpr std::array kRgb{200, 100, 50};
  UprightConverter converter;
  for (const PixelFormatInfo& format : kPixelFormats) {
    SCOPED_TRACE(format.name);
    SharedFrame frame = make_frame(format.format, {13, 9}, 255);
    const bool rgb = format.model == ColorModel::kRgb, grey = format.model == ColorModel::kGray;
    for (std::size_t c = 0; c < (grey ? 1 : 3); ++c) {
      fill(frame, static_cast<int>(c), [&](int x, int y) {
        // Other colours beyond the crop.
        const bool chroma = testing::is_chroma(format, static_cast<int>(c));
        const int left = chroma && format.chroma_shift_x > 0 ? 1 : 2;
        const int top = chroma && format.chroma_shift_y > 0 ? 2 : 4;
        return x < left || y < top ? 240 : (rgb ? kRgb[c] : kYuv[c]);
      });
    }
    frame.view().visible_rect = {2, 4, 8, 5};
    const UprightPicture picture = upright(converter, frame.view());
    const YuvCanvas& canvas = picture.canvas;
    const YuvColor expected = rgb    ? to_yuv({200, 100, 50}, upright_color_space(frame.view()))
                              : grey ? YuvColor{90, 128, 128}
                                     : YuvColor{90, 70, 180};
    for (int y = 0; y < canvas.size.height; ++y) {
      for (int x = 0; x < canvas.size.width; ++x) {
        const auto at = [&](std::size_t p, int px, int py) {
          return canvas.planes[p][py * canvas.strides[p] + px];
        };
        const YuvColor found{at(0, x, y), at(1, x / 2, y / 2), at(2, x / 2, y / 2)};
        expect_color(found, expected, rgb ? 2 : 0);
      }
    }
  }
}

// Chroma finer than 4:2:0 is averaged, samples of more bits are rounded once.
TEST(I420Copy, AveragesWhatAChromaSampleStandsFor) {
  constexpr Size kSize{13, 9};
  UprightConverter converter;
  std::mt19937 random(3);
  for (const PixelFormatInfo& format : kPixelFormats) {
    if (format.model != ColorModel::kYuv) continue;
    SCOPED_TRACE(format.name);
    const SharedFrame frame = make_frame(format.format, kSize);
    for (int c = 0; c < 3; ++c) {
      const Size grid = testing::component_size(format, c, kSize);
      for (int y = 0; y < grid.height; ++y) {
        for (int x = 0; x < grid.width; ++x) {
          const int limit = 1 << format.sample.bits;
          testing::set_sample(frame, c, x, y, static_cast<int>(random()) & (limit - 1));
        }
      }
    }
    const UprightPicture picture = upright(converter, frame.view());
    for (int c = 0; c < 3; ++c) {
      const Size grid = testing::component_size(format, c, kSize);
      const int halved = c > 0 ? 1 : 0;
      const int columns = c > 0 ? 2 >> format.chroma_shift_x : 1;
      const int rows = c > 0 ? 2 >> format.chroma_shift_y : 1;
      for (int y = 0; y < chroma_extent(kSize.height, halved); ++y) {
        for (int x = 0; x < chroma_extent(kSize.width, halved); ++x) {
          double sum = 0;
          for (int j = 0; j < rows; ++j) {
            for (int i = 0; i < columns; ++i) {
              sum += testing::sample(frame.view(), c, std::min(x * columns + i, grid.width - 1),
                                     std::min(y * rows + j, grid.height - 1));
            }
          }
          const double mean = sum / (rows * columns) / (1 << (format.sample.bits - 8));
          const auto p = static_cast<std::size_t>(c);
          ASSERT_EQ(picture.canvas.planes[p][y * picture.canvas.strides[p] + x],
                    std::min(255.0, std::floor(mean + 0.5)))
              << "component " << c << " at " << x << "," << y;
        }
      }
    }
  }
}

}  // namespace
}  // namespace sparing

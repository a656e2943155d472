#include "sparing/io/picture_sink.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "sparing/io/picture_writer.h"
#include "sparing/io/test_play.h"
#include "sparing/io/test_samples.h"
#include "sparing/io/test_video.h"

extern "C" {
#include <libavutil/pixdesc.h>
}

namespace sparing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using testing::TestDirectory;

// A soft disc on a moving ramp; alpha is 0 outside and 255 inside.
int disc_alpha(int x, int y, Size size) {
  const double r = std::hypot(x - size.width / 2.0, y - size.height / 2.0) / size.height;
  return static_cast<int>(std::lround(255 * std::min(1.0, std::max(0.0, (0.4 - r) * 8))));
}

Picture make_picture(Size size, int index, bool alpha) {
  Picture picture;
  EXPECT_TRUE(picture.allocate(size, {ColorMatrix::kBt601, ColorRange::kLimited}).ok());
  picture.fill(0, 100, 150);
  if (alpha) {
    EXPECT_TRUE(picture.add_alpha().ok());
  }
  for (int y = 0; y < size.height; ++y) {
    for (int x = 0; x < size.width; ++x) {
      picture.row(0, y)[x] = static_cast<std::uint8_t>(40 + (x + y + 5 * index) % 160);
      if (alpha) picture.alpha_row(y)[x] = static_cast<std::uint8_t>(disc_alpha(x, y, size));
    }
  }
  picture.timestamp = {100 + 2 * index, {1, 50}};
  picture.duration = {2, {1, 50}};
  return picture;
}

void write_all(const fs::path& path, const PictureSinkOptions& options, Size size, int count) {
  auto sink = open_picture_sink(path, options);
  ASSERT_TRUE(sink.ok()) << sink.error().to_string();
  for (int i = 0; i < count; ++i) {
    const Status status = (*sink)->write(make_picture(size, i, options.alpha));
    ASSERT_TRUE(status.ok()) << status.error().to_string();
  }
  EXPECT_EQ((*sink)->pictures(), count);
  const Status status = (*sink)->finish();
  ASSERT_TRUE(status.ok()) << status.error().to_string();
}

// What a player sees, read by FFmpeg's own demuxer and the named decoder (FFmpeg's VP9 decoder
// leaves alpha out; libvpx' gives it).
std::vector<ffmpeg::Frame> decode_all(const fs::path& path, const char* decoder) {
  ffmpeg::LogCapture silence;
  std::vector<ffmpeg::Frame> frames;
  AVFormatContext* input = nullptr;
  EXPECT_GE(avformat_open_input(&input, path.c_str(), nullptr, nullptr), 0);
  if (input == nullptr) return frames;
  avformat_find_stream_info(input, nullptr);
  const AVCodec* codec = avcodec_find_decoder_by_name(decoder);
  EXPECT_NE(codec, nullptr);
  const ffmpeg::CodecContext context(avcodec_alloc_context3(codec));
  avcodec_parameters_to_context(context.get(), input->streams[0]->codecpar);
  context->pkt_timebase = input->streams[0]->time_base;
  EXPECT_EQ(avcodec_open2(context.get(), codec, nullptr), 0);
  const ffmpeg::Packet packet(av_packet_alloc());
  const auto receive = [&] {
    while (true) {
      ffmpeg::Frame frame(av_frame_alloc());
      if (avcodec_receive_frame(context.get(), frame.get()) < 0) return;
      frames.push_back(std::move(frame));
    }
  };
  while (av_read_frame(input, packet.get()) >= 0) {
    EXPECT_EQ(avcodec_send_packet(context.get(), packet.get()), 0);
    av_packet_unref(packet.get());
    receive();
  }
  avcodec_send_packet(context.get(), nullptr);
  receive();
  avformat_close_input(&input);
  return frames;
}

TEST(PictureSink, WritesH264) {
  const TestDirectory dir;
  const fs::path path = dir / "new/a.mp4";
  write_all(path, {.crf = 10}, {63, 47}, 5);
  const auto played = testing::play(path);
  ASSERT_EQ(played.frames.size(), 5u);
  for (int i = 0; i < 5; ++i) {
    const VideoFrame& frame = played.frames[static_cast<std::size_t>(i)].frame.view();
    ASSERT_EQ(display_size(frame), (Size{64, 48}));
    EXPECT_EQ(frame.timestamp, (Timestamp{2 * i, {1, 50}}));
    EXPECT_NEAR(testing::sample(frame, 0, 20, 20), 40 + (40 + 5 * i) % 160, 6);
    EXPECT_NEAR(testing::sample(frame, 0, 63, 20), testing::sample(frame, 0, 62, 20), 6);
    EXPECT_NEAR(testing::sample(frame, 1, 10, 10), 100, 3);
    EXPECT_NEAR(testing::sample(frame, 2, 10, 10), 150, 3);
  }
}

TEST(PictureSink, ProResKeepsAlphaExactly) {
  if (avcodec_find_encoder_by_name("prores_ks") == nullptr) GTEST_SKIP() << "no prores_ks";
  const TestDirectory dir;
  const Size size{64, 48};
  write_all(dir / "a.mov", {.alpha = true}, size, 3);
  const auto frames = decode_all(dir / "a.mov", "prores");
  ASSERT_EQ(frames.size(), 3u);
  for (int i = 0; i < 3; ++i) {
    const AVFrame& frame = *frames[static_cast<std::size_t>(i)];
    // The decoder gives 10 bits or 12.
    const AVPixFmtDescriptor* format =
        av_pix_fmt_desc_get(static_cast<AVPixelFormat>(frame.format));
    ASSERT_EQ(format->nb_components, 4);
    const int most = (1 << format->comp[3].depth) - 1;
    for (int y = 0; y < size.height; ++y) {
      for (int x = 0; x < size.width; ++x) {
        const std::uint8_t* alpha = frame.data[3] + y * frame.linesize[3] + 2 * x;
        const double got = 255.0 * (alpha[0] | alpha[1] << 8) / most;
        ASSERT_NEAR(got, disc_alpha(x, y, size), 0.26) << x << "," << y;
      }
    }
    const auto luma = [&](int x, int y) {
      const std::uint8_t* p = frame.data[0] + y * frame.linesize[0] + 2 * x;
      return 256.0 * (p[0] | p[1] << 8) / (most + 1);
    };
    EXPECT_NEAR(luma(30, 20), 40 + (50 + 5 * i) % 160, 4);
  }
}

TEST(PictureSink, Vp9KeepsAlpha) {
  if (avcodec_find_encoder_by_name("libvpx-vp9") == nullptr) GTEST_SKIP() << "no libvpx-vp9";
  const TestDirectory dir;
  const Size size{64, 48};
  write_all(dir / "a.webm", {.alpha = true, .crf = 8}, size, 4);
  const auto frames = decode_all(dir / "a.webm", "libvpx-vp9");
  ASSERT_EQ(frames.size(), 4u);
  for (int i = 0; i < 4; ++i) {
    const AVFrame& frame = *frames[static_cast<std::size_t>(i)];
    ASSERT_EQ(frame.format, AV_PIX_FMT_YUVA420P);
    double error = 0;
    for (int y = 0; y < size.height; ++y) {
      for (int x = 0; x < size.width; ++x) {
        const int got = frame.data[3][y * frame.linesize[3] + x];
        error += std::abs(got - disc_alpha(x, y, size));
      }
    }
    EXPECT_LT(error / (size.width * size.height), 3);
    EXPECT_LT(frame.data[3][0], 8);
    EXPECT_GT(frame.data[3][24 * frame.linesize[3] + 32], 247);
    EXPECT_NEAR(frame.data[0][20 * frame.linesize[0] + 30], 40 + (50 + 5 * i) % 160, 8);
  }
  // Times of WebM are whole milliseconds.
  const auto played = testing::play(dir / "a.webm");
  ASSERT_EQ(played.frames.size(), 4u);
  EXPECT_DOUBLE_EQ(played.frames[3].frame.view().timestamp.seconds(), 0.12);
}

TEST(PictureSink, PngsKeepAlphaExactly) {
  const TestDirectory dir;
  const Size size{33, 21};
  write_all(dir / "cut/out/", {.alpha = true}, size, 2);
  const auto played = testing::play(dir / "cut/out/000001.png");
  ASSERT_EQ(played.frames.size(), 1u);
  const VideoFrame& frame = played.frames[0].frame.view();
  ASSERT_EQ(frame.format, PixelFormat::kRgba);
  ASSERT_EQ(frame.coded_size, size);
  for (int y = 0; y < size.height; ++y) {
    for (int x = 0; x < size.width; ++x) {
      ASSERT_EQ(testing::sample(frame, 3, x, y), disc_alpha(x, y, size));
      // BT.601, limited range, Y from 45, U = 100, V = 150.
      const double luma = 255 * (40 + (x + y + 5) % 160 - 16) / 219.0;
      const double u = (100 - 128) / 224.0 * 255, v = (150 - 128) / 224.0 * 255;
      const auto near = [&](int c, double value) {
        EXPECT_NEAR(testing::sample(frame, c, x, y), std::min(std::max(value, 0.0), 255.0), 2);
      };
      near(0, luma + 1.402 * v);
      near(1, luma - 0.344136 * u - 0.714136 * v);
      near(2, luma + 1.772 * u);
    }
  }
  // A folder that exists needs no slash, and without alpha pictures are RGB.
  write_all(dir / "cut", {}, size, 1);
  const auto plain = testing::play(dir / "cut/000000.png");
  ASSERT_EQ(plain.frames.size(), 1u);
  EXPECT_EQ(plain.frames[0].frame.view().format, PixelFormat::kRgb24);
}

TEST(PictureSink, EveryFormatTakesSizesThatChange) {
  for (const PictureFormat& format : picture_formats()) {
    const TestDirectory dir;
    const std::string name =
        format.extension.empty() ? "pictures/" : "a." + std::string(format.extension);
    auto sink = open_picture_sink(dir / name, {.alpha = format.alpha});
    ASSERT_TRUE(sink.ok()) << sink.error().to_string();
    int index = 0;
    for (const Size size : {Size{48, 32}, Size{17, 45}, Size{1, 1}, Size{48, 32}}) {
      const Status status = (*sink)->write(make_picture(size, index++, format.alpha));
      ASSERT_TRUE(status.ok()) << format.name << ": " << status.error().to_string();
    }
    ASSERT_TRUE((*sink)->finish().ok());
    const auto played = testing::play(dir / (format.extension.empty() ? "pictures" : name));
    ASSERT_EQ(played.frames.size(), 4u) << format.name;
    const Size second = display_size(played.frames[1].frame.view());
    EXPECT_EQ(second, (format.extension.empty() ? Size{17, 45} : Size{48, 32})) << format.name;
  }
}

TEST(PictureSink, AlphaIsScaledWithItsPicture) {
  if (avcodec_find_encoder_by_name("prores_ks") == nullptr) GTEST_SKIP() << "no prores_ks";
  const TestDirectory dir;
  auto sink = open_picture_sink(dir / "a.mov", {.alpha = true});
  ASSERT_TRUE(sink.ok());
  ASSERT_TRUE((*sink)->write(make_picture({48, 32}, 0, true)).ok());
  Picture half = make_picture({24, 16}, 1, true);
  for (int y = 0; y < 16; ++y) {
    for (int x = 0; x < 24; ++x) half.alpha_row(y)[x] = x < 12 ? 90 : 255;
  }
  ASSERT_TRUE((*sink)->write(half).ok());
  ASSERT_TRUE((*sink)->finish().ok());
  const auto frames = decode_all(dir / "a.mov", "prores");
  ASSERT_EQ(frames.size(), 2u);
  const AVFrame& frame = *frames[1];
  const int depth = av_pix_fmt_desc_get(static_cast<AVPixelFormat>(frame.format))->comp[3].depth;
  const auto alpha = [&](int x, int y) {
    const std::uint8_t* p = frame.data[3] + y * frame.linesize[3] + 2 * x;
    return 255.0 * (p[0] | p[1] << 8) / ((1 << depth) - 1);
  };
  EXPECT_NEAR(alpha(5, 10), 90, 1);
  EXPECT_NEAR(alpha(20, 30), 90, 1);
  EXPECT_NEAR(alpha(28, 30), 255, 0.5);
  EXPECT_NEAR(alpha(47, 0), 255, 0.5);
}

TEST(PictureSink, PictureWithoutAlphaIsOpaque) {
  const TestDirectory dir;
  auto sink = open_picture_sink(dir / "p/", {.alpha = true});
  ASSERT_TRUE(sink.ok());
  ASSERT_TRUE((*sink)->write(make_picture({8, 8}, 0, false)).ok());
  ASSERT_TRUE((*sink)->finish().ok());
  const auto played = testing::play(dir / "p/000000.png");
  ASSERT_EQ(played.frames.size(), 1u);
  EXPECT_EQ(testing::sample(played.frames[0].frame.view(), 3, 5, 5), 255);
}

std::string problem(const fs::path& path, const PictureSinkOptions& options) {
  const auto sink = open_picture_sink(path, options);
  EXPECT_FALSE(sink.ok());
  return sink.ok() ? "" : sink.error().to_string();
}

TEST(PictureSink, SaysWhatDoesNotFit) {
  const TestDirectory dir;
  EXPECT_EQ(problem(dir / "a.mp4", {.alpha = true}),
            "output '" + (dir / "a.mp4").string() +
                "': mp4 cannot hold transparency, which a cutout needs; name it with one of .mov, "
                ".webm, or end it in / for a folder of PNG pictures");
  EXPECT_THAT(problem(dir / "a.gif", {}), HasSubstr("no format has the extension .gif"));
  EXPECT_THAT(problem(dir / "a", {}), HasSubstr("no extension to tell the format"));
  EXPECT_THAT(problem(dir / "a.mp4", {.format = "gif"}), HasSubstr("give one of mp4, mov, webm"));
  EXPECT_THAT(problem(dir / "a.mp4", {.crf = 52}), HasSubstr("52 is out of range"));
  EXPECT_THAT(problem("", {}), HasSubstr("the name is empty"));
  EXPECT_THAT(problem("-", {.format = "mp4"}), HasSubstr("standard output"));
  EXPECT_THAT(problem("/proc/nowhere/a.mp4", {}), HasSubstr("/proc/nowhere"));

  testing::write_file(dir / "in.mp4", "x");
  testing::write_file(dir / "in.png", "x");
  SourceInfo source;
  source.name = "in";
  source.files = {(dir / "in.mp4").string()};
  EXPECT_THAT(problem(dir / "in.mp4", {.sources = {source}}), HasSubstr("a file of the input"));
  source.files = {(dir / "in.png").string()};
  EXPECT_THAT(problem(dir / "", {.sources = {source}}), HasSubstr("could be replaced"));
  EXPECT_EQ(dir.names().size(), 2u);
}

TEST(PictureSink, NothingStaysOfWhatIsNotFinished) {
  const TestDirectory dir;
  {
    auto sink = open_picture_sink(dir / "a.mp4");
    ASSERT_TRUE(sink.ok());
    ASSERT_TRUE((*sink)->write(make_picture({32, 32}, 0, false)).ok());
    EXPECT_THAT(dir.names(), ::testing::ElementsAre(HasSubstr(".a.mp4.partial-")));
  }
  EXPECT_TRUE(dir.names().empty());
  {
    auto sink = open_picture_sink(dir / "a.mp4");
    ASSERT_TRUE(sink.ok());
    const Status status = (*sink)->finish();
    ASSERT_FALSE(status.ok());
    EXPECT_THAT(status.error().to_string(), HasSubstr("no picture was written"));
  }
  EXPECT_TRUE(dir.names().empty());
}

TEST(PictureSink, FullDiskIsReportedOnceAndForAll) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  const TestDirectory dir;
  fs::create_symlink("/dev/full", dir / "a.mp4");
  auto sink = open_picture_sink(dir / "a.mp4");
  ASSERT_TRUE(sink.ok()) << sink.error().to_string();
  Status status;
  for (int i = 0; i < 200 && status.ok(); ++i) {
    status = (*sink)->write(make_picture({160, 120}, i, false));
  }
  if (status.ok()) status = (*sink)->finish();
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kOutput);
  EXPECT_THAT(status.error().to_string(), HasSubstr("No space left"));
  EXPECT_EQ((*sink)->pictures(), 0);
  EXPECT_EQ((*sink)->write(make_picture({160, 120}, 0, false)).error().to_string(),
            status.error().to_string());
}

}  // namespace
}  // namespace sparing

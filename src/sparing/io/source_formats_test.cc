// Videos in each pixel format, end to end: encoded, muxed, read back.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>
#include <vector>

extern "C" {
#include <libavutil/imgutils.h>
#include <libavutil/pixdesc.h>
}

#include "sparing/io/ffmpeg_frame.h"
#include "sparing/io/source.h"
#include "sparing/io/test_play.h"
#include "sparing/io/test_samples.h"
#include "sparing/io/test_video.h"

namespace sparing {
namespace {

using testing::play;
using testing::Played;
using testing::TestDirectory;
using testing::TestVideo;
using testing::write_video;

// A sample of frame `index`, different for each component and place, on the format's scale.
int painted(const PixelFormatInfo& format, int component, int x, int y, int index) {
  return (1 + 97 * component + 13 * x + 37 * y + 5 * index) % (1 << format.sample.bits);
}

// Through FFmpeg's own writer of single samples.
template <class Value>
void paint_with(AVFrame& frame, Value&& value) {
  const auto* d = av_pix_fmt_desc_get(static_cast<AVPixelFormat>(frame.format));
  const PixelFormatInfo& format =
      info(*ffmpeg::direct_format(static_cast<AVPixelFormat>(frame.format)));
  for (int p = 0; p < 4 && frame.buf[p] != nullptr; ++p) {
    std::memset(frame.buf[p]->data, 0, frame.buf[p]->size);
  }
  for (int c = 0; c < d->nb_components; ++c) {
    const Size grid = testing::component_size(format, c, {frame.width, frame.height});
    for (int y = 0; y < grid.height; ++y) {
      std::vector<std::uint16_t> row;
      for (int x = 0; x < grid.width; ++x) {
        row.push_back(static_cast<std::uint16_t>(value(format, c, x, y)));
      }
      av_write_image_line2(row.data(), frame.data, frame.linesize, d, 0, y, c, grid.width, 2);
    }
  }
}

void paint_samples(AVFrame& frame, int index) {
  paint_with(frame, [index](const PixelFormatInfo& format, int c, int x, int y) {
    return painted(format, c, x, y, index);
  });
}

void expect_painted(const Played& played, PixelFormat format, int frames) {
  EXPECT_FALSE(played.error);
  ASSERT_EQ(played.frames.size(), static_cast<std::size_t>(frames));
  for (int i = 0; i < frames; ++i) {
    const VideoFrame& view = played.frames[static_cast<std::size_t>(i)].frame.view();
    ASSERT_EQ(view.format, format);
    ASSERT_TRUE(validate(view).ok());
    for (int c = 0; c < 4; ++c) {
      if (info(format).components[static_cast<std::size_t>(c)].plane < 0) continue;
      const Size grid = testing::component_size(info(format), c, view.coded_size);
      for (int y = 0; y < grid.height; ++y) {
        for (int x = 0; x < grid.width; ++x) {
          ASSERT_EQ(testing::sample(view, c, x, y), painted(info(format), c, x, y, i))
              << "frame " << i << " component " << c << " at " << x << "," << y;
        }
      }
    }
  }
}

TestVideo video_of(const std::string& codec, AVPixelFormat format, int width, int height) {
  TestVideo video;
  video.codec = codec;
  video.format = format;
  video.width = width;
  video.height = height;
  video.times = {0, 1, 2};
  video.paint = paint_samples;
  return video;
}

// Uncompressed video, whose frames lie in the packets: they outlive the source, too.
TEST(SourceFormats, UncompressedVideoOfEveryFormatIsNotTouched) {
  int written = 0;
  for (const PixelFormatInfo& format : kPixelFormats) {
    SCOPED_TRACE(format.name);
    // Containers cannot name NV16 and P010 in every version of FFmpeg.
    if (avcodec_pix_fmt_to_codec_tag(ffmpeg::to_av(format.format)) == 0) continue;
    ++written;
    const TestDirectory dir;
    // Chroma of an odd size differs between FFmpeg's own parts for uncompressed 4:2:2.
    const bool packed = format.format == PixelFormat::kYuyv || format.format == PixelFormat::kUyvy;
    write_video(dir / "a.nut",
                video_of("rawvideo", ffmpeg::to_av(format.format), packed ? 34 : 33, 17));
    expect_painted(play(dir / "a.nut"), format.format, 3);
  }
  EXPECT_GE(written, 19);
}

TEST(SourceFormats, LosslessVideoOfEveryFormatThatItsCodecHas) {
  constexpr std::array kFfv1{PixelFormat::kI420, PixelFormat::kI422,  PixelFormat::kI444,
                             PixelFormat::kI010, PixelFormat::kI210,  PixelFormat::kI410,
                             PixelFormat::kBgrx, PixelFormat::kGray8, PixelFormat::kGray16,
                             PixelFormat::kI420A};
  for (const PixelFormat format : kFfv1) {
    SCOPED_TRACE(info(format).name);
    const TestDirectory dir;
    write_video(dir / "a.mkv", video_of("ffv1", ffmpeg::to_av(format), 33, 17));
    expect_painted(play(dir / "a.mkv"), format, 3);
  }
}

// The 10-bit profiles of the field; lossy, so a plain picture.
TEST(SourceFormats, TenBitVideoDecodesToTenBits) {
  struct Case {
    const char* codec;
    const char* file;
    AVPixelFormat format;
    PixelFormat expected;
  };
  constexpr Case kCases[] = {
      {"libx264", "a.mp4", AV_PIX_FMT_YUV420P10LE, PixelFormat::kI010},
      {"prores_ks", "a.mov", AV_PIX_FMT_YUV422P10LE, PixelFormat::kI210},
  };
  int tried = 0;
  for (const Case& c : kCases) {
    if (avcodec_find_encoder_by_name(c.codec) == nullptr) continue;
    SCOPED_TRACE(c.codec);
    ++tried;
    const TestDirectory dir;
    TestVideo video = video_of(c.codec, c.format, 64, 48);
    video.color_space = AVCOL_SPC_BT2020_NCL;
    video.color_range = AVCOL_RANGE_MPEG;
    video.transfer = AVCOL_TRC_ARIB_STD_B67;
    video.paint = [](AVFrame& frame, int) {
      paint_with(frame, [](const PixelFormatInfo&, int c, int, int) { return 402 + 81 * c; });
    };
    write_video(dir / c.file, video);
    const Played played = play(dir / c.file);
    ASSERT_EQ(played.frames.size(), 3u);
    const VideoFrame& view = played.frames[1].frame.view();
    EXPECT_EQ(view.format, c.expected);
    EXPECT_EQ(view.color_space.matrix, ColorMatrix::kBt2020);
    EXPECT_EQ(view.color_space.transfer, ColorTransfer::kHlg);
    EXPECT_TRUE(is_hdr(view.color_space));
    for (int p = 0; p < 3; ++p) EXPECT_NEAR(testing::sample(view, p, 3, 5), 402 + 81 * p, 4);
  }
  EXPECT_GE(tried, 1);
}

TEST(SourceFormats, KeepsMatrixAndRangeOfTenBitVideo) {
  const TestDirectory dir;
  TestVideo video = video_of("ffv1", AV_PIX_FMT_YUV420P10LE, 64, 48);
  video.color_space = AVCOL_SPC_BT2020_NCL;
  video.color_range = AVCOL_RANGE_MPEG;
  video.transfer = AVCOL_TRC_SMPTE2084;
  write_video(dir / "hdr.mkv", video);
  const Played played = play(dir / "hdr.mkv");
  expect_painted(played, PixelFormat::kI010, 3);
  const ColorSpace& space = played.frames[0].frame.view().color_space;
  EXPECT_EQ(space.matrix, ColorMatrix::kBt2020);
  EXPECT_EQ(space.range, ColorRange::kLimited);
  EXPECT_EQ(space.transfer, ColorTransfer::kPq);
}

// 16-bit PNG is big-endian; FFmpeg's own encoder writes it.
TEST(SourceFormats, SixteenBitGreyPictureKeepsItsBits) {
  const TestDirectory dir;
  TestVideo video = video_of("png", AV_PIX_FMT_GRAY16BE, 33, 17);
  video.times = {0};
  video.paint = [](AVFrame& frame, int) {
    for (int y = 0; y < frame.height; ++y) {
      for (int x = 0; x < frame.width; ++x) {
        std::uint8_t* sample = frame.data[0] + y * frame.linesize[0] + 2 * x;
        const int value = painted(info(PixelFormat::kGray16), 0, x, y, 0);
        sample[0] = static_cast<std::uint8_t>(value >> 8);
        sample[1] = static_cast<std::uint8_t>(value);
      }
    }
  };
  write_video(dir / "a.png", video);
  expect_painted(play(dir / "a.png"), PixelFormat::kGray16, 1);
}

}  // namespace
}  // namespace sparing

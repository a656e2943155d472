// Inputs for the tests of io, made with FFmpeg's own encoders and muxers. Failures are gtest's.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "sparing/io/ffmpeg.h"

extern "C" {
#include <libavutil/display.h>
#include <libavutil/opt.h>
}

namespace sparing::testing {

// A directory of this test's own, removed at its end.
class TestDirectory {
 public:
  TestDirectory() {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    std::string name = std::string(test->test_suite_name()) + "." + test->name();
    for (char& c : name) {
      if (c == '/') c = '_';
    }
    path_ = std::filesystem::temp_directory_path() /
            ("sparing-" + std::to_string(::getpid()) + "-" + name);
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~TestDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::filesystem::path operator/(std::string_view name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }
  // Names in it, hidden ones included.
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) {
      names.push_back(entry.path().filename().string());
    }
    return names;
  }

 private:
  std::filesystem::path path_;
};

inline std::string read_file(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}
inline void write_file(const std::filesystem::path& file, std::string_view bytes) {
  std::ofstream(file, std::ios::binary).write(bytes.data(), static_cast<long>(bytes.size()));
}

// Frame i of a test video: a luma (or first component) ramp that moves with i, other planes
// constant.
inline std::uint8_t test_pixel(int x, int y, int frame) {
  return static_cast<std::uint8_t>(16 + (x * 3 + y * 2 + frame * 7) % 200);
}
inline void paint_ramp(AVFrame& frame, int index) {
  for (int p = 0; p < 4 && frame.data[p] != nullptr; ++p) {
    const int rows = p == 0 ? frame.height : (frame.height + 1) / 2;
    for (int y = 0; y < rows; ++y) {
      for (int x = 0; x < frame.linesize[p]; ++x) {
        frame.data[p][y * frame.linesize[p] + x] =
            p == 0 ? test_pixel(x, y, index) : static_cast<std::uint8_t>(100 + 20 * p);
      }
    }
  }
}

struct TestVideo {
  std::string codec = "ffv1";  // lossless; for containers that lack it: mpeg4, mjpeg
  AVPixelFormat format = AV_PIX_FMT_YUV420P;
  int width = 64, height = 48;
  AVRational time_base{1, 25};
  std::vector<std::int64_t> times{0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  int b_frames = 0;
  AVColorSpace color_space = AVCOL_SPC_UNSPECIFIED;
  AVColorRange color_range = AVCOL_RANGE_UNSPECIFIED;
  AVColorTransferCharacteristic transfer = AVCOL_TRC_UNSPECIFIED;
  const std::int32_t* display_matrix = nullptr;
  std::string movflags;
  bool live = false;  // Matroska: as on a pipe, where its size is not known beforehand
  std::function<void(AVFrame&, int)> paint = paint_ramp;
};

inline void set_display_matrix(AVStream& stream, const std::int32_t* matrix) {
  constexpr std::size_t kSize = 9 * sizeof(std::int32_t);
#if LIBAVCODEC_VERSION_INT >= AV_VERSION_INT(60, 31, 100)
  AVCodecParameters& p = *stream.codecpar;
  AVPacketSideData* side = av_packet_side_data_new(&p.coded_side_data, &p.nb_coded_side_data,
                                                   AV_PKT_DATA_DISPLAYMATRIX, kSize, 0);
  std::memcpy(side->data, matrix, kSize);
#else
  std::memcpy(av_stream_new_side_data(&stream, AV_PKT_DATA_DISPLAYMATRIX, kSize), matrix, kSize);
#endif
}

// The container follows from the extension.
inline void write_video(const std::filesystem::path& file, const TestVideo& video) {
  ffmpeg::LogCapture silence;
  const AVCodec* codec = avcodec_find_encoder_by_name(video.codec.c_str());
  ASSERT_NE(codec, nullptr) << video.codec;
  ffmpeg::CodecContext context(avcodec_alloc_context3(codec));
  context->width = video.width;
  context->height = video.height;
  context->pix_fmt = video.format;
  context->time_base = video.time_base;
  context->framerate = av_inv_q(video.time_base);
  context->max_b_frames = video.b_frames;
  context->gop_size = 5;
  context->strict_std_compliance = FF_COMPLIANCE_UNOFFICIAL;
  context->flags |= AV_CODEC_FLAG_QSCALE;
  context->global_quality = FF_QP2LAMBDA * 2;
  context->colorspace = video.color_space;
  context->color_range = video.color_range;
  context->color_trc = video.transfer;

  AVFormatContext* output = nullptr;
  ASSERT_GE(avformat_alloc_output_context2(&output, nullptr, nullptr, file.c_str()), 0);
  if ((output->oformat->flags & AVFMT_GLOBALHEADER) != 0) {
    context->flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
  }
  ASSERT_EQ(avcodec_open2(context.get(), codec, nullptr), 0);
  AVStream* stream = avformat_new_stream(output, nullptr);
  avcodec_parameters_from_context(stream->codecpar, context.get());
  stream->time_base = video.time_base;
  stream->avg_frame_rate = context->framerate;
  if (video.display_matrix != nullptr) set_display_matrix(*stream, video.display_matrix);
  ASSERT_GE(avio_open(&output->pb, file.c_str(), AVIO_FLAG_WRITE), 0);
  AVDictionary* options = nullptr;
  if (!video.movflags.empty()) av_dict_set(&options, "movflags", video.movflags.c_str(), 0);
  if (video.live) av_dict_set(&options, "live", "1", 0);
  ASSERT_GE(avformat_write_header(output, &options), 0);
  av_dict_free(&options);

  ffmpeg::Packet packet(av_packet_alloc());
  for (std::size_t i = 0; i <= video.times.size(); ++i) {
    ffmpeg::Frame frame;
    if (i < video.times.size()) {
      frame.reset(av_frame_alloc());
      frame->width = video.width;
      frame->height = video.height;
      frame->format = video.format;
      frame->colorspace = video.color_space;
      frame->color_range = video.color_range;
      frame->color_trc = video.transfer;
      ASSERT_EQ(av_frame_get_buffer(frame.get(), 0), 0);
      video.paint(*frame, static_cast<int>(i));
      frame->pts = video.times[i];
      frame->quality = context->global_quality;
    }
    ASSERT_EQ(avcodec_send_frame(context.get(), frame.get()), 0);
    while (avcodec_receive_packet(context.get(), packet.get()) == 0) {
      packet->duration = 1;
      av_packet_rescale_ts(packet.get(), context->time_base, stream->time_base);
      ASSERT_EQ(av_interleaved_write_frame(output, packet.get()), 0);
    }
  }
  ASSERT_GE(av_write_trailer(output), 0);
  avio_closep(&output->pb);
  avformat_free_context(output);
}

// A binary PPM whose every pixel is (value, value, value).
inline std::string grey_ppm(int width, int height, int value) {
  return "P6\n" + std::to_string(width) + " " + std::to_string(height) + "\n255\n" +
         std::string(static_cast<std::size_t>(width * height * 3), static_cast<char>(value));
}

}  // namespace sparing::testing

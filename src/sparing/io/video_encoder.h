// I420 pictures to an MP4 file. Private to io.
#pragma once

#include <deque>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "sparing/base/result.h"
#include "sparing/base/timestamp.h"
#include "sparing/frame/video_frame.h"
#include "sparing/io/ffmpeg.h"

namespace sparing {

struct VideoEncoderInfo {
  std::string_view name;  // FFmpeg's
  int max_time_base_den;  // finer time bases are rounded
  bool (*configure)(AVCodecContext& codec, int crf);
};
// In order of preference; which of them exist depends on how FFmpeg was built.
std::span<const VideoEncoderInfo> video_encoders();

struct VideoFormat {
  Size size;                  // even
  Rational time_base;         // of the timestamps
  Rational frame_rate{0, 1};  // nominal, for rate control; 0/1: unknown
  ColorSpace color_space;     // resolved; written into the stream
  int crf = 23;
  std::string title;
  bool fragmented = false;  // for outputs that cannot seek
};

class VideoEncoder {
 public:
  // Writes to `url` ("file:..."), which messages call `name`. `encoder`: one of video_encoders(),
  // or the first that works when empty.
  static Result<std::unique_ptr<VideoEncoder>> open(const std::string& url,
                                                    const std::filesystem::path& name,
                                                    const VideoFormat& format,
                                                    std::string_view encoder = {});
  ~VideoEncoder();

  // The picture to draw into before write(); its former content is undefined. nullptr: no memory.
  AVFrame* picture();
  // Timestamps are in the time base of the format and grow strictly. duration 0: unknown.
  Status write(std::int64_t ticks, std::int64_t duration);
  Status finish();
  std::string_view encoder() const { return codec_->codec->name; }

 private:
  VideoEncoder() = default;
  Status open_codec(const VideoEncoderInfo& encoder, const VideoFormat& format);
  Status open_file(const std::string& url, const VideoFormat& format);
  Status drain(AVFrame* frame);
  Error write_error(int code) const;

  std::filesystem::path name_;
  ffmpeg::CodecContext codec_;
  AVFormatContext* output_ = nullptr;
  AVStream* stream_ = nullptr;
  ffmpeg::Frame frame_;
  ffmpeg::Packet packet_;
  Rational time_base_;
  std::int64_t last_ticks_ = -1;                                 // in the encoder's time base
  std::deque<std::pair<std::int64_t, std::int64_t>> durations_;  // of frames inside the encoder
};

}  // namespace sparing

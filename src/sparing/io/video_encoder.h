// Pictures to a video file. Private to io.
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
  AVPixelFormat plain = AV_PIX_FMT_YUV420P;
  AVPixelFormat with_alpha = AV_PIX_FMT_NONE;  // none: it cannot hold alpha
};
// The H.264 encoders and what stands in for them, in order of preference; which of them exist
// depends on how FFmpeg was built.
std::span<const VideoEncoderInfo> video_encoders();

struct VideoContainer {
  std::string_view muxer;  // FFmpeg's
  std::span<const VideoEncoderInfo> encoders;
  std::string_view needed;  // what FFmpeg should have, for messages
};
const VideoContainer& mp4_container();   // H.264
const VideoContainer& mov_container();   // ProRes, with alpha ProRes 4444
const VideoContainer& webm_container();  // VP9

struct VideoFormat {
  Size size;                  // even
  Rational time_base;         // of the timestamps
  Rational frame_rate{0, 1};  // nominal, for rate control; 0/1: unknown
  ColorSpace color_space;     // resolved; written into the stream
  int crf = 23;
  std::string title;
  bool fragmented = false;  // for outputs that cannot seek
  const VideoContainer* container = &mp4_container();
  bool alpha = false;  // picture() has an alpha plane or channel; the container must be able to
};

class VideoEncoder {
 public:
  // Writes to `url` ("file:..."), which messages call `name`. `encoder`: one of the container's, or
  // the first that works when empty.
  static Result<std::unique_ptr<VideoEncoder>> open(const std::string& url,
                                                    const std::filesystem::path& name,
                                                    const VideoFormat& format,
                                                    std::string_view encoder = {});
  ~VideoEncoder();

  // The picture to draw into before write(), in the encoder's pixel format; its former content is
  // undefined. nullptr: no memory.
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
  const VideoContainer* container_ = nullptr;
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

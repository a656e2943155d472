// Owners of FFmpeg objects, and FFmpeg's messages as text. Private to io.
#pragma once

#include <memory>
#include <string>
#include <string_view>

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/avutil.h>
#include <libswscale/swscale.h>
}

#include "sparing/base/result.h"
#include "sparing/base/timestamp.h"

namespace sparing::ffmpeg {

struct Free {
  void operator()(AVFrame* p) const { av_frame_free(&p); }
  void operator()(AVPacket* p) const { av_packet_free(&p); }
  void operator()(AVCodecContext* p) const { avcodec_free_context(&p); }
  void operator()(SwsContext* p) const { sws_freeContext(p); }
};
using Frame = std::unique_ptr<AVFrame, Free>;
using Packet = std::unique_ptr<AVPacket, Free>;
using CodecContext = std::unique_ptr<AVCodecContext, Free>;
using Scaler = std::unique_ptr<SwsContext, Free>;

// Pictures larger than VideoFrame allows are refused by the decoder before it allocates them.
inline constexpr int kMaxSide = 16384;
inline constexpr std::int64_t kMaxPixels = std::int64_t{kMaxSide} * kMaxSide;

// FFmpeg's words for one of its error codes.
std::string error_text(int code);

inline Rational to_rational(AVRational r) { return {r.num, r.den > 0 ? r.den : 1}; }

// While one lives, FFmpeg's error messages on this thread are kept here, since they often say more
// than the code does ("moov atom not found"). FFmpeg has one log callback per process: the first
// capture takes it, and from then on FFmpeg prints nothing, because a library does not print.
class LogCapture {
 public:
  LogCapture();
  ~LogCapture();
  LogCapture(const LogCapture&) = delete;
  LogCapture& operator=(const LogCapture&) = delete;

  // "Invalid data found when processing input (moov atom not found)"
  std::string explain(int code) const;
  // Whether FFmpeg reported any error since the capture began.
  bool has_errors() const { return !first_.empty(); }
  void add(std::string_view message);

 private:
  std::string first_;
  LogCapture* outer_ = nullptr;
};

}  // namespace sparing::ffmpeg

#include "sparing/io/video_encoder.h"

#include <algorithm>
#include <array>
#include <climits>

extern "C" {
#include <libavutil/opt.h>
}

#include "sparing/io/output_file.h"

namespace sparing {
namespace {

bool configure_x264(AVCodecContext& codec, int crf) {
  // Rendering is a by-product of detection and must not cost much more than decoding does.
  return av_opt_set(codec.priv_data, "preset", "veryfast", 0) >= 0 &&
         av_opt_set_double(codec.priv_data, "crf", crf, 0) >= 0;
}

// The other two have no constant-quality mode on crf's scale: a similar size is aimed at.
bool configure_openh264(AVCodecContext& codec, int crf) {
  codec.bit_rate = std::max<std::int64_t>(
      100000, std::int64_t{codec.width} * codec.height * 3 * std::max(1, 52 - crf) / 29);
  return true;
}

bool configure_mpeg4(AVCodecContext& codec, int crf) {
  codec.flags |= AV_CODEC_FLAG_QSCALE;
  codec.global_quality = FF_QP2LAMBDA * std::clamp(1 + crf / 5, 1, 31);
  return true;
}

bool configure_prores(AVCodecContext& codec, int crf) {
  // A fixed quantiser: the search for a bit rate takes four times as long.
  codec.flags |= AV_CODEC_FLAG_QSCALE;
  codec.global_quality = FF_QP2LAMBDA * std::clamp(1 + crf / 6, 1, 31);
  return av_opt_set(codec.priv_data, "vendor", "apl0", 0) >= 0;  // some editors insist on it
}

bool configure_png(AVCodecContext&, int) { return true; }

bool configure_vp9(AVCodecContext& codec, int crf) {
  codec.bit_rate = 0;  // constant quality
  const auto set = [&](const char* name, std::int64_t value) {
    return av_opt_set_int(codec.priv_data, name, value, 0) >= 0;
  };
  // The scale of VP9 goes to 63; alternative reference frames cannot be had together with alpha.
  return av_opt_set(codec.priv_data, "deadline", "realtime", 0) >= 0 && set("cpu-used", 7) &&
         set("lag-in-frames", 0) && set("auto-alt-ref", 0) && set("crf", crf * 63 / 51);
}

constexpr std::array<VideoEncoderInfo, 3> kVideoEncoders{{
    {"libx264", INT_MAX, configure_x264},
    {"libopenh264", INT_MAX, configure_openh264},
    {"mpeg4", 65535, configure_mpeg4},
}};
constexpr std::array<VideoEncoderInfo, 2> kMovEncoders{{
    {"prores_ks", INT_MAX, configure_prores, AV_PIX_FMT_YUV422P10LE, AV_PIX_FMT_YUVA444P10LE},
    {"png", INT_MAX, configure_png, AV_PIX_FMT_RGB24, AV_PIX_FMT_RGBA},
}};
// WebM counts in milliseconds.
constexpr std::array<VideoEncoderInfo, 1> kWebmEncoders{{
    {"libvpx-vp9", 1000, configure_vp9, AV_PIX_FMT_YUV420P, AV_PIX_FMT_YUVA420P},
}};
constexpr VideoContainer kMp4{"mp4", kVideoEncoders, "libx264"};
constexpr VideoContainer kMov{"mov", kMovEncoders, "prores_ks"};
constexpr VideoContainer kWebm{"webm", kWebmEncoders, "libvpx-vp9"};

AVColorSpace to_av(ColorMatrix matrix) {
  switch (matrix) {
    case ColorMatrix::kBt601: return AVCOL_SPC_SMPTE170M;
    case ColorMatrix::kBt709: return AVCOL_SPC_BT709;
    case ColorMatrix::kBt2020: return AVCOL_SPC_BT2020_NCL;
    default: return AVCOL_SPC_UNSPECIFIED;
  }
}

AVColorPrimaries to_av(ColorPrimaries primaries) {
  switch (primaries) {
    case ColorPrimaries::kBt601: return AVCOL_PRI_SMPTE170M;
    case ColorPrimaries::kBt709: return AVCOL_PRI_BT709;
    case ColorPrimaries::kBt2020: return AVCOL_PRI_BT2020;
    default: return AVCOL_PRI_UNSPECIFIED;
  }
}

AVColorTransferCharacteristic to_av(ColorTransfer transfer) {
  switch (transfer) {
    case ColorTransfer::kPq: return AVCOL_TRC_SMPTE2084;
    case ColorTransfer::kHlg: return AVCOL_TRC_ARIB_STD_B67;
    case ColorTransfer::kSdr: return AVCOL_TRC_BT709;
    default: return AVCOL_TRC_UNSPECIFIED;
  }
}

AVChromaLocation to_av(ChromaSiting siting) {
  switch (siting) {
    case ChromaSiting::kLeft: return AVCHROMA_LOC_LEFT;
    case ChromaSiting::kCenter: return AVCHROMA_LOC_CENTER;
    case ChromaSiting::kTopLeft: return AVCHROMA_LOC_TOPLEFT;
    default: return AVCHROMA_LOC_UNSPECIFIED;
  }
}

AVRational encoder_time_base(Rational base, int max_den) {
  AVRational reduced{1, 1};
  av_reduce(&reduced.num, &reduced.den, base.num, base.den, INT_MAX);
  if (reduced.num <= 0 || reduced.den <= 0) return {1, 1000};
  return reduced.den <= max_den ? reduced : AVRational{1, max_den};
}

Error encoder_error(const std::filesystem::path& name, const VideoContainer& container,
                    std::string problem) {
  return {ErrorCode::kOutput, "video '" + name.string() + "'", std::move(problem),
          "install an FFmpeg with " + std::string(container.needed) +
              ", or leave out the video output"};
}

bool is_rgb(AVPixelFormat format) {
  return format == AV_PIX_FMT_RGB24 || format == AV_PIX_FMT_RGBA;
}

}  // namespace

std::span<const VideoEncoderInfo> video_encoders() { return kVideoEncoders; }
const VideoContainer& mp4_container() { return kMp4; }
const VideoContainer& mov_container() { return kMov; }
const VideoContainer& webm_container() { return kWebm; }

Result<std::unique_ptr<VideoEncoder>> VideoEncoder::open(const std::string& url,
                                                         const std::filesystem::path& name,
                                                         const VideoFormat& format,
                                                         std::string_view encoder) {
  std::unique_ptr<VideoEncoder> result(new VideoEncoder);
  result->name_ = name;
  result->time_base_ = format.time_base;
  result->container_ = format.container;
  Status status =
      encoder_error(name, *format.container, "this build of FFmpeg has no encoder for it");
  for (const VideoEncoderInfo& row : format.container->encoders) {
    if (!encoder.empty() && encoder != row.name) continue;
    if (format.alpha && row.with_alpha == AV_PIX_FMT_NONE) continue;
    if (avcodec_find_encoder_by_name(row.name.data()) == nullptr) continue;
    status = result->open_codec(row, format);
    if (status.ok()) break;
  }
  SPARING_RETURN_IF_ERROR(status);
  SPARING_RETURN_IF_ERROR(result->open_file(url, format));
  return result;
}

VideoEncoder::~VideoEncoder() {
  if (output_ == nullptr) return;
  avio_closep(&output_->pb);
  avformat_free_context(output_);
}

Status VideoEncoder::open_codec(const VideoEncoderInfo& encoder, const VideoFormat& format) {
  ffmpeg::LogCapture log;
  const AVCodec* codec = avcodec_find_encoder_by_name(encoder.name.data());
  codec_.reset(avcodec_alloc_context3(codec));
  packet_.reset(av_packet_alloc());
  if (!codec_ || !packet_) return encoder_error(name_, *container_, "out of memory");
  codec_->width = format.size.width;
  codec_->height = format.size.height;
  codec_->pix_fmt = format.alpha ? encoder.with_alpha : encoder.plain;
  codec_->time_base = encoder_time_base(format.time_base, encoder.max_time_base_den);
  if (format.frame_rate.num > 0) {
    av_reduce(&codec_->framerate.num, &codec_->framerate.den, format.frame_rate.num,
              format.frame_rate.den, INT_MAX);
  }
  codec_->gop_size = 60;  // so that players can seek
  // MP4 keeps durations between decoding times. Only when these are the presentation times does a
  // video of variable rate say exactly how long each picture lasts.
  codec_->max_b_frames = 0;
  codec_->thread_count = 1;
  codec_->flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
  const bool rgb = is_rgb(codec_->pix_fmt);
  codec_->colorspace = rgb ? AVCOL_SPC_RGB : to_av(format.color_space.matrix);
  codec_->color_range =
      rgb || format.color_space.range == ColorRange::kFull ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG;
  codec_->color_primaries = to_av(format.color_space.primaries);
  codec_->color_trc = to_av(format.color_space.transfer);
  codec_->chroma_sample_location = to_av(format.color_space.siting);
  if (!encoder.configure(*codec_, format.crf)) {
    return encoder_error(name_, *container_,
                         "the encoder " + std::string(encoder.name) + " lacks an option");
  }
  const int code = avcodec_open2(codec_.get(), codec, nullptr);
  if (code < 0) {
    return encoder_error(name_, *container_,
                         "the encoder " + std::string(encoder.name) + " refuses " +
                             std::to_string(format.size.width) + "x" +
                             std::to_string(format.size.height) + ": " + log.explain(code));
  }
  return {};
}

Status VideoEncoder::open_file(const std::string& url, const VideoFormat& format) {
  ffmpeg::LogCapture log;
  int code =
      avformat_alloc_output_context2(&output_, nullptr, container_->muxer.data(), url.c_str());
  if (code < 0) return write_error(code);
  stream_ = avformat_new_stream(output_, nullptr);
  if (stream_ == nullptr) return write_error(AVERROR(ENOMEM));
  code = avcodec_parameters_from_context(stream_->codecpar, codec_.get());
  if (code < 0) return write_error(code);
  stream_->time_base = codec_->time_base;
  stream_->avg_frame_rate = codec_->framerate;
  av_dict_set(&output_->metadata, "title", format.title.c_str(), 0);
  code = avio_open(&output_->pb, url.c_str(), AVIO_FLAG_WRITE);
  if (code < 0) return write_error(code);
  AVDictionary* options = nullptr;
  if (container_ == &kWebm) {
    if (format.fragmented) av_dict_set(&options, "live", "1", 0);
  } else {
    av_dict_set(&options, "movflags",
                format.fragmented ? "+frag_keyframe+empty_moov+default_base_moof" : "+faststart",
                0);
  }
  code = avformat_write_header(output_, &options);
  av_dict_free(&options);
  return code < 0 ? Status(write_error(code)) : Status();
}

Error VideoEncoder::write_error(int code) const {
  // Muxers pass on a general error; the byte stream knows the system's.
  if (output_ != nullptr && output_->pb != nullptr && output_->pb->error < 0) {
    code = output_->pb->error;
  }
  Error error = output_error(name_, AVUNERROR(code), "; a video that is cut short cannot be kept");
  if (code < -4096) error.problem = ffmpeg::error_text(code);  // FFmpeg's own, not the system's
  return error;
}

AVFrame* VideoEncoder::picture() {
  if (!frame_) {
    frame_.reset(av_frame_alloc());
    if (!frame_) return nullptr;
    frame_->format = codec_->pix_fmt;
    frame_->width = codec_->width;
    frame_->height = codec_->height;
    frame_->colorspace = codec_->colorspace;
    frame_->color_range = codec_->color_range;
    if (av_frame_get_buffer(frame_.get(), 0) < 0) {
      frame_.reset();
      return nullptr;
    }
  }
  return av_frame_make_writable(frame_.get()) < 0 ? nullptr : frame_.get();
}

Status VideoEncoder::write(std::int64_t ticks, std::int64_t duration) {
  const AVRational base{static_cast<int>(time_base_.num), static_cast<int>(time_base_.den)};
  // Rounding to a coarser time base must not make two times equal.
  const std::int64_t pts = std::max(av_rescale_q(ticks, base, codec_->time_base), last_ticks_ + 1);
  last_ticks_ = pts;
  frame_->pts = pts;
  frame_->pict_type = AV_PICTURE_TYPE_NONE;
  durations_.emplace_back(pts, av_rescale_q(duration, base, codec_->time_base));
  return drain(frame_.get());
}

// Sends a picture, or the end, and muxes what comes out.
Status VideoEncoder::drain(AVFrame* frame) {
  int code = avcodec_send_frame(codec_.get(), frame);
  if (code < 0)
    return encoder_error(name_, *container_, "encoding failed: " + ffmpeg::error_text(code));
  while (true) {
    code = avcodec_receive_packet(codec_.get(), packet_.get());
    if (code == AVERROR(EAGAIN) || code == AVERROR_EOF) return {};
    if (code < 0)
      return encoder_error(name_, *container_, "encoding failed: " + ffmpeg::error_text(code));
    const auto entry = std::find_if(durations_.begin(), durations_.end(),
                                    [&](const auto& d) { return d.first == packet_->pts; });
    if (entry != durations_.end()) {
      packet_->duration = entry->second;
      durations_.erase(entry);
    }
    packet_->stream_index = stream_->index;
    av_packet_rescale_ts(packet_.get(), codec_->time_base, stream_->time_base);
    code = av_interleaved_write_frame(output_, packet_.get());
    if (code < 0 || output_->pb->error < 0) return write_error(code);
  }
}

Status VideoEncoder::finish() {
  ffmpeg::LogCapture log;
  SPARING_RETURN_IF_ERROR(drain(nullptr));
  const int code = av_write_trailer(output_);
  if (code < 0 || output_->pb->error < 0) return write_error(code);
  const int closed = avio_closep(&output_->pb);
  return closed < 0 ? Status(write_error(closed)) : Status();
}

}  // namespace sparing

#include "sparing/io/ffmpeg_source.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <system_error>
#include <utility>

extern "C" {
#include <libavutil/dict.h>
#include <libavutil/opt.h>
}

#include "sparing/io/ffmpeg.h"
#include "sparing/io/ffmpeg_frame.h"
#include "sparing/io/input_bytes.h"
#include "sparing/io/truncation.h"

namespace sparing {
namespace {

using ffmpeg::LogCapture;

class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~UniqueFd() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_ = -1;
};

// Formats that FFmpeg "recognises" in files that hold no video: text art drawn as pictures.
constexpr std::array<std::string_view, 4> kNotVideo{"tty", "bin", "xbin", "idf"};

// A corrupt file can make a demuxer fail without an end; this many failures in a row are one.
constexpr int kMaxFailuresInARow = 1000;

constexpr int kStopPollMs = 50;

struct CloseInput {
  // The bytes stay open: AVFMT_FLAG_CUSTOM_IO.
  void operator()(AVFormatContext* p) const { avformat_close_input(&p); }
};
using FormatContext = std::unique_ptr<AVFormatContext, CloseInput>;

ffmpeg::Orientation stream_orientation(const AVStream& stream) {
  const std::uint8_t* data = nullptr;
  std::size_t size = 0;
#if LIBAVCODEC_VERSION_INT >= AV_VERSION_INT(60, 31, 100)
  const AVPacketSideData* side =
      av_packet_side_data_get(stream.codecpar->coded_side_data, stream.codecpar->nb_coded_side_data,
                              AV_PKT_DATA_DISPLAYMATRIX);
  if (side != nullptr) {
    data = side->data;
    size = side->size;
  }
#else
  data = av_stream_get_side_data(&stream, AV_PKT_DATA_DISPLAYMATRIX, &size);
#endif
  std::int32_t matrix[9];
  if (data == nullptr || size < sizeof matrix) return {};
  std::memcpy(matrix, data, sizeof matrix);
  return ffmpeg::orientation_from_matrix(matrix);
}

std::int64_t duration_of(const AVFrame& frame) {
#if LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(57, 30, 100)
  return frame.duration;
#else
  return frame.pkt_duration;
#endif
}

class FfmpegSource final : public VideoSource {
 public:
  FfmpegSource(std::string name, const SourceOptions& options)
      : name_(std::move(name)), options_(options) {}

  Status open(const std::string& url);
  Status open_pipe(UniqueFd fd);  // without O_NONBLOCK no stop request ends a read
  // The paths behind it, for info().
  void read_from(std::vector<std::string> files) { info_.files = std::move(files); }
  void set_live() { info_.live = true; }
  const SourceInfo& info() const override { return info_; }
  Result<std::optional<SourceFrame>> next() override;
  std::int64_t damaged_frames() const override { return damaged_; }

  Error interrupted() const {
    return {ErrorCode::kInterrupted, "video '" + name_ + "'", "reading was interrupted",
            "run it again"};
  }
  Error system_error(int error) const {
    return broken("cannot be opened: " + std::system_category().message(error), "check the path");
  }

 private:
  Status open_parts(const std::string& url);
  Status open_container(const std::string& url);
  Status open_decoder();
  Status open_first_frame();
  void describe();
  Result<std::optional<SourceFrame>> decode_next();
  // Feeds the decoder one packet, or the end of the stream.
  Status feed();
  void end_of_packets(int code, const std::string& text);
  Result<SourceFrame> take(ffmpeg::Frame frame);
  void stamp(const AVFrame& frame, VideoFrame& view);
  Error broken(std::string problem, std::string fix) const {
    return {ErrorCode::kInput, "video '" + name_ + "'", std::move(problem), std::move(fix)};
  }
  std::string where() const;

  // FFmpeg asks this while it waits for data.
  static int stop_requested(void* self) {
    return static_cast<FfmpegSource*>(self)->options_.stop.stop_requested() ? 1 : 0;
  }
  std::string name_;
  SourceOptions options_;
  SourceInfo info_;
  const AVIOInterruptCB interrupt_{stop_requested, this};
  UniqueFd fd_;       // outlives bytes_, which reads from it
  InputBytes bytes_;  // outlives format_
  FormatContext format_;
  ffmpeg::CodecContext codec_;
  ffmpeg::Packet packet_;
  ffmpeg::FrameWrapper wrapper_;
  AVStream* stream_ = nullptr;
  ffmpeg::Orientation orientation_;
  std::optional<SourceFrame> pending_;  // decoded by open(), not yet asked for
  std::optional<Error> failure_;        // what next() returns when the decoder has nothing more
  bool draining_ = false;
  bool ended_ = false;
  bool last_packet_partial_ = false;
  int failures_in_a_row_ = 0;
  std::int64_t index_ = 0;  // of the next frame
  std::int64_t damaged_ = 0;
  std::optional<std::int64_t> last_ticks_;
  std::int64_t last_duration_ = 0;
};

Status FfmpegSource::open(const std::string& url) {
  Status status = open_parts(url);
  if (!status.ok() && options_.stop.stop_requested()) return interrupted();
  return status;
}

Status FfmpegSource::open_pipe(UniqueFd fd) {
  fd_ = std::move(fd);
  return open("pipe:" + std::to_string(fd_.get()));
}

Status FfmpegSource::open_parts(const std::string& url) {
  SPARING_RETURN_IF_ERROR(open_container(url));
  SPARING_RETURN_IF_ERROR(open_decoder());
  SPARING_RETURN_IF_ERROR(open_first_frame());
  describe();
  return {};
}

Status FfmpegSource::open_container(const std::string& url) {
  LogCapture log;
  int code = bytes_.open(url, interrupt_);
  if (code < 0) return broken("cannot be opened: " + log.explain(code), "check the file");
  AVFormatContext* format = avformat_alloc_context();
  if (format == nullptr) {
    return Error{ErrorCode::kInternal, "video '" + name_ + "'", "out of memory", "free memory"};
  }
  AVIOContext* const io = bytes_.context();
  format->pb = io;
  format->interrupt_callback = interrupt_;
  format->flags |= AVFMT_FLAG_CUSTOM_IO;
  format_.reset(format);
  // A local file must not make us fetch anything from elsewhere.
  av_opt_set(format, "protocol_whitelist", "file,pipe,crypto,data", 0);

  // By content alone: extensions would make text files "videos", and a % in a name a pattern. But
  // FFmpeg 7 takes a playlist for one only when its name says so, too.
  const AVInputFormat* kind = nullptr;
  const char* name_hint = av_match_ext(url.c_str(), "m3u8,m3u") != 0 ? "playlist.m3u8" : "";
  code = av_probe_input_buffer2(io, &kind, name_hint, nullptr, 0, 0);
  if (code < 0 || kind == nullptr ||
      std::find(kNotVideo.begin(), kNotVideo.end(), kind->name) != kNotVideo.end()) {
    if (io->error < 0 && io->error != AVERROR_EOF) {
      return broken("cannot be read: " + ffmpeg::error_text(io->error), "check the disk");
    }
    avio_r8(io);  // probing rewinds what it read: no byte now means that there was none
    if (avio_feof(io) != 0) {
      return broken("it has no data", "give a video with at least one frame");
    }
    return broken("it is not a video that FFmpeg knows", "give a video file, e.g. MP4 or MKV");
  }
  // FFmpeg frees the context when opening fails.
  format = format_.release();
  code = avformat_open_input(&format, url.c_str(), kind, nullptr);
  if (code < 0) {
    return broken(
        "its " + std::string(kind->name) + " container cannot be read: " + log.explain(code),
        "the file is damaged or incomplete: copy or record it again");
  }
  format_.reset(format);
  code = avformat_find_stream_info(format, nullptr);
  if (code < 0) {
    return broken("its streams cannot be read: " + log.explain(code),
                  "the file is damaged or incomplete: copy or record it again");
  }
  return {};
}

Status FfmpegSource::open_decoder() {
  const AVCodec* decoder = nullptr;
  const int index = av_find_best_stream(format_.get(), AVMEDIA_TYPE_VIDEO, -1, -1, &decoder, 0);
  if (index == AVERROR_DECODER_NOT_FOUND) {
    return broken("this build of FFmpeg has no decoder for its video", "re-encode it as H.264");
  }
  if (index < 0) {
    return broken("it has no video stream (container " + std::string(format_->iformat->name) +
                      ", " + std::to_string(format_->nb_streams) + " other streams)",
                  "give a file with video");
  }
  stream_ = format_->streams[index];
  if ((stream_->disposition & AV_DISPOSITION_ATTACHED_PIC) != 0) {
    return broken("it has no video stream, only a cover picture", "give a file with video");
  }
  for (unsigned i = 0; i < format_->nb_streams; ++i) {
    if (static_cast<int>(i) != index) format_->streams[i]->discard = AVDISCARD_ALL;
  }
  orientation_ = stream_orientation(*stream_);

  LogCapture log;
  codec_.reset(avcodec_alloc_context3(decoder));
  packet_.reset(av_packet_alloc());
  if (!codec_ || !packet_ || avcodec_parameters_to_context(codec_.get(), stream_->codecpar) < 0) {
    return Error{ErrorCode::kInternal, "video '" + name_ + "'", "out of memory", "free memory"};
  }
  codec_->pkt_timebase = stream_->time_base;
  codec_->thread_count = options_.decoder_threads;
  codec_->max_pixels = ffmpeg::kMaxPixels;
  codec_->apply_cropping = 0;  // FFmpeg's own rounds the left edge; FrameWrapper does it exactly
  const int code = avcodec_open2(codec_.get(), decoder, nullptr);
  if (code < 0) {
    return broken(
        "its " + std::string(decoder->name) + " stream cannot be decoded: " + log.explain(code),
        "re-encode it as H.264");
  }
  return {};
}

Status FfmpegSource::open_first_frame() {
  LogCapture log;
  SPARING_ASSIGN_OR_RETURN(pending_, decode_next());
  if (!pending_) {
    const std::string codec = avcodec_get_name(stream_->codecpar->codec_id);
    return broken("no picture of its " + codec + " stream could be decoded" +
                      (damaged_ > 0 ? ": " + log.explain(AVERROR_INVALIDDATA) : std::string()),
                  "the file is damaged or incomplete: copy or record it again");
  }
  return {};
}

void FfmpegSource::describe() {
  info_.name = name_;
  const std::string_view names = format_->iformat->name;  // "mov,mp4,m4a,3gp,3g2,mj2"
  info_.container = names.substr(0, names.find(','));
  info_.codec = avcodec_get_name(stream_->codecpar->codec_id);
  info_.display_size = display_size(pending_->frame.view());
  const AVRational rate = av_guess_frame_rate(format_.get(), stream_, nullptr);
  if (rate.num > 0 && rate.den > 0) info_.frame_rate = {rate.num, rate.den};
  if (stream_->nb_frames > 0) {
    info_.frame_count = stream_->nb_frames;
  } else if (info_.frame_rate.num > 0) {
    const bool own = stream_->duration > 0;
    const std::int64_t duration = own ? stream_->duration : format_->duration;
    const AVRational base = own ? stream_->time_base : AVRational{1, AV_TIME_BASE};
    if (duration > 0) info_.frame_count = av_rescale_q(duration, base, av_inv_q(rate));
  }
}

std::string FfmpegSource::where() const {
  if (!last_ticks_) return "before the first frame";
  const Timestamp last{*last_ticks_, ffmpeg::to_rational(stream_->time_base)};
  char text[80];
  std::snprintf(text, sizeof text, "after %lld frames, at %.3f s", static_cast<long long>(index_),
                last.seconds());
  return text;
}

// Remembers why there are no more packets; frames still inside the decoder come first.
void FfmpegSource::end_of_packets(int code, const std::string& text) {
  draining_ = true;
  if (code != AVERROR_EOF && index_came_last(*format_, *stream_)) {
    failure_ = broken("its index is at the end, and a pipe cannot be rewound",
                      "give the file itself, or remux it with -movflags +faststart");
  } else if (const auto bytes = bytes_.unfinished(code == AVERROR_EOF)) {
    failure_ = broken("it is truncated: " + *bytes, "copy or record it again");
  } else if (code != AVERROR_EOF) {
    failure_ = broken("reading failed: " + text,
                      "the file is damaged or incomplete: copy or record it again");
  } else if (format_->pb != nullptr && format_->pb->error < 0 &&
             format_->pb->error != AVERROR_EOF) {
    // Several demuxers report a failed read as the end of the file.
    failure_ = broken("reading failed: " + ffmpeg::error_text(format_->pb->error),
                      "check the disk or the connection");
  } else if (const auto missing = find_truncation(*format_, *stream_, last_packet_partial_)) {
    failure_ = broken("it is truncated: " + *missing, "copy or record it again");
  }
}

Status FfmpegSource::feed() {
  LogCapture log;
  while (!draining_) {
    const int code = av_read_frame(format_.get(), packet_.get());
    if (code == AVERROR(EAGAIN) && ++failures_in_a_row_ < kMaxFailuresInARow) continue;
    if (code < 0) {
      end_of_packets(code, log.explain(code));
      break;
    }
    if (packet_->stream_index == stream_->index) break;
    av_packet_unref(packet_.get());
  }
  if (!draining_) last_packet_partial_ = (packet_->flags & AV_PKT_FLAG_CORRUPT) != 0;
  const int code = avcodec_send_packet(codec_.get(), draining_ ? nullptr : packet_.get());
  av_packet_unref(packet_.get());
  if (code >= 0 || code == AVERROR_EOF) return {};
  ++damaged_;
  if (code == AVERROR(ENOMEM)) return broken("out of memory", "use fewer streams");
  if (++failures_in_a_row_ >= kMaxFailuresInARow) {
    return broken("a long run of its packets cannot be decoded: " + log.explain(code),
                  "the file is damaged: copy or record it again");
  }
  return {};
}

Result<std::optional<SourceFrame>> FfmpegSource::decode_next() {
  ffmpeg::Frame frame(av_frame_alloc());
  if (!frame) return broken("out of memory", "use fewer streams");
  while (true) {
    const int code = avcodec_receive_frame(codec_.get(), frame.get());
    if (code == 0) {
      failures_in_a_row_ = 0;
      SPARING_ASSIGN_OR_RETURN(SourceFrame result, take(std::move(frame)));
      return std::optional<SourceFrame>(std::move(result));
    }
    if (code == AVERROR(EAGAIN) && !draining_) {
      SPARING_RETURN_IF_ERROR(feed());
      continue;
    }
    if (code != AVERROR_EOF && code != AVERROR(EAGAIN)) {
      ++damaged_;
      if (++failures_in_a_row_ < kMaxFailuresInARow) continue;
    }
    if (failure_) {
      failure_->problem += " (" + where() + ")";
      return *failure_;
    }
    return std::optional<SourceFrame>();
  }
}

void FfmpegSource::stamp(const AVFrame& frame, VideoFrame& view) {
  std::int64_t duration = std::max<std::int64_t>(duration_of(frame), 0);
  const Rational base = ffmpeg::to_rational(stream_->time_base);
  view.duration = {duration, base};
  if (duration == 0) {
    const AVRational rate = av_guess_frame_rate(format_.get(), stream_, nullptr);
    if (rate.num > 0 && rate.den > 0) {
      duration = av_rescale_q(1, av_inv_q(rate), stream_->time_base);
    }
  }
  std::int64_t ticks = frame.best_effort_timestamp;
  if (ticks == AV_NOPTS_VALUE || (last_ticks_ && ticks <= *last_ticks_)) {
    ticks = last_ticks_ ? *last_ticks_ + std::max<std::int64_t>(last_duration_, 1) : 0;
  }
  last_ticks_ = ticks;
  last_duration_ = duration;
  view.timestamp = {ticks, base};
}

Result<SourceFrame> FfmpegSource::take(ffmpeg::Frame frame) {
  SourceFrame result;
  result.damaged = frame->decode_error_flags != 0 || (frame->flags & AV_FRAME_FLAG_CORRUPT) != 0;
  if (result.damaged) ++damaged_;
  VideoFrame times;
  stamp(*frame, times);
  const auto format = static_cast<AVPixelFormat>(frame->format);
  result.stream_format = ffmpeg::name_of(format);
  result.converted = !ffmpeg::direct_format(format);
  auto wrapped = wrapper_.wrap(std::move(frame), orientation_);
  if (!wrapped.ok()) {
    Error error = std::move(wrapped).error();
    return Error{error.code, "video '" + name_ + "', frame " + std::to_string(index_),
                 error.thing + ": " + error.problem, error.fix};
  }
  result.frame = std::move(wrapped).value();
  result.frame.view().timestamp = times.timestamp;
  result.frame.view().duration = times.duration;
  result.index = index_++;
  return result;
}

Result<std::optional<SourceFrame>> FfmpegSource::next() {
  if (pending_) return std::exchange(pending_, std::nullopt);
  if (failure_ && ended_) return *failure_;
  if (options_.max_frames > 0 && index_ >= options_.max_frames) ended_ = true;
  if (ended_) return std::optional<SourceFrame>();
  auto result = decode_next();
  if (!result.ok() && options_.stop.stop_requested()) result = interrupted();
  if (!result.ok()) {
    failure_ = result.error();
    ended_ = true;
  } else if (!*result) {
    ended_ = true;
  }
  return result;
}

}  // namespace

Result<std::unique_ptr<VideoSource>> open_ffmpeg_source(const std::string& path,
                                                        const std::string& name,
                                                        const SourceOptions& options) {
  auto source = std::make_unique<FfmpegSource>(name, options);
  source->read_from({path});
  SPARING_RETURN_IF_ERROR(source->open("file:" + path));
  return std::unique_ptr<VideoSource>(std::move(source));
}

Result<std::unique_ptr<VideoSource>> open_fifo_source(const std::string& path,
                                                      const SourceOptions& options) {
  auto source = std::make_unique<FfmpegSource>(path, options);
  source->read_from({path});
  source->set_live();
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (fd.get() < 0) return source->system_error(errno);
  // Until the first writer comes, reading gives what looks like the end. A pipe without a name
  // (/dev/stdin, /dev/fd/N) had its writers from the start.
  struct statfs system{};
  const bool named = ::fstatfs(fd.get(), &system) == 0 && system.f_type != PIPEFS_MAGIC;
  pollfd state{fd.get(), POLLIN, 0};
  while (named && ::poll(&state, 1, kStopPollMs) <= 0) {
    if (options.stop.stop_requested()) return source->interrupted();
  }
  SPARING_RETURN_IF_ERROR(source->open_pipe(std::move(fd)));
  return std::unique_ptr<VideoSource>(std::move(source));
}

Result<std::unique_ptr<VideoSource>> open_standard_input(const SourceOptions& options) {
  auto source = std::make_unique<FfmpegSource>("standard input", options);
  struct stat status{};
  if (::fstat(STDIN_FILENO, &status) == 0) source->read_from({"/proc/self/fd/0"});
  // A read of a silent pipe cannot be interrupted from another thread. Opened anew without blocking
  // (the flag of the descriptor we were given is shared with other programs), FFmpeg polls it.
  UniqueFd fd;
  if (S_ISFIFO(status.st_mode)) {
    fd = UniqueFd(::open("/proc/self/fd/0", O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  }
  // A file, in which FFmpeg can seek when it opens it itself; but from its start only.
  const bool whole_file = S_ISREG(status.st_mode) && ::lseek(STDIN_FILENO, 0, SEEK_CUR) == 0 &&
                          ::access("/proc/self/fd/0", R_OK) == 0;
  if (!S_ISREG(status.st_mode)) source->set_live();
  SPARING_RETURN_IF_ERROR(fd.get() >= 0 ? source->open_pipe(std::move(fd))
                          : whole_file  ? source->open("file:/proc/self/fd/0")
                                        : source->open("pipe:0"));
  return std::unique_ptr<VideoSource>(std::move(source));
}

}  // namespace sparing

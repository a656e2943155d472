// Rendered video: H.264 in MP4 with boxes and labels drawn in.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "sparing/io/output_file.h"
#include "sparing/io/overlay.h"
#include "sparing/io/sinks.h"
#include "sparing/io/upright.h"
#include "sparing/io/video_encoder.h"

namespace sparing {
namespace {

int next_even(int value) { return value + (value & 1); }

class VideoSink final : public RecordSink {
 public:
  VideoSink(PendingFile file, const RunInfo& run, const SinkOptions& options)
      : file_(std::move(file)), labels_(run.labels), crf_(options.video_crf) {
    if (!run.sources.empty()) frame_rate_ = run.sources.front().frame_rate;
    title_ =
        "Detections of " + (run.model.empty() ? "a model" : run.model) + ", Sparing " + run.version;
  }

  Status write(const FrameResult& result) override {
    if (failure_) return *failure_;
    SPARING_RETURN_IF_ERROR(keep_failure(write_frame(result)));
    ++frames_;
    return {};
  }

  Status finish() override {
    if (failure_) return *failure_;
    if (!encoder_) {
      return Error{ErrorCode::kOutput, "video '" + name() + "'", "no frame was written to it",
                   "give an input with frames"};
    }
    SPARING_RETURN_IF_ERROR(keep_failure(encoder_->finish()));
    return keep_failure(file_.publish());
  }
  std::string name() const override { return file_.path().string(); }
  std::int64_t records() const override { return failure_ ? 0 : frames_; }

 private:
  Status keep_failure(Status status) {
    if (status.ok()) return status;
    failure_ = status.error();
    // Its room is for the other outputs on a disk that is full.
    encoder_.reset();
    file_.discard();
    return status;
  }
  Status open(const VideoFrame& first);
  Status write_frame(const FrameResult& result);

  PendingFile file_;
  std::vector<std::string> labels_;
  int crf_;
  Rational frame_rate_{0, 1};
  std::string title_;
  // Known from the first frame on.
  Size picture_;
  ColorSpace space_;
  Timestamp start_;
  std::unique_ptr<VideoEncoder> encoder_;
  std::optional<Overlay> overlay_;
  UprightConverter converter_;
  std::int64_t frames_ = 0;
  std::optional<Error> failure_;
};

Status VideoSink::open(const VideoFrame& first) {
  picture_ = display_size(first);
  space_ = upright_color_space(first);
  start_ = first.timestamp;
  VideoFormat format;
  format.size = {next_even(picture_.width), next_even(picture_.height)};
  format.time_base = first.timestamp.time_base;
  format.frame_rate = frame_rate_;
  format.color_space = space_;
  format.crf = crf_;
  format.title = title_;
  format.fragmented = file_.direct();
  SPARING_ASSIGN_OR_RETURN(encoder_, VideoEncoder::open(file_.url(), file_.path(), format));
  overlay_.emplace(labels_, space_, picture_);
  return {};
}

Status VideoSink::write_frame(const FrameResult& result) {
  const VideoFrame& frame = result.source.frame.view();
  SPARING_RETURN_IF_ERROR(validate(frame));
  if (!encoder_) SPARING_RETURN_IF_ERROR(open(frame));
  AVFrame* target = encoder_->picture();
  if (target == nullptr) {
    return Error{ErrorCode::kInternal, "video '" + name() + "'", "out of memory", "free memory"};
  }
  const YuvCanvas canvas = canvas_of(*target);
  SPARING_RETURN_IF_ERROR(converter_.convert(frame, space_, picture_, canvas));

  std::vector<Detection> detections = result.detections;
  const Size size = display_size(frame);
  if (size != picture_) {  // the input changed its size on the way
    const float sx = static_cast<float>(picture_.width) / static_cast<float>(size.width);
    const float sy = static_cast<float>(picture_.height) / static_cast<float>(size.height);
    for (Detection& d : detections) {
      d.box = {d.box.x0 * sx, d.box.y0 * sy, d.box.x1 * sx, d.box.y1 * sy};
    }
  }
  overlay_->draw(canvas, detections);
  // The video starts at 0, whatever the input's first time is (negative, or hours into a day).
  const Timestamp time = rescale(frame.timestamp, start_.time_base);
  const Timestamp duration = rescale(frame.duration, start_.time_base);
  return encoder_->write(time.ticks - start_.ticks, std::max<std::int64_t>(duration.ticks, 0));
}

}  // namespace

Result<std::unique_ptr<RecordSink>> open_video_sink(const std::filesystem::path& path,
                                                    const RunInfo& run,
                                                    const SinkOptions& options) {
  SPARING_ASSIGN_OR_RETURN(PendingFile file, PendingFile::create(path));
  return std::unique_ptr<RecordSink>(std::make_unique<VideoSink>(std::move(file), run, options));
}

}  // namespace sparing

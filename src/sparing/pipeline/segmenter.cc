#include "sparing/pipeline/segmenter.h"

#include <utility>

#include "sparing/pipeline/segment_job.h"
#include "sparing/pipeline/segmentation_run.h"

namespace sparing {

Status validate(const SegmenterOptions& options) {
  SPARING_RETURN_IF_ERROR(validate_options(options.segment));
  SPARING_RETURN_IF_ERROR(validate_options(options.motion));
  SPARING_RETURN_IF_ERROR(validate_options(options.ensemble));
  SPARING_RETURN_IF_ERROR(validate_options(options.fusion));
  SPARING_RETURN_IF_ERROR(validate_options(options.learn));
  SPARING_RETURN_IF_ERROR(validate_options(options.trainer));
  const SegmentOptions& segment = options.segment;
  if (segment.budget > 0 && segment.main_every > 1) {
    return Error{ErrorCode::kInvalidArgument, "--budget",
                 "it chooses how often MainNet looks, and --main-every says it",
                 "give one of the two"};
  }
  if (segment.budget > 0 && segment.deterministic) {
    return Error{ErrorCode::kInvalidArgument, "--budget", "it goes by the clock",
                 "give --main-every with --deterministic"};
  }
  return {};
}

Segmenter::Segmenter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Segmenter::Segmenter(Segmenter&&) noexcept = default;
Segmenter& Segmenter::operator=(Segmenter&&) noexcept = default;
Segmenter::~Segmenter() = default;

Result<Segmenter> Segmenter::create(Context context, const Model& main,
                                    const std::optional<Model>& aux,
                                    const SegmenterOptions& options) {
  SPARING_RETURN_IF_ERROR(validate(options));
  SPARING_RETURN_IF_ERROR(check_task(main.manifest, ModelTask::kSegment));
  if (main.manifest.input.fit == Fit::kCrop) {
    return Error{ErrorCode::kModel, "model '" + main.manifest.name + "'",
                 "its input shows only the middle of the frame (fit crop)",
                 "set \"fit\" of its manifest to stretch or letterbox"};
  }
  auto impl = std::make_unique<Impl>();
  impl->options = options;
  StreamSegmenterOptions stream;
  stream.mode = segment_mode_from_name(options.segment.mode).value_or(SegmentMode::kAuto);
  stream.ensemble = options.ensemble;
  stream.fusion = options.fusion;
  stream.learn = options.learn;
  stream.trainer = options.trainer;
  stream.predicts = options.segment.main_every > 1 || options.segment.budget > 0;
  SPARING_ASSIGN_OR_RETURN(impl->stream, StreamSegmenter::create(stream, main, aux));
  MotionOptions motion = options.motion;
  // That control averages without looking at the motion.
  if (impl->stream->mode() == SegmentMode::kEma) motion.flow = "none";
  SPARING_ASSIGN_OR_RETURN(impl->motion, FrameMotion::create(motion));
  SPARING_RETURN_IF_ERROR(impl->main.load(std::move(context), main, options.segment.size));
  return Segmenter(std::move(impl));
}

const std::vector<std::string>& Segmenter::labels() const { return impl_->main.manifest.labels; }
SegmentMode Segmenter::mode() const { return impl_->stream->mode(); }
const StreamSegmenter& Segmenter::stream() const { return *impl_->stream; }

Result<Size> Segmenter::input_size(Size display_size) const {
  return sparing::input_size(impl_->main.manifest.input, display_size, impl_->main.requested_size);
}

Result<SegmentedFrame> Segmenter::segment(const VideoFrame& frame) {
  SPARING_RETURN_IF_ERROR(validate(frame));
  SegmentItem item;
  // Borrowed for this call.
  item.frame.source.frame = SharedFrame(frame, nullptr);
  SPARING_RETURN_IF_ERROR(impl_->look(item, impl_->options.segment.main_every));
  FrameSlot slot;
  if (impl_->main_runs() && (item.use_main || impl_->options.keep_main)) {
    item.slot = &slot;
    SPARING_RETURN_IF_ERROR(impl_->start_main(item));
  }
  SegmentationCounts counts;
  SPARING_RETURN_IF_ERROR(impl_->finish(item, counts));
  SPARING_RETURN_IF_ERROR(impl_->learn(item.frame.times));
  item.frame.source.frame = {};
  return std::move(item.frame);
}

SegmentSummary Segmenter::run(VideoSource& source, SegmentConsumer& consumer,
                              const SegmentControl& control) {
  return SegmentationRun(*impl_, source, consumer, control).run();
}

void Segmenter::reset() {
  impl_->motion->reset();
  impl_->stream->reset();
  impl_->has_past = false;
  impl_->since_main = 0;
}

}  // namespace sparing

#include "sparing/pipeline/detector.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <utility>

#include "sparing/pipeline/detection_run.h"
#include "sparing/pipeline/frame_job.h"

namespace sparing {
namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

Result<std::vector<char>> wanted_classes(const std::vector<std::string>& names,
                                         const std::vector<std::string>& labels) {
  std::vector<char> wanted;
  if (names.empty()) return wanted;
  wanted.assign(labels.size(), 0);
  for (const std::string& name : names) {
    bool found = false;
    for (std::size_t i = 0; i < labels.size(); ++i) {
      if (lower(labels[i]) == lower(name)) {
        wanted[i] = 1;
        found = true;
      }
    }
    if (!found) {
      std::string known;
      for (const std::string& label : labels) known += (known.empty() ? "" : ", ") + label;
      return Error{ErrorCode::kInvalidArgument, "--classes",
                   "the model has no class '" + name + "'", "choose from: " + known};
    }
  }
  return wanted;
}

}  // namespace

Result<Size> parse_size(std::string_view text) {
  const Error error{ErrorCode::kInvalidArgument, "--size",
                    "'" + std::string(text) + "' is not a size",
                    "give WIDTHxHEIGHT in pixels, e.g. 768x576"};
  const std::size_t cross = text.find_first_of("xX");
  if (cross == std::string_view::npos) return error;
  Size size;
  const auto read = [](std::string_view part, int& value) {
    const auto [end, code] = std::from_chars(part.data(), part.data() + part.size(), value);
    return code == std::errc() && end == part.data() + part.size() && value > 0;
  };
  if (!read(text.substr(0, cross), size.width) || !read(text.substr(cross + 1), size.height)) {
    return error;
  }
  return size;
}

Detector::Detector(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Detector::Detector(Detector&&) noexcept = default;
Detector& Detector::operator=(Detector&&) noexcept = default;
Detector::~Detector() = default;

Result<Detector> Detector::create(Context context, const Model& model,
                                  const DetectOptions& options) {
  SPARING_RETURN_IF_ERROR(validate_options(options));
  SPARING_RETURN_IF_ERROR(check_task(model.manifest, ModelTask::kDetect));
  auto impl = std::make_unique<Impl>();
  impl->options = options;
  SPARING_ASSIGN_OR_RETURN(impl->class_wanted,
                           wanted_classes(options.classes, model.manifest.labels));
  SPARING_RETURN_IF_ERROR(impl->load(std::move(context), model, options.size));
  impl->score_threshold =
      static_cast<float>(options.score >= 0 ? options.score : impl->manifest.score_threshold);
  impl->nms.iou_threshold =
      static_cast<float>(options.iou >= 0 ? options.iou : impl->manifest.iou_threshold);
  impl->nms.class_agnostic =
      options.class_agnostic || model.manifest.nms == NmsMode::kClassAgnostic;
  impl->nms.max_detections =
      options.max_detections > 0 ? options.max_detections : model.manifest.max_detections;
  return Detector(std::move(impl));
}

const std::vector<std::string>& Detector::labels() const { return impl_->manifest.labels; }

Result<Size> Detector::input_size(Size display_size) const {
  return sparing::input_size(impl_->manifest.input, display_size, impl_->requested_size);
}

Result<std::vector<Detection>> Detector::detect(const VideoFrame& frame) {
  FrameSlot slot;
  SPARING_ASSIGN_OR_RETURN(const Affine to_display, impl_->import(frame, slot));
  SPARING_ASSIGN_OR_RETURN(const Completion completion, impl_->dispatch(slot));
  SPARING_RETURN_IF_ERROR(completion.wait());
  DetectionCounts counts;
  return impl_->read(slot, to_display, display_size(frame), counts);
}

RunSummary Detector::run(VideoSource& source, std::span<ResultSink* const> sinks,
                         const RunControl& control) {
  return DetectionRun(*impl_, source, sinks, control).run();
}

}  // namespace sparing

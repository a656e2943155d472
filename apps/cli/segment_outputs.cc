#include "segment_outputs.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <utility>

#include "sparing/base/color.h"
#include "sparing/compose/background.h"
#include "sparing/compose/class_overlay.h"
#include "sparing/compose/privacy.h"
#include "sparing/io/masks.h"
#include "sparing/io/picture.h"
#include "sparing/io/picture_sink.h"

namespace sparing::cli {
namespace {

class MaskOutput final : public FrameOutput {
 public:
  explicit MaskOutput(std::unique_ptr<MaskSink> sink) : sink_(std::move(sink)) {}
  Status take(SegmentedFrame& frame) override {
    return sink_->write({0, frame.source, frame.labels});
  }
  Status finish() override { return sink_->finish(); }
  std::string name() const override { return sink_->name(); }
  std::int64_t frames() const override { return sink_->frames(); }

 private:
  std::unique_ptr<MaskSink> sink_;
};

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

// Indices of the labels that are foreground: those that were named, or all but a background.
Result<std::vector<int>> foreground_labels(const std::vector<std::string>& names,
                                           const ModelManifest& manifest) {
  const std::vector<std::string>& labels = manifest.labels;
  std::vector<int> chosen;
  for (const std::string& name : names) {
    const auto found = std::find_if(labels.begin(), labels.end(), [&](const std::string& label) {
      return lower(label) == lower(name);
    });
    if (found == labels.end()) {
      std::string known;
      for (const std::string& label : labels) known += (known.empty() ? "" : ", ") + label;
      return Error{ErrorCode::kInvalidArgument, "--foreground",
                   "the model has no class '" + name + "'", "choose from: " + known};
    }
    chosen.push_back(static_cast<int>(found - labels.begin()));
  }
  if (!names.empty()) return chosen;
  bool has_background = false;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (lower(labels[i]) == "background") {
      has_background = true;
    } else {
      chosen.push_back(static_cast<int>(i));
    }
  }
  if (!has_background) {
    return Error{ErrorCode::kInvalidArgument, "--background",
                 "model '" + manifest.name + "' has no class 'background'",
                 "say what is in front, e.g. --foreground car,pedestrian"};
  }
  return chosen;
}

// Frames with effects, as they are asked for: privacy, then the background, then colours.
class RenderOutput final : public FrameOutput {
 public:
  std::unique_ptr<PictureSink> sink;
  std::optional<PrivacyMasker> privacy;
  std::optional<BackgroundComposer> background;
  std::vector<int> foreground;
  std::optional<ClassOverlay> overlay;

  Status take(SegmentedFrame& frame) override {
    SPARING_RETURN_IF_ERROR(converter_.convert(frame.source.frame.view(), picture_));
    if (privacy) SPARING_RETURN_IF_ERROR(privacy->apply(frame.labels, picture_));
    if (background) {
      SPARING_RETURN_IF_ERROR(background->compose(
          MaskView(frame.probabilities.size, mask_of(frame.probabilities)), picture_));
    }
    if (overlay) SPARING_RETURN_IF_ERROR(overlay->draw(frame.labels, picture_));
    return sink->write(picture_);
  }
  Status finish() override { return sink->finish(); }
  std::string name() const override { return sink->name(); }
  std::int64_t frames() const override { return sink->pictures(); }

 private:
  // How much each pixel is foreground.
  std::span<const float> mask_of(const ProbabilityMap& map) {
    if (foreground.size() == 1) return map.plane(foreground[0]);
    mask_.assign(map.pixels(), 0);
    for (const int label : foreground) {
      const std::span<const float> plane = map.plane(label);
      for (std::size_t i = 0; i < mask_.size(); ++i) mask_[i] += plane[i];
    }
    return mask_;
  }

  PictureConverter converter_;
  Picture picture_;
  std::vector<float> mask_;
};

PictureSinkOptions sink_options(const SegmentSettings& settings, const SegmentRunInfo& info,
                                bool alpha) {
  PictureSinkOptions options;
  options.alpha = alpha;
  options.crf = settings.crf;
  options.frame_rate = info.run.sources[0].frame_rate;
  options.title = "Segmented by " + info.run.model;
  options.sources = info.run.sources;
  return options;
}

Result<std::unique_ptr<FrameOutput>> open_render(const SegmentSettings& settings,
                                                 const SegmentRunInfo& info) {
  auto output = std::make_unique<RenderOutput>();
  bool alpha = false;
  if (!settings.privacy.empty()) {
    SPARING_ASSIGN_OR_RETURN(const PrivacyOptions options,
                             parse_privacy(settings.privacy, info.manifest.labels));
    SPARING_ASSIGN_OR_RETURN(output->privacy, PrivacyMasker::create(options));
  }
  if (!settings.background.empty()) {
    SPARING_ASSIGN_OR_RETURN(BackgroundOptions options, parse_background(settings.background));
    options.contrast = settings.contrast;
    options.refine = settings.refine;
    alpha = options.effect == BackgroundEffect::kCutout;
    if (options.effect != BackgroundEffect::kNone) {
      SPARING_ASSIGN_OR_RETURN(output->foreground,
                               foreground_labels(settings.foreground, info.manifest));
      SPARING_ASSIGN_OR_RETURN(output->background, BackgroundComposer::create(options));
    }
  }
  // Without any effect the colours are what there is to see; "--background none" asks for none.
  if (settings.overlay || (settings.privacy.empty() && settings.background.empty())) {
    ClassOverlayOptions options;
    options.labels = info.manifest.labels;
    options.palette = label_colors(info.manifest);
    options.strength = settings.overlay_strength;
    options.legend = settings.legend;
    SPARING_ASSIGN_OR_RETURN(output->overlay, ClassOverlay::create(options));
  }
  PictureSinkOptions options = sink_options(settings, info, alpha);
  // What is shown behind must not be written over, either.
  if (output->background && !output->background->options().replacement.empty()) {
    SourceInfo replacement;
    replacement.files = {output->background->options().replacement};
    options.sources.push_back(std::move(replacement));
  }
  SPARING_ASSIGN_OR_RETURN(output->sink, open_picture_sink(settings.render, options));
  return std::unique_ptr<FrameOutput>(std::move(output));
}

}  // namespace

Result<SegmentOutputs> SegmentOutputs::open(const SegmentSettings& settings,
                                            const SegmentRunInfo& info) {
  SegmentOutputs all;
  for (const std::string& path : settings.outputs) {
    MaskSinkOptions options;
    options.format = settings.format;
    SPARING_ASSIGN_OR_RETURN(auto sink, open_mask_sink(path, info.run, options));
    all.outputs_.push_back({std::make_unique<MaskOutput>(std::move(sink)), std::nullopt});
  }
  if (!settings.render.empty()) {
    SPARING_ASSIGN_OR_RETURN(auto output, settings.compare.empty()
                                              ? open_render(settings, info)
                                              : open_comparison(settings, info));
    all.outputs_.push_back({std::move(output), std::nullopt});
  }
  return all;
}

Status SegmentOutputs::take(SegmentedFrame& frame) {
  Status first;
  for (Output& output : outputs_) {
    if (output.error) continue;
    if (Status status = output.output->take(frame); !status.ok()) {
      output.error = status.error();
      if (first.ok()) first = std::move(status);
    } else {
      any_ = true;
    }
  }
  return first;
}

Status SegmentOutputs::finish() {
  Status first;
  // Nothing was computed: leave what may lie under the outputs' names from an earlier run.
  if (!any_) return first;
  for (Output& output : outputs_) {
    if (Status status = output.output->finish(); !status.ok() && !output.error) {
      output.error = status.error();
      if (first.ok()) first = std::move(status);
    }
  }
  return first;
}

std::vector<OutputState> SegmentOutputs::states() const {
  std::vector<OutputState> states;
  for (const Output& output : outputs_) {
    states.push_back({output.output->name(), output.output->frames(), output.error});
  }
  return states;
}

std::vector<std::string> SegmentOutputs::names() const {
  std::vector<std::string> names;
  for (const Output& output : outputs_) names.push_back(output.output->name());
  return names;
}

}  // namespace sparing::cli

#include "sparing/adapt/trained_net.h"

#include <algorithm>
#include <string>
#include <utility>

#include "sparing/kernels/import.h"

namespace sparing::adapt {
namespace {

// The channel of each label. A network is trained on labels, so each has to have a channel of its
// own.
Result<std::vector<std::uint8_t>> channels_by_label(const std::string& thing,
                                                    const SegmentationSpec& spec, int channels) {
  const Error error{ErrorCode::kModel, thing,
                    std::to_string(channels) + " channels that do not stand for the " +
                        std::to_string(spec.classes) + " labels one by one",
                    "give a network that has one channel for each label"};
  if (spec.kind != SegmentationKind::kScores || channels != spec.classes) return error;
  std::vector<std::uint8_t> channel_of;
  if (spec.class_map.empty()) return channel_of;
  channel_of.assign(static_cast<std::size_t>(spec.classes), kIgnoreLabel);
  for (std::size_t channel = 0; channel < spec.class_map.size(); ++channel) {
    const int label = spec.class_map[channel];
    if (label < 0 || label >= spec.classes) return error;
    std::uint8_t& owner = channel_of[static_cast<std::size_t>(label)];
    if (owner != kIgnoreLabel) return error;
    owner = static_cast<std::uint8_t>(channel);
  }
  if (std::find(channel_of.begin(), channel_of.end(), kIgnoreLabel) != channel_of.end())
    return error;
  return channel_of;
}

}  // namespace

Result<TrainedNet> TrainedNet::create(std::string_view role, const Model& model,
                                      const TrainerOptions& options) {
  const std::string thing = std::string(role) + " '" + model.manifest.name + "'";
  const ModelInput& input = model.manifest.input;
  if (input.layout != Layout::kNchw) {
    return Error{ErrorCode::kModel, thing, "its input is laid out as NHWC",
                 "export it with an NCHW input; the trainer reads no other"};
  }
  TrainerOptions sized = options;
  if (options.batch != 1) {
    return Error{ErrorCode::kInvalidArgument, "--aux-batch", "a step is of one picture of a stream",
                 "leave it out"};
  }
  // A native size follows the frame, and what is trained keeps its size: that of the manifest.
  if (sized.width == 0 && sized.height == 0 && input.default_size.width > 0) {
    sized.width = input.default_size.width;
    sized.height = input.default_size.height;
  }
  SPARING_ASSIGN_OR_RETURN(Trainer trainer, Trainer::create(model.file, sized));
  const int channels = trainer.classes();
  TrainedNet net(std::move(trainer), input);
  SPARING_ASSIGN_OR_RETURN(net.channel_of_,
                           channels_by_label(thing, model.manifest.segmentation, channels));
  return net;
}

Status TrainedNet::see(const VideoFrame& frame, bool keep) {
  ImportOptions options;
  options.mean = input_.mean;
  options.std = input_.std;
  options.order = input_.order;
  // Below half of the frame's size a bilinear sample would skip pixels, and flicker.
  options.filter = Filter::kAuto;
  SPARING_RETURN_IF_ERROR([&]() -> Status {
    auto map = import_frame(frame, options, trainer_.input());
    return map.ok() ? Status() : Status(std::move(map).error());
  }());
  return trainer_.forward(keep);
}

void TrainedNet::read(bool as_logits, ProbabilityMap& out) const {
  if (as_logits || !channel_of_.empty()) {
    out.resize(trainer_.classes(), trainer_.output_size());
  }
  if (!as_logits && channel_of_.empty()) {
    trainer_.probabilities(out);
    return;
  }
  ProbabilityMap probabilities;
  if (!as_logits) trainer_.probabilities(probabilities);
  const std::span<const float> values =
      as_logits ? trainer_.logits() : std::span<const float>(probabilities.values);
  const std::size_t pixels = out.pixels();
  for (int label = 0; label < out.classes; ++label) {
    const auto l = static_cast<std::size_t>(label);
    const std::size_t channel = channel_of_.empty() ? l : channel_of_[l];
    std::copy_n(values.data() + channel * pixels, pixels, out.plane(label).data());
  }
}

Result<StepReport> TrainedNet::learn(const LabelMap& decision,
                                     std::span<const float> class_weights) {
  if (channel_of_.empty()) {
    return trainer_.step_cross_entropy({decision.labels, class_weights, {}});
  }
  channels_.resize(decision.labels.size());
  for (std::size_t i = 0; i < channels_.size(); ++i) {
    const std::uint8_t label = decision.labels[i];
    channels_[i] = label < channel_of_.size() ? channel_of_[label] : kIgnoreLabel;
  }
  channel_weights_.assign(class_weights.size(), 0);
  for (std::size_t label = 0; label < class_weights.size(); ++label) {
    channel_weights_[channel_of_[label]] = class_weights[label];
  }
  return trainer_.step_cross_entropy({channels_, channel_weights_, {}});
}

}  // namespace sparing::adapt

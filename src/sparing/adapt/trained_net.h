// A network that learns beside the stream: its input drawn by the import kernel, its output by
// label. Private to adapt.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sparing/base/class_map.h"
#include "sparing/base/result.h"
#include "sparing/frame/video_frame.h"
#include "sparing/models/manifest.h"
#include "sparing/train/trainer.h"

namespace sparing::adapt {

class TrainedNet {
 public:
  // `role` is for messages: "AuxNet". kModel: channels that are not the labels one by one; else as
  // Trainer::create.
  static Result<TrainedNet> create(std::string_view role, const Model& model,
                                   const TrainerOptions& options);

  // Draws the frame and runs the network; `keep`: a step will follow.
  Status see(const VideoFrame& frame, bool keep);
  // What it said, by label.
  void read(bool as_logits, ProbabilityMap& out) const;
  // A step towards `decision`, which has the output's size; weights by label.
  Result<StepReport> learn(const LabelMap& decision, std::span<const float> class_weights);
  Result<StepReport> learn_entropy() { return trainer_.step_entropy(); }

  Trainer& trainer() { return trainer_; }
  const Trainer& trainer() const { return trainer_; }

 private:
  TrainedNet(Trainer trainer, const ModelInput& input)
      : trainer_(std::move(trainer)), input_(input) {}

  Trainer trainer_;
  ModelInput input_;
  std::vector<std::uint8_t> channel_of_;  // by label; empty: the same
  std::vector<float> channel_weights_;
  std::vector<std::uint8_t> channels_;
};

}  // namespace sparing::adapt

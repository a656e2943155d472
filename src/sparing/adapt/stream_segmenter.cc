#include "sparing/adapt/stream_segmenter.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "sparing/adapt/trained_net.h"
#include "sparing/base/clock.h"
#include "sparing/kernels/class_map_ops.h"
#include "sparing/models/registry.h"

namespace sparing {
namespace {

// Classes that are hardly there would otherwise decide over the whole step.
constexpr double kMaxClassWeight = 10;
// Share of the last frame in the running frequencies of classes.
constexpr double kFrequencyShare = 0.05;

// What the modes mean by fusion: the controls leave parts of it out.
FusionOptions fusion_of(SegmentMode mode, FusionOptions options) {
  if (mode == SegmentMode::kEma || mode == SegmentMode::kEmaFlow) {
    options.weight = 0.5;
    options.error = 0;
  }
  if (!info(mode).fuses) options.weight = 0;
  return options;
}

TrainerOptions trainer_of(const SegmentModeInfo& mode, TrainerOptions options) {
  if (mode.mode == SegmentMode::kTent) {
    options.train = "batch_norm";
    options.train_layers = 0;
    options.train_from.clear();
    options.batch_norm = "live";
  } else if (!mode.learns) {
    options.train = "none";
  }
  return options;
}

// How often each class is decided for, slowly following, and what follows for its weight.
class ClassBalance {
 public:
  void add(const LabelMap& decision, int classes) {
    std::vector<double> counts(static_cast<std::size_t>(classes));
    double total = 0;
    for (const std::uint8_t label : decision.labels) {
      if (label >= counts.size()) continue;
      counts[label] += 1;
      total += 1;
    }
    if (total <= 0) return;
    const double share = frequencies_.size() == counts.size() ? kFrequencyShare : 1;
    frequencies_.resize(counts.size());
    for (std::size_t c = 0; c < counts.size(); ++c) {
      frequencies_[c] += share * (counts[c] / total - frequencies_[c]);
    }
  }
  // By class, with a mean of 1 over pixels.
  std::span<const float> weights(double power) {
    weights_.assign(frequencies_.size(), 0);
    double mean = 0;
    std::vector<double> raw(frequencies_.size());
    for (std::size_t c = 0; c < raw.size(); ++c) {
      if (frequencies_[c] <= 0) continue;
      raw[c] = std::pow(frequencies_[c], -power);
      mean += frequencies_[c] * raw[c];
    }
    for (std::size_t c = 0; c < raw.size(); ++c) {
      weights_[c] = static_cast<float>(std::min(raw[c] / mean, kMaxClassWeight));
    }
    return weights_;
  }
  void clear() { frequencies_.clear(); }

 private:
  std::vector<double> frequencies_;
  std::vector<float> weights_;
};

// to += weight * from, then * scale.
void add_scaled(ProbabilityMap& to, const ProbabilityMap& from, float weight, float scale) {
  float* out = to.values.data();
  const float* in = from.values.data();
  for (std::size_t i = 0; i < to.values.size(); ++i) out[i] = (out[i] + weight * in[i]) * scale;
}

}  // namespace

struct StreamSegmenter::Impl {
  StreamSegmenterOptions options;
  SegmentModeInfo mode = info(SegmentMode::kMain);
  int classes = 0;
  std::optional<adapt::TrainedNet> net;  // AuxNet, or MainNet's twin in mode tent
  std::optional<TemporalFusion> fusion;
  ClassBalance balance;
  ProbabilityMap aux_map;        // at AuxNet's size
  ProbabilityMap aux_at_main;    // at MainNet's
  LabelMap decision;             // at AuxNet's size
  bool decided = false;          // the decision is of a frame that may be learnt from
  std::int64_t frames_seen = 0;  // with segment()
  std::int64_t steps_since_reset = 0;
  LearnStatistics statistics;
  SegmentTimes times;

  bool tent() const { return mode.mode == SegmentMode::kTent; }
  bool turn_to_learn() const {
    return (mode.learns || tent()) && (frames_seen - 1) % options.learn.every == 0;
  }
  Status see(const VideoFrame& frame, bool keep);
  void sum(ProbabilityMap& map);
  void decide(const ProbabilityMap& map);
  void restart();
  Status after_step(const StepReport& step);
};

Status StreamSegmenter::Impl::see(const VideoFrame& frame, bool keep) {
  const auto start = Clock::now();
  const Status status = net->see(frame, keep);
  times.aux = seconds_since(start);
  return status;
}

// MainNet's map becomes that of both.
void StreamSegmenter::Impl::sum(ProbabilityMap& map) {
  const bool logits = options.ensemble.sum_logits;
  net->read(logits, aux_map);
  const ProbabilityMap* aux = &aux_map;
  if (aux_map.size != map.size) {
    resize_bilinear(aux_map, map.size, aux_at_main);
    aux = &aux_at_main;
  }
  const auto weight = static_cast<float>(options.ensemble.aux_weight);
  add_scaled(map, *aux, weight, logits ? 1 : 1 / (1 + weight));
  if (logits) softmax(map);
}

void StreamSegmenter::Impl::decide(const ProbabilityMap& map) {
  const Size size = net->trainer().output_size();
  if (map.size == size) {
    argmax(map, decision);
  } else {
    argmax_resized(map, size, decision);
  }
  decided = true;
}

void StreamSegmenter::Impl::restart() {
  net->trainer().reset();
  steps_since_reset = 0;
  ++statistics.resets;
}

Status StreamSegmenter::Impl::after_step(const StepReport& step) {
  statistics.loss = step.loss;
  if (step.restored()) {
    ++statistics.refused;
  } else if (step.applied()) {
    ++statistics.steps;
    ++steps_since_reset;
    if (options.learn.pull > 0) SPARING_RETURN_IF_ERROR(net->trainer().pull(options.learn.pull));
  }
  statistics.distance = net->trainer().distance();
  const bool old = options.learn.reset_every > 0 && steps_since_reset >= options.learn.reset_every;
  const bool far =
      options.learn.reset_distance > 0 && statistics.distance > options.learn.reset_distance;
  if (old || far) restart();
  return {};
}

StreamSegmenter::StreamSegmenter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
StreamSegmenter::StreamSegmenter(StreamSegmenter&&) noexcept = default;
StreamSegmenter& StreamSegmenter::operator=(StreamSegmenter&&) noexcept = default;
StreamSegmenter::~StreamSegmenter() = default;

Result<StreamSegmenter> StreamSegmenter::create(const StreamSegmenterOptions& options,
                                                const Model& main,
                                                const std::optional<Model>& aux) {
  SPARING_RETURN_IF_ERROR(validate_options(options.ensemble));
  SPARING_RETURN_IF_ERROR(validate_options(options.learn));
  auto impl = std::make_unique<Impl>();
  impl->options = options;
  impl->mode = info(resolve(options.mode, aux.has_value()));
  impl->classes = main.manifest.segmentation.classes;
  if (impl->mode.aux && !aux) {
    return Error{ErrorCode::kInvalidArgument, "--mode " + std::string(impl->mode.name),
                 "it needs an AuxNet, and model '" + main.manifest.name + "' names none",
                 "give one with --aux, or take --mode temporal"};
  }
  if (aux) SPARING_RETURN_IF_ERROR(check_pair(main.manifest, aux->manifest));
  SPARING_ASSIGN_OR_RETURN(impl->fusion,
                           TemporalFusion::create(fusion_of(impl->mode.mode, options.fusion)));
  if (impl->mode.aux || impl->tent()) {
    SPARING_ASSIGN_OR_RETURN(
        impl->net,
        adapt::TrainedNet::create(impl->tent() ? "MainNet" : "AuxNet", impl->tent() ? main : *aux,
                                  trainer_of(impl->mode, options.trainer)));
  }
  return StreamSegmenter(std::move(impl));
}

SegmentMode StreamSegmenter::mode() const { return impl_->mode.mode; }

bool StreamSegmenter::wants_logits() const {
  return impl_->mode.main && impl_->mode.aux && impl_->options.ensemble.sum_logits;
}

Status StreamSegmenter::segment(const VideoFrame& frame, const PictureMotion& motion,
                                ProbabilityMap& map) {
  Impl& s = *impl_;
  s.times = {};
  s.decided = false;
  if (s.mode.main && map.classes != s.classes) {
    return Error{ErrorCode::kInvalidArgument, "MainNet's probabilities",
                 std::to_string(map.classes) + " classes where the model has " +
                     std::to_string(s.classes) + " labels",
                 "decode them with the model's own head"};
  }
  ++s.frames_seen;
  if (motion.event == SceneEvent::kCut && s.options.learn.reset_at_cut && s.net) s.restart();
  if (s.net) SPARING_RETURN_IF_ERROR(s.see(frame, s.turn_to_learn()));
  const auto start = Clock::now();
  if (!s.mode.main) {
    s.net->read(false, map);
  } else if (s.mode.aux) {
    s.sum(map);
  }
  const bool blank = motion.event == SceneEvent::kBlank;
  if (blank) ++s.statistics.blank_frames;
  const bool learns_now = s.mode.learns && s.turn_to_learn() && !blank;
  if (learns_now && s.options.learn.teacher == "sum") s.decide(map);
  if (s.mode.fuses || s.options.predicts) s.fusion->fuse(motion, map);
  if (learns_now && s.options.learn.teacher == "result") s.decide(map);
  if (s.tent()) s.decided = s.turn_to_learn() && !blank;
  s.times.fusion = seconds_since(start);
  return {};
}

bool StreamSegmenter::predict(const PictureMotion& motion, ProbabilityMap& map) {
  impl_->times = {};
  impl_->decided = false;
  const auto start = Clock::now();
  const bool known = impl_->fusion->predict(motion, map);
  impl_->times.fusion = seconds_since(start);
  return known;
}

Status StreamSegmenter::learn() {
  Impl& s = *impl_;
  if (!s.decided) return {};
  s.decided = false;
  const auto start = Clock::now();
  if (s.tent()) {
    SPARING_ASSIGN_OR_RETURN(const StepReport step, s.net->learn_entropy());
    SPARING_RETURN_IF_ERROR(s.after_step(step));
  } else {
    s.balance.add(s.decision, s.classes);
    SPARING_ASSIGN_OR_RETURN(const StepReport step,
                             s.net->learn(s.decision, s.balance.weights(s.options.learn.balance)));
    SPARING_RETURN_IF_ERROR(s.after_step(step));
  }
  s.times.learn = seconds_since(start);
  return {};
}

const LearnStatistics& StreamSegmenter::statistics() const { return impl_->statistics; }
const SegmentTimes& StreamSegmenter::times() const { return impl_->times; }
std::int64_t StreamSegmenter::aux_macs() const {
  return impl_->net ? impl_->net->trainer().macs() : 0;
}
const Trainer* StreamSegmenter::trainer() const {
  return impl_->net ? &impl_->net->trainer() : nullptr;
}

void StreamSegmenter::reset() {
  impl_->fusion->reset();
  if (impl_->net) impl_->restart();
  impl_->balance.clear();
  impl_->decided = false;
}

}  // namespace sparing

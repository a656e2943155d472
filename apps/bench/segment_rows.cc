#include "segment_rows.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "sparing/base/check.h"
#include "sparing/base/clock.h"
#include "sparing/train/trainer.h"

namespace sparing::bench {
namespace {

constexpr Rational kRate{15, 1};
// Frames before the clock starts: the engine's first runs, and the pictures that flow needs.
constexpr int kWarmUp = 4;

SegmenterOptions mode(const char* name, SegmenterOptions options = {}) {
  options.segment.mode = name;
  return options;
}

// Zhang et al. 2021, as far as the text says it: the sum as it is, all layers, all pixels alike.
SegmenterOptions as_published() {
  SegmenterOptions options = mode("auxadapt");
  options.ensemble.aux_weight = 1;
  options.learn.balance = 0;
  options.learn.teacher = "sum";
  options.learn.every = 1;
  options.learn.pull = 0;
  options.trainer.batch_norm = "frozen";
  options.trainer.train = "all";
  options.trainer.train_layers = 0;
  options.trainer.optimizer = "sgd";
  options.trainer.rate = 1e-3;
  return options;
}

// Nothing of AuxNet changes from frame to frame: the control of all that adapts.
SegmenterOptions fixed(const char* name) {
  SegmenterOptions options = mode(name);
  options.ensemble.aux_weight = 0.5;
  options.trainer.batch_norm = "frozen";
  return options;
}

// Wang et al. 2021: a step on each picture.
SegmenterOptions tent() {
  SegmenterOptions options = mode("tent");
  options.learn.every = 1;
  options.learn.pull = 0;
  options.trainer.rate = 1e-3;
  return options;
}

SegmenterOptions every_fourth(const SegmenterOptions& ours) {
  SegmenterOptions options = mode("main", ours);
  options.segment.main_every = 4;
  return options;
}

class CountingConsumer final : public SegmentConsumer {
 public:
  Status take(SegmentedFrame&) override {
    if (++frames_ == kWarmUp) start_ = Clock::now();
    return {};
  }
  double seconds_a_frame() const {
    return seconds_since(start_) / static_cast<double>(std::max(frames_ - kWarmUp, 1));
  }

 private:
  int frames_ = 0;
  Clock::time_point start_{};
};

}  // namespace

std::vector<SegmentRow> segment_rows(const SegmenterOptions& ours) {
  return {
      {"main", "MainNet frame by frame", mode("main")},
      {"aux", "AuxNet frame by frame, as it was trained", fixed("aux")},
      {"ensemble", "both, as they were trained: the control of AuxAdapt", fixed("ensemble")},
      {"ensemble_live", "both, AuxNet's batch norms by the frame, nothing learnt",
       mode("ensemble", ours)},
      {"ema", "MainNet, running average without motion", mode("ema")},
      {"emaflow", "MainNet, running average along the flow", mode("emaflow")},
      {"tent", "MainNet's batch norms learn to be sure", tent()},
      {"auxadapt_published", "AuxAdapt as its paper has it", as_published()},
      {"auxadapt", "AuxAdapt with our defaults", mode("auxadapt", ours)},
      {"temporal", "MainNet, fused along the flow where pictures agree", mode("temporal", ours)},
      {"auxadapt_temporal", "AuxAdapt, fused likewise", mode("auxadapt+temporal", ours)},
      {"default", "what `sparing segment` does unasked", mode("auto", ours)},
      {"main4", "MainNet on every 4th frame, moved along the flow between", every_fourth(ours)},
  };
}

SegmentRow segment_row(std::string_view id, const SegmenterOptions& ours) {
  std::vector<SegmentRow> rows = segment_rows(ours);
  const auto found =
      std::find_if(rows.begin(), rows.end(), [&](const SegmentRow& row) { return row.id == id; });
  SPARING_CHECK(found != rows.end());
  return std::move(*found);
}

Result<RowRun> run_row(const SegmentNets& nets, const SegmentRow& row,
                       std::span<const SharedFrame> frames) {
  SPARING_ASSIGN_OR_RETURN(Segmenter segmenter,
                           Segmenter::create(nets.context, nets.main, nets.aux, row.options));
  RowRun run;
  double looks = 0;
  for (const SharedFrame& frame : frames) {
    SPARING_ASSIGN_OR_RETURN(SegmentedFrame result, segmenter.segment(frame.view()));
    looks += result.main_looked ? 1 : 0;
    run.labels.push_back(std::move(result.labels));
  }
  run.learning = segmenter.stream().statistics();
  run.main_looks = looks / static_cast<double>(std::max<std::size_t>(frames.size(), 1));
  return run;
}

Result<double> row_macs(const SegmentNets& nets, const SegmentRow& row) {
  SPARING_ASSIGN_OR_RETURN(Segmenter segmenter,
                           Segmenter::create(nets.context, nets.main, nets.aux, row.options));
  const SegmentModeInfo& mode = info(segmenter.mode());
  double macs = 0;
  if (mode.main) {
    TrainerOptions fixed;
    fixed.train = "none";
    const Size size = nets.main.manifest.input.default_size;
    fixed.width = size.width;
    fixed.height = size.height;
    SPARING_ASSIGN_OR_RETURN(const Trainer main, Trainer::create(nets.main.file, fixed));
    macs += static_cast<double>(main.macs()) / row.options.segment.main_every;
  }
  const Trainer* trained = segmenter.stream().trainer();
  if (trained == nullptr) return macs;
  macs += static_cast<double>(trained->macs()) / row.options.segment.main_every;
  if (!mode.learns && mode.mode != SegmentMode::kTent) return macs;
  double learnt = 0;
  bool above = false;  // gradients pass through everything above the first trained layer
  for (const TrainerLayer& layer : trained->layers()) {
    above = above || layer.trained;
    if (above) learnt += static_cast<double>(layer.macs) * (layer.trained ? 2 : 1);
  }
  return macs + learnt / row.options.learn.every;
}

Result<std::vector<double>> time_rows(const SegmentNets& nets, std::span<const SegmentRow> rows,
                                      const std::vector<SharedFrame>& frames, int rounds) {
  std::vector<std::vector<double>> seconds(rows.size());
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      SPARING_ASSIGN_OR_RETURN(Segmenter segmenter, Segmenter::create(nets.context, nets.main,
                                                                      nets.aux, rows[i].options));
      const auto source = play_frames(frames, static_cast<std::int64_t>(frames.size()), kRate);
      CountingConsumer consumer;
      const SegmentSummary summary = segmenter.run(*source, consumer);
      if (summary.error) return *summary.error;
      seconds[i].push_back(consumer.seconds_a_frame());
    }
  }
  std::vector<double> medians;
  for (std::vector<double>& row : seconds) {
    std::sort(row.begin(), row.end());
    medians.push_back(row[row.size() / 2]);
  }
  return medians;
}

}  // namespace sparing::bench

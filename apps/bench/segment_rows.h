// The rows of sparing-bench segment: modes and controls, each as a user would ask for it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "segment_clip.h"
#include "sparing/pipeline/segmenter.h"

namespace sparing::bench {

struct SegmentNets {
  Context context;
  Model main;
  std::optional<Model> aux;
};

struct SegmentRow {
  std::string id;
  std::string what;
  SegmenterOptions options;
};
// main, aux, ensemble, ema, emaflow, tent, auxadapt, temporal, auxadapt_temporal, default, main4,
// and auxadapt with the settings of its paper. `ours` are the settings of all but the controls.
std::vector<SegmentRow> segment_rows(const SegmenterOptions& ours = {});
// By id. Precondition: there is one.
SegmentRow segment_row(std::string_view id, const SegmenterOptions& ours = {});

struct RowRun {
  std::vector<LabelMap> labels;
  LearnStatistics learning;
  double main_looks = 0;  // share of the frames
};
// Frame by frame, in one thread.
Result<RowRun> run_row(const SegmentNets& nets, const SegmentRow& row,
                       std::span<const SharedFrame> frames);

// Multiply-accumulates of one frame on average: forward passes, and of what is trained as much
// again for each of the two gradients.
Result<double> row_macs(const SegmentNets& nets, const SegmentRow& row);

// Wall time of one frame, seconds: the medians over rounds of runs with overlapping stages, every
// row once a round, so that what disturbs one disturbs all.
Result<std::vector<double>> time_rows(const SegmentNets& nets, std::span<const SegmentRow> rows,
                                      const std::vector<SharedFrame>& frames, int rounds);

}  // namespace sparing::bench

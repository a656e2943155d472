// The stages of sparing-bench segment, and what they share.
#pragma once

#include <optional>
#include <string>

#include "benchmarks.h"
#include "segment_clip.h"
#include "segment_rows.h"

namespace sparing::bench {

struct SegmentBench {
  const SegmentBenchOptions& options;
  bool quick = false;
  SegmentNets nets;
  std::optional<LabelledClip> clip;

  // CamVid's validation clip, loaded once; nullptr when it is not there, which is reported.
  Result<LabelledClip*> labelled_clip(Report& report, const char* stage);
  bool wants_row(const std::string& id) const;
};

// All rows on the clip as it is: ROW.miou, .ftc, .pc, .ms, .gmacs.
Status bench_segment_val(SegmentBench& bench, Report& report);
// The clip under drifts that MainNet was not trained for: drift.NAME.*.
Status bench_segment_drift(SegmentBench& bench, Report& report);
// What quantising MainNet costs: int8.*.
Status bench_segment_int8(SegmentBench& bench, Report& report);
// people.fps, .iou, .flicker_ratio.
Status bench_segment_people(SegmentBench& bench, Report& report);
// long.*: whether what learns stays good for ten thousand frames.
Status bench_segment_long(SegmentBench& bench, Report& report);

}  // namespace sparing::bench

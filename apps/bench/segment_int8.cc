// sparing-bench segment, stage int8: what the default mode loses with a MainNet in 8-bit integers.
#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

#include "segment_stages.h"
#include "sparing/models/registry.h"

namespace sparing::bench {
namespace {

constexpr int kRounds = 3;  // of timing

struct Precision {
  const char* id;
  SegmentNets nets;
};

}  // namespace

Status bench_segment_int8(SegmentBench& bench, Report& report) {
  SPARING_ASSIGN_OR_RETURN(LabelledClip* const clip, bench.labelled_clip(report, "int8"));
  if (clip == nullptr) return {};
  Precision precisions[] = {{"as_it_is", bench.nets}, {"int8", bench.nets}};
  auto quantized =
      resolve_model(bench.options.int8, default_model_paths(cli::share_dir()), bench.nets.context);
  if (!quantized.ok()) {
    report.skip("int8", quantized.error().to_string() + " (make it with `sparing models quantize " +
                            bench.options.model + " --calib CLIP`)");
    return {};
  }
  precisions[1].nets.main = std::move(*quantized);

  std::vector<int> shown(clip->frames.size());
  std::iota(shown.begin(), shown.end(), 0);
  ClipJudge judge(*clip, false);
  const SegmentRow rows[] = {segment_row("main", bench.options.segmenter),
                             segment_row("default", bench.options.segmenter)};
  double miou[2][2] = {};
  for (std::size_t p = 0; p < 2; ++p) {
    const Precision& precision = precisions[p];
    SPARING_ASSIGN_OR_RETURN(const std::vector<double> seconds,
                             time_rows(precision.nets, rows, clip->frames, kRounds));
    for (std::size_t r = 0; r < 2; ++r) {
      SPARING_ASSIGN_OR_RETURN(const RowRun run, run_row(precision.nets, rows[r], clip->frames));
      SPARING_ASSIGN_OR_RETURN(const Judgement judgement, judge.judge(shown, run.labels));
      miou[p][r] = judgement.miou();
      char note[80];
      std::snprintf(note, sizeof note, "F-TC %.2f, %.2f ms a frame", judgement.ftc() * 100,
                    seconds[r] * 1e3);
      report.add({std::string("int8.") + precision.id + "_" + rows[r].id, miou[p][r] * 100, "%",
                  "mIoU; " + std::string(note)});
    }
  }
  report.add({"int8.main_miou_loss", (miou[0][0] - miou[1][0]) * 100, "points", "MainNet alone"});
  report.add({"int8.miou_loss", (miou[0][1] - miou[1][1]) * 100, "points", "the default mode"});
  return {};
}

}  // namespace sparing::bench

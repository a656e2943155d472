// sparing-bench segment, stage drift: the validation clip, played to and fro, under changes that
// MainNet was not trained for.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "segment_drift.h"
#include "segment_stages.h"

namespace sparing::bench {
namespace {

constexpr int kFrames = 400;
constexpr int kQuickFrames = 100;
constexpr Rational kRate{15, 1};

std::vector<SharedFrame> drifted(const LabelledClip& clip, const std::vector<int>& shown,
                                 const Drift& drift) {
  std::vector<SharedFrame> frames;
  const int count = static_cast<int>(shown.size());
  for (int i = 0; i < count; ++i) {
    const auto at = static_cast<std::size_t>(shown[static_cast<std::size_t>(i)]);
    RgbPixels pixels = to_rgb(clip.frames[at].view());
    drift.apply(pixels, drift_strength(i, count), static_cast<std::uint64_t>(i));
    frames.push_back(to_frame(pixels, i, kRate));
  }
  return frames;
}

}  // namespace

Status bench_segment_drift(SegmentBench& bench, Report& report) {
  SPARING_ASSIGN_OR_RETURN(LabelledClip* const clip, bench.labelled_clip(report, "drift"));
  if (clip == nullptr) return {};
  const std::vector<int> shown =
      ping_pong(static_cast<int>(clip->frames.size()), bench.quick ? kQuickFrames : kFrames);
  ClipJudge judge(*clip, false);
  std::vector<SegmentRow> rows;
  for (SegmentRow& row : segment_rows(bench.options.segmenter)) {
    const bool usual = row.id == "main" || row.id == "ensemble" || row.id == "ensemble_live" ||
                       row.id == "tent" || row.id == "auxadapt" || row.id == "temporal" ||
                       row.id == "auxadapt_temporal" || row.id == "default";
    if (bench.options.rows.empty() ? usual : bench.wants_row(row.id))
      rows.push_back(std::move(row));
  }
  for (const Drift& drift : drifts()) {
    const std::vector<std::string>& wanted = bench.options.drifts;
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), drift.name) == wanted.end())
      continue;
    const std::string name = "drift." + std::string(drift.name);
    std::printf("\n%s: %s\n", name.c_str(), std::string(drift.description).c_str());
    const std::vector<SharedFrame> frames = drifted(*clip, shown, drift);
    double ensemble_miou = 0, ensemble_ftc = 0;
    for (const SegmentRow& row : rows) {
      SPARING_ASSIGN_OR_RETURN(const RowRun run, run_row(bench.nets, row, frames));
      SPARING_ASSIGN_OR_RETURN(const Judgement j, judge.judge(shown, run.labels));
      std::printf("  %-20s mIoU %6.2f  F-TC %6.2f  moved %.2f %%, resets %lld\n", row.id.c_str(),
                  j.miou() * 100, j.ftc() * 100, run.learning.distance * 100,
                  static_cast<long long>(run.learning.resets));
      std::fflush(stdout);
      report.record({name + "." + row.id + ".miou", j.miou() * 100, "%", ""});
      report.record({name + "." + row.id + ".ftc", j.ftc() * 100, "%", ""});
      if (row.id == "ensemble") {
        ensemble_miou = j.miou();
        ensemble_ftc = j.ftc();
      }
      if (row.id == "auxadapt" && ensemble_miou > 0) {
        char note[80];
        std::snprintf(note, sizeof note, "mIoU over the ensemble; F-TC %+.2f",
                      (j.ftc() - ensemble_ftc) * 100);
        report.add({name + ".auxadapt_gain", (j.miou() - ensemble_miou) * 100, "points", note});
      }
    }
  }
  return {};
}

}  // namespace sparing::bench

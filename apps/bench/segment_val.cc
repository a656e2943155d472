// sparing-bench segment, stage val: all modes and controls on CamVid's validation clip.
#include <algorithm>
#include <cstdio>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "segment_stages.h"

namespace sparing::bench {
namespace {

constexpr int kRounds = 3;        // of timing
constexpr int kResamples = 2000;  // of the bootstrap

struct RowResult {
  SegmentRow row;
  RowRun run;
  Judgement judgement;
};

// Where 95 % of the means lie when frames are drawn with replacement.
struct Interval {
  double mean = 0, low = 0, high = 0;
};
Interval bootstrap(const std::vector<double>& differences) {
  Interval interval;
  if (differences.empty()) return interval;
  const auto mean_of = [&](auto&& pick) {
    double sum = 0;
    for (std::size_t i = 0; i < differences.size(); ++i) sum += differences[pick(i)];
    return sum / static_cast<double>(differences.size());
  };
  interval.mean = mean_of([](std::size_t i) { return i; });
  std::mt19937 random(1);
  std::uniform_int_distribution<std::size_t> any(0, differences.size() - 1);
  std::vector<double> means;
  for (int i = 0; i < kResamples; ++i) {
    means.push_back(mean_of([&](std::size_t) { return any(random); }));
  }
  std::sort(means.begin(), means.end());
  interval.low = means[static_cast<std::size_t>(kResamples * 0.025)];
  interval.high = means[static_cast<std::size_t>(kResamples * 0.975)];
  return interval;
}

std::string in_points(const Interval& i) {
  char text[80];
  std::snprintf(text, sizeof text, "95 %% of resampled means in %+.2f .. %+.2f", i.low * 100,
                i.high * 100);
  return text;
}

std::vector<double> minus(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> result(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) result[i] = a[i] - b[i];
  return result;
}

void report_learning(const RowResult& adapted, const RowResult& ensemble, Report& report) {
  const std::string id = adapted.row.id;
  const Interval miou =
      bootstrap(minus(adapted.judgement.frame_miou, ensemble.judgement.frame_miou));
  const Interval ftc = bootstrap(minus(adapted.judgement.frame_ftc, ensemble.judgement.frame_ftc));
  report.add(
      {id + ".miou_vs_ensemble", miou.mean * 100, "points", "frame by frame; " + in_points(miou)});
  report.add(
      {id + ".ftc_vs_ensemble", ftc.mean * 100, "points", "pair by pair; " + in_points(ftc)});
  char note[120];
  std::snprintf(note, sizeof note, "|w - w0| / |w0| after %lld steps, last loss %.3f",
                static_cast<long long>(adapted.run.learning.steps), adapted.run.learning.loss);
  report.add({id + ".moved", adapted.run.learning.distance * 100, "%", note});
}

}  // namespace

Status bench_segment_val(SegmentBench& bench, Report& report) {
  SPARING_ASSIGN_OR_RETURN(LabelledClip* const clip, bench.labelled_clip(report, "val"));
  if (clip == nullptr) return {};
  std::vector<int> shown(clip->frames.size());
  std::iota(shown.begin(), shown.end(), 0);
  const bool with_pc = !bench.quick;
  ClipJudge judge(*clip, with_pc);
  SPARING_ASSIGN_OR_RETURN(const Judgement labels, judge.judge(shown, clip->truth));

  std::vector<RowResult> results;
  std::vector<SegmentRow> rows;
  for (SegmentRow& row : segment_rows(bench.options.segmenter)) {
    if (bench.wants_row(row.id)) rows.push_back(std::move(row));
  }
  std::vector<double> seconds(rows.size());
  if (!bench.quick) {
    std::vector<SharedFrame> timed = clip->frames;
    SPARING_ASSIGN_OR_RETURN(seconds, time_rows(bench.nets, rows, timed, kRounds));
  }
  std::printf("%-20s %7s %7s %7s %8s %7s\n", "row", "mIoU", "F-TC", "PC", "ms", "GMACs");
  std::printf("%-20s %7s %7.2f %7.2f\n", "labels", "100", labels.ftc() * 100, labels.pc() * 100);
  report.record({"labels.ftc", labels.ftc() * 100, "%", "ground truth's own"});
  report.record({"labels.pc", labels.pc() * 100, "%", "ground truth's own"});
  std::map<std::string, const RowResult*> by_id;
  results.reserve(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    RowResult result;
    result.row = rows[i];
    SPARING_ASSIGN_OR_RETURN(result.run, run_row(bench.nets, rows[i], clip->frames));
    SPARING_ASSIGN_OR_RETURN(result.judgement, judge.judge(shown, result.run.labels));
    SPARING_ASSIGN_OR_RETURN(const double macs, row_macs(bench.nets, rows[i]));
    const Judgement& j = result.judgement;
    std::printf("%-20s %7.2f %7.2f %7.2f %8.2f %7.3f  %s\n", rows[i].id.c_str(), j.miou() * 100,
                j.ftc() * 100, j.pc() * 100, seconds[i] * 1e3, macs * 1e-9, rows[i].what.c_str());
    std::fflush(stdout);
    report.record({rows[i].id + ".miou", j.miou() * 100, "%", rows[i].what});
    report.record({rows[i].id + ".ftc", j.ftc() * 100, "%", ""});
    if (with_pc) report.record({rows[i].id + ".pc", j.pc() * 100, "%", ""});
    if (!bench.quick)
      report.record({rows[i].id + ".ms", seconds[i] * 1e3, "ms", "wall time a frame"});
    report.record({rows[i].id + ".gmacs", macs * 1e-9, "GMACs", "a frame"});
    results.push_back(std::move(result));
    by_id[rows[i].id] = &results.back();
  }
  std::printf("\n");
  const auto find = [&](const char* id) {
    const auto found = by_id.find(id);
    return found == by_id.end() ? nullptr : found->second;
  };
  const RowResult* main = find("main");
  const RowResult* ensemble = find("ensemble");
  if (main == nullptr) return {};
  const double gap = labels.ftc() - main->judgement.ftc();
  for (const char* id : {"default", "temporal", "auxadapt_temporal"}) {
    const RowResult* row = find(id);
    if (row == nullptr) continue;
    report.add({row->row.id + ".ftc_gap_closed",
                (row->judgement.ftc() - main->judgement.ftc()) / gap * 100, "%",
                "of what MainNet's F-TC lacks of the labels' own"});
    report.add({row->row.id + ".miou_gain", (row->judgement.miou() - main->judgement.miou()) * 100,
                "points", "over MainNet"});
  }
  for (const char* id : {"auxadapt", "auxadapt_published"}) {
    if (find(id) != nullptr && ensemble != nullptr) report_learning(*find(id), *ensemble, report);
  }
  if (bench.quick) return {};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].id != "auxadapt_temporal" && rows[i].id != "main4" && rows[i].id != "default")
      continue;
    const auto at = static_cast<std::size_t>(main - results.data());
    report.add({rows[i].id + ".vs_main", seconds[i] / seconds[at], "x", "wall time a frame"});
  }
  return {};
}

}  // namespace sparing::bench

// Budgets: whether windows keep to their time, and what that costs in accuracy.
#include <algorithm>
#include <cstdio>

#include "streams_bench.h"
#include "streams_ours.h"

namespace sparing::bench {
namespace {

// So many windows pass before times and ways have settled.
constexpr std::int64_t kWarmUp = 3;
// The clip is played so often, that a hundredth of the windows is at least one.
constexpr int kRepeats = 10;
constexpr double kTolerance = 1.1;

// Online times and no determinism: as a user runs it.
StreamOptions budget_options(double budget_ms) {
  StreamOptions options = our_settings("auto", 0).options;
  options.deterministic = false;
  if (budget_ms > 0) options.budget = budget_ms;
  return options;
}

std::int64_t frames_of(const std::vector<FedStream>& streams) {
  std::int64_t frames = 0;
  for (const FedStream& fed : streams) {
    frames += static_cast<std::int64_t>(fed.stream->frames.size()) * fed.repeats;
  }
  return frames;
}

// Of the first time through.
Result<Accuracy> judge_first(const Clip& clip, ClipBoxes boxes, const Network& network) {
  for (std::size_t s = 0; s < boxes.size(); ++s) boxes[s].resize(clip.streams[s].frames.size());
  return judge(clip, boxes, network.labels());
}

std::vector<double> overruns(const OurRun& run) {
  std::vector<double> ratios;
  for (const WindowReport& window : run.windows) {
    if (window.index < kWarmUp || window.budget_seconds <= 0) continue;
    ratios.push_back(window.spent_seconds / window.budget_seconds);
  }
  std::sort(ratios.begin(), ratios.end());
  return ratios;
}

double quantile(const std::vector<double>& sorted, double share) {
  if (sorted.empty()) return 0;
  const auto index = static_cast<std::size_t>(share * static_cast<double>(sorted.size()));
  return sorted[std::min(index, sorted.size() - 1)];
}

}  // namespace

Status bench_streams_budget(const BenchOptions& options, Report& report) {
  SPARING_ASSIGN_OR_RETURN(StreamsSetting setting, open_streams(options, report));
  const std::string missing = missing_material("pets4", setting.places());
  if (!missing.empty()) {
    report.skip("budget.p99", "no " + missing + " (--data, --video)");
    return {};
  }
  SPARING_ASSIGN_OR_RETURN(const Clip clip, load_clip("pets4", setting.part(), setting.places()));
  SPARING_ASSIGN_OR_RETURN(
      Network network,
      Network::create(setting.context, setting.model, clip.group.labels, setting.network_costs));
  const std::vector<FedStream> streams = feed_of(clip, kRepeats);
  SPARING_ASSIGN_OR_RETURN(const OurRun free, run_ours(streams, network, budget_options(0)));
  const double need_ms =
      free.totals.detector_seconds * 1e3 / static_cast<double>(frames_of(streams));
  SPARING_ASSIGN_OR_RETURN(const Accuracy unlimited,
                           judge_first(clip, free.outcome.boxes, network));
  std::printf(
      "\nBudgets on PETS, four streams, %d times through: unbudgeted AP %.4f at %.3f ms a "
      "frame\n%8s %10s %8s %10s %8s %8s %9s %8s\n",
      kRepeats, unlimited.ap, need_ms, "budget", "ms/frame", "AP", "spent", "p50", "p99",
      "in 1.1 T", "dropped");
  double worst = 0;
  double least_within = 1;
  for (const double share : {0.25, 0.5, 1.0}) {
    SPARING_ASSIGN_OR_RETURN(const OurRun run,
                             run_ours(streams, network, budget_options(share * need_ms)));
    SPARING_ASSIGN_OR_RETURN(const Accuracy accuracy,
                             judge_first(clip, run.outcome.boxes, network));
    const std::vector<double> ratios = overruns(run);
    const auto within = static_cast<double>(
        std::upper_bound(ratios.begin(), ratios.end(), kTolerance) - ratios.begin());
    const double within_share = ratios.empty() ? 0 : within / static_cast<double>(ratios.size());
    worst = std::max(worst, quantile(ratios, 0.99));
    least_within = std::min(least_within, within_share);
    std::int64_t dropped = 0;
    for (const StreamStatistics& stream : run.streams) dropped += stream.dropped_regions.total();
    std::printf("%7.0f%% %10.3f %8.4f %10.3f %8.3f %8.3f %8.1f%% %8lld\n", share * 100,
                share * need_ms, accuracy.ap,
                run.totals.detector_seconds * 1e3 / static_cast<double>(frames_of(streams)),
                quantile(ratios, 0.5), quantile(ratios, 0.99), within_share * 100,
                static_cast<long long>(dropped));
    char id[32];
    std::snprintf(id, sizeof id, "budget.ap%.0f", share * 100);
    char note[128];
    std::snprintf(note, sizeof note, "at %.3f ms a frame; unbudgeted %.4f at %.3f", share * need_ms,
                  unlimited.ap, need_ms);
    report.add({id, accuracy.ap, "AP", note});
  }
  char note[160];
  std::snprintf(
      note, sizeof note,
      "a window's detector time over its budget, the 99th percentile, worst of the three; "
      "at least %.1f %% of the windows within 1.1",
      least_within * 100);
  report.add({"budget.p99", worst, "", note});
  report.add({"budget.within", least_within, "", "least share of the windows within 1.1 T"});
  return {};
}

}  // namespace sparing::bench

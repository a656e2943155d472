// The work beside decoding and the network: per frame, and how it grows with the streams.
#include <algorithm>
#include <cstdio>

#include "streams_bench.h"
#include "streams_ours.h"

namespace sparing::bench {
namespace {

double other_seconds(const DetectorTotals& totals) {
  return totals.extract_seconds + totals.plan_seconds + totals.draw_seconds + totals.read_seconds +
         totals.fill_seconds;
}

std::string parts_of(const DetectorTotals& totals, double frames) {
  char text[200];
  const double to_ms = 1e3 / frames;
  std::snprintf(
      text, sizeof text, "extraction %.3f, planning %.3f, drawing %.3f, reading %.3f, filling %.3f",
      totals.extract_seconds * to_ms, totals.plan_seconds * to_ms, totals.draw_seconds * to_ms,
      totals.read_seconds * to_ms, totals.fill_seconds * to_ms);
  return text;
}

struct OtherWork {
  double ms_per_frame = 0;
  std::string parts;
};

// `count` streams that repeat those of the clip, whose frames are in memory.
Result<OtherWork> measure(const Clip& clip, Network& network, std::size_t count) {
  std::vector<FedStream> streams;
  double frames = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const ClipStream& stream = clip.streams[i % clip.streams.size()];
    streams.push_back({&stream, clip.frame_rate, 1});
    frames += static_cast<double>(stream.frames.size());
  }
  StreamOptions options = our_settings("packed", 0).options;
  SPARING_ASSIGN_OR_RETURN(const OurRun run, run_ours(streams, network, options));
  return OtherWork{other_seconds(run.totals) * 1e3 / frames, parts_of(run.totals, frames)};
}

// The engine on one core, so that the work beside it has one to itself.
BenchOptions one_core(BenchOptions options) {
  options.detect.runtime.threads = 1;
  options.detect.runtime.streams = 1;
  return options;
}

Status measure_pets(StreamsSetting& setting) {
  Report& report = setting.report;
  SPARING_ASSIGN_OR_RETURN(const Clip clip, load_clip("pets4", setting.part(), setting.places()));
  SPARING_ASSIGN_OR_RETURN(
      Network network,
      Network::create(setting.context, setting.model, clip.group.labels, setting.network_costs));
  if (auto warm = measure(clip, network, 1); !warm.ok()) return warm.error();
  SPARING_ASSIGN_OR_RETURN(const OtherWork four, measure(clip, network, 4));
  report.add({"other768.ms_per_frame", four.ms_per_frame, "ms",
              "packed, four streams of 768x576, one core; " + four.parts});
  double one = 0;
  double most = 0;
  std::string curve;
  for (const std::size_t count : {1, 2, 4, 8, 16, 32}) {
    SPARING_ASSIGN_OR_RETURN(const OtherWork work, measure(clip, network, count));
    if (count == 1) one = work.ms_per_frame;
    most = std::max(most, work.ms_per_frame);
    char text[48];
    std::snprintf(text, sizeof text, "%s%zu: %.3f", curve.empty() ? "" : ", ", count,
                  work.ms_per_frame);
    curve += text;
  }
  report.add({"other768.growth", most / one, "x",
              "ms a frame, worst of up to 32 streams over one; by streams: " + curve});
  return {};
}

Status measure_1080(StreamsSetting& setting) {
  SPARING_ASSIGN_OR_RETURN(const Clip clip, load_clip("mot04", ClipPart::kJudge, setting.places()));
  SPARING_ASSIGN_OR_RETURN(
      Network network,
      Network::create(setting.context, setting.model, clip.group.labels, setting.network_costs));
  SPARING_ASSIGN_OR_RETURN(const OtherWork work, measure(clip, network, 1));
  setting.report.add({"other1080.ms_per_frame", work.ms_per_frame, "ms",
                      "packed, MOT17-04, one core; " + work.parts});
  return {};
}

}  // namespace

Status bench_streams_other(const BenchOptions& options, Report& report) {
  const BenchOptions single = one_core(options);
  SPARING_ASSIGN_OR_RETURN(StreamsSetting setting, open_streams(single, report));
  const auto run = [&](const char* clip, const char* id, Status (*body)(StreamsSetting&)) {
    const std::string missing = missing_material(clip, setting.places());
    if (missing.empty()) return body(setting);
    report.skip(id, "no " + missing + " (--data, --video)");
    return Status();
  };
  SPARING_RETURN_IF_ERROR(run("pets4", "other768.ms_per_frame", measure_pets));
  return run("mot04", "other1080.ms_per_frame", measure_1080);
}

}  // namespace sparing::bench

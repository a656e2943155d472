#include "streams_summary.h"

#include <sys/resource.h>

#include <algorithm>
#include <cstdio>

#include <nlohmann/json.hpp>

#include "summary_parts.h"

namespace sparing::cli {
namespace {

using Json = nlohmann::ordered_json;

double share(double part, double whole) { return whole > 0 ? part / whole : 0; }

double fps(const StreamsSummary& summary) {
  return static_cast<double>(summary.frames) / std::max(summary.wall_seconds, 1e-9);
}

// The most that was resident, in units of 10^6 bytes.
double peak_megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024 / 1e6;
}

struct Work {
  std::string name;
  double seconds;
};

// What is not the network. Threads' own durations: they overlap with each other and with it.
std::vector<Work> other_work(const StreamsSummary& summary) {
  std::vector<Work> work;
  const auto stage = [&](const char* name) {
    for (const StageStatistics& s : summary.stages) {
      if (s.name == name) work.push_back({name, s.total_seconds});
    }
  };
  stage("decode");
  work.push_back({"regions", summary.totals.extract_seconds});
  work.push_back({"planning", summary.totals.plan_seconds});
  work.push_back({"drawing", summary.totals.draw_seconds});
  work.push_back({"reading", summary.totals.read_seconds});
  work.push_back({"filling", summary.totals.fill_seconds});
  stage("output");
  return work;
}

// The last part of a long name.
std::string short_name(const std::string& name, std::size_t length) {
  return name.size() <= length ? name : "..." + name.substr(name.size() - (length - 3));
}

void append_head(std::string& text, const StreamsDescription& run, const StreamsSummary& summary) {
  append(text, "%lld frames of %zu stream%s in %.2f s (%.1f fps), %lld detections\n",
         static_cast<long long>(summary.frames), summary.streams.size(),
         summary.streams.size() == 1 ? "" : "s", summary.wall_seconds, fps(summary),
         static_cast<long long>(summary.detections));
  text += run.model + ", mode " + run.settings->streams.mode;
  for (const ProcessorDescription& processor : run.processors) text += ", " + processor.name;
  text += "\n\n";
}

void append_spent(std::string& text, const StreamsSummary& summary) {
  const DetectorTotals& totals = summary.totals;
  append(text, "detector time   %10.2f s, %.2f ms a frame of the sources\n",
         totals.detector_seconds,
         1e3 * share(totals.detector_seconds, static_cast<double>(summary.frames)));
  append(text, "every frame whole %8.2f s by the profile", summary.whole_frame_seconds);
  // Both by the profile: what else the machine did is nobody's saving.
  const double planned = totals.planned_detector_seconds;
  if (planned > 0 && planned <= summary.whole_frame_seconds) {
    append(text, ": %.1f times what was planned, %.1f %% are spared",
           summary.whole_frame_seconds / planned,
           100 * (1 - planned / summary.whole_frame_seconds));
  } else if (planned > 0) {
    append(text, ": %.2f times what was planned, nothing is spared",
           summary.whole_frame_seconds / planned);
  }
  text += "\n";
  append(text, "of it %.1f %% to look at whole frames for what was missed, %.1f %% to try scales\n",
         100 * share(totals.refresh_seconds, totals.detector_seconds),
         100 * share(totals.probe_seconds, totals.detector_seconds));
  append(text, "%lld canvases in %lld windows", static_cast<long long>(totals.canvases),
         static_cast<long long>(totals.windows));
  if (totals.packed_canvas_area > 0) {
    append(text, ", packed ones %.0f %% full",
           100 * totals.packed_area / totals.packed_canvas_area);
  }
  if (totals.windows_over_budget > 0) {
    append(text, ", %lld windows above 1.1 times their budget",
           static_cast<long long>(totals.windows_over_budget));
  }
  text += "\n\n";
}

void append_streams(std::string& text, bool paced, const StreamsSummary& summary) {
  text +=
      "stream                     frames    key detected  between  carried  way    scale every recall";
  text += paced ? "  p50 ms  p95 ms\n" : "\n";
  for (std::size_t i = 0; i < summary.streams.size(); ++i) {
    const StreamRunStatistics& stream = summary.streams[i];
    const StreamStatistics& detector = stream.detector;
    const std::string name = std::to_string(i) + " " + short_name(detector.name, 22);
    append(text, "%-25s %7lld %6lld %8lld %8lld %8lld  %-7s", name.c_str(),
           static_cast<long long>(stream.frames), static_cast<long long>(detector.key_frames),
           static_cast<long long>(stream.boxes[0]), static_cast<long long>(stream.boxes[1]),
           static_cast<long long>(stream.boxes[2]),
           std::string(kDetectWays[static_cast<std::size_t>(detector.way)].name).c_str());
    append(text, "%5.2f %5d", detector.scale, detector.every);
    if (detector.recall.recall >= 0) {
      append(text, " %6.3f", detector.recall.recall);
    } else {
      text += "      -";
    }
    if (paced) append(text, " %7.0f %7.0f", stream.latency_p50 * 1e3, stream.latency_p95 * 1e3);
    text += "\n";
  }
  text += "\n";
}

void append_drops(std::string& text, const StreamsSummary& summary) {
  const std::size_t before = text.size();
  for (std::size_t i = 0; i < summary.streams.size(); ++i) {
    const StreamRunStatistics& stream = summary.streams[i];
    if (stream.damaged_frames > 0) {
      append(text, "stream %zu: %lld damaged frames\n", i,
             static_cast<long long>(stream.damaged_frames));
    }
    for (const DropCount& drop : stream.dropped_frames) {
      append(text, "stream %zu: dropped %lld frames: %s\n", i, static_cast<long long>(drop.count),
             drop.reason.c_str());
    }
    for (const DropReasonInfo& reason : kDropReasons) {
      const std::int64_t count = stream.detector.dropped_regions.count(reason.reason);
      if (count == 0) continue;
      append(text, "stream %zu: dropped %lld regions: %s\n", i, static_cast<long long>(count),
             std::string(reason.text).c_str());
    }
    if (stream.detector.rested_regions > 0) {
      append(text,
             "stream %zu: left out %lld regions: empty when they were looked at a moment ago\n", i,
             static_cast<long long>(stream.detector.rested_regions));
    }
  }
  const DetectorTotals& totals = summary.totals;
  for (const DropCount& drop : totals.dropped_detections) {
    append(text, "dropped %lld detections: %s\n", static_cast<long long>(drop.count),
           drop.reason.c_str());
  }
  if (totals.full_canvases > 0) {
    append(text, "%lld canvases had more detections than are kept (--max-detections)\n",
           static_cast<long long>(totals.full_canvases));
  }
  if (text.size() > before) text += "\n";
}

void append_work(std::string& text, const StreamsSummary& summary) {
  text += "other work          total s   ms/frame\n";
  for (const Work& work : other_work(summary)) {
    append(text, "%-16s %10.2f %10.3f\n", work.name.c_str(), work.seconds,
           1e3 * share(work.seconds, static_cast<double>(summary.frames)));
  }
  append(text, "processor time %.2f s (%.2f cores), memory %.0f MB\n", summary.cpu_seconds,
         share(summary.cpu_seconds, summary.wall_seconds), peak_megabytes());
}

Json drops_json(const std::vector<DropCount>& counts) {
  Json list = Json::array();
  for (const DropCount& drop : counts)
    list.push_back({{"reason", drop.reason}, {"count", drop.count}});
  return list;
}

Json regions_json(const DropTally& tally) {
  std::vector<DropCount> counts;
  for (const DropReasonInfo& reason : kDropReasons) {
    if (const std::int64_t count = tally.count(reason.reason); count > 0) {
      counts.push_back({std::string(reason.name), count});
    }
  }
  return drops_json(counts);
}

Json stream_json(const StreamRunStatistics& stream, bool paced) {
  const StreamStatistics& detector = stream.detector;
  Json json;
  json["input"] = detector.name;
  json["frames"] = stream.frames;
  json["key_frames"] = detector.key_frames;
  json["unseen_key_frames"] = detector.unseen_key_frames;
  json["partial_frames"] = detector.partial_frames;
  json["detections"] = stream.detections;
  json["boxes"] = Json::object();
  for (const BoxOrigin origin :
       {BoxOrigin::kDetected, BoxOrigin::kInterpolated, BoxOrigin::kPropagated}) {
    json["boxes"][std::string(to_string(origin))] = stream.boxes[static_cast<std::size_t>(origin)];
  }
  json["way"] = kDetectWays[static_cast<std::size_t>(detector.way)].name;
  json["scale"] = detector.scale;
  json["every"] = detector.every;
  json["windows"] = {{"packed", detector.windows_packed},
                     {"frame", detector.windows_whole},
                     {"tiles", detector.windows_tiles}};
  json["recall"] = detector.recall.recall >= 0 ? Json(detector.recall.recall) : Json(nullptr);
  json["recall_weight"] = detector.recall.weight;
  json["refreshes"] = detector.refreshes;
  json["regions"] = detector.regions;
  json["drawn_pixels"] = detector.drawn_pixels;
  json["detector_seconds"] = detector.detector_seconds;
  json["dropped_regions"] = regions_json(detector.dropped_regions);
  json["rested_regions"] = detector.rested_regions;
  json["dropped_frames"] = drops_json(stream.dropped_frames);
  json["damaged_frames"] = stream.damaged_frames;
  json["hdr_frames"] = stream.hdr_frames;
  json["last_time_seconds"] = stream.last_time ? Json(stream.last_time->seconds()) : Json(nullptr);
  if (paced) {
    json["latency"] = {{"p50_seconds", stream.latency_p50},
                       {"p95_seconds", stream.latency_p95},
                       {"max_seconds", stream.latency_max}};
  }
  json["error"] = stream.error ? Json(stream.error->to_string()) : Json(nullptr);
  return json;
}

Json detector_json(const StreamsSummary& summary) {
  const DetectorTotals& totals = summary.totals;
  Json json;
  json["seconds"] = totals.detector_seconds;
  json["planned_seconds"] = totals.planned_detector_seconds;
  json["wanted_seconds"] = totals.wanted_detector_seconds;
  json["whole_frame_seconds"] = summary.whole_frame_seconds;
  json["times_spared"] = totals.planned_detector_seconds > 0
                             ? Json(summary.whole_frame_seconds / totals.planned_detector_seconds)
                             : Json(nullptr);
  json["refresh_share"] = share(totals.refresh_seconds, totals.detector_seconds);
  json["probe_share"] = share(totals.probe_seconds, totals.detector_seconds);
  json["windows"] = totals.windows;
  json["windows_over_budget"] = totals.windows_over_budget;
  json["canvases"] = totals.canvases;
  json["canvases_of_processors"] = totals.canvases_of;
  json["canvas_pixels"] = totals.canvas_pixels;
  json["fill"] = totals.packed_canvas_area > 0
                     ? Json(totals.packed_area / totals.packed_canvas_area)
                     : Json(nullptr);
  json["dropped_detections"] = drops_json(totals.dropped_detections);
  json["full_canvases"] = totals.full_canvases;
  return json;
}

}  // namespace

std::string streams_summary_text(const StreamsDescription& run, const StreamsSummary& summary) {
  std::string text;
  append_head(text, run, summary);
  append_spent(text, summary);
  append_streams(text, run.settings->run.paced, summary);
  append_drops(text, summary);
  append_work(text, summary);
  if (run.settings->run.paced) {
    append(text, "the last window's results came %.0f ms after its last frame\n",
           summary.lag_seconds * 1e3);
  }
  for (const ObserverFailure& failure : run.lacking) {
    append(text, "%s lacks %lld windows with %lld canvases\n", failure.name.c_str(),
           static_cast<long long>(failure.windows), static_cast<long long>(failure.canvases));
  }
  if (!run.outputs.empty()) text += "\n";
  return text + outputs_text(summary.outputs);
}

std::string streams_summary_json(const StreamsDescription& run, const StreamsSummary& summary) {
  const bool paced = run.settings->run.paced;
  Json json;
  json["schema"] = 1;
  json["model"] = run.model;
  json["mode"] = run.settings->streams.mode;
  json["processors"] = Json::array();
  for (const ProcessorDescription& processor : run.processors) {
    json["processors"].push_back({{"name", processor.name}, {"profile", processor.profile}});
  }
  json["frames"] = summary.frames;
  json["detections"] = summary.detections;
  json["wall_seconds"] = summary.wall_seconds;
  json["fps"] = fps(summary);
  json["cpu_seconds"] = summary.cpu_seconds;
  json["peak_megabytes"] = peak_megabytes();
  json["lag_seconds"] = summary.lag_seconds;
  json["detector"] = detector_json(summary);
  json["other_seconds"] = Json::object();
  for (const Work& work : other_work(summary)) json["other_seconds"][work.name] = work.seconds;
  json["stages"] = stages_json(summary.stages);
  json["streams"] = Json::array();
  for (const StreamRunStatistics& stream : summary.streams) {
    json["streams"].push_back(stream_json(stream, paced));
  }
  json["interrupted"] = summary.interrupted;
  json["error"] = summary.error ? Json(summary.error->to_string()) : Json(nullptr);
  json["outputs"] = run.outputs;
  json["held"] = held_json(summary.outputs);
  json["warnings"] = streams_warnings(*run.settings, summary);
  json["lacking"] = Json::array();
  for (const ObserverFailure& failure : run.lacking) {
    json["lacking"].push_back({{"folder", failure.name},
                               {"window", failure.window},
                               {"windows", failure.windows},
                               {"canvases", failure.canvases},
                               {"error", failure.error.to_string()}});
  }
  // File names need not be UTF-8; JSON must.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace sparing::cli

#include "summary.h"

#include <algorithm>
#include <cstdio>

#include <nlohmann/json.hpp>

#include "summary_parts.h"

namespace sparing::cli {
namespace {

using Json = nlohmann::ordered_json;

double fps(const RunSummary& summary) {
  return static_cast<double>(summary.frames) / std::max(summary.wall_seconds, 1e-9);
}

}  // namespace

std::string summary_text(const RunDescription& run, const RunSummary& summary) {
  std::string text;
  append(text, "%lld frames in %.2f s (%.1f fps), %lld detections\n",
         static_cast<long long>(summary.frames), summary.wall_seconds, fps(summary),
         static_cast<long long>(summary.detections));
  text += run.model + " at " + std::to_string(summary.input_size.width) + "x" +
          std::to_string(summary.input_size.height) + ", " + run.device + " " + run.precision +
          ", threads " + std::to_string(run.threads) + ", streams " + std::to_string(run.streams) +
          "\n\n";
  text += stages_text(summary.stages);
  if (summary.damaged_frames > 0) {
    append(text, "%lld damaged frames\n", static_cast<long long>(summary.damaged_frames));
  }
  if (summary.full_frames > 0) {
    append(text, "%lld frames had more detections than are kept of one (--max-detections)\n",
           static_cast<long long>(summary.full_frames));
  }
  for (const DropCount& drop : summary.dropped_frames) {
    append(text, "dropped %lld frames: %s\n", static_cast<long long>(drop.count),
           drop.reason.c_str());
  }
  for (const DropCount& drop : summary.dropped_detections) {
    append(text, "dropped %lld detections: %s\n", static_cast<long long>(drop.count),
           drop.reason.c_str());
  }
  if (!run.outputs.empty()) text += "\n";
  return text + outputs_text(summary.outputs);
}

std::string hdr_note(const std::string& input) {
  return "'" + input +
         "' is HDR (PQ or HLG) and is not tone-mapped: to a network trained on SDR pictures it looks "
         "flat and dark";
}

std::string summary_json(const RunDescription& run, const RunSummary& summary) {
  Json json;
  json["schema"] = 1;
  json["input"] = run.input;
  json["model"] = run.model;
  json["device"] = run.device;
  json["precision"] = run.precision;
  json["threads"] = run.threads;
  json["streams"] = run.streams;
  json["input_size"] = {summary.input_size.width, summary.input_size.height};
  json["frames"] = summary.frames;
  json["detections"] = summary.detections;
  json["wall_seconds"] = summary.wall_seconds;
  json["fps"] = fps(summary);
  json["stages"] = stages_json(summary.stages);
  json["damaged_frames"] = summary.damaged_frames;
  json["hdr_frames"] = summary.hdr_frames;
  json["full_frames"] = summary.full_frames;
  json["dropped_frames"] = drops_json(summary.dropped_frames);
  json["dropped_detections"] = drops_json(summary.dropped_detections);
  json["last_time_seconds"] =
      summary.last_time ? Json(summary.last_time->seconds()) : Json(nullptr);
  json["interrupted"] = summary.interrupted;
  json["error"] = summary.error ? Json(summary.error->to_string()) : Json(nullptr);
  json["outputs"] = run.outputs;
  json["held"] = held_json(summary.outputs);
  // File names need not be UTF-8; JSON must.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace sparing::cli

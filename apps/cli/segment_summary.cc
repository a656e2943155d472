#include "segment_summary.h"

#include <algorithm>
#include <cstdio>

#include <nlohmann/json.hpp>

#include "summary_parts.h"

namespace sparing::cli {
namespace {

using Json = nlohmann::ordered_json;

double fps(const SegmentSummary& summary) {
  return static_cast<double>(summary.frames) / std::max(summary.wall_seconds, 1e-9);
}

long long count(std::int64_t n) { return static_cast<long long>(n); }

}  // namespace

std::string summary_text(const SegmentDescription& description, const SegmentSummary& summary,
                         std::span<const OutputState> outputs) {
  const RunDescription& run = description.run;
  std::string text;
  append(text, "%lld frames in %.2f s (%.1f fps), mode %s\n", count(summary.frames),
         summary.wall_seconds, fps(summary), description.mode.c_str());
  append(text, "%s at %dx%d, masks at %dx%d", run.model.c_str(), summary.input_size.width,
         summary.input_size.height, summary.output_size.width, summary.output_size.height);
  if (!description.aux.empty()) text += ", with " + description.aux;
  append(text, ", %s %s, threads %d, streams %d\n", run.device.c_str(), run.precision.c_str(),
         run.threads, run.streams);
  if (summary.main_looks < summary.frames && summary.main_looks > 0) {
    append(text, "MainNet looked at %lld of them; on the others masks moved with the picture\n",
           count(summary.main_looks));
  }
  if (summary.cuts > 0 || summary.blank_frames > 0) {
    append(text, "%lld cuts, %lld blank frames\n", count(summary.cuts),
           count(summary.blank_frames));
  }
  const LearnStatistics& learning = summary.learning;
  if (learning.steps > 0 || learning.refused > 0) {
    append(text, "AuxNet learnt %lld times, last loss %.3f, weights moved by %.3g %%",
           count(learning.steps), learning.loss, learning.distance * 100);
    if (learning.resets > 0) append(text, ", started anew %lld times", count(learning.resets));
    if (learning.refused > 0) {
      append(text, ", %lld steps refused (loss or gradient too large or not finite)",
             count(learning.refused));
    }
    text += "\n";
  }
  text += "\n" + stages_text(summary.stages);
  if (summary.damaged_frames > 0)
    append(text, "%lld damaged frames\n", count(summary.damaged_frames));
  if (summary.unusable.not_finite > 0) {
    append(text, "%lld pixels for which MainNet gave no finite number\n",
           count(summary.unusable.not_finite));
  }
  if (summary.unusable.unknown_class > 0) {
    append(text, "%lld pixels for which MainNet gave a class that it has no label for\n",
           count(summary.unusable.unknown_class));
  }
  for (const DropCount& drop : summary.dropped_frames) {
    append(text, "dropped %lld frames: %s\n", count(drop.count), drop.reason.c_str());
  }
  if (!outputs.empty()) text += "\n";
  return text + outputs_text(outputs);
}

std::string summary_json(const SegmentDescription& description, const SegmentSummary& summary,
                         std::span<const OutputState> outputs) {
  const RunDescription& run = description.run;
  Json json;
  json["schema"] = 1;
  json["input"] = run.input;
  json["model"] = run.model;
  json["aux"] = description.aux.empty() ? Json(nullptr) : Json(description.aux);
  json["mode"] = description.mode;
  json["device"] = run.device;
  json["precision"] = run.precision;
  json["threads"] = run.threads;
  json["streams"] = run.streams;
  json["input_size"] = {summary.input_size.width, summary.input_size.height};
  json["mask_size"] = {summary.output_size.width, summary.output_size.height};
  json["frames"] = summary.frames;
  json["main_looks"] = summary.main_looks;
  json["cuts"] = summary.cuts;
  json["blank_frames"] = summary.blank_frames;
  json["wall_seconds"] = summary.wall_seconds;
  json["fps"] = fps(summary);
  json["stages"] = stages_json(summary.stages);
  json["learning"] = {{"steps", summary.learning.steps},
                      {"refused", summary.learning.refused},
                      {"resets", summary.learning.resets},
                      {"loss", summary.learning.loss},
                      {"distance", summary.learning.distance}};
  json["damaged_frames"] = summary.damaged_frames;
  json["hdr_frames"] = summary.hdr_frames;
  json["unusable_pixels"] = {{"not_finite", summary.unusable.not_finite},
                             {"unknown_class", summary.unusable.unknown_class}};
  json["dropped_frames"] = drops_json(summary.dropped_frames);
  json["last_time_seconds"] =
      summary.last_time ? Json(summary.last_time->seconds()) : Json(nullptr);
  json["interrupted"] = summary.interrupted;
  json["error"] = summary.error ? Json(summary.error->to_string()) : Json(nullptr);
  json["outputs"] = run.outputs;
  json["held"] = held_json(outputs);
  // File names need not be UTF-8; JSON must.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace sparing::cli

#include "summary_parts.h"

#include <cstdio>

#include "commands.h"
#include "detect_outputs.h"
#include "exit_codes.h"
#include "progress.h"

namespace sparing::cli {

using Json = nlohmann::ordered_json;

std::string outputs_text(std::span<const OutputState> outputs) {
  std::string text;
  for (const OutputState& output : outputs) {
    if (output.error) {
      text += output.name + " (failed, holds " + std::to_string(output.frames) + " frames)\n";
    } else if (output.name != "-") {
      text += output.name + "\n";
    }
  }
  return text;
}

std::string stages_text(std::span<const StageStatistics> stages) {
  std::string text = "stage               total s   ms/frame        p50        p95        max\n";
  for (const StageStatistics& stage : stages) {
    const double mean =
        stage.count > 0 ? stage.total_seconds / static_cast<double>(stage.count) : 0;
    char line[160];
    std::snprintf(line, sizeof line, "%-16s %10.2f %10.3f %10.3f %10.3f %10.3f\n",
                  stage.name.c_str(), stage.total_seconds, mean * 1e3, stage.p50_seconds * 1e3,
                  stage.p95_seconds * 1e3, stage.max_seconds * 1e3);
    text += line;
  }
  return text + "(stages overlap: their totals add up to more than the time of the run)\n";
}

int report_end(const RunEnd& end, const std::vector<OutputState>& outputs) {
  if (end.error) {
    Error error = *end.error;
    // An output that fails says itself what it could keep.
    if (end.frames > 0 && error.code != ErrorCode::kOutput) {
      error.problem += " (the " + std::to_string(end.frames) + " frames before are kept)";
    }
    const int code = report(error);
    report_outputs(outputs, end.error);
    return code;
  }
  if (!end.interrupted) return kExitOk;
  std::fprintf(
      stderr,
      "sparing: interrupted after %lld frames, at %s of '%s'; outputs are complete up to there\n",
      static_cast<long long>(end.frames),
      clock_text(end.last_time ? end.last_time->seconds() : 0).c_str(), end.input.c_str());
  return kExitInterrupted;
}

Json held_json(std::span<const OutputState> outputs) {
  Json held = Json::array();
  for (const OutputState& output : outputs) {
    held.push_back({{"output", output.name},
                    {"frames", output.frames},
                    {"error", output.error ? Json(output.error->to_string()) : Json(nullptr)}});
  }
  return held;
}

Json drops_json(std::span<const DropCount> drops) {
  Json list = Json::array();
  for (const DropCount& drop : drops) {
    list.push_back({{"reason", drop.reason}, {"count", drop.count}});
  }
  return list;
}

Json stages_json(std::span<const StageStatistics> stages) {
  Json json = Json::object();
  for (const StageStatistics& stage : stages) {
    json[stage.name] = {{"count", stage.count},
                        {"total_seconds", stage.total_seconds},
                        {"p50_seconds", stage.p50_seconds},
                        {"p95_seconds", stage.p95_seconds},
                        {"max_seconds", stage.max_seconds}};
  }
  return json;
}

}  // namespace sparing::cli

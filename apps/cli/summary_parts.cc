#include "summary_parts.h"

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

Json held_json(std::span<const OutputState> outputs) {
  Json held = Json::array();
  for (const OutputState& output : outputs) {
    held.push_back({{"output", output.name},
                    {"frames", output.frames},
                    {"error", output.error ? Json(output.error->to_string()) : Json(nullptr)}});
  }
  return held;
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

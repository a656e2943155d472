#include "detect_settings.h"

#include <algorithm>
#include <string>
#include <utility>

namespace sparing::cli {

bool DetectSettings::writes_to_stdout() const {
  return std::find(outputs.begin(), outputs.end(), "-") != outputs.end();
}

Status check_settings(const DetectSettings& settings) {
  const auto usage = [](std::string thing, std::string problem, std::string fix) {
    return Error{ErrorCode::kInvalidArgument, std::move(thing), std::move(problem), std::move(fix)};
  };
  if (settings.outputs.empty() && settings.render.empty() && !settings.json) {
    return usage("outputs", "none was given",
                 "say where the boxes go, e.g. --out boxes.jsonl or --render boxes.mp4");
  }
  if (std::count(settings.outputs.begin(), settings.outputs.end(), "-") > 1) {
    return usage("--out -", "was given twice", "standard output takes one format at a time");
  }
  if (settings.json && settings.writes_to_stdout()) {
    return usage("--json", "needs standard output, which --out - has", "write the boxes to a file");
  }
  SPARING_RETURN_IF_ERROR(validate_options(settings.detect));
  return validate_options(settings.runtime);
}

}  // namespace sparing::cli

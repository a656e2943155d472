#include <algorithm>
#include <filesystem>
#include <string>

#include "detect_settings.h"

namespace sparing::cli {
namespace {

using Settings = const DetectSettings&;

bool given(Settings settings, std::string_view flag) {
  return std::find(settings.given.begin(), settings.given.end(), flag) != settings.given.end();
}

// An option that has no effect, or contradicts another, where `holds`.
struct Conflict {
  const char* flag;
  bool (*holds)(Settings);
  const char* problem;
  const char* fix;
};

constexpr auto kIsNotPaced = [](Settings s) { return !s.run.paced; };
constexpr auto kHasNoTiles = [](Settings s) {
  return s.streams.mode == "packed" || s.streams.mode == "frame";
};
constexpr auto kHasNoRegions = [](Settings s) {
  return s.streams.mode == "frame" || s.streams.mode == "tiles";
};
constexpr auto kDoesNotExplain = [](Settings s) { return s.explain.empty(); };
constexpr auto kDoesNotExport = [](Settings s) { return s.export_canvases.empty(); };

constexpr auto kSameFolder = [](Settings s) {
  if (s.explain.empty()) return false;
  std::error_code failed;
  const auto folder = [&](const std::string& path) {
    // "a/" is "a".
    return std::filesystem::weakly_canonical(std::filesystem::path(path) / ".", failed);
  };
  return folder(s.explain) == folder(s.export_canvases);
};

constexpr const char* kPacedProblem = "it is for files that are played at their own rate, --paced";
constexpr const char* kPacedFix = "add --paced, or leave it out";
constexpr const char* kTilesProblem = "it is for tiles, which --mode packed and frame do not make";
constexpr const char* kTilesFix = "say --mode tiles or auto, or leave it out";
constexpr const char* kExplainProblem = "it is for the pictures of --explain";
constexpr const char* kExplainFix = "add --explain DIR, or leave it out";
constexpr const char* kExportProblem = "it is for the canvases of --export-canvases";
constexpr const char* kExportFix = "add --export-canvases DIR, or leave it out";

constexpr Conflict kConflicts[] = {
    {"--fps", [](Settings s) { return given(s, "--budget"); },
     "it makes a budget from a rate, and --budget gives one", "leave one of the two out"},
    {"--track-continue-score",
     [](Settings s) { return s.tuning.track.continue_score > s.streams.follow_score; },
     "it is for detections that are too weak to begin an object, and is more than --follow-score",
     "give it less than that"},
    {"--speed", kIsNotPaced, kPacedProblem, kPacedFix},
    {"--paced-queue", kIsNotPaced, kPacedProblem, kPacedFix},
    {"--max-every", [](Settings s) { return s.streams.every > 0; },
     "it limits what follows from the motion, and --every gives a fixed distance",
     "leave one of the two out, or say --every 0"},
    {"--tile", kHasNoTiles, kTilesProblem, kTilesFix},
    {"--tile-overlap", kHasNoTiles, kTilesProblem, kTilesFix},
    {"--target-recall", [](Settings s) { return s.streams.mode != "auto"; },
     "--mode auto alone chooses by it", "say --mode auto, or leave it out"},
    {"--export-canvases", kHasNoRegions,
     "it writes canvases that hold regions, and --mode frame and tiles pack none",
     "say --mode packed or auto, or leave it out"},
    {"--export-canvases", kSameFolder, "it needs a folder of its own, but has that of --explain",
     "name another folder"},
    {"--stall", [](Settings s) { return s.streams.deterministic; },
     "a run that is --deterministic waits for its streams however long they take",
     "leave one of the two out"},
    {"--explain-windows", kDoesNotExplain, kExplainProblem, kExplainFix},
    {"--explain-frames", kDoesNotExplain, kExplainProblem, kExplainFix},
    {"--explain-score", kDoesNotExplain, kExplainProblem, kExplainFix},
    {"--export-format", kDoesNotExport, kExportProblem, kExportFix},
    {"--export-labels", kDoesNotExport, kExportProblem, kExportFix},
    {"--export-score", kDoesNotExport, kExportProblem, kExportFix},
};

}  // namespace

Status check_conflicts(const DetectSettings& settings) {
  for (const Conflict& conflict : kConflicts) {
    if (!given(settings, conflict.flag) || !conflict.holds(settings)) continue;
    return Error{ErrorCode::kInvalidArgument, conflict.flag, conflict.problem, conflict.fix};
  }
  return {};
}

}  // namespace sparing::cli

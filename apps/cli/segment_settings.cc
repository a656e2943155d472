#include "segment_settings.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "option_flags.h"

namespace sparing::cli {
namespace {

using Settings = const SegmentSettings&;

// An option that has no effect, or contradicts another, where `holds`.
struct Conflict {
  const char* flag;
  bool (*holds)(Settings);
  const char* problem;
  const char* fix;
};

constexpr auto kRendersNothing = [](Settings s) { return s.render.empty(); };
constexpr auto kHasNoBackground = [](Settings s) { return s.background.empty(); };
constexpr const char* kRenderProblem = "it is for the pictures of --render";
constexpr const char* kRenderFix = "add --render out.mp4, or leave it out";
constexpr const char* kBackgroundProblem = "it is for --background";
constexpr const char* kBackgroundFix = "add --background blur, or leave it out";

constexpr auto kCompares = [](Settings s) { return !s.compare.empty(); };
constexpr const char* kCompareProblem = "--compare main shows classes in colours, not effects";
constexpr const char* kCompareFix = "leave one of the two out";
constexpr auto kPaintsNothing = [](Settings s) {
  return !s.overlay && (!s.background.empty() || !s.privacy.empty());
};
constexpr const char* kColorsProblem = "it is for the colours of --overlay";
constexpr const char* kColorsFix = "add --overlay, or leave it out";

constexpr Conflict kConflicts[] = {
    {"--background", kRendersNothing, kRenderProblem, kRenderFix},
    {"--privacy", kRendersNothing, kRenderProblem, kRenderFix},
    {"--overlay", kRendersNothing, kRenderProblem, kRenderFix},
    {"--compare", kRendersNothing, kRenderProblem, kRenderFix},
    {"--crf", kRendersNothing, kRenderProblem, kRenderFix},
    {"--legend", kRendersNothing, kRenderProblem, kRenderFix},
    {"--overlay-strength", kRendersNothing, kRenderProblem, kRenderFix},
    {"--background", kCompares, kCompareProblem, kCompareFix},
    {"--privacy", kCompares, kCompareProblem, kCompareFix},
    {"--overlay", kCompares, kCompareProblem, kCompareFix},
    {"--foreground", kHasNoBackground, kBackgroundProblem, kBackgroundFix},
    {"--contrast", kHasNoBackground, kBackgroundProblem, kBackgroundFix},
    {"--refine", kHasNoBackground, kBackgroundProblem, kBackgroundFix},
    {"--legend", kPaintsNothing, kColorsProblem, kColorsFix},
    {"--overlay-strength", kPaintsNothing, kColorsProblem, kColorsFix},
    {"--gt", [](Settings s) { return s.compare.empty(); },
     "it is for --compare; of masks that are written, `sparing eval-masks` tells how good they are",
     "add --compare main, or leave it out"},
    {"--ignore", [](Settings s) { return s.gt.empty(); }, "it is for the labels of --gt",
     "add --gt DIR, or leave it out"},
    {"--format", [](Settings s) { return s.outputs.empty(); }, "it is for --out",
     "add --out, or leave it out"},
};

// Two outputs under one name.
Status check_names(Settings settings) {
  std::vector<std::string> paths = settings.outputs;
  if (!settings.render.empty()) paths.push_back(settings.render);
  std::set<std::filesystem::path> seen;
  for (const std::string& path : paths) {
    std::error_code error;
    std::filesystem::path name = std::filesystem::weakly_canonical(path, error);
    if (std::filesystem::is_character_file(name, error)) continue;  // /dev/null takes any number
    if (name.empty()) name = path;
    if (!name.has_filename()) name = name.parent_path();  // "masks/" is "masks"
    if (!seen.insert(std::move(name)).second) {
      return Error{ErrorCode::kInvalidArgument, "output '" + path + "'", "was named twice",
                   "give each output a path of its own"};
    }
  }
  return {};
}

}  // namespace

bool SegmentSettings::writes_to_stdout() const {
  return std::find(outputs.begin(), outputs.end(), "-") != outputs.end();
}

bool SegmentSettings::has(std::string_view flag) const {
  return std::find(given.begin(), given.end(), flag) != given.end();
}

Status check_settings(const SegmentSettings& settings) {
  SPARING_RETURN_IF_ERROR(validate(settings.segmenter));
  if (settings.outputs.empty() && settings.render.empty() && !settings.json) {
    return Error{ErrorCode::kInvalidArgument, "outputs", "none was given",
                 "say where they go, e.g. --out masks/ or --render out.mp4"};
  }
  SPARING_RETURN_IF_ERROR(check_names(settings));
  if (settings.json && settings.writes_to_stdout()) {
    return Error{ErrorCode::kInvalidArgument, "--json", "standard output is taken by --out -",
                 "write one of the two into a file"};
  }
  for (const Conflict& conflict : kConflicts) {
    if (!settings.has(conflict.flag) || !conflict.holds(settings)) continue;
    return Error{ErrorCode::kInvalidArgument, conflict.flag, conflict.problem, conflict.fix};
  }
  return {};
}

}  // namespace sparing::cli

// sparing-bench segment: modes and controls of segmentation over time, on a labelled clip.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks.h"
#include "segment_rows.h"
#include "segment_stages.h"
#include "sparing/models/registry.h"

namespace sparing::bench {
namespace {

struct Stage {
  const char* name;
  bool quick;
  Status (*run)(SegmentBench&, Report&);
};

// In the order in which they run.
constexpr Stage kStages[] = {
    {"val", true, bench_segment_val},    {"drift", false, bench_segment_drift},
    {"int8", false, bench_segment_int8}, {"people", false, bench_segment_people},
    {"long", false, bench_segment_long},
};

}  // namespace

std::vector<std::string> segment_stages() {
  std::vector<std::string> names;
  for (const Stage& stage : kStages) names.emplace_back(stage.name);
  return names;
}

Status bench_segment(const BenchOptions& options, Report& report) {
  SegmentBench bench{options.segment, options.quick, {}, std::nullopt};
  SPARING_ASSIGN_OR_RETURN(bench.nets.context, cli::create_context(options.segment.runtime));
  const ModelPaths paths = default_model_paths(cli::share_dir());
  SPARING_ASSIGN_OR_RETURN(bench.nets.main,
                           resolve_model(options.segment.model, paths, bench.nets.context));
  SPARING_ASSIGN_OR_RETURN(bench.nets.aux, resolve_aux(bench.nets.main, paths, bench.nets.context));
  for (const Stage& stage : kStages) {
    const std::vector<std::string>& names = options.segment.stages;
    const bool wanted = names.empty()
                            ? stage.quick || !options.quick
                            : std::find(names.begin(), names.end(), stage.name) != names.end();
    if (wanted) SPARING_RETURN_IF_ERROR(stage.run(bench, report));
  }
  return {};
}

Result<LabelledClip*> SegmentBench::labelled_clip(Report& report, const char* stage) {
  if (!clip) {
    const std::filesystem::path folder = options.data / "camvid";
    std::error_code error;
    if (!std::filesystem::exists(folder / "val", error)) {
      report.skip(stage, "no test material in '" + folder.string() + "'");
      return nullptr;
    }
    SPARING_ASSIGN_OR_RETURN(clip, load_camvid(folder));
  }
  return &*clip;
}

bool SegmentBench::wants_row(const std::string& id) const {
  return options.rows.empty() ||
         std::find(options.rows.begin(), options.rows.end(), id) != options.rows.end();
}

}  // namespace sparing::bench

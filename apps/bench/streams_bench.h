// Detection on many streams: accuracy and cost of our ways and of the rivals on clips whose truth
// is known, budgets, and the work beside the network (docs/benchmarks.md).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "benchmarks.h"
#include "sparing/models/registry.h"
#include "streams_network.h"
#include "streams_rows.h"

namespace sparing::bench {

// Everything a stage needs; costs come from one profile, measured at its start.
struct StreamsSetting {
  const BenchOptions& options;
  Report& report;
  Context context;
  Model model;
  NetworkCosts network_costs;

  ClipPlaces places() const { return {options.detect.data, options.detect.video}; }
  ClipPart part() const;
};
Result<StreamsSetting> open_streams(const BenchOptions& options, Report& report);

// What is compared on a clip.
Approaches approaches_for(const std::string& clip);
// The settings of ours that the figures are of, by clip; chosen on the tuning parts.
std::string judged_packed(const std::string& clip);

// Figures of one clip's rows; ids start with the clip's.
void report_pets(StreamsSetting& setting, std::span<const Row> rows);
void report_m30(StreamsSetting& setting, std::span<const Row> rows);
void report_ngsim(StreamsSetting& setting, std::span<const Row> rows);
// By clip, and "mixed" where it was run.
void report_dominated(StreamsSetting& setting, const std::map<std::string, std::vector<Row>>& rows);

// Two streams, two methods: the part of `--quick`.
Status bench_streams_quick(StreamsSetting& setting);

// The stages.
Status bench_streams_accuracy(const BenchOptions& options, Report& report);
Status bench_streams_budget(const BenchOptions& options, Report& report);
Status bench_streams_other(const BenchOptions& options, Report& report);

}  // namespace sparing::bench

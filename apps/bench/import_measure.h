// Measures one job: all contestants take turns in one process.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "import_contestant.h"
#include "import_job.h"
#include "import_limit.h"
#include "sparing/base/result.h"

namespace sparing::bench {

struct MeasureOptions {
  int threads = 1;
  int max_rounds = 200;
  double seconds = 15;  // no new round after that, but at least 3 in all
};

// One contestant's share of a job.
struct Entry {
  const Contestant* contestant = nullptr;
  std::unique_ptr<Runner> runner;  // null: it does not take part, `why_not` says why
  std::string why_not;
  double off_by = 0;            // mean absolute difference from the reference, on a scale of 0..255
  std::vector<double> call_ms;  // every timed call
  std::vector<double> round_ms;  // the median of each round
  double median_ms = 0;
  double min_ms = 0;
};

struct JobResult {
  const ImportJob* job = nullptr;
  std::vector<Entry> entries;  // in the order of contestants()
  int rounds = 0;
  double read_gbps = 0;  // of memory, in the same rounds: medians
  double write_gbps = 0;
  double limit_ms = 0;
  std::string limit_note;

  // The entry of that role; null if it took no part.
  const Entry* find(Role role) const;
  // The peer of least median time among those whose names begin so; null if there is none.
  const Entry* best_peer(std::string_view rivals) const;
};

// Different filters, siting and rounding stay below; wrong colours, a wrong place or a forgotten
// normalisation do not. Who is above is not timed.
inline constexpr double kPeerMayBeOffBy = 6;

// Of all values in the shot's cells, on the scale of 0..255 that pixels have.
double mean_difference(const ImportJob& job, const Shot& shot, const TensorView& a,
                       const TensorView& b);

double median(std::vector<double> values);
// The median of the ratios a/b, round by round.
double median_ratio(const Entry& a, const Entry& b);

Result<JobResult> measure_job(const ImportJob& job, const std::vector<SharedFrame>& frames,
                              const MeasureOptions& options, MemoryProbe& memory);

}  // namespace sparing::bench

// sparing-bench import: our import call and the peers' ways to the same tensor, in turns, and how
// far both are from what the machine's memory allows.
#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#ifdef __GLIBC__  // known from the headers above on
#include <malloc.h>
#endif

#include "benchmarks.h"
#include "import_limit.h"
#include "import_measure.h"
#include "import_plot.h"
#include "sparing/kernels/import.h"

namespace sparing::bench {
namespace {

// Peers that allocate a picture in every call must not pay for fresh pages each time, which the
// fixed threshold of prepare_process() would make them do.
void keep_freed_memory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
#endif
}

Result<std::vector<const ImportJob*>> chosen_jobs(const std::vector<std::string>& ids) {
  std::vector<const ImportJob*> jobs;
  for (const ImportJob& job : kImportJobs) {
    if (ids.empty() || std::find(ids.begin(), ids.end(), job.id) != ids.end()) {
      jobs.push_back(&job);
    }
  }
  for (const std::string& id : ids) {
    if (std::any_of(jobs.begin(), jobs.end(), [&](auto* job) { return job->id == id; })) continue;
    return Error{ErrorCode::kInvalidArgument, "--jobs", "'" + id + "' is not a job",
                 std::string("give some of ") + kImportJobs.front().id + " to " +
                     kImportJobs.back().id + ", separated by commas"};
  }
  return jobs;
}

// Frames are shared by jobs of the same source.
class Frames {
 public:
  Result<const std::vector<SharedFrame>*> get(const ImportJob& job) {
    const auto key = std::pair(job.format, job.source.width);
    if (const auto found = frames_.find(key); found != frames_.end()) return &found->second;
    SPARING_ASSIGN_OR_RETURN(auto made, make_frames(job.format, job.source));
    return &frames_.emplace(key, std::move(made)).first->second;
  }

 private:
  std::map<std::pair<PixelFormat, int>, std::vector<SharedFrame>> frames_;
};

void print_table(const JobResult& result) {
  const Entry* us = result.find(Role::kUs);
  std::printf("\n%s  %s (%d rounds)\n", result.job->id, result.job->what, result.rounds);
  std::printf("    %s\n", result.limit_note.c_str());
  std::printf("    %-18s %10s %10s %8s %8s %8s\n", "", "median ms", "min ms", "x limit", "x ours",
              "off by");
  for (const Entry& entry : result.entries) {
    const char* name = entry.contestant->name;
    if (!entry.runner) {
      std::printf("    %-18s %10s   %s\n", name, "-", entry.why_not.c_str());
      continue;
    }
    std::printf("    %-18s %10.3f %10.3f %8.2f %8.2f %8.2f\n", name, entry.median_ms, entry.min_ms,
                entry.median_ms / result.limit_ms, median_ratio(entry, *us), entry.off_by);
  }
}

std::string describe(const Entry& entry, const char* what) {
  char text[120];
  std::snprintf(text, sizeof text, "%s %s %.3f ms (min %.3f)", what, entry.contestant->name,
                entry.median_ms, entry.min_ms);
  return text;
}

// "J1.ratio" and its like: a peer over one of ours.
void add_ratio(const Entry* peer, const Entry* us, const std::string& id, Report& report) {
  if (us == nullptr || peer == nullptr) {
    return report.skip(id, us == nullptr ? "this machine cannot do it" : "no peer takes part");
  }
  report.add({id, median_ratio(*peer, *us), "x",
              describe(*peer, "best peer") + ", " + describe(*us, "ours")});
}

void add_figures(const JobResult& result, Report& report) {
  const std::string id = result.job->id;
  const Entry* us = result.find(Role::kUs);
  char note[120];
  std::snprintf(note, sizeof note, "%s; median of %zu calls, min %.3f", result.job->what,
                us->call_ms.size(), us->min_ms);
  report.add({id + ".ms", us->median_ms, "ms", note});
  const Entry* peer = result.best_peer(result.job->rivals);
  add_ratio(peer, us, id + ".ratio", report);
  if (const Entry* any = result.best_peer(""); any != peer) {
    add_ratio(any, us, id + ".ratio_any", report);
  }
  report.add({id + ".limit", us->median_ms / result.limit_ms, "x", result.limit_note});
  if (id == "J1") {
    add_ratio(peer, result.find(Role::kUsAvx2), id + ".avx2_ratio", report);
    const Entry* threads = result.find(Role::kUsThreads);
    if (threads == nullptr) {
      report.skip(id + ".threads2", "this machine cannot do it");
    } else {
      report.add({id + ".threads2", median_ratio(*us, *threads), "x",
                  "one thread over four bands on two threads"});
    }
  }
  for (const Entry& entry : result.entries) {
    const std::string entry_id = id + ".ms." + entry.contestant->name;
    if (entry.contestant->role == Role::kUs || !entry.runner) continue;
    std::snprintf(note, sizeof note, "min %.3f, off by %.2f of 255", entry.min_ms, entry.off_by);
    report.record({entry_id, entry.median_ms, "ms", note});
  }
}

void add_machine(const std::vector<JobResult>& results, Report& report) {
  std::vector<double> read;
  std::vector<double> write;
  for (const JobResult& result : results) {
    read.push_back(result.read_gbps);
    write.push_back(result.write_gbps);
  }
  report.add(
      {"machine.read_gbps", median(read), "GB/s", "one thread, cold memory; median of jobs"});
  report.add({"machine.write_gbps", median(write), "GB/s",
              "one thread, a tensor just written; median of jobs"});
}

}  // namespace

Status bench_import(const BenchOptions& options, Report& report) {
  SPARING_RETURN_IF_ERROR(validate_options(options.import));
  SPARING_ASSIGN_OR_RETURN(const auto jobs, chosen_jobs(options.import.jobs));
  keep_freed_memory();
  MeasureOptions measure;
  measure.threads = options.import.threads;
  if (options.quick) measure.max_rounds = 30;
  if (options.quick) measure.seconds = 3;
  MemoryProbe memory;
  Frames frames;
  std::vector<JobResult> results;
  for (const ImportJob* job : jobs) {
    SPARING_ASSIGN_OR_RETURN(const std::vector<SharedFrame>* ring, frames.get(*job));
    SPARING_ASSIGN_OR_RETURN(JobResult result, measure_job(*job, *ring, measure, memory));
    print_table(result);
    results.push_back(std::move(result));
  }
  std::printf("\n");
  add_machine(results, report);
  for (const JobResult& result : results) add_figures(result, report);
  if (options.import.plot.empty()) return {};
  const std::string subtitle =
      cpu_model() + ", " + import_simd_target() + ", " +
      (measure.threads == 1 ? std::string("one thread")
                            : std::to_string(measure.threads) + " threads") +
      ", input from cold memory";
  return plot_jobs(results, subtitle, options.import.plot);
}

}  // namespace sparing::bench

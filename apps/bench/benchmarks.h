// One function a benchmark; main.cc's table names them.
#pragma once

#include <filesystem>
#include <string>
#include <tuple>
#include <vector>

#include "figures.h"
#include "runtime.h"
#include "sparing/base/options.h"
#include "sparing/base/result.h"

namespace sparing::bench {

struct DetectBenchOptions {
  std::filesystem::path data = "../shared/data";  // test material; what is missing is skipped
  std::filesystem::path video;                    // the sample video
  std::string model = "nanodet-g";
  std::vector<std::string> stages;  // of detect_stages(); empty: all, with --quick the quick ones
  cli::RuntimeOptions runtime;
};

struct ImportBenchOptions {
  std::vector<std::string> jobs;
  int threads = 1;
  std::string plot;

  static constexpr auto fields() {
    return std::tuple{
        option("jobs", &ImportBenchOptions::jobs).help("only these jobs, e.g. J1,J3"),
        option("threads", &ImportBenchOptions::threads)
            .help("threads for each contestant that can use them")
            .range(1, 256),
        option("plot", &ImportBenchOptions::plot).help("draw the times into this SVG file, too"),
    };
  }
};

struct BenchOptions {
  bool quick = false;
  DetectBenchOptions detect;
  ImportBenchOptions import;
};

// The parts of `detect`, in the order in which they run.
std::vector<std::string> detect_stages();
Status bench_detect(const BenchOptions& options, Report& report);
Status bench_import(const BenchOptions& options, Report& report);

}  // namespace sparing::bench

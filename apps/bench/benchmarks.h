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
#include "sparing/pipeline/segmenter.h"

namespace sparing::bench {

struct StreamsBenchOptions {
  std::vector<std::string> clips;
  std::vector<std::string> methods;
  std::string part = "judge";
  std::string plot;

  static constexpr auto fields() {
    return std::tuple{
        option("clips", &StreamsBenchOptions::clips)
            .help("accuracy on these clips only: pets4, m30, ngsim, mot04, mixed"),
        option("methods", &StreamsBenchOptions::methods)
            .help("only methods whose name has one of these in it, e.g. packed,'whole frames'"),
        option("part", &StreamsBenchOptions::part)
            .help("which part of the clips: settings are chosen on tune, figures are of judge")
            .choices("judge|tune"),
        option("plot", &StreamsBenchOptions::plot)
            .help("draw accuracy against cost into this SVG file, too"),
    };
  }
};

struct DetectBenchOptions {
  std::filesystem::path data = "../shared/data";  // test material; what is missing is skipped
  std::filesystem::path video;                    // the sample video
  std::string model = "nanodet-g";
  std::vector<std::string> stages;  // of detect_stages(); empty: all, with --quick the quick ones
  StreamsBenchOptions streams;
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

struct SegmentBenchOptions {
  std::filesystem::path data = "../shared/data";  // test material; what is missing is skipped
  std::filesystem::path video;                    // the sample video
  std::string model = "street";
  std::vector<std::string> stages;  // of segment_stages(); empty: all, with --quick the quick ones
  std::vector<std::string> rows;    // empty: all
  std::vector<std::string> drifts;  // empty: all
  SegmenterOptions segmenter;       // of the rows auxadapt, temporal, auxadapt_temporal and default
  cli::RuntimeOptions runtime;
};

struct BenchOptions {
  bool quick = false;
  DetectBenchOptions detect;
  SegmentBenchOptions segment;
  ImportBenchOptions import;
};

// The sample video that the set-up fetched.
std::filesystem::path default_video();
// The parts of `detect`, in the order in which they run.
std::vector<std::string> detect_stages();
Status bench_detect(const BenchOptions& options, Report& report);
Status bench_import(const BenchOptions& options, Report& report);
// The parts of `segment`, in the order in which they run.
std::vector<std::string> segment_stages();
Status bench_segment(const BenchOptions& options, Report& report);

}  // namespace sparing::bench

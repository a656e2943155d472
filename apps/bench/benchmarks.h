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
  std::string int8 = "street-int8";  // the same, quantised
  std::vector<std::string> stages;   // of segment_stages(); empty: all, with --quick the quick ones
  std::vector<std::string> rows;     // empty: all
  std::vector<std::string> drifts;   // empty: all
  int long_frames = 10000;           // of stage long
  SegmenterOptions segmenter;  // of the rows auxadapt, temporal, auxadapt_temporal and default
  cli::RuntimeOptions runtime;
};

struct TrainBenchOptions {
  std::string model = "models/street/street-aux.onnx";
  std::string size = "240x180";
  std::string train = "all";
  int threads = 1;
  int rounds = 50;

  static constexpr auto fields() {
    return std::tuple{
        option("model", &TrainBenchOptions::model).help("ONNX file of the network to train"),
        option("size", &TrainBenchOptions::size).help("of its input").unit("WxH"),
        option("train", &TrainBenchOptions::train)
            .help("which layers learn")
            .choices("all|decoder|last|batch_norm"),
        option("threads", &TrainBenchOptions::threads).help("threads").range(1, 256),
        option("rounds", &TrainBenchOptions::rounds)
            .help("steps that are measured, of which the median counts")
            .range(1, 100000),
    };
  }
};

struct BenchOptions {
  bool quick = false;
  DetectBenchOptions detect;
  SegmentBenchOptions segment;
  ImportBenchOptions import;
  TrainBenchOptions train;
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
Status bench_train_step(const BenchOptions& options, Report& report);

}  // namespace sparing::bench

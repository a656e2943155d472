// sparing-bench: us and the peers in one run. One row of kBenchmarks is one benchmark.
#include <cstdio>
#include <exception>
#include <string>

#include <CLI/CLI.hpp>

#include "benchmarks.h"
#include "exit_codes.h"
#include "option_flags.h"

namespace sparing::bench {
namespace {

void add_detect_options(CLI::App& command, BenchOptions& options) {
  DetectBenchOptions& detect = options.detect;
  detect.video = default_video();
  command.add_option("--data", detect.data, "folder of the test material")->capture_default_str();
  command.add_option("--video", detect.video, "the sample video")->capture_default_str();
  command.add_option("--model", detect.model, "the model to measure")->capture_default_str();
  command.add_option("--stage", detect.stages, "only these parts")
      ->delimiter(',')
      ->check(CLI::IsMember(detect_stages()));
  cli::add_flags(command, detect.streams);
  cli::add_flags(command, detect.runtime);
}

void add_import_options(CLI::App& command, BenchOptions& options) {
  cli::add_flags(command, options.import);
}

void add_segment_options(CLI::App& command, BenchOptions& options) {
  SegmentBenchOptions& segment = options.segment;
  segment.video = default_video();
  command.add_option("--data", segment.data, "folder of the test material")->capture_default_str();
  command.add_option("--video", segment.video, "the sample video")->capture_default_str();
  command.add_option("--model", segment.model, "MainNet; its manifest names the AuxNet")
      ->capture_default_str();
  command.add_option("--int8", segment.int8, "the same, quantised, for stage int8")
      ->capture_default_str();
  command.add_option("--stage", segment.stages, "only these parts")
      ->delimiter(',')
      ->check(CLI::IsMember(segment_stages()));
  command.add_option("--rows", segment.rows, "only these rows")->delimiter(',');
  command.add_option("--long-frames", segment.long_frames, "frames of stage long")
      ->check(CLI::Range(1, 10000000))
      ->capture_default_str();
  command.add_option("--drifts", segment.drifts, "only these drifts")->delimiter(',');
  cli::add_flags(command, segment.segmenter.ensemble, {"Settings of the rows that are ours", ""});
  cli::add_flags(command, segment.segmenter.fusion, {"Settings of the rows that are ours", ""});
  cli::add_flags(command, segment.segmenter.motion,
                 {"Settings of the rows that are ours", "motion-"});
  cli::add_flags(command, segment.segmenter.learn, {"Settings of the rows that are ours", ""});
  cli::add_flags(command, segment.segmenter.trainer, {"Settings of the rows that are ours", ""});
  cli::add_flags(command, segment.runtime);
}

void add_train_options(CLI::App& command, BenchOptions& options) {
  cli::add_flags(command, options.train);
}

struct Benchmark {
  const char* name;
  const char* description;
  void (*add_options)(CLI::App&, BenchOptions&);
  Status (*run)(const BenchOptions&, Report&);
};

constexpr Benchmark kBenchmarks[] = {
    {"detect", "accuracy and cost of detection on the sample video", add_detect_options,
     bench_detect},
    {"import", "from a frame to a tensor: time against other libraries and the machine's limit",
     add_import_options, bench_import},
    {"segment", "segmentation over time: accuracy, consistency and cost of all modes and controls",
     add_segment_options, bench_segment},
    {"train-step", "one step of training a network on this processor", add_train_options,
     bench_train_step},
};

int report_error(const Error& error) {
  std::fprintf(stderr, "sparing-bench: %s\n", error.to_string().c_str());
  return cli::exit_code(error.code);
}

int run(int argc, char** argv) {
  CLI::App app("Measures Sparing, and its peers in the same run where there are any.",
               "sparing-bench");
  app.require_subcommand(1);
  BenchOptions options;
  std::string json;
  const Benchmark* chosen = nullptr;
  for (const Benchmark& benchmark : kBenchmarks) {
    CLI::App* command = app.add_subcommand(benchmark.name, benchmark.description);
    command->add_option("--json", json, "write the figures into this file, too");
    command->add_flag("--quick", options.quick, "fewer figures or rounds, in under 50 s");
    benchmark.add_options(*command, options);
    command->callback([&chosen, &benchmark] { chosen = &benchmark; });
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return cli::exit_of_parse(app, error);
  }
  Report report;
  if (Status status = chosen->run(options, report); !status.ok())
    return report_error(status.error());
  if (json.empty()) return cli::kExitOk;
  const Status written = report.write_json(json);
  return written.ok() ? cli::kExitOk : report_error(written.error());
}

}  // namespace
}  // namespace sparing::bench

int main(int argc, char** argv) {
  sparing::cli::prepare_process();
  try {
    return sparing::bench::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "sparing-bench: internal error: %s\n", error.what());
    return sparing::cli::kExitInternal;
  }
}

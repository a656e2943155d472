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

struct Benchmark {
  const char* name;
  const char* description;
  Status (*run)(const BenchOptions&, Report&);
};

constexpr Benchmark kBenchmarks[] = {
    {"detect", "accuracy and cost of detection on the sample video", bench_detect},
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
  options.video = cli::share_dir() / ".deps" / "samples" / "vtest.avi";
  std::string json;
  const Benchmark* chosen = nullptr;
  for (const Benchmark& benchmark : kBenchmarks) {
    CLI::App* command = app.add_subcommand(benchmark.name, benchmark.description);
    command->add_option("--data", options.data, "folder of the test material")
        ->capture_default_str();
    command->add_option("--video", options.video, "the sample video")->capture_default_str();
    command->add_option("--model", options.model, "the model to measure")->capture_default_str();
    command->add_option("--json", json, "write the figures into this file, too");
    command->add_flag("--quick", options.quick, "a subset, in under 50 s");
    cli::add_flags(*command, options.runtime);
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

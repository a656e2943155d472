// One function a benchmark; main.cc's table names them.
#pragma once

#include <filesystem>
#include <string>

#include "figures.h"
#include "runtime.h"
#include "sparing/base/result.h"

namespace sparing::bench {

struct BenchOptions {
  std::filesystem::path data = "../shared/data";  // test material; what is missing is skipped
  std::filesystem::path video;                    // the sample video
  std::string model = "nanodet-g";
  bool quick = false;
  cli::RuntimeOptions runtime;
};

Status bench_detect(const BenchOptions& options, Report& report);

}  // namespace sparing::bench

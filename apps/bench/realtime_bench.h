// Stage `realtime` of sparing-bench detect: rt1080.*, rt1080pets.*.
#pragma once

#include "benchmarks.h"

namespace sparing::bench {

Status bench_realtime(const BenchOptions& options, Report& report);

}  // namespace sparing::bench

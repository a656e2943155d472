// Stage `events` of sparing-bench detect: events.*.
#pragma once

#include "benchmarks.h"

namespace sparing::bench {

Status bench_events(const BenchOptions& options, Report& report);

}  // namespace sparing::bench

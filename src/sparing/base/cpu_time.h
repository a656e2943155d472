// Processor time, as the operating system counts it.
#pragma once

namespace sparing {

// Seconds, user and system, of all threads of this process since it started. Thread-safe.
double process_cpu_seconds();

// Seconds, user and system, of the calling thread since it started.
double thread_cpu_seconds();

}  // namespace sparing

// The least time that memory allows a job: the source lines that its taps lie in, read once from
// cold memory, and the output, written once.
#pragma once

#include <cstddef>
#include <span>

#include "import_job.h"
#include "sparing/base/aligned_buffer.h"
#include "sparing/base/result.h"

namespace sparing::bench {

inline constexpr std::size_t kCacheLine = 64;

// Bytes of the cache lines that hold a sample of non-zero weight, each counted once; the mean over
// the shots.
Result<double> touched_bytes(const ImportJob& job, std::span<const Shot> shots);

// Bytes that are written: all of every cell.
double output_bytes(const ImportJob& job, std::span<const Shot> shots);

// How fast one thread reads and writes, in units of 10^9 bytes a second. Measured between the calls
// that it is compared with, so that both see the same machine.
class MemoryProbe {
 public:
  MemoryProbe();
  // Reads the next 4 MB of memory that is larger than the caches.
  double read_gbps();
  // Writes memory that was written just before, as a tensor is that is used again and again.
  static double write_gbps(std::span<std::byte> memory);

 private:
  AlignedBuffer buffer_;
  std::size_t next_ = 0;
};

}  // namespace sparing::bench

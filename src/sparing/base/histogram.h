// Latency statistics in constant memory.
#pragma once

#include <array>
#include <cstdint>

namespace sparing {

// Counts durations in logarithmic buckets (32 per octave: quantiles are within 1.1 %) from 1 us to
// about 1.2 hours; smaller and larger values count in the end buckets. Sum, least and greatest are
// exact. Negative values and NaN count as 0. Not thread-safe; merge() adds up per-thread instances.
class LatencyHistogram {
 public:
  void add(double seconds);
  void merge(const LatencyHistogram& other);
  std::int64_t count() const { return count_; }
  double total_seconds() const { return total_; }
  double mean_seconds() const { return count_ > 0 ? total_ / static_cast<double>(count_) : 0.0; }
  double min_seconds() const { return count_ > 0 ? min_ : 0.0; }
  double max_seconds() const { return max_; }
  // The least duration that at least a share q (0..1) of all does not exceed; 0 when empty.
  double quantile_seconds(double q) const;

 private:
  static constexpr int kPerOctave = 32;
  static constexpr int kBuckets = 32 * kPerOctave;
  static constexpr double kSmallest = 1e-6;
  static int bucket_of(double seconds);

  std::array<std::int64_t, kBuckets> buckets_{};
  std::int64_t count_ = 0;
  double total_ = 0;
  double min_ = 0;
  double max_ = 0;
};

}  // namespace sparing

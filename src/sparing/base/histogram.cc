#include "sparing/base/histogram.h"

#include <algorithm>
#include <cmath>

namespace sparing {

int LatencyHistogram::bucket_of(double seconds) {
  if (!(seconds > kSmallest)) return 0;
  const double position = std::log2(seconds / kSmallest) * kPerOctave;
  return static_cast<int>(std::min(position, static_cast<double>(kBuckets - 1)));
}

void LatencyHistogram::add(double seconds) {
  if (!(seconds >= 0)) seconds = 0;
  ++buckets_[static_cast<std::size_t>(bucket_of(seconds))];
  min_ = count_ == 0 ? seconds : std::min(min_, seconds);
  max_ = std::max(max_, seconds);
  total_ += seconds;
  ++count_;
}

void LatencyHistogram::merge(const LatencyHistogram& other) {
  if (other.count_ == 0) return;
  for (std::size_t i = 0; i < buckets_.size(); ++i) buckets_[i] += other.buckets_[i];
  min_ = count_ == 0 ? other.min_ : std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
  total_ += other.total_;
  count_ += other.count_;
}

double LatencyHistogram::quantile_seconds(double q) const {
  if (count_ == 0) return 0;
  q = q > 0 ? std::min(q, 1.0) : 0.0;
  const auto rank = static_cast<std::int64_t>(std::ceil(q * static_cast<double>(count_)));
  std::int64_t seen = 0;
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    seen += buckets_[i];
    if (seen >= std::max<std::int64_t>(rank, 1)) {
      const double middle = kSmallest * std::exp2((static_cast<double>(i) + 0.5) / kPerOctave);
      return std::clamp(middle, min_, max_);
    }
  }
  return max_;
}

}  // namespace sparing

// Which samples of an axis each tensor pixel sees, and with what weight: what the filters of
// docs/import.md come to. Vertical taps are used as they are; horizontal ones go into tables for
// the samplers (sample.h).
#pragma once

#include <cmath>

#include "sparing/kernels/import_plan.h"

namespace sparing::internal {

// Samples first, first + 1, ... with weights that sum to 1.
struct TapRun {
  int first = 0;
  int count = 0;
};

// One sample, or with the second's weight above 0 two.
struct TapPair {
  int first = 0;
  double weight1 = 0;
};

// Longer runs (pixels that cover hundreds of samples) are left to the reference.
inline constexpr int kMaxTaps = 512;

class AxisTaps {
 public:
  // With `replicate_shift` > 0, `samples` is the luma axis, and the runs are of chroma samples that
  // each stand for 2^shift luma samples (ChromaUpsampling::kReplicate).
  AxisTaps(const PixelAxis& pixels, const SampleAxis& samples, int replicate_shift);

  // No run is longer. Runs of 2 and less have `Filter` kBilinear or kNearest.
  int max_count() const { return max_count_; }
  // Pixels to samples: how far the run of the next pixel is from this one's.
  double pitch() const { return pitch_; }

  // Whether every run is of one or two samples, as TapPair has them.
  bool are_pairs() const { return filter_ == Filter::kBilinear || filter_ == Filter::kNearest; }
  // The taps of pixel k. Precondition: are_pairs().
  TapPair pair(int k) const;
  // No weight is greater, but of pixels that see samples beyond the axis.
  double largest_weight() const;
  // The taps of pixel k. Precondition: max_count() <= kMaxTaps, and as many places in `weights`.
  TapRun run(int k, double* weights) const;

 private:
  double position(int k) const {
    return coded_position(pixels_, k) * samples_.scale - samples_.offset;
  }
  TapRun area(double position, double* weights) const;
  TapRun triangle(double position, double* weights) const;
  TapRun merge(TapRun run, double* weights) const;

  PixelAxis pixels_;
  SampleAxis samples_;
  int shift_;
  Filter filter_;     // kArea and kTriangle only where a pixel covers more than one sample
  double footprint_;  // samples that a pixel covers, of `samples`
  double pitch_;
  int max_count_;
};

// Inline: for small pictures it is a good part of the work.
inline TapPair AxisTaps::pair(int k) const {
  double at = position(k);
  if (filter_ == Filter::kNearest) at = std::floor(at + 0.5);
  at = at > samples_.first ? at : samples_.first;
  at = at < samples_.last ? at : samples_.last;
  const int first = static_cast<int>(at);  // never negative
  const double weight1 = at - first;
  // The next luma sample may have the same chroma sample.
  const bool same = ((first + 1) >> shift_) == first >> shift_;
  return {first >> shift_, same ? 0 : weight1};
}

}  // namespace sparing::internal

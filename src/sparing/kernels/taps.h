// Which samples of an axis each tensor pixel sees, and with what weight: what the filters of
// docs/import.md come to. Vertical taps are used as they are; horizontal ones go into tables for
// the samplers (sample.h).
#pragma once

#include "sparing/kernels/import_plan.h"

namespace sparing::internal {

// Samples first, first + 1, ... with weights that sum to 1.
struct TapRun {
  int first = 0;
  int count = 0;
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

  // The taps of pixel k. Precondition: max_count() <= kMaxTaps, and as many places in `weights`.
  TapRun run(int k, double* weights) const;

 private:
  TapRun linear(double position, double* weights) const;
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

}  // namespace sparing::internal

// What moves: the difference of two frames a few frames apart (Mondrian, section 4.1, PD-based
// extractor). Blur, threshold by noise, morphology, border following, boxes.
#pragma once

#include <deque>
#include <opencv2/core/mat.hpp>
#include <span>

#include "sparing/flow/luma_image.h"
#include "sparing/roi/mask.h"

namespace sparing::roi {

struct DifferenceOptions {
  int gap = 5;                 // frames
  double threshold = -1;       // grey levels; -1: by noise
  double least_threshold = 8;  // grey levels
};

// Standard deviation of the noise in the difference of two pictures, in grey levels: a median over
// the picture, of differences of differences, so that neither what moves nor a change of light
// counts.
double difference_noise(const LumaImage& a, const LumaImage& b);

// Not thread-safe. All pictures must have one size.
class DifferenceExtractor {
 public:
  explicit DifferenceExtractor(const DifferenceOptions& options) : options_(options) {}

  // Compares a blurred picture with the reference, the one `gap` pictures ago or the oldest since
  // the last restart. Returns the share of changed pixels; 0 without a reference.
  double compare(const LumaImage& blurred);
  // The boxes of the last comparison, in pixels of the picture; without those that `known` explains
  // (see drop_explained).
  MaskBoxes boxes(double min_extent, std::span<const Rect> known = {}, double share = 1);
  const cv::Mat& mask() const { return mask_; }
  double threshold() const { return threshold_; }

  bool has_reference() const { return !past_.empty(); }
  // Precondition: has_reference().
  const LumaImage& reference() const { return past_.front(); }
  // Makes the picture the newest of the past.
  void remember(const LumaImage& blurred);
  // Forgets the past: the next remember() begins anew. The noise stays.
  void restart();

 private:
  double measure_threshold(const LumaImage& blurred);

  DifferenceOptions options_;
  std::deque<LumaImage> past_;
  LumaImage spare_;  // memory for the next picture
  cv::Mat mask_, scratch_;
  double noise_ = -1;  // unknown
  double threshold_ = 0;
};

}  // namespace sparing::roi

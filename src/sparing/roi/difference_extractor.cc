#include "sparing/roi/difference_extractor.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <utility>

namespace sparing::roi {
namespace {

// Pixels blurred over 3 x 3 have independent noise from here on.
constexpr int kApart = 3;
constexpr double kSigmas = 5;
// Noise grows slowly (exposure at dusk): a jump is a change of the picture.
constexpr double kNoiseGrowth = 1.2;
constexpr double kNoiseStep = 0.2;

}  // namespace

double difference_noise(const LumaImage& a, const LumaImage& b) {
  std::array<int, 512> histogram{};
  int count = 0;
  for (int y = 0; y < a.height(); y += 4) {
    const std::uint8_t* p = a.row(y).data();
    const std::uint8_t* q = b.row(y).data();
    for (int x = kApart; x < a.width(); x += 3) {
      const int here = p[x] - q[x];
      const int there = p[x - kApart] - q[x - kApart];
      ++histogram[static_cast<std::size_t>(std::abs(here - there))];
      ++count;
    }
  }
  if (count == 0) return 0;
  // The median, as if each whole number stood for the values that round to it.
  const double half = count / 2.0;
  double below = 0;
  std::size_t level = 0;
  while (below + histogram[level] < half) below += histogram[level++];
  const double into = (half - below) / histogram[level];
  const double median = level == 0 ? 0.5 * into : static_cast<double>(level) - 0.5 + into;
  constexpr double kMedianOfNormal = 0.6745;
  return median / kMedianOfNormal / std::sqrt(2.0);
}

double DifferenceExtractor::measure_threshold(const LumaImage& blurred) {
  if (options_.threshold > 0) return options_.threshold;
  const double measured = difference_noise(blurred, reference());
  if (noise_ < 0) {
    noise_ = measured;
  } else {
    noise_ += 0.2 * (std::min(measured, kNoiseGrowth * noise_ + kNoiseStep) - noise_);
  }
  return std::clamp(kSigmas * noise_, options_.least_threshold, 255.0);
}

double DifferenceExtractor::compare(const LumaImage& blurred) {
  if (!has_reference()) {
    mask_ = cv::Mat::zeros(blurred.height(), blurred.width(), CV_8UC1);
    return 0;
  }
  threshold_ = measure_threshold(blurred);
  return difference_mask(blurred, reference(), threshold_, mask_);
}

MaskBoxes DifferenceExtractor::boxes(double min_extent, std::span<const Rect> known, double share) {
  if (mask_.empty()) return {};
  MaskBoxes found = mask_boxes(mask_, min_extent, scratch_);
  drop_explained(mask_, known, share, found, scratch_);
  return found;
}

void DifferenceExtractor::remember(const LumaImage& blurred) {
  if (static_cast<int>(past_.size()) >= options_.gap) {
    spare_ = std::move(past_.front());
    past_.pop_front();
  }
  spare_ = blurred;
  past_.push_back(std::move(spare_));
}

void DifferenceExtractor::restart() { past_.clear(); }

}  // namespace sparing::roi

#include "sparing/kernels/taps.h"

#include <algorithm>
#include <cmath>

namespace sparing::internal {
namespace {

// What rounding leaves of a sample that a pixel's edge only touches is no tap.
constexpr double kLeastOverlap = 1e-9;

int clamped(double index, const SampleAxis& axis) {
  return static_cast<int>(
      std::clamp(index, static_cast<double>(axis.first), static_cast<double>(axis.last)));
}

void normalize(double* weights, int count) {
  double sum = 0;
  for (int i = 0; i < count; ++i) sum += weights[i];
  for (int i = 0; i < count; ++i) weights[i] /= sum;
}

}  // namespace

AxisTaps::AxisTaps(const PixelAxis& pixels, const SampleAxis& samples, int replicate_shift)
    : pixels_(pixels),
      samples_(samples),
      shift_(replicate_shift),
      filter_(pixels.filter),
      footprint_(std::fabs(pixels.step) * samples.scale),
      pitch_(pixels.step * samples.scale / (1 << replicate_shift)) {
  const bool wide = filter_ == Filter::kArea || filter_ == Filter::kTriangle;
  if (wide && footprint_ <= 1) filter_ = Filter::kBilinear;
  const double samples_there = samples.last - samples.first + 1;
  double longest = 2;
  if (filter_ == Filter::kArea) longest = std::ceil(footprint_ - kLeastOverlap) + 1;
  if (filter_ == Filter::kTriangle) longest = std::ceil(2 * footprint_);
  max_count_ = static_cast<int>(std::max(2.0, std::min(longest, samples_there)));
}

TapRun AxisTaps::run(int k, double* weights) const {
  if (are_pairs()) {
    const TapPair taps = pair(k);
    weights[0] = 1 - taps.weight1;
    weights[1] = taps.weight1;
    return {taps.first, taps.weight1 > 0 ? 2 : 1};
  }
  const TapRun run =
      filter_ == Filter::kArea ? area(position(k), weights) : triangle(position(k), weights);
  return shift_ == 0 ? run : merge(run, weights);
}

double AxisTaps::largest_weight() const {
  double largest = 1;
  if (filter_ == Filter::kArea) largest = 1 / footprint_;
  // The heights of a triangle at whole distances sum to its area, within a quarter of a step's
  // slope.
  if (filter_ == Filter::kTriangle) largest = 1 / (footprint_ - 0.25 / footprint_);
  return std::min(1.0, largest * (1 << shift_));
}

TapRun AxisTaps::area(double position, double* weights) const {
  // Sample i covers [i, i + 1) here.
  const double begin = position + 0.5 - footprint_ / 2;
  const double end = begin + footprint_;
  const int first = clamped(std::floor(begin + kLeastOverlap), samples_);
  const int last = clamped(std::ceil(end - kLeastOverlap) - 1, samples_);
  for (int i = first; i <= last; ++i) {
    weights[i - first] = std::max(0.0, std::min(end, i + 1.0) - std::max(begin, 1.0 * i));
  }
  if (first == last) weights[0] = 1;  // the only one, or outside
  normalize(weights, last - first + 1);
  return {first, last - first + 1};
}

TapRun AxisTaps::triangle(double position, double* weights) const {
  const int first = clamped(std::ceil(position - footprint_ + kLeastOverlap), samples_);
  const int last = clamped(std::floor(position + footprint_ - kLeastOverlap), samples_);
  for (int i = first; i <= last; ++i) {
    weights[i - first] = std::max(0.0, 1 - std::fabs(i - position) / footprint_);
  }
  if (first == last) weights[0] = 1;
  normalize(weights, last - first + 1);
  return {first, last - first + 1};
}

TapRun AxisTaps::merge(TapRun run, double* weights) const {
  TapRun merged{run.first >> shift_, 0};
  for (int i = 0; i < run.count; ++i) {
    const int at = ((run.first + i) >> shift_) - merged.first;
    const double weight = weights[i];
    if (at == merged.count) {
      weights[merged.count++] = weight;
    } else {
      weights[at] += weight;
    }
  }
  return merged;
}

}  // namespace sparing::internal

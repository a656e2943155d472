#include "sparing/packing/latency_profile.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "sparing/base/check.h"

namespace sparing {
namespace {

// Of what was expected: how much a single observation may say at most.
constexpr double kLargestStep = 4;
constexpr double kBucketsPerOctave = 8;

double area_of(Size shape) { return static_cast<double>(shape.width) * shape.height; }
double area_of(const LatencyPoint& point) { return area_of(Size{point.width, point.height}); }

}  // namespace

Result<LatencyProfile> LatencyProfile::create(ProfiledProcessor processor,
                                              std::vector<LatencyPoint> points,
                                              const LatencyOptions& options) {
  SPARING_RETURN_IF_ERROR(validate_options(options));
  SPARING_RETURN_IF_ERROR(validate_options(processor));
  if (points.empty()) {
    return Error{ErrorCode::kInvalidArgument,
                 "latency profile of '" + processor.model + "' on '" + processor.processor + "'",
                 "has no measured point", "measure at least one shape"};
  }
  for (const LatencyPoint& point : points) SPARING_RETURN_IF_ERROR(validate_options(point));
  std::stable_sort(points.begin(), points.end(), [](const LatencyPoint& a, const LatencyPoint& b) {
    return area_of(a) < area_of(b);
  });

  LatencyProfile profile;
  profile.processor_ = std::move(processor);
  profile.options_ = options;
  profile.points_ = std::move(points);
  for (std::size_t i = 0; i < profile.points_.size();) {
    const double area = area_of(profile.points_[i]);
    double sum = 0;
    int count = 0;
    for (; i < profile.points_.size() && area_of(profile.points_[i]) == area; ++i, ++count) {
      sum += profile.points_[i].milliseconds;
    }
    profile.knots_.push_back({area, sum / count / 1000});
  }
  profile.fit_line();
  return profile;
}

// Least squares of the relative deviations: small canvases count as much as large ones.
void LatencyProfile::fit_line() {
  if (knots_.size() < 2) return;
  double w = 0, wx = 0, wxx = 0, wy = 0, wxy = 0;
  for (const auto& [x, y] : knots_) {
    const double weight = 1 / (y * y);
    w += weight;
    wx += weight * x;
    wxx += weight * x * x;
    wy += weight * y;
    wxy += weight * x * y;
  }
  LinearLatency line;
  line.per_pixel = (w * wxy - wx * wy) / (w * wxx - wx * wx);
  line.fixed = (wy - line.per_pixel * wx) / w;
  if (line.fixed < 0) line = {0, wxy / wxx};  // the best line through the origin
  if (!(line.per_pixel > 0) || !std::isfinite(line.fixed)) return;
  for (const auto& [x, y] : knots_) {
    const double deviation = std::abs(line.fixed + line.per_pixel * x - y) / y;
    if (!(deviation <= options_.linear_tolerance)) return;
  }
  line_ = line;
}

Size LatencyProfile::largest() const {
  const LatencyPoint& last = points_.back();
  return {processor_.largest_width > 0 ? processor_.largest_width : last.width,
          processor_.largest_height > 0 ? processor_.largest_height : last.height};
}

bool LatencyProfile::runs(Size shape) const {
  return shape.width <= largest().width && shape.height <= largest().height;
}

double LatencyProfile::profiled_area(double area) const {
  if (line_) return line_->fixed + line_->per_pixel * area;
  if (knots_.size() == 1) return knots_[0].seconds * area / knots_[0].area;
  const auto above = std::lower_bound(knots_.begin(), knots_.end(), area,
                                      [](const Knot& knot, double a) { return knot.area < a; });
  const auto between = [area](const Knot& a, const Knot& b) {
    return a.seconds + (b.seconds - a.seconds) * (area - a.area) / (b.area - a.area);
  };
  if (above == knots_.begin()) {
    // Noise may tilt the first line so that it says nothing: never below none at all, nor above
    // the smallest point's time.
    const double fixed = between(knots_[0], knots_[1]) - (knots_[1].seconds - knots_[0].seconds) *
                                                             area /
                                                             (knots_[1].area - knots_[0].area);
    return between({0, std::clamp(fixed, 0.0, knots_[0].seconds)}, knots_[0]);
  }
  if (above == knots_.end()) {
    const Knot& last = knots_.back();
    return std::max(between(knots_[knots_.size() - 2], last), last.seconds);
  }
  return between(*(above - 1), *above);
}

double LatencyProfile::ratio(double area) const {
  if (ratios_.empty()) return 1;
  const double log_area = std::log2(area);
  const auto above =
      std::lower_bound(ratios_.begin(), ratios_.end(), log_area,
                       [](const Ratio& ratio, double value) { return ratio.log_area < value; });
  if (above == ratios_.begin()) return above->value;
  const Ratio& below = *(above - 1);
  if (above == ratios_.end()) return below.value;
  const double span = above->log_area - below.log_area;
  return below.value + (above->value - below.value) * (log_area - below.log_area) / span;
}

double LatencyProfile::profiled(Size shape) const {
  SPARING_CHECK(shape.width > 0 && shape.height > 0);
  return profiled_area(area_of(shape));
}

double LatencyProfile::estimate(Size shape) const {
  SPARING_CHECK(shape.width > 0 && shape.height > 0);
  const double area = area_of(shape);
  return profiled_area(area) * ratio(area);
}

Status LatencyProfile::observe(Size shape, double seconds) {
  if (shape.width <= 0 || shape.height <= 0) {
    return Error{ErrorCode::kInvalidArgument, "observed latency",
                 "shape " + std::to_string(shape.width) + "x" + std::to_string(shape.height),
                 "give the shape of the canvas that was inferred"};
  }
  if (!(seconds > 0 && std::isfinite(seconds))) {
    return Error{ErrorCode::kInvalidArgument, "observed latency",
                 std::to_string(seconds) + " seconds", "give a time above 0"};
  }
  const double area = area_of(shape);
  const double expected = ratio(area);
  const double limited =
      std::clamp(seconds / profiled_area(area), expected / kLargestStep, expected * kLargestStep);
  const double log_area = std::log2(area);
  const int bucket = static_cast<int>(std::floor(log_area * kBucketsPerOctave));
  ++observations_;
  std::erase_if(ratios_, [&](const Ratio& ratio) {
    return ratio.bucket != bucket && observations_ - ratio.updated > options_.memory;
  });
  const auto place =
      std::lower_bound(ratios_.begin(), ratios_.end(), bucket,
                       [](const Ratio& ratio, int value) { return ratio.bucket < value; });
  const double weight = options_.smoothing;
  if (place != ratios_.end() && place->bucket == bucket) {
    place->value += weight * (limited - place->value);
    place->log_area += weight * (log_area - place->log_area);
    place->updated = observations_;
  } else {
    ratios_.insert(place,
                   {bucket, log_area, expected + weight * (limited - expected), observations_});
  }
  return ok_status();
}

std::vector<LatencyPoint> LatencyProfile::current_points() const {
  std::vector<LatencyPoint> points = points_;
  for (LatencyPoint& point : points) {
    point.milliseconds *= ratio(area_of(point));
  }
  return points;
}

}  // namespace sparing

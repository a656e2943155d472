// How long one model takes on one processor, by the canvas's shape: measured once, kept up to date
// while running (Mondrian, section 4.3.1).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "sparing/base/geometry.h"
#include "sparing/base/options.h"
#include "sparing/base/result.h"

namespace sparing {

// One measurement, with its fields for JSON files.
struct LatencyPoint {
  int width = 0;
  int height = 0;
  double milliseconds = 0;

  static constexpr auto fields() {
    return std::tuple{
        option("width", &LatencyPoint::width).help("of the input").unit("px").range(1, 32768),
        option("height", &LatencyPoint::height).help("of the input").unit("px").range(1, 32768),
        option("ms", &LatencyPoint::milliseconds)
            .help("typical time of one inference")
            .unit("ms")
            .range(1e-6, 1e9),
    };
  }
  friend bool operator==(const LatencyPoint&, const LatencyPoint&) = default;
};

// What was measured: a model on a processor, which is a device, a precision and its cores.
struct ProfiledProcessor {
  std::string model;       // name and precision, as the registry knows it
  std::string processor;   // "cpu:int8:1"
  int largest_width = 0;   // largest template that it can run; 0: as the largest point
  int largest_height = 0;  // likewise

  static constexpr auto fields() {
    return std::tuple{
        option("model", &ProfiledProcessor::model).help("the model that was measured"),
        option("processor", &ProfiledProcessor::processor).help("device:precision:cores"),
        option("largest-width", &ProfiledProcessor::largest_width)
            .help("widest canvas that the processor runs")
            .unit("px")
            .range(0, 32768),
        option("largest-height", &ProfiledProcessor::largest_height)
            .help("highest canvas that the processor runs")
            .unit("px")
            .range(0, 32768),
    };
  }
  friend bool operator==(const ProfiledProcessor&, const ProfiledProcessor&) = default;
};

struct LatencyOptions {
  double smoothing = 0.2;
  int memory = 50;
  double linear_tolerance = 0.05;

  static constexpr auto fields() {
    return std::tuple{
        option("latency-smoothing", &LatencyOptions::smoothing)
            .help(
                "weight of the newest observed time against all before; 0: times stay as profiled")
            .range(0, 1),
        option("latency-memory", &LatencyOptions::memory)
            .help("after so many inferences of other shapes, a shape counts as not used recently")
            .range(1, 1000000),
        option("latency-linear", &LatencyOptions::linear_tolerance)
            .help("largest relative deviation of the points from a line in the area for which the "
                  "line is used; 0: interpolate between the points always")
            .range(0, 1),
    };
  }
};

// Seconds = fixed + per_pixel x area.
struct LinearLatency {
  double fixed = 0;      // seconds, >= 0
  double per_pixel = 0;  // seconds, > 0
};

// As measured: the line through the points where one fits (on a CPU it does, packed.md), else
// straight lines between the points over the area; below the smallest point towards the fixed cost
// that the first line shows, above the largest along the last line. Times follow the area, not the
// aspect ratio.
//
// While running, each shape in use has a ratio of its time to the measured one, updated by
// exponential smoothing; shapes not used recently get the ratio interpolated (in the logarithm of
// the area) between the recently used ones around them, as the whole processor slows down and
// recovers. At most one ratio per eighth of an octave of area is kept: memory is bounded.
//
// Not thread-safe. Copies are independent.
class LatencyProfile {
 public:
  // `points` in any order, at least one; of points with the same area the mean is taken.
  // kInvalidArgument: none, a value or option out of range.
  static Result<LatencyProfile> create(ProfiledProcessor processor,
                                       std::vector<LatencyPoint> points,
                                       const LatencyOptions& options = {});

  const ProfiledProcessor& processor() const { return processor_; }
  // The largest template: as given, or the largest point's shape.
  Size largest() const;
  bool runs(Size shape) const;

  // Seconds of one inference now; > 0. Precondition: the shape has an area.
  double estimate(Size shape) const;
  // Seconds as profiled, whatever was observed since.
  double profiled(Size shape) const;
  // The line, where it fits.
  const std::optional<LinearLatency>& line() const { return line_; }

  // One inference took so long. A single time counts as at most 4 times and at least a quarter of
  // what was expected, so that a suspended machine does not spoil the estimates.
  // kInvalidArgument: a shape without area, a time that is not positive and finite.
  Status observe(Size shape, double seconds);

  // The points given, by area, and the same shapes with their times of now: what a cache keeps.
  const std::vector<LatencyPoint>& points() const { return points_; }
  std::vector<LatencyPoint> current_points() const;

 private:
  struct Knot {
    double area;
    double seconds;
  };
  struct Ratio {
    int bucket;            // of the area's logarithm
    double log_area;       // smoothed, too
    double value;          // observed / profiled
    std::int64_t updated;  // number of the observation
  };

  LatencyProfile() = default;
  void fit_line();
  double profiled_area(double area) const;
  double ratio(double area) const;

  ProfiledProcessor processor_;
  LatencyOptions options_;
  std::vector<LatencyPoint> points_;  // ascending area
  std::vector<Knot> knots_;           // ascending area, no area twice
  std::optional<LinearLatency> line_;
  std::vector<Ratio> ratios_;  // ascending bucket; recently used only
  std::int64_t observations_ = 0;
};

}  // namespace sparing

#include "sparing/track/motion.h"

#include <algorithm>
#include <limits>

#include "sparing/base/check.h"

namespace sparing {
namespace {

// Below it, a velocity is mostly the rounding of the boxes.
constexpr double kLeastSeconds = 1e-6;
constexpr double kLeastGrowth = 0.5;
constexpr double kMostGrowth = 2.0;

struct Shape {  // of a box, in double
  double x, y;  // centre
  double width, height;
};

Shape shape_of(const Box& box) {
  const double x0 = box.x0, y0 = box.y0, x1 = box.x1, y1 = box.y1;
  return {(x0 + x1) / 2, (y0 + y1) / 2, x1 - x0, y1 - y0};
}

// Boxes that are carried on for long leave the range of floats; they stay finite.
float to_float(double value) {
  constexpr double kMost = std::numeric_limits<float>::max();
  return static_cast<float>(std::clamp(value, -kMost, kMost));
}

double grown(double extent, double rate, double seconds) {
  if (!(extent > 0)) return extent;
  return std::clamp(extent + rate * seconds, kLeastGrowth * extent, kMostGrowth * extent);
}

}  // namespace

Detection interpolate(const TimedDetection& from, const TimedDetection& to, const Timestamp& time) {
  SPARING_CHECK(from.time < to.time && from.time <= time && time <= to.time);
  if (time == from.time) return from.detection;
  if (time == to.time) return to.detection;
  const double share =
      std::clamp(seconds_between(from.time, time) / seconds_between(from.time, to.time), 0.0, 1.0);
  // The second form ends exactly at b, and stays between a and b.
  const auto mix = [share](float a, float b) {
    const double value = share < 0.5 ? a + share * (static_cast<double>(b) - a)
                                     : b - (1 - share) * (static_cast<double>(b) - a);
    return static_cast<float>(value);
  };
  const Detection& a = from.detection;
  const Detection& b = to.detection;
  Detection result;
  result.box = {mix(a.box.x0, b.box.x0), mix(a.box.y0, b.box.y0), mix(a.box.x1, b.box.x1),
                mix(a.box.y1, b.box.y1)};
  result.score = mix(a.score, b.score);
  result.class_id = b.score > a.score ? b.class_id : a.class_id;
  return result;
}

void Motion::update(const TimedDetection& detection, double weight) {
  SPARING_CHECK(last_.time < detection.time && weight > 0 && weight <= 1);
  const double seconds = seconds_between(last_.time, detection.time);
  if (seconds >= kLeastSeconds) {
    const Shape a = shape_of(last_.detection.box);
    const Shape b = shape_of(detection.detection.box);
    const double share = has_rate_ ? weight : 1;
    const auto blend = [&](double& rate, double from, double to) {
      rate += share * ((to - from) / seconds - rate);
    };
    blend(rate_.x, a.x, b.x);
    blend(rate_.y, a.y, b.y);
    blend(rate_.width, a.width, b.width);
    blend(rate_.height, a.height, b.height);
    has_rate_ = true;
  }
  last_ = detection;
}

Detection Motion::at(const Timestamp& time) const {
  const double seconds = seconds_between(last_.time, time);
  if (seconds == 0 || !has_rate_) return last_.detection;
  const Shape shape = shape_of(last_.detection.box);
  const double x = shape.x + rate_.x * seconds;
  const double y = shape.y + rate_.y * seconds;
  const double half_width = grown(shape.width, rate_.width, seconds) / 2;
  const double half_height = grown(shape.height, rate_.height, seconds) / 2;
  Detection result = last_.detection;
  result.box = {to_float(x - half_width), to_float(y - half_height), to_float(x + half_width),
                to_float(y + half_height)};
  return result;
}

}  // namespace sparing

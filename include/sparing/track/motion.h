// How a box moves between frames: interpolation between two detections, and constant velocity after
// the last one. Mondrian fills dropped boxes from those of neighbouring frames (section 4.5,
// dropped ROI interpolation). Plain functions and values; time is presentation time.
#pragma once

#include "sparing/base/geometry.h"
#include "sparing/base/timestamp.h"

namespace sparing {

// An object as it was seen in one frame.
struct TimedDetection {
  Detection detection;  // display coordinates, pixels
  Timestamp time;       // of its frame
};

// The object at `time`, between its detections `from` and `to`: the corners and the score linear in
// time, the class that of the detection with the higher score (`from` when equal). At the ends it
// is the detection itself, to the last bit. Preconditions: from.time < to.time, time not outside
// them.
Detection interpolate(const TimedDetection& from, const TimedDetection& to, const Timestamp& time);

// Where an object was last seen and how it moves: its centre and its extent each change at a
// constant rate. A value; copying it costs nothing.
class Motion {
 public:
  // Starts with the first detection; without a second one the object is taken to stand still.
  explicit Motion(const TimedDetection& first) : last_(first) {}

  // Takes a later detection in. `weight` in (0, 1] is the share of the newest velocity in the
  // estimate, the rest being the velocity so far; 1: the newest alone. Precondition: detection.time
  // is later than last().time. Velocities over less than a microsecond are not used.
  void update(const TimedDetection& detection, double weight);

  // The last detection, moved to `time`. The extent stays within a half and twice the last one, so
  // that a rate measured on two noisy boxes cannot make it vanish. Score and class are kept. An
  // earlier time moves it backwards.
  Detection at(const Timestamp& time) const;

  const TimedDetection& last() const { return last_; }
  // Of the centre, pixels a second.
  Point velocity() const { return {rate_.x, rate_.y}; }

 private:
  struct Rate {  // per second
    double x = 0, y = 0;
    double width = 0, height = 0;
  };

  TimedDetection last_;
  Rate rate_;
  bool has_rate_ = false;
};

}  // namespace sparing

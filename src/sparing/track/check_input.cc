#include "sparing/track/check_input.h"

namespace sparing::track {

Status check_time(const std::string& thing, const Timestamp& time, const Timestamp* previous) {
  if (time.time_base.num <= 0 || time.time_base.den <= 0) {
    return Error{ErrorCode::kInvalidArgument, thing,
                 "time base " + std::to_string(time.time_base.num) + "/" +
                     std::to_string(time.time_base.den) + " is not positive",
                 "give the stream's time base, e.g. 1/90000"};
  }
  if (previous != nullptr && !(*previous < time)) {
    return Error{ErrorCode::kInvalidArgument, thing,
                 "time " + std::to_string(time.seconds()) +
                     " s is not later than the frame before, " +
                     std::to_string(previous->seconds()) + " s",
                 "give frames in the order of their presentation, one of each time"};
  }
  return {};
}

Status check_detection(std::size_t index, const Detection& detection) {
  const std::string thing = "detection " + std::to_string(index);
  const Box& box = detection.box;
  if (!is_finite(box)) {
    return Error{ErrorCode::kInvalidArgument, thing,
                 "box (" + std::to_string(box.x0) + ", " + std::to_string(box.y0) + ", " +
                     std::to_string(box.x1) + ", " + std::to_string(box.y1) + ") is not finite",
                 "leave it out or correct it"};
  }
  if (!(detection.score >= 0 && detection.score <= 1)) {
    return Error{ErrorCode::kInvalidArgument, thing,
                 "score " + std::to_string(detection.score) + " is out of range",
                 "scale scores to 0..1"};
  }
  return {};
}

}  // namespace sparing::track

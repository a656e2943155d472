#include "sparing/track/filler.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "sparing/track/check_input.h"

namespace sparing {
namespace {

// Whether the absence of the object from the frame means that it was not found.
bool looked_for(const FrameRecord& frame, std::int64_t id) {
  return frame.inspected &&
         std::find(frame.dropped.begin(), frame.dropped.end(), id) == frame.dropped.end();
}

}  // namespace

Result<BoxFiller> BoxFiller::create(Size frame_size, const FillOptions& options) {
  SPARING_RETURN_IF_ERROR(validate_options(options));
  if (frame_size.width <= 0 || frame_size.height <= 0) {
    return Error{
        ErrorCode::kInvalidArgument, "frame size",
        std::to_string(frame_size.width) + "x" + std::to_string(frame_size.height) + " has no area",
        "give the stream's display size"};
  }
  return BoxFiller(frame_size, options);
}

Status BoxFiller::check(std::span<const FrameRecord> window) const {
  const Timestamp* previous = started_ ? &last_time_ : nullptr;
  for (std::size_t f = 0; f < window.size(); ++f) {
    const FrameRecord& frame = window[f];
    const std::string thing = "frame " + std::to_string(f) + " of the window";
    SPARING_RETURN_IF_ERROR(track::check_time(thing, frame.time, previous));
    previous = &frame.time;
    if (!frame.inspected && !frame.detections.empty()) {
      return Error{ErrorCode::kInvalidArgument, thing,
                   std::to_string(frame.detections.size()) +
                       " detections, but the frame is said not to be inspected",
                   "set inspected"};
    }
    std::set<std::int64_t> ids;
    for (std::size_t i = 0; i < frame.detections.size(); ++i) {
      SPARING_RETURN_IF_ERROR(track::check_detection(i, frame.detections[i].detection));
      const std::int64_t id = frame.detections[i].id;
      if (id >= 0 && !ids.insert(id).second) {
        return Error{ErrorCode::kInvalidArgument, thing,
                     "object " + std::to_string(id) + " is there twice",
                     "give each object of a frame its own id"};
      }
    }
  }
  return {};
}

Result<std::vector<std::vector<FilledBox>>> BoxFiller::fill(std::span<const FrameRecord> window) {
  SPARING_RETURN_IF_ERROR(check(window));
  Boxes boxes(window.size());
  std::map<std::int64_t, std::vector<Sighting>> sightings;
  for (const auto& [id, object] : objects_) sightings[id];
  for (std::size_t f = 0; f < window.size(); ++f) {
    for (const TrackedDetection& tracked : window[f].detections) {
      boxes[f].push_back({tracked.detection, tracked.id});
      ++counters_.detected;
      if (tracked.id >= 0) {
        sightings[tracked.id].push_back({f, {tracked.detection, window[f].time}});
      }
    }
  }
  for (const auto& [id, seen] : sightings) fill_object(window, id, seen, boxes);
  if (!window.empty()) {
    started_ = true;
    last_time_ = window.back().time;
    forget(last_time_);
  }
  return boxes;
}

void BoxFiller::fill_object(std::span<const FrameRecord> window, std::int64_t id,
                            std::span<const Sighting> sightings, Boxes& boxes) {
  std::size_t next = 0;  // the first frame that is not filled yet
  for (const Sighting& sighting : sightings) {
    const auto [it, is_new] = objects_.try_emplace(id, Object{Motion(sighting.seen)});
    if (!is_new) {
      fill_between(window, next, id, sighting, boxes);
      it->second.motion.update(sighting.seen, options_.velocity_weight);
      it->second.missed = false;
    }
    next = sighting.frame + 1;
  }
  carry_on(window, next, window.size(), id, boxes);
}

void BoxFiller::fill_between(std::span<const FrameRecord> window, std::size_t first,
                             std::int64_t id, const Sighting& next, Boxes& boxes) {
  const TimedDetection before = objects_.at(id).motion.last();
  const double gap = seconds_between(before.time, next.seen.time);
  if (gap > options_.max_interpolation && gap > options_.max_miss) {
    carry_on(window, first, next.frame, id, boxes);
    return;
  }
  for (std::size_t f = first; f < next.frame; ++f) {
    const bool missed = looked_for(window[f], id);
    if (gap > (missed ? options_.max_miss : options_.max_interpolation)) {
      if (!missed) ++counters_.too_long;
      continue;
    }
    const double age = std::min(seconds_between(before.time, window[f].time),
                                seconds_between(window[f].time, next.seen.time));
    add(boxes[f],
        {interpolate(before, next.seen, window[f].time), id, BoxOrigin::kInterpolated, age});
  }
}

void BoxFiller::carry_on(std::span<const FrameRecord> window, std::size_t first, std::size_t last,
                         std::int64_t id, Boxes& boxes) {
  Object& object = objects_.at(id);
  for (std::size_t f = first; f < last; ++f) {
    if (looked_for(window[f], id)) object.missed = true;
    if (object.missed) return;
    const double age = seconds_between(object.motion.last().time, window[f].time);
    if (age > options_.max_propagation) {
      ++counters_.too_long;
      continue;
    }
    Detection detection = object.motion.at(window[f].time);
    const double lost = (1 - options_.end_score) * age / options_.max_propagation;
    detection.score = static_cast<float>(detection.score * (1 - lost));
    add(boxes[f], {detection, id, BoxOrigin::kPropagated, age});
  }
}

void BoxFiller::add(std::vector<FilledBox>& boxes, const FilledBox& box) {
  FilledBox filled = box;
  const double area = box.detection.box.area();
  filled.detection.box = clip(box.detection.box, frame_size_.width, frame_size_.height);
  const double visible = filled.detection.box.area();
  if (!(visible > 0 && visible >= options_.min_visible * area)) {
    ++counters_.outside;
    return;
  }
  const bool covered = std::any_of(boxes.begin(), boxes.end(), [&](const FilledBox& other) {
    return other.origin == BoxOrigin::kDetected &&
           other.detection.class_id == filled.detection.class_id &&
           iou(other.detection.box, filled.detection.box) > options_.max_overlap;
  });
  if (covered) {
    ++counters_.covered;
    return;
  }
  ++(box.origin == BoxOrigin::kInterpolated ? counters_.interpolated : counters_.propagated);
  boxes.push_back(filled);
}

void BoxFiller::forget(const Timestamp& time) {
  const double longest =
      std::max({options_.max_interpolation, options_.max_miss, options_.max_propagation});
  std::erase_if(objects_, [&](const auto& entry) {
    return seconds_between(entry.second.motion.last().time, time) > longest;
  });
  const auto limit = static_cast<std::size_t>(options_.max_tracks);
  if (objects_.size() <= limit) return;
  std::vector<std::pair<Timestamp, std::int64_t>> by_age;
  for (const auto& [id, object] : objects_) by_age.emplace_back(object.motion.last().time, id);
  std::sort(by_age.begin(), by_age.end());
  by_age.resize(by_age.size() - limit);
  for (const auto& [seen, id] : by_age) objects_.erase(id);
  counters_.evicted += static_cast<std::int64_t>(by_age.size());
}

void BoxFiller::reset() {
  objects_.clear();
  started_ = false;
}

}  // namespace sparing

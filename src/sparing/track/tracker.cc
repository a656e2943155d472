#include "sparing/track/tracker.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "sparing/track/assignment.h"
#include "sparing/track/check_input.h"

namespace sparing {
namespace {

constexpr double kMostAreaRatio = 3;

double area_of(const Box& box) {
  const double width = static_cast<double>(box.x1) - box.x0;
  const double height = static_cast<double>(box.y1) - box.y0;
  return width > 0 && height > 0 ? width * height : 0;
}

// 1 for boxes with the same centre, falling to 0 at `limit` sizes; 0 for those of other sizes.
double closeness(const Box& a, const Box& b, double limit) {
  const double area_a = area_of(a);
  const double area_b = area_of(b);
  if (!(area_a > 0 && area_b > 0)) return 0;
  if (std::max(area_a, area_b) >= kMostAreaRatio * std::min(area_a, area_b)) return 0;
  const double dx = (static_cast<double>(a.x0) + a.x1 - b.x0 - b.x1) / 2;
  const double dy = (static_cast<double>(a.y0) + a.y1 - b.y0 - b.y1) / 2;
  const double size = (std::sqrt(area_a) + std::sqrt(area_b)) / 2;
  return std::max(0.0, 1 - std::hypot(dx, dy) / (limit * size));
}

}  // namespace

Result<Tracker> Tracker::create(const TrackerOptions& options) {
  SPARING_RETURN_IF_ERROR(validate_options(options));
  return Tracker(options);
}

Status Tracker::check(const Timestamp& time, std::span<const Detection> detections) const {
  SPARING_RETURN_IF_ERROR(
      track::check_time("tracked frame", time, started_ ? &last_time_ : nullptr));
  for (std::size_t i = 0; i < detections.size(); ++i) {
    SPARING_RETURN_IF_ERROR(track::check_detection(i, detections[i]));
  }
  return {};
}

std::vector<int> Tracker::match(const Timestamp& time, std::span<const Detection> detections) {
  std::vector<Detection> expected;
  expected.reserve(tracks_.size());
  for (const Track& track : tracks_) expected.push_back(track.motion.at(time));

  std::vector<int> track_of(detections.size(), -1);
  std::vector<bool> taken(tracks_.size(), false);
  using Weight = std::function<double(const Box&, const Box&)>;
  const auto pair_up = [&](double least, double most, const Weight& weight) {
    track::PairWeights weights(static_cast<int>(detections.size()),
                               static_cast<int>(tracks_.size()));
    for (std::size_t d = 0; d < detections.size(); ++d) {
      if (track_of[d] >= 0 || detections[d].score < least || detections[d].score >= most) continue;
      for (std::size_t t = 0; t < tracks_.size(); ++t) {
        if (taken[t]) continue;
        if (!options_.class_agnostic && expected[t].class_id != detections[d].class_id) continue;
        weights.at(static_cast<int>(d), static_cast<int>(t)) =
            weight(expected[t].box, detections[d].box);
      }
    }
    std::int64_t found = 0;
    const std::vector<int> columns = track::assign(weights);
    for (std::size_t d = 0; d < detections.size(); ++d) {
      if (columns[d] < 0) continue;
      track_of[d] = columns[d];
      taken[static_cast<std::size_t>(columns[d])] = true;
      ++found;
    }
    return found;
  };
  const auto overlap_from = [](double least) {
    return [least](const Box& a, const Box& b) {
      const double overlap = iou(a, b);
      return overlap >= least ? overlap : 0.0;
    };
  };
  constexpr double kAny = std::numeric_limits<double>::infinity();
  const double start = options_.start_score;
  counters_.by_overlap += pair_up(start, kAny, overlap_from(options_.min_iou));
  if (options_.max_distance > 0) {
    counters_.by_distance += pair_up(start, kAny, [&](const Box& a, const Box& b) {
      return closeness(a, b, options_.max_distance);
    });
  }
  if (options_.continue_score < start) {
    counters_.unsure +=
        pair_up(options_.continue_score, start, overlap_from(options_.continue_iou));
  }
  return track_of;
}

Result<std::vector<std::int64_t>> Tracker::update(const Timestamp& time,
                                                  std::span<const Detection> detections) {
  SPARING_RETURN_IF_ERROR(check(time, detections));
  started_ = true;
  last_time_ = time;
  forget(time);
  const std::vector<int> track_of = match(time, detections);
  std::vector<std::int64_t> ids(detections.size());
  for (std::size_t d = 0; d < detections.size(); ++d) {
    const TimedDetection seen{detections[d], time};
    if (track_of[d] >= 0) {
      Track& track = tracks_[static_cast<std::size_t>(track_of[d])];
      track.motion.update(seen, options_.velocity_weight);
      ids[d] = track.id;
    } else if (detections[d].score < options_.start_score) {
      ids[d] = -1;
    } else {
      ids[d] = next_id_++;
      tracks_.push_back({ids[d], Motion(seen)});
      ++counters_.started;
    }
  }
  forget(time);
  return ids;
}

void Tracker::forget(const Timestamp& time) {
  counters_.expired += static_cast<std::int64_t>(std::erase_if(tracks_, [&](const Track& track) {
    return seconds_between(track.motion.last().time, time) > options_.max_lost;
  }));
  const auto limit = static_cast<std::size_t>(options_.max_tracks);
  if (tracks_.size() <= limit) return;
  counters_.evicted += static_cast<std::int64_t>(tracks_.size() - limit);
  // Seen last stays; of those seen at the same time, the surest, then the oldest.
  std::sort(tracks_.begin(), tracks_.end(), [](const Track& a, const Track& b) {
    const TimedDetection& x = a.motion.last();
    const TimedDetection& y = b.motion.last();
    if (const auto order = x.time <=> y.time; order != 0) return order > 0;
    if (x.detection.score != y.detection.score) return x.detection.score > y.detection.score;
    return a.id < b.id;
  });
  tracks_.erase(tracks_.begin() + options_.max_tracks, tracks_.end());
  std::sort(tracks_.begin(), tracks_.end(),
            [](const Track& a, const Track& b) { return a.id < b.id; });
}

std::vector<TrackedDetection> Tracker::predict(const Timestamp& time) const {
  std::vector<TrackedDetection> expected;
  expected.reserve(tracks_.size());
  for (const Track& track : tracks_) expected.push_back({track.motion.at(time), track.id});
  return expected;
}

}  // namespace sparing

// Which detection of a frame is which object of the frames before: stable ids, by overlap and
// constant velocity. It serves propagation and interpolation of boxes and the memory of probed
// scales (Mondrian, sections 4.2.3 and 4.5), which need an object's recent past; it has no
// appearance model and brings back no object that was away for longer than a moment.
#pragma once

#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "sparing/base/options.h"
#include "sparing/base/result.h"
#include "sparing/track/motion.h"

namespace sparing {

struct TrackerOptions {
  // Detections below it start no object: they are taken for a known one, or not followed. Not an
  // option of its own: what uses a tracker says from which score on an object is one.
  double start_score = 0;
  double continue_score = 0.1;
  double continue_iou = 0.3;
  double min_iou = 0.2;
  double max_distance = 1.0;
  bool class_agnostic = false;
  double max_lost = 1.0;
  double velocity_weight = 0.5;
  int max_tracks = 1000;

  static constexpr auto fields() {
    return std::tuple{
        option("track-continue-score", &TrackerOptions::continue_score)
            .help("least score of a detection that continues a known object, where it takes more "
                  "to start one")
            .range(0, 1),
        option("track-continue-iou", &TrackerOptions::continue_iou)
            .help("least overlap (IoU) of such a detection with where its object was expected")
            .range(0.01, 1),
        option("track-min-iou", &TrackerOptions::min_iou)
            .help("least overlap (IoU) of a detection with where its object was expected")
            .range(0.01, 1),
        option("track-max-distance", &TrackerOptions::max_distance)
            .help("greatest distance of the centres of boxes that do not overlap enough, in sizes "
                  "(square roots of the area); 0: overlap alone decides")
            .range(0, 10),
        option("track-class-agnostic", &TrackerOptions::class_agnostic)
            .help("let an object's class change from frame to frame"),
        option("track-max-lost", &TrackerOptions::max_lost)
            .help("time without a detection after which an object is forgotten")
            .unit("s")
            .range(0, 60),
        option("track-velocity-weight", &TrackerOptions::velocity_weight)
            .help("share of the newest velocity in the estimate")
            .range(0.01, 1),
        option("track-max-tracks", &TrackerOptions::max_tracks)
            .help("objects remembered at once; those lost longest go first")
            .range(1, 100000),
    };
  }
};

struct TrackedDetection {
  Detection detection;
  std::int64_t id = -1;  // of the object; -1: not followed
};

struct TrackerCounters {
  std::int64_t started = 0;     // new ids
  std::int64_t by_overlap = 0;  // detections given to a known object by IoU
  std::int64_t by_distance = 0;
  std::int64_t unsure = 0;   // detections below start_score given to a known object
  std::int64_t expired = 0;  // objects forgotten after max_lost
  std::int64_t evicted = 0;  // objects forgotten because of max_tracks
  friend bool operator==(const TrackerCounters&, const TrackerCounters&) = default;
};

// Follows the objects of one stream. Not thread-safe. Memory is bounded by max_tracks.
class Tracker {
 public:
  // kInvalidArgument: an option out of range.
  static Result<Tracker> create(const TrackerOptions& options = {});

  // Takes in the detections of a frame that was looked at, and gives the id of each, in their
  // order; -1: not followed. Ids count from 0 and are never given to another object again.
  //
  // Objects are expected where constant velocity takes them. Of all ways to pair them with the
  // detections, that with the greatest sum of IoU is chosen, pairs below min_iou being no pairs
  // (exact, not greedy). What is left on both sides is paired again by distance, for small objects
  // that moved by more than their size before their velocity was known: pairs whose centres are
  // less than max_distance sizes apart and whose areas differ by less than a factor 3, with the
  // greatest sum of closeness. The rest are new objects. Unless class_agnostic, classes must agree.
  //
  // That is done with the detections of at least start_score. Of those below, down to
  // continue_score, some are known objects that are hard to see at the moment: they are paired with
  // the objects that are still without a detection, by IoU alone, from continue_iou on (the two
  // steps of ByteTrack, Zhang et al. 2022, section 3). They start nothing.
  //
  // kInvalidArgument, with nothing taken in: a time not later than the previous frame's, or with a
  // time base that is not positive; a box that is not finite; a score outside [0, 1].
  Result<std::vector<std::int64_t>> update(const Timestamp& time,
                                           std::span<const Detection> detections);

  // The objects that are not forgotten, where they are expected at `time`, by ascending id. Boxes
  // may lie outside the frame. Scores are those of the last detections.
  std::vector<TrackedDetection> predict(const Timestamp& time) const;

  const TrackerCounters& counters() const { return counters_; }

 private:
  struct Track {
    std::int64_t id;
    Motion motion;
  };

  explicit Tracker(const TrackerOptions& options) : options_(options) {}
  Status check(const Timestamp& time, std::span<const Detection> detections) const;
  // The track of each detection, by index into tracks_; -1: none.
  std::vector<int> match(const Timestamp& time, std::span<const Detection> detections);
  void forget(const Timestamp& time);

  TrackerOptions options_;
  std::vector<Track> tracks_;  // by ascending id
  std::int64_t next_id_ = 0;
  bool started_ = false;
  Timestamp last_time_;
  TrackerCounters counters_;
};

}  // namespace sparing

// Boxes for every frame of a stream, where detection ran on some frames and some objects only: what
// was dropped or skipped is filled in from the object's detections around it (Mondrian,
// section 4.5, interpolation for dropped ROIs), and says that it was.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <vector>

#include "sparing/base/box_origin.h"
#include "sparing/base/options.h"
#include "sparing/base/result.h"
#include "sparing/track/tracker.h"

namespace sparing {

struct FilledBox {
  Detection detection;  // display coordinates; clipped to the frame unless detected
  std::int64_t id = -1;
  BoxOrigin origin = BoxOrigin::kDetected;
  double age = 0;  // seconds to the nearest detection that it comes from; 0 when detected
};

// One frame and what is known of it.
struct FrameRecord {
  Timestamp time;
  // Whether detection ran on it at all. In a frame that was not looked at, no object is missing.
  bool inspected = true;
  std::vector<TrackedDetection> detections;  // ids as the tracker gave them; -1 is not followed
  // Objects whose regions were dropped from this frame: their absence says nothing either.
  std::vector<std::int64_t> dropped;
};

struct FillOptions {
  double max_interpolation = 1.0;
  double max_miss = 0;
  double max_propagation = 0.5;
  double end_score = 0.5;
  double max_overlap = 0.5;
  double min_visible = 0.5;
  double velocity_weight = 0.5;
  int max_tracks = 1000;

  static constexpr auto fields() {
    return std::tuple{
        option("fill-interpolate", &FillOptions::max_interpolation)
            .help("longest time between two detections to fill the frames in between that were "
                  "skipped or dropped")
            .unit("s")
            .range(0, 60),
        option("fill-miss", &FillOptions::max_miss)
            .help("longest time between two detections to fill the frames in between that were "
                  "looked at in vain; 0: leave them")
            .unit("s")
            .range(0, 60),
        option("fill-propagate", &FillOptions::max_propagation)
            .help("longest time after an object's last detection to carry its box on; 0: never")
            .unit("s")
            .range(0, 60),
        option("fill-end-score", &FillOptions::end_score)
            .help("what is left of the score at the end of that time, as a factor")
            .range(0, 1),
        option("fill-max-overlap", &FillOptions::max_overlap)
            .help("overlap (IoU) with a detected box of the same class above which a filled box is "
                  "left out")
            .range(0, 1),
        option("fill-min-visible", &FillOptions::min_visible)
            .help("share of a carried box that must lie inside the frame")
            .range(0, 1),
        option("fill-velocity-weight", &FillOptions::velocity_weight)
            .help("share of the newest velocity in the estimate")
            .range(0.01, 1),
        option("fill-max-tracks", &FillOptions::max_tracks)
            .help("objects remembered from window to window; those lost longest go first")
            .range(1, 100000),
    };
  }
};

struct FillCounters {
  std::int64_t detected = 0;
  std::int64_t interpolated = 0;
  std::int64_t propagated = 0;
  std::int64_t covered = 0;   // left out: a detected box was there
  std::int64_t outside = 0;   // left out: carried out of the frame
  std::int64_t too_long = 0;  // left out: dropped or skipped for longer than the limits
  std::int64_t evicted = 0;   // objects forgotten because of max_tracks
  friend bool operator==(const FillCounters&, const FillCounters&) = default;
};

// Fills the windows of one stream, in order. Not thread-safe. Memory between windows is one
// detection and a velocity for each object, at most max_tracks.
class BoxFiller {
 public:
  // `frame_size` is the display size. kInvalidArgument: an option out of range, no frame size.
  static Result<BoxFiller> create(Size frame_size, const FillOptions& options = {});

  // The boxes of each frame of a window: the detections as they are and in their order, then what
  // is filled in, by ascending id.
  //
  // Between two detections of an object, a frame that was skipped, or from which it was dropped,
  // gets the interpolated box if the two are at most max_interpolation apart; a frame that was
  // looked at without finding it, if they are at most max_miss apart. The detection before may be
  // of an earlier window. After its last detection, or where the next is too far away, an object is
  // carried on for at most max_propagation, but not into or past a frame that was looked at without
  // finding it: it may have left. The score of a carried box falls linearly to end_score times the
  // last.
  //
  // kInvalidArgument, with nothing taken in: times that do not increase, within the window and from
  // the last one; a box that is not finite; a score outside [0, 1]; an id twice in a frame;
  // detections in a frame that was not inspected.
  Result<std::vector<std::vector<FilledBox>>> fill(std::span<const FrameRecord> window);

  // The next window may have any time: for a stream that starts over.
  void reset();
  // Objects remembered now.
  std::size_t size() const { return objects_.size(); }
  const FillCounters& counters() const { return counters_; }

 private:
  struct Object {
    Motion motion;
    bool missed = false;  // looked for in vain since the last detection
  };
  struct Sighting {
    std::size_t frame;
    TimedDetection seen;
  };
  using Boxes = std::vector<std::vector<FilledBox>>;

  BoxFiller(Size frame_size, const FillOptions& options)
      : frame_size_(frame_size), options_(options) {}
  Status check(std::span<const FrameRecord> window) const;
  void fill_object(std::span<const FrameRecord> window, std::int64_t id,
                   std::span<const Sighting> sightings, Boxes& boxes);
  // Frames [first, last) between two sightings of `id`.
  void fill_between(std::span<const FrameRecord> window, std::size_t first, std::int64_t id,
                    const Sighting& next, Boxes& boxes);
  void carry_on(std::span<const FrameRecord> window, std::size_t first, std::size_t last,
                std::int64_t id, Boxes& boxes);
  void add(std::vector<FilledBox>& boxes, const FilledBox& box);
  void forget(const Timestamp& time);

  Size frame_size_;
  FillOptions options_;
  std::map<std::int64_t, Object> objects_;
  bool started_ = false;
  Timestamp last_time_;
  FillCounters counters_;
};

}  // namespace sparing

// Regions of interest of one stream: where to look in the next frames (Mondrian, section 4.1).
//
// Three extractors look at the luma as decoded, at a reduced size:
//   - optical flow follows the objects that the detector found last;
//   - the difference of two frames finds what moves;
//   - the difference from a slow background finds what stands where nothing stood.
// A change of the whole picture (light, infrared switch, camera motion, a cut) is seen as one and
// answered with the whole frame instead of many regions.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sparing/base/options.h"
#include "sparing/base/result.h"
#include "sparing/base/roi.h"
#include "sparing/frame/video_frame.h"

namespace sparing {

struct RoiOptions {
  std::string reduction = "auto";
  bool flow = true;
  int flow_interval = 2;
  int flow_points = 10;
  double flow_round_trip = 1.0;
  std::string lost = "widen";
  int lost_frames = 10;
  int max_objects = 300;
  bool difference = true;
  int gap = 2;
  double threshold = -1;
  double least_threshold = 8;
  int min_size = 8;
  double explained = 0.95;
  bool background = true;
  double background_seconds = 3.3;
  double background_threshold = 24;
  double global_change = 0.4;

  static constexpr auto fields() {
    return std::tuple{
        option("reduction", &RoiOptions::reduction)
            .help("size of the luma that regions are found on: 1, 1/2 or 1/4 of the frame's; auto: "
                  "the largest of at most 250,000 pixels")
            .choices("auto|1|2|4"),
        option("flow", &RoiOptions::flow).help("follow detected objects by optical flow"),
        option("flow-interval", &RoiOptions::flow_interval)
            .help("optical flow on every n-th frame, constant velocity between")
            .unit("frames")
            .range(1, 10),
        option("flow-points", &RoiOptions::flow_points)
            .help("feature points followed of an object")
            .range(2, 64),
        option("flow-round-trip", &RoiOptions::flow_round_trip)
            .help("farthest that a point followed forth and back may end from its start")
            .unit("pixels")
            .range(0.01, 100),
        option("lost", &RoiOptions::lost)
            .help("an object that cannot be followed: drop its region, or move it on as before and "
                  "widen it")
            .choices("drop|widen"),
        option("lost-frames", &RoiOptions::lost_frames)
            .help("how long the region of an object that cannot be followed is kept")
            .unit("frames")
            .range(1, 1000),
        option("max-objects", &RoiOptions::max_objects)
            .help("most objects followed; of more, the most confident")
            .range(1, 10000),
        option("difference", &RoiOptions::difference).help("find what moves"),
        option("gap", &RoiOptions::gap)
            .help("distance of the frames whose difference is taken")
            .unit("frames")
            .range(1, 30),
        option("threshold", &RoiOptions::threshold)
            .help("least difference that counts (default: 5 times the measured noise)")
            .unit("grey levels")
            .range(1, 255)
            .unset(-1),
        option("least-threshold", &RoiOptions::least_threshold)
            .help("lower bound of the threshold that follows from noise")
            .unit("grey levels")
            .range(1, 255),
        option("min-size", &RoiOptions::min_size)
            .help("regions that are smaller on both sides are ignored")
            .unit("pixels")
            .range(1, 1000),
        option("explained", &RoiOptions::explained)
            .help(
                "a region of motion or standing is redundant when this share of its changed pixels "
                "lies where followed objects are and were")
            .range(0.5, 1),
        option("background", &RoiOptions::background).help("find what stands still, too"),
        option("background-seconds", &RoiOptions::background_seconds)
            .help("time constant of the background's running average")
            .unit("s")
            .range(0.1, 3600),
        option("background-threshold", &RoiOptions::background_threshold)
            .help("least difference from the background that counts")
            .unit("grey levels")
            .range(1, 255),
        option("global-change", &RoiOptions::global_change)
            .help("share of the picture's pixels that changed from which on the whole frame is "
                  "looked at")
            .range(0.01, 1),
    };
  }
};

// An object found by the detector in the frame added last.
struct KnownObject {
  Detection detection;   // in display coordinates
  std::int64_t id = -1;  // the same for one object from time to time; -1: unknown
};

enum class GlobalChange {
  kNone,
  kNoReference,   // the first frame, or one of another size than the frame before
  kLight,         // one tone curve explains the change: a lamp, exposure, an infrared switch
  kCameraMotion,  // one shift explains it
  kLarge,         // most of the picture changed, in neither way: a cut, something before the lens
};
std::string_view to_string(GlobalChange change);  // "none", "no_reference", ...

struct FrameRois {
  // Of followed objects first, then of what moves, then of what stands. Not padded; none is empty
  // or reaches outside the frame. With a global change it is the whole frame alone.
  std::vector<Roi> rois;
  GlobalChange change = GlobalChange::kNone;
};

// What was found and not reported, and why.
struct RoiStatistics {
  std::int64_t frames = 0;
  std::int64_t whole_frames = 0;  // with a global change
  std::int64_t redundant = 0;     // regions that another of the frame covers
  std::int64_t too_small = 0;     // regions of motion or standing below min_size
  std::int64_t lost = 0;          // objects no longer followed: not found again, or out of sight
  std::int64_t over_limit = 0;    // detections beyond max_objects
};

// Memory is bounded: gap + 4 reduced pictures, two pyramids, and max_objects objects. Work is on
// the calling thread alone, and its results depend on frames and objects only. Not thread-safe; one
// object a stream.
class RoiExtractor {
 public:
  // kInvalidArgument: an option out of range.
  static Result<RoiExtractor> create(const RoiOptions& options = {});
  RoiExtractor(RoiExtractor&&) noexcept;
  RoiExtractor& operator=(RoiExtractor&&) noexcept;
  ~RoiExtractor();

  // The regions of the next frame. kInvalidArgument, kNotSupported: as validate(frame), or a
  // timestamp that is not after that of the frame before (call reset() where a stream starts
  // again); the frame is then left out. kInternal: no memory.
  Result<FrameRois> add(const VideoFrame& frame);

  // Replaces the objects that are followed, by all that were found in the frame added last; those
  // with the id of an object followed until now keep its velocity. kInvalidArgument: a box that is
  // not finite or inside out; nothing changes then.
  Status set_objects(std::span<const KnownObject> objects);

  // Forgets all pictures and objects, not the statistics.
  void reset();

  const RoiStatistics& statistics() const;

  struct Impl;

 private:
  explicit RoiExtractor(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace sparing

// Follows detected objects from picture to picture (Mondrian, section 4.1, OF-based extractor):
// Shi-Tomasi points in the last box, Lucas-Kanade forth and back, shift by the median, size by the
// spread of the points. Between the pictures that are tracked, objects keep their velocity.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sparing/base/result.h"
#include "sparing/base/roi.h"
#include "sparing/flow/luma_image.h"
#include "sparing/flow/sparse_flow.h"
#include "sparing/roi/roi_extractor.h"

namespace sparing::roi {

// How a set of points moved: p -> centre + shift + scale * (p - centre).
struct Motion {
  double dx = 0;
  double dy = 0;
  double scale = 1;
};
// By medians: of the ratios of distances between two points for the scale, then of the shifts.
// Half of the points may be anything. The scale stays 1 with fewer than 4 points, and where they
// lie so close together that a ratio says nothing. Precondition: as many of both, at least one.
Motion robust_motion(std::span<const FlowPoint> from, std::span<const FlowPoint> to,
                     FlowPoint centre);

// Not thread-safe. All pictures must have one size and factor, or clear() comes between.
class OpticalFlowExtractor {
 public:
  explicit OpticalFlowExtractor(const RoiOptions& options) : options_(options) {}

  // Precondition: boxes are finite and not inside out.
  void set_objects(std::span<const KnownObject> objects);
  // Moves the objects on to the next picture, `seconds` (> 0) after the last.
  Status add(const LumaImage& image, double seconds);
  // Where they are now, clipped to the frame.
  std::vector<Roi> rois(const Rect& frame) const;
  void clear();

  std::int64_t lost() const { return lost_; }
  std::int64_t over_limit() const { return over_limit_; }

 private:
  struct Object {
    std::int64_t id = -1;
    int class_id = -1;
    float confidence = 0;
    Box anchor;     // display coordinates, in the anchor picture
    Box box;        // in the newest picture
    double vx = 0;  // display pixels a second, of the centre
    double vy = 0;
    bool has_velocity = false;
    int lost_frames = 0;  // 0: found when last tracked
    FlowFeatures features;
    std::vector<FlowPoint> points;  // luma pixels, in the anchor picture
  };

  bool track_now() const;
  void predict(Object& object) const;
  Status set_anchor();
  Status track_all(const LumaImage& image);
  Status track(Object& object, const FlowPyramid& to, const LumaImage& image);
  Status choose_points(Object& object, const LumaImage& image);
  void follow(Object& object, std::span<const FlowTrack> tracks, double factor);
  void forget_lost(const LumaImage& image);

  RoiOptions options_;
  std::vector<Object> objects_;
  LumaImage last_;
  FlowPyramid anchor_, current_;
  bool anchor_is_valid_ = false;  // it is of the picture that the objects' anchors refer to
  int frames_since_anchor_ = 0;
  double seconds_since_anchor_ = 0;
  std::int64_t lost_ = 0;
  std::int64_t over_limit_ = 0;
};

}  // namespace sparing::roi

// Sparse optical flow on luma: where single points of one picture lie in another. Coordinates are
// continuous pixels of the LumaImage (its first pixel's centre is (0.5, 0.5)).
//
// Everything here runs on the calling thread alone and gives the same results whatever else runs.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "sparing/base/geometry.h"
#include "sparing/base/result.h"
#include "sparing/flow/luma_image.h"

namespace sparing {

struct FlowPoint {
  float x = 0;
  float y = 0;
  friend bool operator==(const FlowPoint&, const FlowPoint&) = default;
};

// A picture at full, half, quarter size ..., with its gradients: what the tracker needs of it.
// Owns its memory, which build() uses again. Not thread-safe; reading from several threads is.
class FlowPyramid {
 public:
  static constexpr int kMaxLevels = 5;

  FlowPyramid();
  FlowPyramid(FlowPyramid&&) noexcept;
  FlowPyramid& operator=(FlowPyramid&&) noexcept;
  ~FlowPyramid();

  // As many levels as asked for, fewer for small pictures. kInvalidArgument: an empty picture,
  // levels not in 1..kMaxLevels. kInternal: no memory.
  Status build(const LumaImage& image, int levels);
  bool empty() const;
  Size size() const;  // of the finest level

  struct Impl;
  const Impl& impl() const { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

// Settings of pyramidal Lucas-Kanade.
struct SparseFlowOptions {
  int window = 9;               // side of the square patch compared, 3..15 pixels
  int iterations = 12;          // at most, a level, 1..100
  double epsilon = 0.02;        // stop when a step is shorter, pixels
  double max_round_trip = 0.5;  // farthest that a point tracked forth and back may end from its
                                // start, pixels
};

struct FlowTrack {
  FlowPoint to;           // in the second picture
  bool found = false;     // inside the picture, textured, and back where it came from
  float round_trip = 0;   // distance between the point and its way forth and back, pixels
  float error = 0;        // mean absolute difference of the two patches, grey levels
  float correlation = 0;  // their normalised cross correlation, -1..1; 0 for flat patches
};

// Follows points of `from` in `to`, forward and backward. `guess` is where each is expected in
// `to`: empty, or as many as there are points. The tracks of points that are not finite or lie
// outside the picture are not found. kInvalidArgument: pyramids that are empty or of different
// sizes, options out of range, the wrong number of guesses.
Result<std::vector<FlowTrack>> track_points(const FlowPyramid& from, const FlowPyramid& to,
                                            std::span<const FlowPoint> points,
                                            std::span<const FlowPoint> guess = {},
                                            const SparseFlowOptions& options = {});

// The best corners (Shi-Tomasi: both eigenvalues of the gradient's covariance are large) of the
// part of `image` under `area`, best first, at least `min_distance` pixels apart, none worse than
// 2 % of the best. The part outside the picture is left out; there may be no corner at all.
// kInvalidArgument: count not in 1..10000, a distance that is negative or not finite.
Result<std::vector<FlowPoint>> find_corners(const LumaImage& image, const Rect& area, int count,
                                            double min_distance);

}  // namespace sparing

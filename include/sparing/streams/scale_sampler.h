// Training data of scale predictors from a user's own clips (Mondrian, section 4.2.2, "Predictor
// Training"): objects that the network finds in whole frames are drawn again, each alone, at every
// scale, and the smallest at which it is still found is the label.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <tuple>
#include <vector>

#include "sparing/base/options.h"
#include "sparing/base/result.h"
#include "sparing/packing/merge.h"
#include "sparing/packing/scale_labels.h"
#include "sparing/roi/roi_extractor.h"
#include "sparing/streams/processor.h"

namespace sparing {

struct ScaleSamplerOptions {
  int every = 3;
  double reference_scale = 1;
  double largest_object = 400;
  int canvas = 960;
  int distance = 32;

  static constexpr auto fields() {
    return std::tuple{
        option("every", &ScaleSamplerOptions::every)
            .help("objects are taken from every n-th frame, and followed between")
            .unit("frames")
            .range(1, 1000),
        option("reference-scale", &ScaleSamplerOptions::reference_scale)
            .help("scale of the whole frames whose detections count as true; 2 for objects of a "
                  "few pixels")
            .range(0.1, 4),
        option("largest-object", &ScaleSamplerOptions::largest_object)
            .help("objects are not enlarged beyond this height")
            .unit("px")
            .range(32, 4000),
        option("canvas", &ScaleSamplerOptions::canvas)
            .help("side of the canvases on which trials are drawn together")
            .unit("px")
            .range(32, 8192),
        option("distance", &ScaleSamplerOptions::distance)
            .help("between trials on a canvas, so that they do not help or hide each other")
            .unit("px")
            .range(0, 64),
    };
  }
};

// What came of the objects.
struct ScaleSamplerCounters {
  std::int64_t frames = 0;       // taken objects from
  std::int64_t objects = 0;      // found in them
  std::int64_t no_region = 0;    // of those: no region of interest was there
  std::int64_t never_found = 0;  // of those with a region: at no scale, drawn alone
  std::int64_t trials = 0;
  std::int64_t canvases = 0;
  std::int64_t canvas_pixels = 0;
};

// One sample and where it is from.
struct LabelledRegion {
  std::int64_t frame = 0;  // number of the frame among those added
  ScaleSample sample;
};

// Samples of one clip, frame after frame. Not thread-safe.
class ScaleSampler {
 public:
  // The detector's own score threshold should not be above 0.25: objects with less are not known to
  // fail. kInvalidArgument: an option out of range.
  static Result<ScaleSampler> create(Detector detector, const ScaleSamplerOptions& options = {},
                                     const LabelOptions& labels = {}, const RoiOptions& rois = {},
                                     const MergeOptions& merge = {});
  ScaleSampler(ScaleSampler&&) noexcept;
  ScaleSampler& operator=(ScaleSampler&&) noexcept;
  ~ScaleSampler();

  // The next frame of the clip: finds its regions and, every n-th time, labels those in which the
  // whole frame's detections lie. Errors as RoiExtractor::add and Detector::detect.
  Status add(const VideoFrame& frame);

  std::span<const LabelledRegion> samples() const;
  const ScaleSamplerCounters& counters() const;

  struct Impl;

 private:
  explicit ScaleSampler(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace sparing

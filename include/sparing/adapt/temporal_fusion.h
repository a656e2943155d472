// Temporal fusion: class probabilities that flow with the picture. Those of the frames before are
// warped by the motion and blended with the frame's own; less where the pictures do not agree.
#pragma once

#include <memory>

#include "sparing/adapt/frame_motion.h"
#include "sparing/base/class_map.h"
#include "sparing/base/options.h"
#include "sparing/base/result.h"

namespace sparing {

struct FusionOptions {
  double weight = 0.8;
  double error = 12;

  static constexpr auto fields() {
    return std::tuple{
        option("fusion-weight", &FusionOptions::weight)
            .help("how much the past counts against the frame itself where the pictures agree")
            .range(0, 0.99),
        option("fusion-error", &FusionOptions::error)
            .help("difference of the pictures at which the past counts half of that; 0: it counts "
                  "the same everywhere but outside the picture")
            .unit("grey levels")
            .range(0, 255),
    };
  }
};

// The weight of the past at a photometric error of `error` grey levels, in [0, weight]:
// weight / (1 + (error / options.error)^2).
float fusion_weight(const FusionOptions& options, float error);

// Owns the fused probabilities of the last frame. Not thread-safe; one object a stream. Work is on
// the calling thread alone.
class TemporalFusion {
 public:
  // kInvalidArgument: an option out of range.
  static Result<TemporalFusion> create(const FusionOptions& options = {});
  TemporalFusion(TemporalFusion&&) noexcept;
  TemporalFusion& operator=(TemporalFusion&&) noexcept;
  ~TemporalFusion();

  // Replaces the probabilities of a frame, whose motion is given, by the fused ones, and keeps
  // them. They may be at any size; the motion is scaled to it. Without a past of this size and
  // these classes, or after another event than kNone, they stay as they are; a blank frame's are
  // not kept.
  void fuse(const PictureMotion& motion, ProbabilityMap& probabilities);
  // For a frame without probabilities of its own: the past, warped. false: there is none.
  bool predict(const PictureMotion& motion, ProbabilityMap& probabilities);
  // Forgets the past.
  void reset();
  bool has_past() const;

  struct Impl;

 private:
  explicit TemporalFusion(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace sparing

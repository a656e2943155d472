// Hybrid scale estimation (Mondrian, section 4.2): every region gets a predicted scale; those of
// objects that were probed get the tuned one as long as it holds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "sparing/base/options.h"
#include "sparing/base/result.h"
#include "sparing/base/roi.h"
#include "sparing/packing/scale_predictor.h"
#include "sparing/packing/scale_tuner.h"

namespace sparing {

// Where a scale comes from.
enum class ScaleOrigin {
  kProactive,  // predicted
  kProbed,     // predicted and tuned by probes
  kFixed,      // 1: a whole frame or a tile, whose scale is the planner's choice
};

struct ScaleEstimate {
  double scale = 1;      // drawn pixels per pixel of the frame, within the models' limits
  double proactive = 1;  // the predicted one
  int level = 0;         // of the predicted one, see ProactiveScale
  ScaleOrigin origin = ScaleOrigin::kFixed;
};

struct ScaleCounters {
  std::int64_t proactive = 0;  // estimates by origin
  std::int64_t probed = 0;
  std::int64_t fixed = 0;
  std::int64_t planned_probes = 0;
  TunerCounters tuner;  // what came of them, what was invalidated and why, under-estimates

  // Share of probes at the predicted scale that failed, 0..1; -1: none was run.
  double proactive_under_rate() const {
    return rate(tuner.proactive_under, tuner.proactive_checked);
  }
  // Share of tuned scales that failed when they were probed again, 0..1; -1: none was.
  double tuned_under_rate() const { return rate(tuner.tuned_under, tuner.tuned_checked); }

 private:
  static double rate(std::int64_t part, std::int64_t all) {
    return all > 0 ? static_cast<double>(part) / static_cast<double>(all) : -1;
  }
};

// Scales for the regions of one stream. Not thread-safe. Memory is bounded by the tuner's
// max_objects.
class ScaleEstimator {
 public:
  // `models` has one for each (network, precision) that a region may be given to: where there are
  // several, the largest scale of all counts, as a region must be safe wherever it goes.
  // kInvalidArgument: no model, options that ScaleTuner refuses; as ScalePredictor otherwise.
  static Result<ScaleEstimator> create(std::span<const ScaleModel> models,
                                       const TunerOptions& options = {});

  // The scale of each region of a frame, in their order. Microseconds for hundreds of regions.
  // kInvalidArgument, naming the region: is_scalable() does not hold (whole frames and tiles
  // aside).
  Result<std::vector<ScaleEstimate>> estimate(std::span<const Roi> rois, const Timestamp& time);

  // What to probe in a frame, which should be the last of its window: there the result holds for
  // longest. One plan for each region with an object id whose object was detected before, in their
  // order; none when tuning is off. Scales are within the models' limits, and no two of a plan the
  // same. Errors as estimate().
  Result<std::vector<ProbePlan>> plan_probes(std::span<const Roi> rois, const Timestamp& time);

  // Takes in what came of a plan: see ScaleTuner::report().
  Status report(const ProbePlan& plan, const std::optional<Detection>& reference,
                std::span<const ProbeOutcome> outcomes) {
    return tuner_.report(plan, reference, outcomes);
  }

  // Forgets objects that left. Call it once a window, with the time of its last frame.
  void end_window(const Timestamp& time) { tuner_.forget(time); }
  // For a stream that starts over.
  void reset() { tuner_.reset(); }

  // Objects remembered now.
  std::size_t size() const { return tuner_.size(); }
  ScaleCounters counters() const;

 private:
  ScaleEstimator(std::vector<ScalePredictor> predictors, ScaleTuner tuner)
      : predictors_(std::move(predictors)), tuner_(std::move(tuner)) {}
  ProactiveScale predict(const Roi& roi) const;
  ScaleEstimate estimate_one(const Roi& roi, const Timestamp& time);
  double clamp_scale(double scale) const;

  std::vector<ScalePredictor> predictors_;  // at least one
  ScaleTuner tuner_;
  ScaleCounters counters_;
};

}  // namespace sparing

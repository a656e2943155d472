#include "sparing/packing/scale_estimator.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace sparing {
namespace {

bool has_fixed_scale(const Roi& roi) {
  return roi.source == RoiSource::kWholeFrame || roi.source == RoiSource::kTile;
}

Status check_rois(std::span<const Roi> rois) {
  for (std::size_t i = 0; i < rois.size(); ++i) {
    if (has_fixed_scale(rois[i]) || is_scalable(rois[i])) continue;
    const Rect& rect = rois[i].rect;
    return Error{ErrorCode::kInvalidArgument, "region " + std::to_string(i),
                 "its rectangle (" + std::to_string(rect.x) + ", " + std::to_string(rect.y) + ", " +
                     std::to_string(rect.width) + " x " + std::to_string(rect.height) +
                     "), object or features are empty or not finite",
                 "leave it out"};
  }
  return {};
}

double size_of(const Roi& roi) { return std::sqrt(scale_features(roi).area); }

}  // namespace

Result<ScaleEstimator> ScaleEstimator::create(std::span<const ScaleModel> models,
                                              const TunerOptions& options) {
  if (models.empty()) {
    return Error{ErrorCode::kInvalidArgument, "scale estimator", "has no model",
                 "give one for each network and precision"};
  }
  std::vector<ScalePredictor> predictors;
  for (const ScaleModel& model : models) {
    SPARING_ASSIGN_OR_RETURN(ScalePredictor predictor, ScalePredictor::create(model));
    predictors.push_back(std::move(predictor));
  }
  SPARING_ASSIGN_OR_RETURN(ScaleTuner tuner, ScaleTuner::create(options));
  return ScaleEstimator(std::move(predictors), std::move(tuner));
}

ProactiveScale ScaleEstimator::predict(const Roi& roi) const {
  const ScaleFeatures features = scale_features(roi);
  ProactiveScale largest = predictors_.front().predict(features);
  for (std::size_t i = 1; i < predictors_.size(); ++i) {
    const ProactiveScale other = predictors_[i].predict(features);
    if (other.scale > largest.scale) largest = other;
  }
  return largest;
}

double ScaleEstimator::clamp_scale(double scale) const {
  double low = 0, high = 0;
  for (const ScalePredictor& predictor : predictors_) {
    low = std::max(low, predictor.min_scale());
    high = std::max(high, predictor.max_scale());
  }
  return std::clamp(scale, low, high);
}

ScaleEstimate ScaleEstimator::estimate_one(const Roi& roi, const Timestamp& time) {
  ScaleEstimate estimate;
  if (has_fixed_scale(roi)) {
    ++counters_.fixed;
    return estimate;
  }
  const ProactiveScale proactive = predict(roi);
  estimate.scale = estimate.proactive = proactive.scale;
  estimate.level = proactive.level;
  estimate.origin = ScaleOrigin::kProactive;
  if (roi.object_id >= 0 && has_object(roi)) {
    if (const auto ratio = tuner_.ratio(roi.object_id, proactive, size_of(roi), time)) {
      estimate.scale = clamp_scale(*ratio * proactive.scale);
      estimate.origin = ScaleOrigin::kProbed;
    }
  }
  ++(estimate.origin == ScaleOrigin::kProbed ? counters_.probed : counters_.proactive);
  return estimate;
}

Result<std::vector<ScaleEstimate>> ScaleEstimator::estimate(std::span<const Roi> rois,
                                                            const Timestamp& time) {
  SPARING_RETURN_IF_ERROR(check_rois(rois));
  std::vector<ScaleEstimate> estimates;
  estimates.reserve(rois.size());
  for (const Roi& roi : rois) estimates.push_back(estimate_one(roi, time));
  return estimates;
}

Result<std::vector<ProbePlan>> ScaleEstimator::plan_probes(std::span<const Roi> rois,
                                                           const Timestamp& time) {
  SPARING_RETURN_IF_ERROR(check_rois(rois));
  std::vector<ProbePlan> plans;
  for (const Roi& roi : rois) {
    if (has_fixed_scale(roi) || roi.object_id < 0 || !has_object(roi)) continue;
    ProbePlan plan{roi.object_id, predict(roi), size_of(roi), time, {}};
    const std::optional<double> ratio =
        tuner_.ratio(roi.object_id, plan.proactive, plan.size, time);
    const double current = clamp_scale(ratio.value_or(1) * plan.proactive.scale);
    for (const double tried : tuner_.probe_ratios(roi.object_id)) {
      const double scale = clamp_scale(tried * plan.proactive.scale);
      // At the limits, several ratios are the same scale. The one nearest to the scales within
      // stands for it, so that later windows need not come back step by step.
      if (!plan.probes.empty() && plan.probes.back().scale == scale) {
        if (scale > plan.proactive.scale * tried) continue;
        plan.probes.back().ratio = tried;
        continue;
      }
      plan.probes.push_back({tried, scale, scale == current});
    }
    if (plan.probes.empty()) continue;
    counters_.planned_probes += static_cast<std::int64_t>(plan.probes.size());
    plans.push_back(std::move(plan));
  }
  return plans;
}

ScaleCounters ScaleEstimator::counters() const {
  ScaleCounters counters = counters_;
  counters.tuner = tuner_.counters();
  return counters;
}

}  // namespace sparing

#include "sparing/packing/scale_tuner.h"

#include <algorithm>
#include <cmath>

namespace sparing {
namespace {

constexpr double kLargestRatio = 2;

// Ratios are made of steps; those that should be the same differ in their last bits.
bool same_ratio(double a, double b) { return std::abs(a - b) < 1e-6; }

bool differs(double a, double b, double share) {
  return std::max(a, b) > (1 + share) * std::min(a, b);
}

}  // namespace

bool probe_succeeded(const Detection& reference, std::span<const Detection> detections,
                     double confidence, double iou_above) {
  return std::any_of(detections.begin(), detections.end(), [&](const Detection& d) {
    return d.class_id == reference.class_id && d.score > confidence && is_finite(d.box) &&
           iou(d.box, reference.box) > iou_above;
  });
}

Result<ScaleTuner> ScaleTuner::create(const TunerOptions& options) {
  SPARING_RETURN_IF_ERROR(validate_options(options));
  const ScaleTuner tuner(options);
  if (options.probes > 0 && tuner.least_ratio() < 1e-6) {
    return Error{ErrorCode::kInvalidArgument, "--probes",
                 std::to_string(options.probes) + " with a step of " +
                     std::to_string(options.probe_step) + " reach a scale of 0",
                 "give fewer probes or a smaller step"};
  }
  return tuner;
}

std::int64_t* ScaleTuner::reason_to_drop(const Object& object, const ProactiveScale& proactive,
                                         double size, const Timestamp& now) {
  if (proactive.level != object.proactive.level &&
      differs(proactive.scale, object.proactive.scale, options_.level_tolerance)) {
    return &counters_.level_changed;
  }
  if (differs(size, object.size, options_.size_change)) return &counters_.size_changed;
  if (seconds_between(object.probed, now) > options_.max_age) return &counters_.aged;
  return nullptr;
}

std::optional<double> ScaleTuner::ratio(std::int64_t object_id, const ProactiveScale& proactive,
                                        double size, const Timestamp& now) {
  const auto it = objects_.find(object_id);
  if (it == objects_.end()) return std::nullopt;
  if (std::int64_t* reason = reason_to_drop(it->second, proactive, size, now)) {
    ++*reason;
    objects_.erase(it);
    return std::nullopt;
  }
  it->second.last_asked = now;
  return it->second.ratio;
}

std::vector<double> ScaleTuner::probe_ratios(std::int64_t object_id) const {
  if (options_.probes == 0) return {};
  const auto it = objects_.find(object_id);
  if (it != objects_.end() && options_.reprobe == "near") {
    const double ratio = it->second.ratio;
    const double smaller = ratio - options_.probe_step;
    if (smaller < least_ratio() - 1e-6) return {ratio};
    return {ratio, smaller};
  }
  std::vector<double> ratios;
  for (int i = 0; i < options_.probes; ++i) ratios.push_back(1 - i * options_.probe_step);
  return ratios;
}

void ScaleTuner::count(const Probe& probe, const Object* known, bool success) {
  ++counters_.probes_run;
  if (success) ++counters_.probes_succeeded;
  if (same_ratio(probe.ratio, 1)) {
    ++counters_.proactive_checked;
    if (!success) ++counters_.proactive_under;
  }
  if (known != nullptr && same_ratio(probe.ratio, known->ratio)) {
    ++counters_.tuned_checked;
    if (!success) ++counters_.tuned_under;
  }
}

Status ScaleTuner::report(const ProbePlan& plan, const std::optional<Detection>& reference,
                          std::span<const ProbeOutcome> outcomes) {
  if (outcomes.size() != plan.probes.size()) {
    return Error{
        ErrorCode::kInvalidArgument, "probe outcomes of object " + std::to_string(plan.object_id),
        std::to_string(outcomes.size()) + " for " + std::to_string(plan.probes.size()) + " probes",
        "give one for each, with ran = false for those that were dropped"};
  }
  ++counters_.reports;
  const auto it = objects_.find(plan.object_id);
  const Object* known = it == objects_.end() ? nullptr : &it->second;
  if (known != nullptr && plan.time <= known->probed) {
    ++counters_.late;
    return {};
  }
  std::optional<double> smallest_success;
  std::optional<double> largest;
  for (std::size_t i = 0; i < outcomes.size() && reference; ++i) {
    if (!outcomes[i].ran) continue;
    const double ratio = plan.probes[i].ratio;
    const bool success = probe_succeeded(*reference, outcomes[i].detections,
                                         options_.probe_confidence, options_.probe_iou);
    count(plan.probes[i], known, success);
    if (success) smallest_success = std::min(ratio, smallest_success.value_or(ratio));
    largest = std::max(ratio, largest.value_or(ratio));
  }
  if (!largest) {
    ++counters_.inconclusive;
    return {};
  }
  if (!smallest_success) ++counters_.all_failed;
  remember(plan,
           smallest_success.value_or(std::min(*largest + options_.probe_step, kLargestRatio)));
  return {};
}

void ScaleTuner::remember(const ProbePlan& plan, double ratio) {
  const auto it = objects_.find(plan.object_id);
  const Timestamp last_asked =
      it == objects_.end() ? plan.time : std::max(it->second.last_asked, plan.time);
  objects_.insert_or_assign(plan.object_id,
                            Object{ratio, plan.proactive, plan.size, plan.time, last_asked});
  if (objects_.size() <= static_cast<std::size_t>(options_.max_objects)) return;
  const auto oldest = std::min_element(
      objects_.begin(), objects_.end(),
      [](const auto& a, const auto& b) { return a.second.last_asked < b.second.last_asked; });
  objects_.erase(oldest);
  ++counters_.evicted;
}

void ScaleTuner::forget(const Timestamp& now) {
  counters_.forgotten += static_cast<std::int64_t>(std::erase_if(objects_, [&](const auto& entry) {
    return seconds_between(entry.second.last_asked, now) > options_.forget_after;
  }));
}

}  // namespace sparing

#include "sparing/packing/scale_labels.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>

#include "sparing/base/check.h"
#include "sparing/packing/scale_tuner.h"

namespace sparing {
namespace {

// Two confidences closer than this say the same.
constexpr double kLeastDifference = 1e-3;
// A prediction that differs from the label by rounding alone is not below it.
constexpr double kRounding = 1e-9;
constexpr int kMostLevels = 1000;

Error invalid(const std::string& thing, const std::string& problem, const std::string& fix) {
  return {ErrorCode::kInvalidArgument, thing, problem, fix};
}

// The least of the values that is at least as large as a share `q` of them. Precondition: not
// empty.
double quantile_of(std::vector<double> values, double q) {
  SPARING_CHECK(!values.empty());
  const double rank = std::ceil(q * static_cast<double>(values.size()) - kRounding);
  const auto index = static_cast<std::size_t>(std::max(rank, 1.0)) - 1;
  const auto nth = values.begin() + static_cast<std::ptrdiff_t>(std::min(index, values.size() - 1));
  std::nth_element(values.begin(), nth, values.end());
  return *nth;
}

std::vector<const ScaleTrial*> largest_first(std::span<const ScaleTrial> trials) {
  std::vector<const ScaleTrial*> order;
  for (const ScaleTrial& trial : trials) order.push_back(&trial);
  std::sort(order.begin(), order.end(),
            [](const ScaleTrial* a, const ScaleTrial* b) { return a->scale > b->scale; });
  return order;
}

Status check_trials(const Detection& reference, std::span<const ScaleTrial> trials) {
  if (!is_finite(reference.box) || !(reference.box.area() > 0)) {
    return invalid("reference detection", "its box has no area", "give the object at full scale");
  }
  if (trials.empty()) return invalid("scale trials", "there is none", "try at least one scale");
  for (const ScaleTrial& trial : trials) {
    if (!(trial.scale > 0 && std::isfinite(trial.scale))) {
      return invalid("scale trial", std::to_string(trial.scale) + " is no scale",
                     "give a factor above 0");
    }
  }
  const std::vector<const ScaleTrial*> order = largest_first(trials);
  for (std::size_t i = 1; i < order.size(); ++i) {
    if (order[i]->scale == order[i - 1]->scale) {
      return invalid("scale trial", std::to_string(order[i]->scale) + " is there twice",
                     "try each scale once");
    }
  }
  return {};
}

double area_of(const Box& box) {
  return (static_cast<double>(box.x1) - box.x0) * (static_cast<double>(box.y1) - box.y0);
}

// --- fit_heights --------------------------------------------------------------------------------

double needed_height(const ScaleSample& sample) {
  return sample.safe.scale * apparent_height(sample.features);
}

struct Half {
  double confidence;
  double height;
};

Half summarize(std::span<const ScaleSample* const> samples, double quantile) {
  std::vector<double> heights;
  double confidences = 0;
  for (const ScaleSample* sample : samples) {
    heights.push_back(needed_height(*sample));
    confidences += sample->features.confidence;
  }
  return {confidences / static_cast<double>(samples.size()), quantile_of(heights, quantile)};
}

// How the heights go with confidence; how large they are is for later.
void fit_shape(std::span<const ScaleSample* const> by_confidence, double quantile,
               HeightParameters& parameters) {
  parameters.unsure_height = parameters.sure_height = 1;
  if (by_confidence.size() < 2) return;
  const std::size_t middle = by_confidence.size() / 2;
  const Half unsure = summarize(by_confidence.first(middle), quantile);
  const Half sure = summarize(by_confidence.subspan(middle), quantile);
  if (sure.confidence - unsure.confidence < kLeastDifference || sure.height >= unsure.height) {
    return;
  }
  parameters.unsure_confidence = unsure.confidence;
  parameters.sure_confidence = sure.confidence;
  parameters.unsure_height = unsure.height;
  parameters.sure_height = sure.height;
}

}  // namespace

Result<std::optional<SafeScale>> label_safe_scale(const Detection& reference,
                                                  std::span<const ScaleTrial> trials,
                                                  const LabelOptions& options) {
  SPARING_RETURN_IF_ERROR(validate_options(options));
  SPARING_RETURN_IF_ERROR(check_trials(reference, trials));
  std::optional<double> smallest;
  for (const ScaleTrial* trial : largest_first(trials)) {
    if (probe_succeeded(reference, trial->detections, options.confidence, options.iou)) {
      smallest = trial->scale;
    } else if (smallest && options.contiguous) {
      break;
    }
  }
  if (!smallest) return std::optional<SafeScale>();
  const double area = area_of(reference.box) * *smallest * *smallest;
  return std::optional(SafeScale{*smallest, area, area * (1 + options.margin)});
}

ScaleErrors evaluate_scales(std::span<const double> scales, std::span<const ScaleSample> samples) {
  SPARING_CHECK(scales.size() == samples.size());
  ScaleErrors errors;
  double full = 0, drawn = 0, safe = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const ScaleSample& sample = samples[i];
    ++errors.samples;
    if (scales[i] < sample.safe.scale * (1 - kRounding)) ++errors.under_estimates;
    full += sample.features.area;
    drawn += sample.features.area * scales[i] * scales[i];
    safe += sample.features.area * sample.safe.scale * sample.safe.scale;
  }
  if (errors.samples == 0) return errors;
  errors.under_rate =
      static_cast<double>(errors.under_estimates) / static_cast<double>(errors.samples);
  errors.area_share = drawn / full;
  errors.safe_area_share = safe / full;
  return errors;
}

ScaleErrors evaluate_scales(const ScalePredictor& predictor, std::span<const ScaleSample> samples) {
  std::vector<double> scales;
  scales.reserve(samples.size());
  for (const ScaleSample& sample : samples) {
    scales.push_back(predictor.predict(sample.features).scale);
  }
  return evaluate_scales(scales, samples);
}

Result<std::vector<double>> quantile_levels(std::span<const double> areas, int levels) {
  if (areas.empty()) return invalid("safe areas", "there is none", "label at least one region");
  if (levels < 1 || levels > kMostLevels) {
    return invalid("levels", std::to_string(levels) + " is out of range",
                   "give 1 to " + std::to_string(kMostLevels));
  }
  for (const double area : areas) {
    if (!(area > 0 && std::isfinite(area))) {
      return invalid("safe areas", std::to_string(area) + " is no area", "leave it out");
    }
  }
  const std::vector<double> values(areas.begin(), areas.end());
  std::vector<double> ends;
  for (int i = 1; i <= levels; ++i) {
    const double end = quantile_of(values, static_cast<double>(i) / levels);
    if (ends.empty() || end > ends.back()) ends.push_back(end);
  }
  return ends;
}

int level_of_area(double area, std::span<const double> level_areas) {
  SPARING_CHECK(!level_areas.empty());
  const auto it = std::lower_bound(level_areas.begin(), level_areas.end(), area);
  return static_cast<int>(
      std::min<std::ptrdiff_t>(it - level_areas.begin(), std::ssize(level_areas) - 1));
}

Result<HeightParameters> fit_heights(std::span<const ScaleSample> samples, double quantile,
                                     const HeightParameters& base) {
  if (!(quantile > 0 && quantile <= 1)) {
    return invalid("quantile", std::to_string(quantile) + " is out of range",
                   "give one above 0 and up to 1");
  }
  SPARING_RETURN_IF_ERROR(validate_options(base));
  if (!(base.sure_confidence > base.unsure_confidence)) {
    return invalid("sure-confidence",
                   std::to_string(base.sure_confidence) + " is not above unsure-confidence",
                   "raise it");
  }
  std::vector<const ScaleSample*> known;
  std::vector<double> new_heights;
  for (const ScaleSample& sample : samples) {
    if (sample.features.confidence > 0) {
      known.push_back(&sample);
    } else {
      new_heights.push_back(needed_height(sample) * base.new_share);
    }
  }
  if (known.empty()) {
    return invalid("scale samples", "none has a confidence", "label objects that were detected");
  }
  std::stable_sort(known.begin(), known.end(), [](const ScaleSample* a, const ScaleSample* b) {
    return a->features.confidence < b->features.confidence;
  });
  HeightParameters parameters = base;
  fit_shape(known, quantile, parameters);
  // Raised or lowered together until just the share asked for is safe.
  std::vector<double> factors;
  for (const ScaleSample* sample : known) {
    factors.push_back(needed_height(*sample) /
                      safe_height(parameters, sample->features.confidence));
  }
  const double factor = quantile_of(factors, quantile);
  // An object below one pixel is none.
  parameters.unsure_height = std::max(1.0, parameters.unsure_height * factor);
  parameters.sure_height = std::max(1.0, parameters.sure_height * factor);
  parameters.new_height = parameters.unsure_height;
  if (!new_heights.empty()) {
    parameters.new_height = std::max(parameters.new_height, quantile_of(new_heights, quantile));
  }
  return parameters;
}

}  // namespace sparing

// From probes to training data, and from training data to figures: labels of safe areas, the levels
// of the decision tree, the parameters of the height predictor, and how often a predictor shrinks
// too far (Mondrian, section 4.2.2, "Predictor Training", and section 5.3.1). Pure functions. The
// decision tree itself is trained elsewhere.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "sparing/base/geometry.h"
#include "sparing/base/options.h"
#include "sparing/base/result.h"
#include "sparing/packing/scale_predictor.h"

namespace sparing {

struct LabelOptions {
  double confidence = 0.3;
  double iou = 0.75;
  double margin = 0.1;
  bool contiguous = true;

  static constexpr auto fields() {
    return std::tuple{
        option("label-confidence", &LabelOptions::confidence)
            .help("the object is found at a scale with a confidence above this ...")
            .range(0, 1),
        option("label-iou", &LabelOptions::iou)
            .help("... and an overlap (IoU) above this with the reference")
            .range(0, 1),
        option("label-margin", &LabelOptions::margin)
            .help("added to the safe area for the label, as a share of it")
            .range(0, 10),
        option("label-contiguous", &LabelOptions::contiguous)
            .help("the object must be found at every scale tried from there up to the largest at "
                  "which it is found: one lucky find below failures is no safe scale"),
    };
  }
};

// What was found in a region when it was drawn at one scale.
struct ScaleTrial {
  double scale = 1;                   // > 0
  std::vector<Detection> detections;  // display coordinates
};

// The least that an object may be drawn with.
struct SafeScale {
  double scale = 1;       // the smallest tried scale at which it is found
  double area = 0;        // square pixels of the object drawn at that scale
  double label_area = 0;  // area x (1 + margin): what a predictor learns
};

// The object's safe scale, from trials in any order; nullopt when it was not found at any. Without
// `contiguous` it is the paper's: the smallest scale at which the detection is intact.
// kInvalidArgument: an option out of range, no trial, a scale that is not positive and finite or is
// there twice, a reference without area.
Result<std::optional<SafeScale>> label_safe_scale(const Detection& reference,
                                                  std::span<const ScaleTrial> trials,
                                                  const LabelOptions& options = {});

// A labelled region.
struct ScaleSample {
  ScaleFeatures features;
  SafeScale safe;
};

// How well predicted scales fit labelled ones.
struct ScaleErrors {
  std::int64_t samples = 0;
  std::int64_t under_estimates =
      0;                  // predicted below the safe scale (without margin): it is missed
  double under_rate = 0;  // their share, 0..1; 0 without samples
  // Drawn area as a share of the area at scale 1: as predicted, and if all were drawn at their safe
  // scales. Together they say what a low rate of under-estimates costs.
  double area_share = 0;
  double safe_area_share = 0;
};

// `scales` holds the predicted scale of each sample. Precondition: as many as samples.
ScaleErrors evaluate_scales(std::span<const double> scales, std::span<const ScaleSample> samples);
// Of a predictor.
ScaleErrors evaluate_scales(const ScalePredictor& predictor, std::span<const ScaleSample> samples);

// Upper ends of `levels` levels that hold about the same number of the areas each: their quantiles
// 1/levels, 2/levels, ..., 1, ascending. Fewer when areas are equal. The levels of ScaleTreeData.
// kInvalidArgument: no areas, one that is not positive and finite, levels not in 1..1000.
Result<std::vector<double>> quantile_levels(std::span<const double> areas, int levels = 5);

// The first level whose end is at least `area`; the last one when none is. Precondition: ascending,
// not empty.
int level_of_area(double area, std::span<const double> level_areas);

// Height parameters with which at most a share 1 - quantile of the samples that have a confidence
// is drawn too small. sure_confidence and unsure_confidence are the means of the more and the less
// confident half of the samples, and the heights there are in the proportion of the halves' own
// quantiles of safe heights; when confidence does not help (the more confident half needs more, or
// all confidences are the same), both heights are the quantile of all. new_height is unsure_height,
// or more where the samples without a confidence need it. Other fields are those of `base`.
// kInvalidArgument: no sample with a confidence, quantile not in (0, 1], `base` out of range.
Result<HeightParameters> fit_heights(std::span<const ScaleSample> samples, double quantile = 0.9,
                                     const HeightParameters& base = {});

}  // namespace sparing

// Proactive scale prediction: how far a region can be shrunk, or must be enlarged, before any
// network has seen it (Mondrian, section 4.2.2). Two predictors: the paper's decision tree, and one
// that brings every object to a safe height, which is nearly all there is to it; the object's last
// confidence is most of the rest.
//
// A scale is a factor of lengths: drawn pixels per pixel of the frame. 0.5 draws a region with a
// quarter of its pixels, 2 with four times as many.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <tuple>

#include "sparing/base/options.h"
#include "sparing/base/result.h"
#include "sparing/packing/scale_features.h"
#include "sparing/packing/scale_tree.h"

namespace sparing {

// The levels of the height predictor, ascending, each about a quarter above the one before. Those
// above 1 enlarge: objects of a few pixels need it, to 200 %.
inline constexpr std::array kScaleLevels = {0.1, 0.125, 0.16, 0.2, 0.25, 0.32, 0.4,
                                            0.5, 0.64,  0.8,  1.0, 1.25, 1.6,  2.0};

// The index of the smallest level that is at least `scale`; the last one when none is.
int scale_level(double scale);

// Height over the square root of the area: standing people are at most about half as wide as high.
inline constexpr double kHeightOfArea = 1.4;

// The height by which objects of all shapes compare: an object counts as high as a standing person
// of its area, if it is not higher. A car of 36 x 22 pixels is found as easily as a person of 40.
// Regions of something new, without a confidence, count with their height.
double apparent_height(const ScaleFeatures& features);

// Safe (apparent) heights in drawn pixels: an object drawn that high is found. They belong to one
// model and precision, and fit_heights() (scale_labels.h) finds them. The defaults are for
// NanoDet-g and people: chosen on frames 0-379 of PETS S2.L1, where the median safe height is
// 30 px.
struct HeightParameters {
  double unsure_height = 48;
  double sure_height = 34;
  double new_height = 40;
  double unsure_confidence = 0.3;
  double sure_confidence = 0.8;
  double new_share = 1;
  bool snap = false;

  static constexpr auto fields() {
    return std::tuple{
        option("unsure-height", &HeightParameters::unsure_height)
            .help("safe height of an object last detected with unsure-confidence or less")
            .unit("px")
            .range(1, 10000),
        option("sure-height", &HeightParameters::sure_height)
            .help("safe height of an object last detected with sure-confidence or more; in between "
                  "it is interpolated")
            .unit("px")
            .range(1, 10000),
        option("new-height", &HeightParameters::new_height)
            .help("safe height of an object that was not detected yet")
            .unit("px")
            .range(1, 10000),
        option("unsure-confidence", &HeightParameters::unsure_confidence)
            .help("last confidence up to which an object is drawn with unsure-height")
            .range(0, 1),
        option("sure-confidence", &HeightParameters::sure_confidence)
            .help("last confidence from which an object is drawn with sure-height")
            .range(0, 1),
        option("new-share", &HeightParameters::new_share)
            .help("height of an object that was not detected yet, as a share of its region's")
            .range(0.01, 1),
        option("snap", &HeightParameters::snap)
            .help("raise scales to the next level, instead of the exact one"),
    };
  }
  friend bool operator==(const HeightParameters&, const HeightParameters&) = default;
};

// Everything about scales that belongs to one model and precision: what training stores.
struct ScaleModel {
  std::string model;                 // of the network, as its manifest has it
  std::string precision;             // "f32", "bf16", "int8"
  std::string predictor = "height";  // "height" or "tree": the one to use
  double min_scale = 0.1;            // limits of what is predicted, both > 0
  double max_scale = 2.0;
  HeightParameters height;
  std::optional<ScaleTreeData> tree;
  // Shares of under-estimates on the training's own test part, 0..1; -1: not measured.
  double height_under_rate = -1;
  double tree_under_rate = -1;
};

struct ProactiveScale {
  double scale = 1;  // within the model's limits
  int level = 0;     // the tree's level, or the index of the scale's level in kScaleLevels
  friend bool operator==(const ProactiveScale&, const ProactiveScale&) = default;
};

// Immutable, thread-safe.
class ScalePredictor {
 public:
  // kInvalidArgument: a height parameter out of range, sure-confidence not above unsure-confidence;
  // kModel: an unknown predictor, "tree" without a tree, a tree that ScaleTree refuses, limits that
  // are not 0 < min_scale <= max_scale <= 16. Naming the model and precision.
  static Result<ScalePredictor> create(const ScaleModel& model);

  // Below a microsecond. Precondition: features of scale_features().
  ProactiveScale predict(const ScaleFeatures& features) const;

  double min_scale() const { return min_scale_; }
  double max_scale() const { return max_scale_; }

 private:
  ScalePredictor() = default;

  double min_scale_ = 0;
  double max_scale_ = 0;
  HeightParameters height_;
  std::optional<ScaleTree> tree_;  // empty: by height
};

// The height that an object of this last confidence (0: none yet) is drawn with, pixels.
double safe_height(const HeightParameters& parameters, double confidence);

}  // namespace sparing

#include "sparing/packing/scale_predictor.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace sparing {
namespace {

constexpr double kLargestScale = 16;

std::string name_of(const ScaleModel& model) {
  return "scale model of '" + model.model + "' in " +
         (model.precision.empty() ? "?" : model.precision);
}

Error with_name(const ScaleModel& model, Error error) {
  error.thing = name_of(model) + ", " + error.thing;
  return error;
}

Status check_height(const ScaleModel& model) {
  if (Status status = validate_options(model.height); !status.ok()) {
    return with_name(model, std::move(status).error());
  }
  if (!(model.height.sure_confidence > model.height.unsure_confidence)) {
    return Error{ErrorCode::kInvalidArgument, name_of(model),
                 "sure-confidence " + std::to_string(model.height.sure_confidence) +
                     " is not above unsure-confidence " +
                     std::to_string(model.height.unsure_confidence),
                 "raise it"};
  }
  return {};
}

Status check_limits(const ScaleModel& model) {
  if (model.min_scale > 0 && model.min_scale <= model.max_scale &&
      model.max_scale <= kLargestScale) {
    return {};
  }
  return Error{ErrorCode::kModel, name_of(model),
               "scales from " + std::to_string(model.min_scale) + " to " +
                   std::to_string(model.max_scale) + " are no range",
               "give limits above 0 and up to 16, the smaller first"};
}

}  // namespace

int scale_level(double scale) {
  const auto it = std::lower_bound(kScaleLevels.begin(), kScaleLevels.end(), scale);
  const auto last = static_cast<int>(kScaleLevels.size()) - 1;
  return std::min(static_cast<int>(it - kScaleLevels.begin()), last);
}

double safe_height(const HeightParameters& parameters, double confidence) {
  if (!(confidence > 0)) return parameters.new_height;
  const double share = std::clamp((confidence - parameters.unsure_confidence) /
                                      (parameters.sure_confidence - parameters.unsure_confidence),
                                  0.0, 1.0);
  return parameters.unsure_height + share * (parameters.sure_height - parameters.unsure_height);
}

Result<ScalePredictor> ScalePredictor::create(const ScaleModel& model) {
  SPARING_RETURN_IF_ERROR(check_height(model));
  SPARING_RETURN_IF_ERROR(check_limits(model));
  ScalePredictor predictor;
  predictor.min_scale_ = model.min_scale;
  predictor.max_scale_ = model.max_scale;
  predictor.height_ = model.height;
  if (model.predictor == "tree") {
    if (!model.tree) {
      return Error{ErrorCode::kModel, name_of(model), "has no tree",
                   "train one, or use the predictor 'height'"};
    }
    Result<ScaleTree> tree = ScaleTree::create(*model.tree);
    if (!tree.ok()) return with_name(model, std::move(tree).error());
    predictor.tree_ = std::move(tree).value();
  } else if (model.predictor != "height") {
    return Error{ErrorCode::kModel, name_of(model), "unknown predictor '" + model.predictor + "'",
                 "use 'height' or 'tree'"};
  }
  return predictor;
}

double apparent_height(const ScaleFeatures& features) {
  // A region of something new may hold several things side by side: its width says nothing.
  if (!(features.confidence > 0)) return features.height;
  return std::max(features.height, kHeightOfArea * std::sqrt(features.area));
}

ProactiveScale ScalePredictor::predict(const ScaleFeatures& features) const {
  ProactiveScale result;
  if (tree_) {
    result.level = tree_->level(features);
    result.scale = std::sqrt(tree_->level_area(result.level) / features.area);
  } else {
    const bool is_new = !(features.confidence > 0);
    const double height = apparent_height(features) * (is_new ? height_.new_share : 1);
    result.scale = safe_height(height_, features.confidence) / height;
    if (height_.snap && result.scale <= kScaleLevels.back()) {
      result.scale = kScaleLevels[static_cast<std::size_t>(scale_level(result.scale))];
    }
  }
  result.scale = std::clamp(result.scale, min_scale_, max_scale_);
  if (!tree_) result.level = scale_level(result.scale);
  return result;
}

}  // namespace sparing

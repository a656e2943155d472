#include "sparing/metrics/agreement.h"

#include <algorithm>

#include "sparing/metrics/average_precision.h"

namespace sparing {
namespace {

AnnotationSet as_truth(const DetectionSet& detections, double confidence) {
  AnnotationSet truth{detections.labels, {}};
  for (const ImageDetections& image : detections.images) {
    ImageAnnotations& out = truth.images.emplace_back();
    out.image_id = image.image_id;
    for (const Detection& detection : image.detections) {
      if (detection.score < confidence) continue;
      out.objects.push_back({.box = detection.box, .class_id = detection.class_id});
    }
  }
  return truth;
}

struct Share {
  long long boxes = 0;
  double found = 1;
};

// The share of `wanted`'s boxes that `other` has.
Result<Share> share_found(const DetectionSet& wanted, const DetectionSet& other,
                          const AgreementOptions& options) {
  EvaluationOptions evaluation;
  evaluation.confidence = std::max(0.0, options.confidence - options.tolerance);
  evaluation.iou = options.iou;
  SPARING_ASSIGN_OR_RETURN(const Evaluation result,
                           evaluate(other, as_truth(wanted, options.confidence), evaluation));
  Share share;
  for (const ClassEvaluation& row : result.classes) share.boxes += row.ground_truth;
  if (share.boxes > 0) share.found = result.recall;
  return share;
}

}  // namespace

Result<Agreement> agreement(const DetectionSet& reference, const DetectionSet& candidate,
                            const AgreementOptions& options) {
  SPARING_RETURN_IF_ERROR(validate_options(options));
  SPARING_ASSIGN_OR_RETURN(const Share recall, share_found(reference, candidate, options));
  SPARING_ASSIGN_OR_RETURN(const Share precision, share_found(candidate, reference, options));
  Agreement result;
  result.reference_boxes = recall.boxes;
  result.candidate_boxes = precision.boxes;
  result.recall = recall.found;
  result.precision = precision.found;
  const double sum = recall.found + precision.found;
  result.f1 = sum > 0 ? 2 * recall.found * precision.found / sum : 0;
  return result;
}

}  // namespace sparing

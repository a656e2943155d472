// Average precision, F1, precision and recall of detections against ground truth.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sparing/base/annotation.h"
#include "sparing/base/result.h"

namespace sparing {

enum class Interpolation {
  kVocAllPoint,  // area under the precision envelope (PASCAL VOC 2010 and later)
  kCoco101,      // mean of the envelope at recall 0, .01, ..., 1 (pycocotools)
};

struct EvaluationOptions {
  double confidence = 0.5;       // for precision, recall and F1
  double iou = 0.5;              // for VOC AP, precision, recall and F1
  int max_detections = 100;      // per image and class, best first (COCO); 0: all
  std::vector<int> classes;      // class ids of the ground truth to evaluate; empty: all that occur
};

struct ClassEvaluation {
  int class_id = 0;
  std::string label;
  long long ground_truth = 0;  // counted objects (not crowd, not ignored)
  long long detections = 0;
  double ap50_voc = 0;   // NaN-free: -1 when the class has no ground truth (pycocotools)
  double ap50_coco = 0;
  double ap_coco = 0;    // mean over IoU .50:.05:.95
  double precision = 0, recall = 0, f1 = 0;  // at options.confidence
};

struct Evaluation {
  std::vector<ClassEvaluation> classes;  // by class id
  // Means over classes with ground truth; -1 if there are none.
  double ap50_voc = -1, ap50_coco = -1, ap_coco = -1;
  double precision = 0, recall = 0, f1 = 0;  // over all classes together (micro)
  long long images = 0;
};

// Pairs images by id; images missing on one side are empty there. Class ids of both sides index the
// same label list (map them first with map_classes). Matching is pycocotools': detections by
// descending score (stable), each to the unmatched object of highest IoU at or above the threshold; crowds
// and ignored objects absorb the rest without effect. kInvalidArgument: a box that is not finite, a
// score outside [0, 1].
Result<Evaluation> evaluate(const DetectionSet& detections, const AnnotationSet& ground_truth,
                            const EvaluationOptions& options = {});

// Renumbers the detections' classes to the ground truth's labels by name (case-insensitive); those
// without a namesake are removed. `removed` counts them. Sets without labels keep their ids.
DetectionSet map_classes(const DetectionSet& detections, const AnnotationSet& ground_truth,
                         long long* removed = nullptr);

}  // namespace sparing

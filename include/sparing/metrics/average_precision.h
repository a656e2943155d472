// Average precision, precision, recall and F1 of detections against ground truth. Plain functions
// without state; thread-safe.
#pragma once

#include <string>
#include <tuple>
#include <vector>

#include "sparing/base/annotation.h"
#include "sparing/base/options.h"
#include "sparing/base/result.h"

namespace sparing {

struct EvaluationOptions {
  double confidence = 0.5;   // precision, recall and F1 count detections of this score or more
  double iou = 0.5;          // and take this overlap for a hit; the APs have IoUs of their own
  int max_detections = 100;  // COCO's APs: per image and class, best first; 0: all
  std::vector<int> classes;  // class ids to evaluate; empty: all that occur on either side

  // The classes are names to a user: no option of this list.
  static constexpr auto fields() {
    return std::tuple{
        option("confidence", &EvaluationOptions::confidence)
            .help("least score of a detection that counts for precision, recall and F1")
            .range(0, 1),
        option("iou", &EvaluationOptions::iou)
            .help("least intersection over union of a hit, for precision, recall and F1")
            .range(0.01, 1),
        option("max-detections", &EvaluationOptions::max_detections)
            .help("best detections per image and class that count for the COCO APs; 0: all")
            .range(0, 1000000000),
    };
  }
};

// Figures of one class. APs are in [0, 1], or -1 when the class has no counted object (never NaN).
// Precision, recall and F1 are in [0, 1]; 0 where they are 0/0.
struct ClassEvaluation {
  int class_id = 0;
  std::string label;           // from the ground truth, else from the detections, else empty
  long long ground_truth = 0;  // counted objects: neither crowd nor ignored
  long long detections = 0;
  double ap50_voc = -1;
  double ap50_coco = -1;
  double ap_coco = -1;  // mean over IoU .50, .55, ..., .95
  double precision = 0, recall = 0, f1 = 0;
};

struct Evaluation {
  std::vector<ClassEvaluation> classes;  // by ascending class id
  // Means over the classes with counted objects; -1 if there are none.
  double ap50_voc = -1, ap50_coco = -1, ap_coco = -1;
  // Of all classes' hits, false alarms and misses added up (micro averages).
  double precision = 0, recall = 0, f1 = 0;
  long long images = 0;  // different image ids on either side
};

// Compares two sets whose class ids index the same label list (see map_classes). Images are paired
// by id; an image that one side lacks is empty there, so detections in it are false alarms; images
// of the same id within a set count as one. Equal scores rank by image id, then as they come.
//
// ap50_coco, ap_coco: pycocotools' figures (area 'all'), but for rounding. Detections, by
// descending score, each take the object of highest IoU at or above the threshold that is still
// free. Crowds and ignored objects take what no counted object does, and it has no effect; a crowd
// takes any number, and its overlap is the intersection over the detection's own area. AP is the
// mean of the precision envelope at recall 0, .01, ..., 1. An object above 10^10 square pixels
// (Annotation::area where given) is ignored, as there.
//
// ap50_voc: the PASCAL VOC development kit's, which is what "AP@0.5" usually means in papers on one
// class. Each detection looks at its object of highest IoU only: below .5 it is a false alarm, and
// so it is when that object is taken already (COCO would go on to the next best object). An ignored
// object is VOC's "difficult": detections that fall to it have no effect. AP is the whole area
// under the precision envelope (VOC 2010 and later). All detections count. Differences from the
// kit: boxes are continuous, without its one pixel added to widths and heights, and detections in
// COCO crowds, which VOC does not know, have no effect unless they find an object.
//
// precision, recall, f1: COCO's matching at options.iou, of all detections whose score is at least
// options.confidence.
//
// kInvalidArgument: an option out of range, a box that is not finite, a score outside [0, 1]. Boxes
// without area are valid and overlap nothing.
Result<Evaluation> evaluate(const DetectionSet& detections, const AnnotationSet& ground_truth,
                            const EvaluationOptions& options = {});

// Renumbers the detections' classes to the ground truth's labels by name (ASCII case-insensitive);
// those without a namesake are left out, and `removed` (may be null) counts them. Images stay, with
// or without detections. When either set has no labels, the ids mean the same already and stay.
DetectionSet map_classes(const DetectionSet& detections, const AnnotationSet& ground_truth,
                         long long* removed = nullptr);

}  // namespace sparing

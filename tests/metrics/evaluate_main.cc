// Runs sparing::evaluate on what pycocotools_test.py sends, so that the comparison with pycocotools
// tests the metrics and nothing else. One record a line on stdin, fields apart by spaces:
//   options CONFIDENCE IOU MAX_DETECTIONS
//   object IMAGE CLASS X0 Y0 X1 Y1 CROWD IGNORE AREA
//   detection IMAGE CLASS X0 Y0 X1 Y1 SCORE
// Prints one line for all classes together and one for each class:
//   all OR CLASS_ID, OBJECTS DETECTIONS AP50_VOC AP50_COCO AP_COCO PRECISION RECALL F1
#include <cstdio>
#include <iostream>
#include <sstream>
#include <string>

#include "sparing/metrics/average_precision.h"

namespace {

struct Input {
  sparing::EvaluationOptions options;
  sparing::AnnotationSet ground_truth;
  sparing::DetectionSet detections;
};

bool read_record(const std::string& line, Input& input) {
  std::istringstream fields(line);
  std::string kind;
  fields >> kind;
  if (kind == "options") {
    sparing::EvaluationOptions& o = input.options;
    fields >> o.confidence >> o.iou >> o.max_detections;
  } else if (kind == "object") {
    sparing::ImageAnnotations image;
    sparing::Annotation& a = image.objects.emplace_back();
    fields >> image.image_id >> a.class_id >> a.box.x0 >> a.box.y0 >> a.box.x1 >> a.box.y1 >>
        a.crowd >> a.ignore >> a.area;
    input.ground_truth.images.push_back(image);
  } else if (kind == "detection") {
    sparing::ImageDetections image;
    sparing::Detection& d = image.detections.emplace_back();
    fields >> image.image_id >> d.class_id >> d.box.x0 >> d.box.y0 >> d.box.x1 >> d.box.y1 >>
        d.score;
    input.detections.images.push_back(image);
  } else {
    return false;
  }
  return !fields.fail();
}

template <class T>
void print_rates(const T& row) {
  std::printf(" %.17g %.17g %.17g %.17g %.17g %.17g\n", row.ap50_voc, row.ap50_coco, row.ap_coco,
              row.precision, row.recall, row.f1);
}

}  // namespace

int main() {
  Input input;
  for (std::string line; std::getline(std::cin, line);) {
    if (!read_record(line, input)) {
      std::fprintf(stderr, "not a record: %s\n", line.c_str());
      return 2;
    }
  }
  const auto result = sparing::evaluate(input.detections, input.ground_truth, input.options);
  if (!result.ok()) {
    std::fprintf(stderr, "%s\n", result.error().to_string().c_str());
    return 1;
  }
  long long objects = 0;
  long long detections = 0;
  for (const sparing::ClassEvaluation& row : result->classes) {
    objects += row.ground_truth;
    detections += row.detections;
  }
  std::printf("all %lld %lld", objects, detections);
  print_rates(*result);
  for (const sparing::ClassEvaluation& row : result->classes) {
    std::printf("%d %lld %lld", row.class_id, row.ground_truth, row.detections);
    print_rates(row);
  }
  return 0;
}

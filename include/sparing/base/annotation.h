// Detections and ground truth by image: what sinks and readers produce and metrics consume.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sparing/base/geometry.h"

namespace sparing {

// One ground-truth object.
struct Annotation {
  Box box;              // pixels of the image
  int class_id = 0;     // index into the label list of the set
  bool crowd = false;   // COCO's iscrowd: a region of uncounted objects; matches are ignored
  bool ignore = false;  // neither found nor missed counts (e.g. MOT's considered = 0)
  double area = -1;     // COCO's area in pixels; -1: the box's own area
};

// One image (or frame) of an evaluation. Images are paired by `image_id`.
struct ImageAnnotations {
  std::int64_t image_id = 0;  // 0-based frame number for videos, COCO's image id for COCO files
  std::vector<Annotation> objects;
};

struct ImageDetections {
  std::int64_t image_id = 0;
  std::vector<Detection> detections;
};

struct AnnotationSet {
  std::vector<std::string> labels;  // empty: unknown
  std::vector<ImageAnnotations> images;
};

struct DetectionSet {
  std::vector<std::string> labels;  // empty: unknown
  std::vector<ImageDetections> images;
};

}  // namespace sparing

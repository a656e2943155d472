// Readers of detections and ground truth.
#pragma once

#include <filesystem>
#include <string>

#include "sparing/base/annotation.h"
#include "sparing/base/result.h"

namespace sparing {

// Detections as our sinks write them: JSON Lines, COCO results, or MOT text (told apart by content).
// Image ids are 0-based frame numbers (MOT files count from 1), or COCO's own image ids.
// kInput: names the file, the line and the field.
Result<DetectionSet> read_detections(const std::filesystem::path& file);

struct GroundTruthOptions {
  std::string format;               // "mot", "coco", "yolo"; empty: from the content
  std::vector<std::string> labels;  // class names by id, for MOT and YOLO files that have none
  Size image_size;                  // YOLO boxes are fractions: the size to scale them to
};

// MOT gt.txt (frame from 1, id, x, y, w, h, considered, class, visibility); COCO instances JSON;
// YOLO: a directory with one .txt per image (natural order; names that end in a number count as
// that 0-based or 1-based frame number only when `format` says so), or one such file.
Result<AnnotationSet> read_ground_truth(const std::filesystem::path& path,
                                        const GroundTruthOptions& options = {});

}  // namespace sparing

// Readers of detections and ground truth.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "sparing/base/annotation.h"
#include "sparing/base/result.h"

namespace sparing {

// Detections as our sinks write them: JSON Lines, COCO results, or MOT text, told apart by content.
//   - JSON Lines: image ids are the frame numbers, labels come from the lines. One stream only:
//     that of `stream`, or all lines must be of one.
//   - COCO results: image ids and class ids are COCO's own; labels only where the entries have
//     "label", as our sink's do.
//   - MOT: image ids are 0-based (files count from 1), class ids too; there are no labels.
// A blank file is a run without detections. kInput: names the file, the line or entry, and the
// field.
Result<DetectionSet> read_detections(const std::filesystem::path& file,
                                     std::optional<std::int64_t> stream = {});

struct GroundTruthOptions {
  // "mot", "coco", "yolo", "yolo0", "yolo1"; empty: from the content (yolo for a directory).
  std::string format;
  std::vector<std::string> labels;  // class names by id, for MOT and YOLO files
  Size image_size;                  // YOLO boxes are fractions: the size to scale them to
};

// Ground truth by image:
//   - MOT gt.txt (frame from 1, id, x, y, width, height, considered, class, visibility): considered
//     0 becomes `ignore`. Class 1 is class id 0; without `labels`, MOT16's names are used, with
//     "person" for its "pedestrian". Files with ten fields (MOT15) have no classes: all are id 0.
//   - COCO instances: class ids are the category ids (labels of unused ids are empty), image ids
//     COCO's own; iscrowd, area and ignore are kept. Images without annotations are included.
//   - YOLO: a directory of .txt files (class, centre x, y, width, height), classes.txt giving the
//     labels when `labels` is empty; or one such file, which is image 0. Image ids are 0, 1, ... in
//     natural order with "yolo"; the number at the end of each name with "yolo0", and that less 1
//     with "yolo1".
// kInput: names the file, the line or entry, and the field. kInvalidArgument: unknown format, YOLO
// without image size.
Result<AnnotationSet> read_ground_truth(const std::filesystem::path& path,
                                        const GroundTruthOptions& options = {});

}  // namespace sparing

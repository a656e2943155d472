// `sparing models quantize` of a segmentation model: what is measured instead of boxes.
#pragma once

#include <cstdint>
#include <map>

#include "quantize_parts.h"
#include "quantize_report.h"
#include "sparing/base/class_map.h"

namespace sparing::cli {

// Most probable labels by frame, at the size of the network's output.
struct LabelMaps {
  int classes = 0;
  std::map<std::int64_t, LabelMap> frames;
};

// What `model` makes of the frames to check, frame by frame without anything in between. Dumps as
// detect_in_clip. kInterrupted after a stop; others as FrameNetwork, decode_segmentation and
// sources give them.
Result<LabelMaps> segment_clip(Context& context, const Model& model, const ClipRun& run);

// The candidate's labels against the reference's, as if these were the truth. kModel: maps of
// another size or number of classes.
Result<QuantizeCheck> compare_labels(const LabelMaps& reference, const LabelMaps& candidate);

}  // namespace sparing::cli

// One frame on its way through the network: the work of the detector that does not depend on how
// frames are scheduled. Detector::detect runs the three steps in a row; DetectionRun overlaps them.
#pragma once

#include <string>
#include <vector>

#include "sparing/base/geometry.h"
#include "sparing/base/result.h"
#include "sparing/models/head.h"
#include "sparing/pipeline/detector.h"
#include "sparing/pipeline/frame_network.h"

namespace sparing {

struct DetectionCounts {
  std::int64_t not_finite = 0;     // NaN or infinity in the box or the score
  std::int64_t inside_out = 0;     // negative width or height
  std::int64_t unknown_class = 0;  // beyond the labels
  std::int64_t full_frames = 0;    // frames with more detections than are kept of one
  std::int64_t outside_frame = 0;  // nothing left after clipping to the frame
};

// Those of single detections that are not zero, with the reason.
std::vector<DropCount> drop_counts(const DetectionCounts& counts);

struct Detector::Impl : FrameNetwork {
  DetectOptions options;
  std::vector<char> class_wanted;  // by class id; empty: all
  float score_threshold = 0;
  NmsOptions nms;

  // Step 3 of a detector: waits for the outputs; detections in display coordinates. `pictures`: how
  // many the input holds, each of which may have nms.max_detections.
  Result<std::vector<Detection>> read(const FrameSlot& slot, const Affine& to_display, Size display,
                                      DetectionCounts& counts, int pictures = 1);

 private:
  void keep_best(std::vector<Detection>& detections, int most, DetectionCounts& counts) const;
};

}  // namespace sparing

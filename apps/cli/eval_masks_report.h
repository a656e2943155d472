// What eval-masks found, for people and for programs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sparing/io/source.h"
#include "sparing/pipeline/mask_evaluation.h"

namespace sparing::cli {

struct MasksReport {
  std::string masks, truth, frames;  // as given
  std::string masks_paired, truth_paired;
  std::vector<std::string> labels;  // by class; empty texts where not given
  MaskFigures figures;
  std::int64_t without_mask = 0;  // frames
  std::int64_t unused_masks = 0;  // that belong to no frame
  std::int64_t unused_truth = 0;
  bool interrupted = false;
};

// Both show F-TC, PC and flicker only beside an mIoU.
std::string masks_report_text(const MasksReport& report);
std::string masks_report_json(const MasksReport& report);
// A line of JSON, its end included, for --per-frame: the frame's figures, and those so far.
std::string masks_frame_json(const SourceFrame& frame, const MaskEvaluation& evaluation);

}  // namespace sparing::cli

// A segmentation run's summary for people and for programs.
#pragma once

#include <string>

#include "sparing/pipeline/segmenter.h"
#include "summary.h"

namespace sparing::cli {

struct SegmentDescription {
  RunDescription run;
  std::string mode;
  std::string aux;  // empty: no AuxNet
};

std::string summary_text(const SegmentDescription& description, const SegmentSummary& summary,
                         std::span<const OutputState> outputs);
// One JSON object in one line; the fields are documented in docs/cli.md.
std::string summary_json(const SegmentDescription& description, const SegmentSummary& summary,
                         std::span<const OutputState> outputs);

}  // namespace sparing::cli

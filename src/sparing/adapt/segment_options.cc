#include "sparing/adapt/segment_options.h"

namespace sparing {

std::optional<SegmentMode> segment_mode_from_name(std::string_view name) {
  for (const SegmentModeInfo& mode : kSegmentModes) {
    if (mode.name == name) return mode.mode;
  }
  return std::nullopt;
}

SegmentMode resolve(SegmentMode mode, bool has_aux) {
  if (mode != SegmentMode::kAuto) return mode;
  return has_aux ? SegmentMode::kAuxAdaptTemporal : SegmentMode::kTemporal;
}

}  // namespace sparing

// Regions of interest: what packed detection spends its pixels on. Made by `roi`, scaled, merged,
// planned and placed by `packing`, drawn and detected by `pipeline`.
#pragma once

#include <cstdint>

#include "sparing/base/geometry.h"

namespace sparing {

// Why a region is looked at.
enum class RoiSource {
  kFlow,        // a detected object, followed by optical flow
  kDifference,  // something moved between two frames
  kBackground,  // something stands where the background was
  kWholeFrame,  // the frame itself, at some scale
  kTile,        // a part of a regular grid
};

// How an object was followed: proxies of how hard it is to detect (Mondrian, section 4.2.2, Table
// II). All zero for regions that were not followed.
struct FlowFeatures {
  float mean_shift = 0;         // average length of the feature points' shifts, pixels a frame
  float shift_deviation = 0;    // their standard deviation, pixels
  float tracking_error = 0;     // average error of the points' patches, grey levels
  float shift_correlation = 0;  // normalised cross correlation of the patches, -1..1
  friend bool operator==(const FlowFeatures&, const FlowFeatures&) = default;
};

struct Roi {
  Rect rect;  // display coordinates of its frame, in pixels, inside the frame
  RoiSource source = RoiSource::kDifference;
  // The object that is expected there, in display coordinates; of no area when none is known yet.
  Box object;
  int class_id = -1;            // of the object; -1: unknown
  float confidence = 0;         // of its last detection, 0..1; 0: unknown
  std::int64_t object_id = -1;  // the same for one object from frame to frame; -1: new
  FlowFeatures flow;
  friend bool operator==(const Roi&, const Roi&) = default;
};

}  // namespace sparing

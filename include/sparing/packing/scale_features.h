// What is known of a region before any network has seen it, and tells how far it can be shrunk
// (Mondrian, section 4.2.2, "List of Features" and Table II). Plain values and functions.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include "sparing/base/roi.h"

namespace sparing {

// Sizes are those of the object that is expected in the region; where none is known yet, of the
// region itself without context.
struct ScaleFeatures {
  double area = 0;               // square pixels of the frame, > 0
  double max_edge = 0;           // the longer of width and height, pixels, > 0
  double aspect_ratio = 0;       // width / height, > 0
  double mean_shift = 0;         // average length of feature point shifts, pixels a frame, >= 0
  double tracking_error = 0;     // average error of the points' patches, grey levels, >= 0
  double shift_deviation = 0;    // standard deviation of the shifts, pixels, >= 0
  double shift_correlation = 0;  // normalised cross correlation of the patches, -1..1
  double height = 0;             // pixels, > 0
  double confidence = 0;         // of the object's last detection, 0..1; 0: none yet
  friend bool operator==(const ScaleFeatures&, const ScaleFeatures&) = default;
};

struct ScaleFeatureInfo {
  std::string_view name;  // stable: model files refer to features by it
  double ScaleFeatures::* member;
  bool in_paper;  // one of the seven of Table II
};

// The seven of Table II in its order, then the two that matter more.
inline constexpr std::array<ScaleFeatureInfo, 9> kScaleFeatures{{
    {"area", &ScaleFeatures::area, true},
    {"max_edge", &ScaleFeatures::max_edge, true},
    {"aspect_ratio", &ScaleFeatures::aspect_ratio, true},
    {"mean_shift", &ScaleFeatures::mean_shift, true},
    {"tracking_error", &ScaleFeatures::tracking_error, true},
    {"shift_deviation", &ScaleFeatures::shift_deviation, true},
    {"shift_correlation", &ScaleFeatures::shift_correlation, true},
    {"height", &ScaleFeatures::height, false},
    {"confidence", &ScaleFeatures::confidence, false},
}};

// Its index in kScaleFeatures.
std::optional<std::size_t> scale_feature_from_name(std::string_view name);

// Whether the region's object has been detected before: it has a box with an area.
bool has_object(const Roi& roi);

// Precondition: is_scalable(roi).
ScaleFeatures scale_features(const Roi& roi);

// Whether sizes and features are finite, and the object (the region where none is known) is not
// empty.
bool is_scalable(const Roi& roi);

}  // namespace sparing

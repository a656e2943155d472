// Which regions say the same (Mondrian, section 4.1, post processing).
#pragma once

#include <vector>

#include "sparing/base/roi.h"

namespace sparing::roi {

inline constexpr double kRedundantIou = 0.5;
inline constexpr double kRedundantCover = 0.9;  // of a region's own area

// Removes each region that an earlier one makes redundant: their IoU is above 0.5, or the earlier
// one covers 90 % of it. Objects that are followed are never removed for another one's sake: two
// people who walk side by side stay two. Returns how many went.
int remove_redundant(std::vector<Roi>& rois);

}  // namespace sparing::roi

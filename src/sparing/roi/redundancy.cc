#include "sparing/roi/redundancy.h"

#include <algorithm>

namespace sparing::roi {
namespace {

bool covers(const Rect& kept, const Rect& other) {
  const double common = intersect(kept, other).area();
  if (!(common > 0)) return false;
  return common > kRedundantIou * (kept.area() + other.area() - common) ||
         common >= kRedundantCover * other.area();
}

}  // namespace

int remove_redundant(std::vector<Roi>& rois) {
  std::vector<Roi> kept;
  for (const Roi& roi : rois) {
    const bool redundant = roi.source != RoiSource::kFlow &&
                           std::any_of(kept.begin(), kept.end(),
                                       [&](const Roi& k) { return covers(k.rect, roi.rect); });
    if (!redundant) kept.push_back(roi);
  }
  const auto removed = static_cast<int>(rois.size() - kept.size());
  rois.swap(kept);
  return removed;
}

}  // namespace sparing::roi

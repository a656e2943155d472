#include "sparing/streams/empty_regions.h"

#include <algorithm>
#include <cmath>

namespace sparing {
namespace {

constexpr std::size_t kMostPlaces = 256;
// A place that was empty n times in a row rests for this long, doubled n - 1 times. The first time
// may have been a miss.
constexpr double kFirstRest = 0.25;
constexpr double kLongestRest = 4;
// What overlaps by so much is the same place.
constexpr double kSameIou = 0.4;
// A place is forgotten after this time without a look or a wish to.
constexpr double kForget = 10;

double overlap(const Rect& a, const Rect& b) {
  const double common = intersect(a, b).area();
  return common / (a.area() + b.area() - common);
}

bool is_known(const Roi& roi) {
  return roi.object_id >= 0 || roi.source == RoiSource::kWholeFrame ||
         roi.source == RoiSource::kTile;
}

}  // namespace

const EmptyRegions::Place* EmptyRegions::find(const Rect& rect) const {
  const Place* best = nullptr;
  double most = kSameIou;
  for (const Place& place : places_) {
    const double common = overlap(place.rect, rect);
    if (common < most) continue;
    most = common;
    best = &place;
  }
  return best;
}

bool EmptyRegions::rests(const Roi& roi, const Timestamp& time) const {
  if (is_known(roi)) return false;
  const Place* place = find(roi.rect);
  if (place == nullptr) return false;
  const double rest = std::min(kLongestRest, kFirstRest * std::exp2(place->times - 1));
  return seconds_between(place->last, time) < rest;
}

bool EmptyRegions::skips(const Roi& roi, const Timestamp& time) {
  if (!rests(roi, time)) return false;
  ++skipped_;
  return true;
}

void EmptyRegions::looked_at(const Roi& roi, bool empty, const Timestamp& time) {
  if (is_known(roi)) return;
  const Place* const found = find(roi.rect);
  if (!empty) {
    if (found != nullptr) places_.erase(places_.begin() + (found - places_.data()));
    return;
  }
  if (found != nullptr) {
    Place* const place = places_.data() + (found - places_.data());
    place->rect = roi.rect;
    place->times = std::min(place->times + 1, 30);
    place->last = time;
    return;
  }
  std::erase_if(places_, [&](const Place& p) { return seconds_between(p.last, time) > kForget; });
  if (places_.size() >= kMostPlaces) places_.erase(places_.begin());
  places_.push_back({roi.rect, 1, time});
}

}  // namespace sparing

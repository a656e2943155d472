// Where regions were looked at lately and nothing was found: swinging leaves, a blinking sign, a
// shadow. They are looked at again later and later.
#pragma once

#include <cstdint>
#include <vector>

#include "sparing/base/geometry.h"
#include "sparing/base/roi.h"
#include "sparing/base/timestamp.h"

namespace sparing {

// Of one stream. Not thread-safe. Memory is bounded: at most 256 places.
class EmptyRegions {
 public:
  // Whether a region was found empty so lately that it is left out now. Regions of known objects
  // and whole frames never are. Counts as seen: see skipped().
  bool skips(const Roi& roi, const Timestamp& time);
  // The same without counting.
  bool rests(const Roi& roi, const Timestamp& time) const;
  // What came of a region that was looked at.
  void looked_at(const Roi& roi, bool empty, const Timestamp& time);
  std::int64_t skipped() const { return skipped_; }
  void clear() { places_.clear(); }

 private:
  struct Place {
    Rect rect;
    int times = 0;  // empty in a row
    Timestamp last;
  };
  const Place* find(const Rect& rect) const;

  std::vector<Place> places_;
  std::int64_t skipped_ = 0;
};

}  // namespace sparing

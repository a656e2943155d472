// Which objects are labels of the regions of a canvas, and where. Private to streams.
#pragma once

#include <map>
#include <span>
#include <utility>
#include <vector>

#include "sparing/streams/stream_detector.h"

namespace sparing {

// What was found in each frame of a window, by stream and frame.
class FrameObjects {
 public:
  // Takes what the region shows, but for probes, which are drawn to fail. Detections below `score`
  // are left out.
  void add(const CanvasRegion& region, double score);
  // Without duplicates from regions that overlap: of two of a class with IoU above 0.5 the more
  // confident.
  std::vector<Detection> of(int stream, std::int64_t frame) const;

 private:
  std::map<std::pair<int, std::int64_t>, std::vector<Detection>> found_;
};

// Those of `objects` (display coordinates) of which the region shows at least half, in canvas
// pixels and clipped to the region. With `center_only` the one that the region was made for: that
// which overlaps the expected object most, or, where none was expected, that on the region's
// centre.
std::vector<Detection> region_labels(const CanvasRegion& region, std::span<const Detection> objects,
                                     bool center_only);

}  // namespace sparing

// Where the region-based rivals look: our extractor's regions of each stream, to which what was
// found is fed back frame by frame.
#pragma once

#include <memory>
#include <vector>

#include "sparing/packing/merge.h"
#include "sparing/packing/scale_predictor.h"
#include "sparing/roi/roi_extractor.h"
#include "sparing/track/tracker.h"
#include "streams_clips.h"
#include "streams_fill.h"
#include "streams_network.h"

namespace sparing::bench {

class RegionFeed {
 public:
  static Result<RegionFeed> create(const RoiOptions& options = {});
  Result<FrameRois> add(const VideoFrame& frame);
  // What was found in the frame added last.
  Status found(const Timestamp& time, const std::vector<Detection>& detections);
  const Tracker& tracker() const { return tracker_; }

 private:
  RegionFeed(RoiExtractor extractor, Tracker tracker)
      : extractor_(std::move(extractor)), tracker_(std::move(tracker)) {}
  RoiExtractor extractor_;
  Tracker tracker_;
};

// A part of a stream's frame that is to be looked at.
struct Patch {
  std::size_t stream = 0;
  Rect rect;         // display coordinates
  double scale = 1;  // drawn pixels per pixel of the frame
  bool whole = false;
};

// Inputs for the patches of one moment; `views` has the frame of each stream. Each drawing of the
// jobs belongs to a patch: drawing d of job j to patch owners[j][d].
struct PatchJobs {
  std::vector<InputJob> jobs;
  std::vector<std::vector<std::size_t>> owners;
};

// Looks at every k-th frame of all streams at once: extract, `choose` patches of each stream,
// `arrange` them on inputs, run, fuse, feed back. The skeleton of the region-based rivals.
struct RegionRival {
  RoiOptions roi;
  MergeOptions merge;
  int every = 1;
};
using Arrange = PatchJobs (*)(const std::vector<Patch>& patches,
                              const std::vector<const VideoFrame*>& views, Network& network,
                              int cell);
Result<Outcome> run_regions(const Clip& clip, Network& network, const RegionRival& rival,
                            Arrange arrange, int cell);

// `rect` grown around its centre to at least `width` x `height`, moved inside the frame, not
// larger than the frame.
Rect grow_rect(const Rect& rect, double width, double height, Size frame);

}  // namespace sparing::bench

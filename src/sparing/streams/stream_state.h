// One stream of a StreamDetector: its frames of the window, and what is remembered of it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sparing/base/clock.h"
#include "sparing/packing/scale_estimator.h"
#include "sparing/roi/roi_extractor.h"
#include "sparing/streams/empty_regions.h"
#include "sparing/streams/stream_detector.h"
#include "sparing/streams/way_planner.h"
#include "sparing/track/filler.h"
#include "sparing/track/score_smoother.h"
#include "sparing/track/tracker.h"

namespace sparing {

// A frame of the window. Pixels are kept of frames that are looked at, of the newest, and when
// asked for.
struct HeldFrame {
  SourceFrame source;
  Size size;                      // display
  std::optional<FrameRois> rois;  // none: regions were not looked for in this frame
  bool key = false;
  // Between key frames that are far apart: regions of what is new in it, which are looked at.
  std::vector<Roi> arrivals;
  bool looked_at() const { return key || !arrivals.empty(); }
  Clock::time_point extract_begin;  // where regions were looked for
  double extract_seconds = 0;
};

// Times and sizes stay.
void drop_pixels(SourceFrame& frame);

class StreamState {
 public:
  static Result<StreamState> create(int number, const StreamInfo& info,
                                    const StreamOptions& options, const StreamTuning& tuning,
                                    std::span<const ScaleModel> scales);

  int number = 0;
  StreamInfo info;
  RoiExtractor extractor;
  ScaleEstimator scales;
  Tracker tracker;
  ScoreSmoother smoother;
  std::optional<BoxFiller> filler;  // of frames of filler_size
  Size filler_size;
  WayPlanner planner;
  EmptyRegions empty;
  std::vector<HeldFrame> frames;  // of the window
  StreamStatistics statistics;
  double extract_seconds = 0;  // since it was last collected
  int windows = 0;             // finished
  bool ended = false;
  bool keep_pictures = false;
  bool look_pending = false;  // the whole frame should have been looked at, but there was no time

  // Of a look at the whole frame in place of regions: as wanted, and the least that is worth it.
  double look_scale(Size frame) const;
  double least_look_scale(Size frame) const;

  // See StreamDetector::add_frame.
  Result<bool> add(SourceFrame frame);
  // How many frames a whole window has: by the stream's rate, or as many as the last one.
  int window_frames() const;
  // The window ends with the newest frame: it is looked at.
  Status cut();
  // Where regions are looked for, what they follow from now on: what was found in the newest frame,
  // and objects that were missed there a moment ago.
  Status follow(std::span<const TrackedDetection> found);
  // The way of the next window, when this one's objects are known.
  Status choose(const StreamChoice& choice, bool tight);
  // The window's frames are done with.
  void next_window();

 private:
  StreamState(RoiExtractor&& extractor, ScaleEstimator&& scales, Tracker&& tracker,
              ScoreSmoother&& smoother, WayPlanner&& planner)
      : extractor(std::move(extractor)),
        scales(std::move(scales)),
        tracker(std::move(tracker)),
        smoother(std::move(smoother)),
        planner(std::move(planner)) {}
  Status extract(HeldFrame& frame);
  // Whether a region of the frame may be something new: nothing was there when regions were looked
  // for the last time, no known object is, and it was not found empty a moment ago.
  bool is_arrival(const Roi& roi, const HeldFrame& frame) const;
  Status follow_in(Size frame, std::span<const TrackedDetection> found);
  bool wants_regions(const HeldFrame& frame) const;

  double window_seconds_ = 1;
  double follow_score_ = 0;
  bool short_start_ = false;  // with a budget, the first window is one frame, whatever the way
  SharedFrame newest_;        // of the window, where no regions were looked for
  int since_key_ = 0;         // frames from the last key frame; 0: none yet
  bool any_key_ = false;
  std::optional<Timestamp> window_start_;
  std::optional<Timestamp> last_extracted_;
  std::vector<Roi> last_rois_;  // then
  std::optional<Timestamp> last_time_;
};

}  // namespace sparing

// The steps of one frame's segmentation, which do not depend on how frames are scheduled.
// Segmenter::segment does them in a row; SegmentationRun overlaps them.
#pragma once

#include <atomic>
#include <optional>

#include "sparing/pipeline/frame_network.h"
#include "sparing/pipeline/segmenter.h"

namespace sparing {

// Chooses how often MainNet looks, so that a frame takes no more than the budget on average: from
// the processor time of a look, and that of everything else in the process.
class LookRate {
 public:
  // `budget` in seconds of wall time a frame; 0: `every` stays.
  LookRate(double budget, int every, int cores) : budget_(budget), cores_(cores), every_(every) {}
  int every() const { return every_.load(); }
  // After each frame, with the processor time since start: of looks so far, and of the process.
  void observe(std::int64_t looks, double main_seconds, double process_seconds);

  static constexpr int kMostEvery = 30;
  // Frames between two decisions.
  static constexpr int kPeriod = 10;

 private:
  double budget_ = 0;
  int cores_ = 1;
  std::atomic<int> every_;
  std::int64_t frames_ = 0;
  std::int64_t looks_before_ = 0;
  double main_before_ = 0;
  double process_before_ = 0;
};

// One frame on its way.
struct SegmentItem {
  SegmentedFrame frame;
  FrameSlot* slot = nullptr;  // nullptr: MainNet does not look
  bool use_main = false;      // what it says counts (with keep_main it looks at others, too)
  Affine to_display;
  Completion completion;
};

struct Segmenter::Impl {
  FrameNetwork main;
  SegmenterOptions options;
  std::optional<FrameMotion> motion;
  std::optional<StreamSegmenter> stream;
  // The state of step 1.
  bool has_past = false;  // the frames before lead to a result that can be moved on
  std::int64_t since_main = 0;

  bool main_runs() const { return info(stream->mode()).main || options.keep_main; }

  // Step 1: motion, and whether MainNet counts on this frame: that of every `every`-th does.
  Status look(SegmentItem& item, int every);
  // Step 2, with a slot: import and dispatch.
  Status start_main(SegmentItem& item);
  // Step 3: the result, when MainNet is done.
  Status finish(SegmentItem& item, SegmentationCounts& counts);
  // Step 4, after the result is handed on.
  Status learn(FrameTimes& times);

 private:
  Status read_main(SegmentItem& item, ProbabilityMap& map, SegmentationCounts& counts);
  ProbabilityMap other_;  // MainNet's where it does not count
};

}  // namespace sparing

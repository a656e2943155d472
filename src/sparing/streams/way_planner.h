// How one stream is looked at: which way, at which scale, how often. Costs follow from what was
// drawn and from the objects' sizes; recall from what whole frames showed that the ways missed.
#pragma once

#include <array>
#include <functional>
#include <span>
#include <vector>

#include "sparing/packing/merge.h"
#include "sparing/packing/multiple_choice.h"
#include "sparing/packing/scale_predictor.h"
#include "sparing/streams/stream_detector.h"
#include "sparing/streams/stream_options.h"

namespace sparing {

// Scales of whole frames to choose from, descending.
inline constexpr std::array kFrameScales = {2.0, 1.5, 1.25, 1.0,   0.84, 0.72,
                                            0.6, 0.5, 0.42, 0.375, 0.3,  0.25};
// The least of them that is not below `scale`, or the greatest; and the greatest that is not above
// it, or the least. Few sizes are drawn, as the first inference of each takes several times as long
// as the others.
double frame_scale_above(double scale);
double frame_scale_below(double scale);
// Factors on the scales of packed regions to choose from, descending.
inline constexpr std::array kPackedFactors = {1.0, 0.85, 0.7};
// Distances of key frames to choose from, ascending.
inline constexpr std::array kKeyDistances = {1, 2, 3, 4, 5, 6, 8, 9, 10, 12, 15, 18, 24, 30};

// An object as it was found in a key frame.
struct SeenObject {
  Detection detection;
  std::int64_t id = -1;
};

// Detector time, seconds.
struct WayCosts {
  std::function<double(Size drawn)> whole;  // of one picture of its own
  double packed_pixel = 0;                  // of a pixel of regions on shared canvases
};

// Not thread-safe. Results depend on what was observed only.
class WayPlanner {
 public:
  // `frame_rate`: nominal, a second; 0: unknown.
  WayPlanner(const StreamOptions& options, const MergeOptions& merge,
             const HeightParameters& heights, double frame_rate = 0);

  DetectWay way() const { return way_; }
  // Of whole frames and tiles; of packed regions a factor on their scales.
  double scale() const { return scale_; }
  int every() const { return every_; }
  // Whether key frames are so far apart that what is new between them is looked at, too.
  bool wants_arrivals() const;
  // Whether it is the budget that decides.
  bool tight() const { return tight_; }
  bool wants_regions() const { return way_ == DetectWay::kPacked; }
  // Of whole frames that show what is to be found: where a new stream begins, where the whole
  // picture changed, and where recall is measured.
  double reference_scale() const;
  // Of the next whole frame that measures recall; refreshed() when it was looked at.
  double refresh_scale() const;
  void refreshed() { ++refreshes_; }
  // Of whole frames in place of regions: the smallest that finds enough.
  double whole_scale() const;
  // Largest scale of packed regions; 1 as long as nothing was seen. More than the smallest of the
  // known objects needs is not worth it. A fragment that moves is mostly a part of something
  // larger. To explore is to allow any: small things that were never drawn large are not known.
  double region_scale_limit(bool explore) const;
  // Of the first frame, when nothing is known: a frame of a moderate number of pixels.
  static double start_scale(Size frame);
  // The same for whole frames, whose scale may be given.
  double first_scale(Size frame) const;

  // --- what happened in a window ---
  // Objects of its key frames, in order, and their frames' size.
  void observe_objects(std::span<const std::vector<SeenObject>> key_frames, Size frame);
  // Pixels drawn for packed regions, in so many key frames.
  void observe_packed(double pixels, int key_frames);
  // A key frame seen in some way, against the reference (both with all their detections).
  void observe_recall(DetectWay way, double scale, std::span<const Detection> found,
                      std::span<const Detection> reference);

  // --- what to do next ---
  // The ways for the next whole window, of so many frames.
  // Key frames move apart step by step. `tight`, where a budget leaves no other way: at once,
  // beyond StreamOptions::max_every's default, and packed regions are drawn smaller than what is
  // safe.
  StreamChoices choices(const WayCosts& costs, int frames, bool tight = false) const;
  void choose(const StreamChoice& choice, bool tight = false);
  // The way that costs least and finds enough (StreamOptions::target_recall), as an index.
  std::size_t best(const StreamChoices& choices) const;

  // A scale to try on a refreshed frame, below the reference's: the least known one that could be
  // chosen. 0: none.
  double trial_scale() const;
  MeasuredRecall measured() const;

 private:
  struct Measured {
    double hits = 0;
    double total = 0;
    double recall(double prior) const;
  };
  double low_size() const;
  double drawn_recall(double scale) const;
  double shrunk_recall(double factor) const;
  const Measured& measured_of(DetectWay way, double scale) const;
  double recall_of(DetectWay way, std::size_t scale_index) const;
  double every_recall(int every) const;
  int farthest(bool tight) const;
  double packed_pixels() const;
  double object_pixels() const;

  StreamOptions options_;
  MergeOptions merge_;
  HeightParameters heights_;
  DetectWay way_;
  double scale_ = 1;
  double frame_rate_;
  int step_;  // frames, by which key frames move apart at a time
  int every_ = 1;
  bool tight_ = false;
  Size frame_;
  std::vector<SeenObject> objects_;   // of the key frames of the last window with any
  int object_frames_ = 1;             // how many those were
  double packed_pixels_ = -1;         // a key frame at the factor 1, smoothed; -1: unknown
  double packed_objects_pixels_ = 0;  // object_pixels() then
  std::array<Measured, kPackedFactors.size()> packed_{};
  Measured tiles_;
  std::array<Measured, kFrameScales.size()> frames_{};
  // Objects that interpolation over twice the distance of key frames would have missed, and the sum
  // of the squares of those distances.
  double gap_misses_ = 0;
  double gap_squares_ = 0;
  int keys_every_ = 1;
  int refreshes_ = 0;
  std::vector<std::vector<SeenObject>> last_keys_;  // at most two
};

}  // namespace sparing

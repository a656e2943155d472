// One stream's segmentation over time: MainNet's probabilities and, by mode, those of an AuxNet
// that learns (AuxAdapt: Zhang, Borse, Porikli, "AuxAdapt: Stable and Efficient Test-Time
// Adaptation for Temporally Consistent Video Semantic Segmentation", WACV 2022, algorithm 1; the
// demo of CVPR 2022, sections 2 and 3) and of the frames before.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "sparing/adapt/frame_motion.h"
#include "sparing/adapt/segment_options.h"
#include "sparing/adapt/temporal_fusion.h"
#include "sparing/base/class_map.h"
#include "sparing/base/result.h"
#include "sparing/frame/video_frame.h"
#include "sparing/models/manifest.h"
#include "sparing/train/trainer.h"

namespace sparing {

struct StreamSegmenterOptions {
  SegmentMode mode = SegmentMode::kAuto;
  bool predicts = true;  // predict() will be called: modes that do not fuse keep a past for it
  EnsembleOptions ensemble;
  FusionOptions fusion;
  LearnOptions learn;
  TrainerOptions trainer;  // of AuxNet, and of MainNet's twin in mode tent
};

// What a stream's learning did so far.
struct LearnStatistics {
  std::int64_t steps = 0;         // made
  std::int64_t refused = 0;       // not made: loss or gradient too large or not finite
  std::int64_t resets = 0;        // AuxNet started anew
  std::int64_t blank_frames = 0;  // left out
  double loss = 0;                // of the last step
  double distance = 0;            // of the weights from their first, relative
};

// Times of the last frame, seconds.
struct SegmentTimes {
  double aux = 0;     // import and forward pass of AuxNet
  double fusion = 0;  // sum and temporal fusion
  double learn = 0;
};

// Owns AuxNet and the past. Not thread-safe; one object a stream. Frames come in order.
class StreamSegmenter {
 public:
  // `main` is needed by mode tent only (its graph is trained then), `aux` by modes with an AuxNet.
  // kInvalidArgument: an option out of range, a mode that needs a network that is not given;
  // kModel: networks whose labels differ, an AuxNet whose channels are not the labels one by one;
  // else as Trainer::create.
  static Result<StreamSegmenter> create(const StreamSegmenterOptions& options, const Model& main,
                                        const std::optional<Model>& aux);
  StreamSegmenter(StreamSegmenter&&) noexcept;
  StreamSegmenter& operator=(StreamSegmenter&&) noexcept;
  ~StreamSegmenter();

  SegmentMode mode() const;  // never kAuto
  // MainNet's output is wanted as logits.
  bool wants_logits() const;

  // A frame with MainNet's output at any size, which becomes the result: probabilities. For modes
  // without MainNet it may come empty, and gets AuxNet's size. kInvalidArgument: another number of
  // classes than the labels'; else as import_frame.
  Status segment(const VideoFrame& frame, const PictureMotion& motion, ProbabilityMap& map);
  // A frame that MainNet did not see: the result before it, moved with the picture. false: there is
  // none (the first frame, a cut), and MainNet has to see it.
  bool predict(const PictureMotion& motion, ProbabilityMap& map);

  // Learns from the frame that segment() saw last, if the mode learns and it is that frame's turn.
  Status learn();

  const LearnStatistics& statistics() const;
  const SegmentTimes& times() const;
  std::int64_t aux_macs() const;  // of one forward pass of AuxNet; 0: there is none
  // The trained network; nullptr when there is none.
  const Trainer* trainer() const;
  // Forgets the past and what was learnt.
  void reset();

  struct Impl;

 private:
  explicit StreamSegmenter(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace sparing

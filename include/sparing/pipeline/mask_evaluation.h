// Segmentations of a video against its pictures and ground truth, frame by frame: mIoU, and beside
// it the figures of steadiness (docs/metrics.md).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "sparing/base/class_map.h"
#include "sparing/base/result.h"
#include "sparing/flow/dense_flow.h"
#include "sparing/flow/pixel_masks.h"
#include "sparing/frame/video_frame.h"
#include "sparing/metrics/confusion.h"
#include "sparing/pipeline/perceptual_features.h"

namespace sparing {

// What the figures need of a picture and the one before it, whatever the segmentation: computed
// once for any number of evaluations.
struct PicturePair {
  Size size;             // of the picture, as it is shown
  bool follows = false;  // there was one of the same size before it: what follows is filled in
  FlowField flow;        // from the one before to this one, on reduced luma
  // By pixel of `flow`, of the picture before: 1 where this one shows it, too (empty: not asked
  // for), and where nothing has changed.
  std::vector<std::uint8_t> visible, still;
  std::shared_ptr<const FeatureGrid> before, features;  // none: not asked for
};

struct PictureAnalysisOptions {
  DenseFlowPreset flow = DenseFlowPreset::kMedium;
  bool occlusion = false;  // find what is visible, by the flow back: twice the time
  bool perceptual = true;  // extract features
  StillOptions still;
};

// Makes PicturePairs of consecutive frames. Luma is reduced by 2 or 4 where the longer side has
// more than 1024 or 2048 pixels. Not thread-safe.
class PictureAnalysis {
 public:
  explicit PictureAnalysis(const PictureAnalysisOptions& options = {});
  PictureAnalysis(PictureAnalysis&&) noexcept;
  PictureAnalysis& operator=(PictureAnalysis&&) noexcept;
  ~PictureAnalysis();

  // Of the next frame into `out`, whose memory is used again. kInvalidArgument, kNotSupported: as
  // LumaImage::extract, and pictures too small for DenseFlow.
  Status add(const VideoFrame& frame, PicturePair& out);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Of one frame (and its pair with the one before), or of all so far. `ftc`, `pc` and `flicker` say
// nothing of whether a segmentation is right: never show them without `scores.miou`.
struct MaskFigures {
  SegmentationScores scores;      // empty without ground truth
  std::optional<double> ftc;      // temporal consistency by flow (FlowConsistency)
  std::optional<double> pc;       // perceptual consistency; so far: mean over the pairs
  std::optional<double> flicker;  // share of static pixels that change their label
  std::int64_t frames = 0;
  std::int64_t truth_frames = 0;  // with ground truth
  std::int64_t pairs = 0;         // of consecutive frames that were compared
};

// The figures of one segmentation. Not thread-safe.
class MaskEvaluation {
 public:
  explicit MaskEvaluation(const LabelClasses& classes);
  MaskEvaluation(MaskEvaluation&&) noexcept;
  MaskEvaluation& operator=(MaskEvaluation&&) noexcept;
  ~MaskEvaluation();

  using ParallelFor = std::function<void(int count, const std::function<void(int)>& body)>;

  // The labels of the next frame, of any size, and their ground truth (null: none), of the same
  // size. A pair is compared where the picture follows one and the labels before had this size.
  // `parallel_for` runs the perceptual consistency (empty: the calling thread).
  // kInvalidArgument: sizes that differ, a label that is no class; nothing was counted then.
  Status add(const PicturePair& picture, const LabelMap& labels, const LabelMap* truth,
             const ParallelFor& parallel_for = {});
  // A frame without a segmentation: the next one is compared with none.
  void skip();

  MaskFigures last() const;   // of the frame that was added last
  MaskFigures total() const;  // of all so far

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sparing

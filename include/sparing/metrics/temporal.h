// How steady a segmentation is from frame to frame: along the motion, and where nothing moves.
// Neither says whether it is right: report them with the mIoU only.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "sparing/base/class_map.h"
#include "sparing/base/result.h"
#include "sparing/metrics/confusion.h"
#include "sparing/metrics/label_classes.h"

namespace sparing {

// Displacements per pixel of a frame, row by row: what is at (x, y) is at (x + dx, y + dy) in the
// other frame. Views of the caller's memory.
struct FlowView {
  std::span<const float> dx, dy;
};

// The labels of a frame as they would be seen from another: `out` at (x, y) is the label of the
// pixel of `labels` in which (x + dx, y + dy) of the pixel's centre lies (nearest neighbour), or
// kIgnoreLabel where that is outside the picture or not finite. `out` gets the size of `labels`.
// Precondition: `out` is not `labels`. kInvalidArgument: a flow of another number of pixels, a map
// that is not dense.
Status warp_labels(const LabelMap& labels, const FlowView& flow, LabelMap& out);

// F-TC, the temporal consistency by optical flow (Park et al., "Real-Time, Accurate, and Consistent
// Video Semantic Segmentation via Unsupervised Adaptation and Cross-Unit Deployment on Mobile
// Device", CVPR 2022, section 3.1, after Liu et al., "Efficient Semantic Video Segmentation with
// Per-Frame Inference", ECCV 2020): the segmentation of t warped to t-1 by the flow, compared with
// that of t-1 as mIoU, intersections and unions summed over the pairs of frames. Not thread-safe.
class FlowConsistency {
 public:
  explicit FlowConsistency(const LabelClasses& classes) : total_(classes), last_(classes) {}

  // `flow` leads from `before` (t-1) to `after` (t). Pixels that leave the picture count nowhere,
  // nor do those with an ignored label in either frame, nor those where `visible` (empty, or one a
  // pixel of `before`) is 0. kInvalidArgument: as LabelClasses::check, sizes that differ; nothing
  // was counted then.
  Status add(const LabelMap& before, const LabelMap& after, const FlowView& flow,
             std::span<const std::uint8_t> visible = {});

  // In [0, 1]; none without a pixel that counts.
  std::optional<double> last() const { return last_.scores().miou; }  // of the last pair
  std::optional<double> total() const { return total_.scores().miou; }
  std::int64_t pairs() const { return pairs_; }

 private:
  ConfusionMatrix total_;
  ConfusionMatrix last_;
  LabelMap warped_;
  std::int64_t pairs_ = 0;
};

// Labels that change where the picture does not: of the pixels that are static from one frame to
// the next, those whose label differs. Not thread-safe.
class Flicker {
 public:
  explicit Flicker(const LabelClasses& classes) : classes_(classes) {}

  // `still` has one value a pixel, not 0 where the picture stands still. Pixels with an ignored
  // label in either frame count nowhere. kInvalidArgument: as LabelClasses::check, sizes that
  // differ; nothing was counted then.
  Status add(const LabelMap& before, const LabelMap& after, std::span<const std::uint8_t> still);

  // Share in [0, 1]; none without a static pixel.
  std::optional<double> last() const { return last_.share(); }  // of the last pair
  std::optional<double> total() const { return total_.share(); }
  std::int64_t pixels() const { return total_.pixels; }  // static ones, of all pairs

 private:
  struct Count {
    std::int64_t changed = 0;
    std::int64_t pixels = 0;
    std::optional<double> share() const {
      if (pixels == 0) return std::nullopt;
      return static_cast<double>(changed) / static_cast<double>(pixels);
    }
  };
  LabelClasses classes_;
  Count total_, last_;
};

}  // namespace sparing

// Which regions of one frame are looked at together: redundant ones become one, neighbours are
// joined where that costs little, and all get context around them (Mondrian, section 4.1,
// "Post Processing" and "ROI Merging"). Plain functions without state; thread-safe.
#pragma once

#include <span>
#include <tuple>
#include <vector>

#include "sparing/base/geometry.h"
#include "sparing/base/options.h"
#include "sparing/base/result.h"
#include "sparing/base/roi.h"

namespace sparing {

struct MergeOptions {
  double redundant_iou = 0.5;
  double joint_factor = 1.3;
  double min_pad = 16;
  double pad_share = 0.1;

  static constexpr auto fields() {
    return std::tuple{
        option("redundant-iou", &MergeOptions::redundant_iou)
            .help("regions that overlap by more (IoU) are the same region")
            .range(0, 1),
        option("merge-factor", &MergeOptions::joint_factor)
            .help("regions are joined when together they have less than this times their summed "
                  "area, as the network sees them; 0: never")
            .range(0, 10),
        option("min-pad", &MergeOptions::min_pad)
            .help("least context around a region, on each side")
            .unit("px")
            .range(0, 1000),
        option("pad-share", &MergeOptions::pad_share)
            .help("context around a region, as a share of the square root of its area")
            .range(0, 10),
    };
  }
};

// A region and the scale at which its object is still found: drawn pixels per pixel of the frame.
struct ScaledRoi {
  Roi roi;
  double scale = 1;  // > 0; above 1 enlarges
};

struct MergedRoi {
  // Its rect holds all members with their context and lies inside the frame. The other fields are
  // those of one member: of redundant regions the one whose object is known best (highest
  // confidence), of joined ones the one known least, as it is what the region is most needed for.
  Roi roi;
  double scale = 1;          // the largest of the members'
  std::vector<int> members;  // indices of the regions given, ascending
};

// `rect` with max(min_pad, pad_share x sqrt(area)) pixels more on each side, clipped to the frame.
Rect pad_rect(const Rect& rect, Size frame, const MergeOptions& options);

// Merges the regions of one frame. First those that are redundant (by IoU, without context), the
// most similar first; then context is added; then regions are joined while some pair's bounding
// rectangle, at the larger scale of both, has less than joint_factor times the sum of their areas,
// each at its own scale, the pair with the least ratio first. Every region given is a member of
// exactly one returned; they come in the order of their first members. Whole frames and tiles
// (RoiSource) are returned as they are. About n^2 steps for n regions, n^3 at worst.
// kInvalidArgument: an option out of range, a region that is empty, not finite or not inside the
// frame, a scale that is not positive and finite, an empty frame.
Result<std::vector<MergedRoi>> merge_rois(std::span<const ScaledRoi> rois, Size frame,
                                          const MergeOptions& options = {});

}  // namespace sparing

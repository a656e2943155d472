// From boxes on canvases back to objects in frames (Mondrian, section 4.4, "Inference and Output
// Reconstruction"). Plain functions without state; thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "sparing/base/geometry.h"
#include "sparing/base/options.h"
#include "sparing/base/result.h"

namespace sparing {

struct ReconstructOptions {
  double min_inside = 0.5;
  double edge_margin = 2;
  double min_side = 1;
  double nms_iou = 0.6;
  double same_iou = 0.5;
  double contained = 0.7;
  double suspect_weight = 0.5;
  bool class_agnostic = false;

  static constexpr auto fields() {
    return std::tuple{
        option("min-inside", &ReconstructOptions::min_inside)
            .help("least share of a box that lies in one region; others are no object's")
            .range(0, 1),
        option("edge-margin", &ReconstructOptions::edge_margin)
            .help("a box that comes so near to its region's edge is taken for cut off there")
            .unit("canvas px")
            .range(0, 64),
        option("min-side", &ReconstructOptions::min_side)
            .help("boxes that are narrower or lower in the frame are left out")
            .unit("px")
            .range(0.001, 1000),
        option("region-iou", &ReconstructOptions::nms_iou)
            .help("boxes of different regions that overlap by more (IoU) are one object")
            .range(0, 1),
        option("cut-iou", &ReconstructOptions::same_iou)
            .help(
                "a cut box is part of a larger one when it overlaps what its region shows of that "
                "by so much (IoU)")
            .range(0, 1),
        option("cut-inside", &ReconstructOptions::contained)
            .help("and when so large a share of it lies inside")
            .range(0, 1),
        option("cut-weight", &ReconstructOptions::suspect_weight)
            .help("cut boxes count with their score times this against whole ones")
            .range(0, 1),
        option("fuse-class-agnostic", &ReconstructOptions::class_agnostic)
            .help("boxes of different classes may be one object"),
    };
  }
};

// A region as it was drawn.
struct DrawnRoi {
  std::size_t id =
      0;            // the caller's, e.g. the request's index; different for each region of a frame
  PixelRect rect;   // where it lies on the canvas
  Affine to_frame;  // from canvas pixels to the frame's display coordinates, as import returned it
  Size frame;       // display size of its frame
};

// Sides of a box at which its region ended, though the frame went on: the object may be larger.
enum CutSide : unsigned { kCutLeft = 1, kCutTop = 2, kCutRight = 4, kCutBottom = 8 };

struct RoiDetection {
  Detection detection;  // display coordinates of its frame, inside the frame, with an area
  std::size_t roi = 0;  // DrawnRoi::id of the region it was found in
  Box region;           // what that region showed, display coordinates
  unsigned cut = 0;     // of CutSide
  friend bool operator==(const RoiDetection&, const RoiDetection&) = default;
};

struct CanvasDetections {
  std::vector<RoiDetection> detections;  // in the order given
  std::int64_t outside = 0;  // boxes left out because they lie in no region, or across several
  std::int64_t empty = 0;  // boxes left out because nothing of them, or too little, is in the frame
};

// Assigns the boxes found on one canvas (canvas pixels) to the regions they overlap most, clips
// them to what the region shows, and maps them to the frame. A box that has less than min_inside of
// its area in one region is left out, as is one that is not finite or has no area. All detections
// of a region are kept, not only the one at its centre (packed.md). O(detections x regions).
// kInvalidArgument: an option out of range, a region without area, a frame without area, a map that
// is not finite or cannot be inverted.
Result<CanvasDetections> assign_detections(std::span<const Detection> detections,
                                           std::span<const DrawnRoi> rois,
                                           const ReconstructOptions& options = {});

// Makes one box of each object of one frame, class by class (unless class_agnostic), from what its
// regions found (of all canvases); those of one and the same region never affect each other (the
// detector has suppressed its duplicates). In this order:
// 1. A cut box that is part of a larger one of another region is left out: most of it lies inside,
//    and it is what its own region shows of the larger one. That one takes the higher score.
// 2. Two boxes cut by facing edges of regions that overlap are halves of one object when they
//    overlap along the cut and agree across it (IoU of their spans above 0.7): they become their
//    bounding box, with the higher score.
// 3. Non-maximum suppression across regions, as in the paper; cut boxes rank with their score times
//    suspect_weight, so that whole boxes are preferred.
// Returned by descending score; equal ones as they were given. O(n^2).
// kInvalidArgument: an option out of range, a box or region that is not finite.
Result<std::vector<RoiDetection>> fuse_detections(std::span<const RoiDetection> detections,
                                                  const ReconstructOptions& options = {});

}  // namespace sparing

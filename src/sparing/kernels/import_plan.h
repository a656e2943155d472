// What every import path shares: checking the arguments, and where on the source each tensor pixel
// lies. The sampling itself is each path's own.
#pragma once

#include "sparing/base/geometry.h"
#include "sparing/base/result.h"
#include "sparing/kernels/import.h"

namespace sparing::internal {

// The samples of one component along one axis. Coded coordinate u lies at index
// u * scale - offset of the component's samples; taps are limited to first..last, the samples that
// the visible rectangle touches (what lies beyond is codec padding and must not bleed in).
struct SampleAxis {
  double scale = 1;
  double offset = 0.5;
  int first = 0;
  int last = 0;
};

struct SampleGrid {
  SampleAxis x;
  SampleAxis y;
};

struct ImportPlan {
  ColorSpace color;          // resolved
  Rect source;               // display coordinates
  PixelRect destination;     // in the tensor
  PixelRect content;         // the part of destination that shows source; the rest is border
  Affine tensor_to_display;  // what import returns
  Affine display_to_coded;
  SampleGrid luma;    // of Y, R, G, B and grey
  SampleGrid chroma;  // of U and V
};

// The centre of content column i (or row j) in display coordinates. Counted from the content's own
// corner, so that the result is the same wherever the content lies in the tensor.
inline double display_x(const ImportPlan& plan, int i) {
  return plan.source.x + (i + 0.5) * plan.source.width / plan.content.width;
}
inline double display_y(const ImportPlan& plan, int j) {
  return plan.source.y + (j + 0.5) * plan.source.height / plan.content.height;
}

Result<ImportPlan> plan_import(const VideoFrame& frame, const ImportOptions& options,
                               const TensorView& destination);

// Fills destination minus content with the normalised pad value.
void fill_border(const ImportPlan& plan, const ImportOptions& options, const TensorView& tensor);

}  // namespace sparing::internal

// What every import path shares: checking the arguments, and where on the source each tensor pixel
// lies. The sampling itself is each path's own.
#pragma once

#include "sparing/base/geometry.h"
#include "sparing/base/result.h"
#include "sparing/kernels/import.h"

namespace sparing::internal {

// The samples of one component along one coded axis. Coded coordinate u lies at index
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

// The tensor pixels along one coded axis: the centre of the k-th, 0 <= k < count, is at the coded
// coordinate start + k * step. step is the pixel's extent in coded samples, negative where the
// picture is mirrored along this axis.
struct PixelAxis {
  int count = 0;
  double start = 0;
  double step = 1;
  Filter filter = Filter::kBilinear;  // never kAuto
};

struct ImportPlan {
  ColorSpace color;          // resolved, overrides applied
  PixelRect destination;     // in the tensor
  PixelRect content;         // the part of destination that shows the frame; the rest is border
  Affine tensor_to_display;  // what import returns
  SampleGrid luma;           // of Y, R, G, B and grey
  SampleGrid chroma;         // of U and V; with ChromaUpsampling::kReplicate not looked at
  // Content columns and rows in coded terms. Not transposed: content columns are along coded x and
  // content rows along coded y. Transposed (a quarter turn): content rows are along coded x,
  // content columns along coded y.
  bool transposed = false;
  PixelAxis x;  // along coded x
  PixelAxis y;  // along coded y
};

// Counted from the content's own corner, so that the result is the same wherever the content lies
// in the tensor.
inline double coded_position(const PixelAxis& axis, int k) { return axis.start + k * axis.step; }

Result<ImportPlan> plan_import(const VideoFrame& frame, const ImportOptions& options,
                               const TensorView& destination);

// Fills destination minus content with the normalised pad value, and `alpha` in a fourth channel.
void fill_border(const ImportPlan& plan, const ImportOptions& options, const TensorView& tensor);

}  // namespace sparing::internal

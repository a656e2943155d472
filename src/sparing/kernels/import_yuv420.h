// The fast path: I420 and NV12, upright, into three float32 planes with dense rows (NCHW). One
// pass, no memory but the stack.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "sparing/kernels/import.h"
#include "sparing/kernels/import_plan.h"

namespace sparing::internal {

// Whether import_yuv420 can do the job; the reference does the others.
bool fits_yuv420(const VideoFrame& frame, const ImportOptions& options, const TensorView& tensor);
// Draws plan.content. Precondition: fits_yuv420.
void import_yuv420(const ImportPlan& plan, const VideoFrame& frame, const ImportOptions& options,
                   const TensorView& tensor);
const char* yuv420_simd_target();

// What follows is shared between import_yuv420.cc and import_yuv420_simd.cc only.

// The two taps around a coded position: at0 and the next sample, with the weight of the latter,
// which is 0 at the last sample. Positions are found in double: in float, a column beyond 4096
// would be off by 1/4096 of a sample and more.
struct LinearTap {
  int at0;
  float weight1;
};
inline LinearTap linear_tap(const SampleAxis& axis, double coded) {
  double position = coded * axis.scale - axis.offset;
  position = position > axis.first ? position : axis.first;
  position = position < axis.last ? position : axis.last;
  const int at0 = static_cast<int>(position);  // axis.first is never negative
  return {at0, static_cast<float>(position - at0)};
}

struct Yuv420Source {
  Plane luma;
  Plane u;  // of NV12: both, interleaved
  Plane v;
  int luma_row_bytes = 0;
  int chroma_row_bytes = 0;
};

// c of red, green, blue = clamp(y[c] Y + u[c] U + v[c] V + bias[c], low[c], high[c]) of raw
// samples: range, matrix and normalisation in one. u[0] and v[2] are 0.
struct ColorTransform {
  float y[3];
  float u[3];
  float v[3];
  float bias[3];
  float low[3];
  float high[3];
};

inline constexpr int kTileColumns = 1024;
inline constexpr int kMaxLanes = 16;

// Taps of the columns of a tile. Offsets are bytes from the begin of a row to the first tap.
// Entries beyond the last column, up to a whole vector, are valid too (and their results not
// stored).
struct ColumnTaps {
  alignas(64) std::int32_t luma_offset[kTileColumns + kMaxLanes];
  alignas(64) float luma_weight[kTileColumns + kMaxLanes];
  alignas(64) std::int32_t chroma_offset[kTileColumns + kMaxLanes];
  alignas(64) float chroma_weight[kTileColumns + kMaxLanes];
};

// Scale 1 at whole luma samples: columns alternate between two chroma phases. The first column has
// its chroma taps at chroma_first (may be -1: clamped) and the next one `step` further on.
struct StraightColumns {
  int luma_first = 0;
  int chroma_first = 0;
  int step = 0;  // 0 or 1
  float weight[2] = {0, 0};
};

struct Yuv420Tile {
  const Yuv420Source* source;
  const ImportPlan* plan;
  const ColorTransform* color;
  bool interleaved;                 // NV12
  int columns;                      // 1..kTileColumns
  const ColumnTaps* taps;           // null when straight
  int unshifted_columns;            // leading columns whose taps are 4 readable bytes
  const StraightColumns* straight;  // null when not
  float* channels[3];               // first row of the tile in the planes of red, green, blue
  std::ptrdiff_t stride_y;          // bytes
};

// Through Highway's dispatch.
void import_yuv420_tile(const Yuv420Tile& tile);

// Row taps of content row j.
struct RowTaps {
  LinearTap luma;
  LinearTap chroma;
};
inline RowTaps row_taps(const ImportPlan& plan, int j) {
  const double coded = plan.display_to_coded({0, display_y(plan, j)}).y;
  return {linear_tap(plan.luma.y, coded), linear_tap(plan.chroma.y, coded)};
}
inline double coded_column(const ImportPlan& plan, int i) {
  return plan.display_to_coded({display_x(plan, i), 0}).x;
}

}  // namespace sparing::internal

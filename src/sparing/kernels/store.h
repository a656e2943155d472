// From lines of samples to a row of the tensor: the vertical blend of two lines, colour conversion,
// normalisation, clamping, rounding to the tensor's type, and layout.
#pragma once

#include <cstddef>

#include "sparing/base/tensor_view.h"

namespace sparing::internal {

// Channel c = clamp(matrix[c] . lines + bias[c], low[c], high[c]), in the order of the tensor's
// channels: range, matrix, normalisation and quantisation in one.
struct ColorTransform {
  float matrix[3][3] = {};
  float bias[3] = {};
  float low[3] = {};
  float high[3] = {};
  float alpha = 0;  // the fourth channel's value
};

// How the elements of a row lie.
enum class RowLayout {
  kPlanar,       // each channel's one after the other
  kInterleaved,  // 3 or 4 channels of a pixel, then the next pixel's
};

struct StoreJob {
  int columns = 0;
  int lines = 0;     // 1 or 3
  int channels = 0;  // 1, 3 or 4
  DataType type = DataType::kFloat32;  // but kInt64
  RowLayout layout = RowLayout::kPlanar;
  const ColorTransform* color = nullptr;
  // Line k is upper[k] + (lower[k] - upper[k]) * weight[k]; whole vectors are read.
  const float* upper[3] = {};
  const float* lower[3] = {};
  float weight[3] = {};
  // The first element of each channel; kInterleaved: of the pixel, in channels[0].
  std::byte* out[4] = {};
};

// Writes `columns` pixels and nothing else.
using StoreRow = void (*)(const StoreJob& job);

// The function for the job's lines, channels, type and layout, on the best instruction set here.
StoreRow store_row(const StoreJob& job);

}  // namespace sparing::internal

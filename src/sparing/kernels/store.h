// From lines of samples to rows of the tensor: the vertical blend of two lines, colour conversion,
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

// Whether there is a function for it; other types go through float32, one element at a time. WebNN
// has no bfloat16, no network of the browser's takes pictures as int32, and modules are downloaded.
constexpr bool has_store(DataType type) {
#ifdef __wasm__
  if (type == DataType::kBfloat16 || type == DataType::kInt32) return false;
#endif
  return type != DataType::kInt64;
}

// Line k of a tensor row is upper[k] + (lower[k] - upper[k]) * weight[k]. Whole vectors are read.
struct BlendRow {
  const float* upper[3];
  const float* lower[3];
  float weight[3];
};

struct StoreJob {
  int columns = 0;
  int lines = 0;                       // 1 or 3
  int channels = 0;                    // 1, 3 or 4
  DataType type = DataType::kFloat32;  // one that has_store()
  RowLayout layout = RowLayout::kPlanar;
  const ColorTransform* color = nullptr;
  int rows = 0;
  const BlendRow* blend = nullptr;  // one a row
  // The first element of each channel in the first row (kInterleaved: of the pixel, in out[0]), and
  // the bytes from there to the next row's.
  std::byte* out[4] = {};
  std::ptrdiff_t row_stride = 0;
};

// Writes `rows` rows of `columns` pixels and nothing else.
using StoreRows = void (*)(const StoreJob& job);

// The function for the job's lines, channels, type and layout, on the best instruction set here.
StoreRows store_rows(const StoreJob& job);
// The same without vectors, for float32, uint8 and int8 (else null): Highway's emulation of vectors
// takes several times as long.
StoreRows store_rows_plain(const StoreJob& job);

}  // namespace sparing::internal

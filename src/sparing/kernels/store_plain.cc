// The stores without vectors: the same operations in the same order, to the same bits.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <type_traits>

#include "sparing/kernels/store.h"

namespace sparing::internal {
namespace {

// Rounded half to even; bytes as the vector code does it, whose values are clamped by now.
template <class T>
T converted(float value) {
  if constexpr (std::is_same_v<T, float>) {
    return value;
  } else {
    constexpr float kRounder = 12582912.0f;  // 1.5 * 2^23
    return static_cast<T>(std::bit_cast<std::int32_t>(value + kRounder));
  }
}

template <class T, int kLines, int kColors>
void store(const StoreJob& job) {
  const ColorTransform color = *job.color;  // what is stored cannot change these
  const bool planar = job.layout == RowLayout::kPlanar;
  const int step = planar ? 1 : job.channels;
  for (int r = 0; r < job.rows; ++r) {
    const BlendRow row = job.blend[r];
    T* out[4] = {};
    for (int c = 0; c < job.channels; ++c) {
      std::byte* const first = job.out[planar ? c : 0] + r * job.row_stride;
      out[c] = reinterpret_cast<T*>(first) + (planar ? 0 : c);
    }
    for (int i = 0; i < job.columns; ++i) {
      float line[kLines];
      for (int k = 0; k < kLines; ++k) {
        line[k] = (row.lower[k][i] - row.upper[k][i]) * row.weight[k] + row.upper[k][i];
      }
      for (int c = 0; c < kColors; ++c) {
        float value = color.bias[c];
        for (int k = 0; k < kLines; ++k) value = line[k] * color.matrix[c][k] + value;
        out[c][i * step] = converted<T>(std::min(std::max(value, color.low[c]), color.high[c]));
      }
      if (kColors == 3 && job.channels == 4) out[3][i * step] = converted<T>(color.alpha);
    }
  }
}

template <class T>
StoreRows rows_of(const StoreJob& job) {
  if (job.lines == 1) return job.channels == 1 ? &store<T, 1, 1> : &store<T, 1, 3>;
  return job.channels == 1 ? &store<T, 3, 1> : &store<T, 3, 3>;
}

}  // namespace

StoreRows store_rows_plain(const StoreJob& job) {
  switch (job.type) {
    case DataType::kFloat32: return rows_of<float>(job);
    case DataType::kUint8: return rows_of<std::uint8_t>(job);
    case DataType::kInt8: return rows_of<std::int8_t>(job);
    default: return nullptr;
  }
}

}  // namespace sparing::internal

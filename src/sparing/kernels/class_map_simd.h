// The loops over maps of classes, compiled once for each instruction set. Products and sums are not
// fused, so that all of them give the same bits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sparing/base/class_map.h"

namespace sparing::internal {

inline constexpr int kClassLanes = 16;  // floats of the longest vector

// What the scores of a pixel are made into. All but kKeep: weights, which are then divided by their
// sum.
enum class ScoreUse {
  kExponential,  // exp(score - the pixel's greatest)
  kSigmoid,      // 1 / (1 + exp(-score))
  kShare,        // the score, cut to [0, 1]
  kKeep,         // the score itself, cut to [-kMaxLogit, kMaxLogit]
};
inline constexpr float kMaxLogit = 1e6f;

// One channel of scores that goes to a plane.
struct ScoreChannel {
  const float* from = nullptr;
  int plane = 0;
  bool adds = false;  // another channel before it has the same plane; not with kKeep
};

// `count` pixels. A channel may be read where its own plane is written, if that is plane i for
// channel i for all of them. Planes that no channel goes to stay as they are.
struct ScoreJob {
  ScoreUse use = ScoreUse::kExponential;
  const ScoreChannel* channels = nullptr;
  int channel_count = 0;
  float* out = nullptr;             // plane 0
  std::ptrdiff_t plane_stride = 0;  // floats
  int plane_count = 0;
  std::ptrdiff_t count = 0;
};

struct ScoreTally {
  // Pixels with a NaN or +infinity, without a score above -infinity or a sum above 0. They get
  // 1 / plane_count in every plane that is written (kKeep: 0).
  std::int64_t bad = 0;
  // kShare: the range of finite scores, and of 0.
  float least = 0;
  float greatest = 0;
};

// Samples between two of a row, for up to `columns` columns. All arrays are filled up to the next
// multiple of kClassLanes.
struct ColumnTable {
  static constexpr int kColumns = 128;
  int columns = 0;
  int padded = 0;  // columns, rounded up to kClassLanes
  alignas(64) std::int32_t left[kColumns];
  alignas(64) std::int32_t right[kColumns];
  alignas(64) float weight[kColumns];  // of the right one
};

// Lines of one tile, by class: class c at data + c * stride.
struct ClassLines {
  float* data = nullptr;
  std::ptrdiff_t stride = 0;
};

struct ClassKernels {
  const char* target;
  ScoreTally (*scores)(const ScoreJob& job);
  // `values` is plane 0, plane_stride floats before the next.
  void (*argmax)(const float* values, std::ptrdiff_t plane_stride, int classes,
                 std::ptrdiff_t count, std::uint8_t* labels);
  // A row of each plane, of `width` samples, to table.padded columns of a line.
  void (*sample)(const ColumnTable& table, const float* row, std::ptrdiff_t plane_stride, int width,
                 int classes, const ClassLines& lines);
  // upper + weight * (lower - upper), and the class with the greatest.
  void (*argmax_between)(const ClassLines& upper, const ClassLines& lower, float weight,
                         int classes, int columns, std::uint8_t* labels);
  void (*between)(const float* upper, const float* lower, float weight, int columns, float* out);
};

const ClassKernels& class_kernels();

}  // namespace sparing::internal

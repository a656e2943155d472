// Horizontal sampling: one row of a plane in, one line of floats for each component out, a value
// for each tensor column. Sums are of integers and exact (but those of many taps of 2 bytes, whose
// order is fixed), so that every instruction set, and every cut into tiles and groups, gives the
// same bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "sparing/frame/pixel_format.h"
#include "sparing/kernels/taps.h"

namespace sparing::internal {

inline constexpr int kTileColumns = 1024;  // at most; the tables of one tile fit the L1 cache
inline constexpr int kMaxLanes = 16;       // floats of a vector
inline constexpr int kLineFloats = kTileColumns + kMaxLanes;

// The components that one pass over a plane's row samples: they share plane, step and taps.
struct ComponentGroup {
  int components = 0;        // 1..3
  int step = 1;              // bytes from one sample to the next
  int offset = 0;            // bytes to the first component
  int delta[3] = {0, 0, 0};  // from there to each
  int sample_bytes = 1;      // 1 or 2
};

// How the taps of a line are fetched.
enum class SampleMode {
  kRun,    // sample i is tap i: no scaling
  kBlock,  // 4 columns' taps lie within 16 bytes: one load and a shuffle for them
  // 16 columns' taps lie within 256 bytes: loads of 64 bytes and a shuffle across them. Only where
  // SampleKernels::wide_shuffles
  kWide,
  kPair,  // 2 taps, anywhere: a load of 8 bytes a column
  kLane,  // any number of taps, or 3 components: loads a column, into a quarter of a vector
};

// The taps of one tile's columns. Weights are whole numbers that sum to `unit` in each column
// (but see `factor`).
struct TapTable {
  SampleMode mode = SampleMode::kRun;
  ComponentGroup group;
  int columns = 0;
  int steps = 0;   // kBlock, kWide: pairs of taps; kLane: windows a column
  int window = 0;  // bytes of a load: 8 or 16; of kWide's loads together: 64, 128 or 256
  int stride = 0;  // kLane: bytes from one window to the next
  double unit = 1;
  // Columns before the first and from the second on, at the edge of the picture, have fewer taps
  // and sums of their own: `factor` brings them to `unit`.
  int whole_begin = 0;
  int whole_end = 0;
  bool backwards = false;  // offsets fall
  int group_lines = 1;     // cache lines that the columns of a vector span
  int first_byte = 0;      // of a row that is sampled, and how many from there on
  int byte_count = 0;
  // Columns [safe_begin, safe_end), both multiples of kMaxLanes, load within row_bytes; the others
  // load what there is.
  int safe_begin = 0;
  int safe_end = 0;
  int row_bytes = 0;
  // Offset of the window of each column, of every 4 columns (kBlock) or 16 (kWide), or of the first
  // (kRun).
  alignas(64) std::int32_t base[kLineFloats];
  float factor[kLineFloats];
  // kLane: where the bytes of a window's taps go.
  alignas(64) std::uint8_t lane_index[16];
  // kBlock, kWide: `steps` rows of an index and of a weight pair a column; kPair: one row of each.
  // kLane: 8 weights for each window, in the order of lane_place() in sample.cc.
  static constexpr std::size_t kDataBytes = 36864;
  alignas(64) std::uint8_t data[kDataBytes];

  int padded_columns() const { return (columns + kMaxLanes - 1) / kMaxLanes * kMaxLanes; }
  const std::uint8_t* indices(int step) const { return data + std::size_t{8} * row(step); }
  const std::uint8_t* weights(int step) const { return data + std::size_t{8} * row(step) + half(); }
  std::uint8_t* indices(int step) { return data + std::size_t{8} * row(step); }
  std::uint8_t* weights(int step) { return data + std::size_t{8} * row(step) + half(); }

 private:
  std::size_t row(int step) const { return static_cast<std::size_t>(step * padded_columns()); }
  std::size_t half() const { return std::size_t{4} * static_cast<std::size_t>(padded_columns()); }
};

// What all tiles of an axis share.
struct SamplePlan {
  ComponentGroup group;
  SampleMode mode = SampleMode::kRun;
  int max_columns = 0;  // of a tile
  int steps = 0;
  int window = 0;
  double unit = 1;
};

// nullopt: a pixel covers too many samples; the reference does such jobs.
std::optional<SamplePlan> plan_sampling(const AxisTaps& taps, const ComponentGroup& group,
                                        int pixels, int row_bytes);

// The bytes of a row that columns [first, first + columns) look at, or a little more.
struct ByteRange {
  int begin = 0;
  int end = 0;
};
ByteRange byte_range(const ComponentGroup& group, const AxisTaps& taps, int first, int columns);

// The table of columns [first, first + columns) of a plane whose rows have `row_bytes` bytes.
void fill_taps(const SamplePlan& plan, const AxisTaps& taps, int first, int columns, int row_bytes,
               TapTable& table);

// Rows to sample with one table, each into a line for each component, which is written up to a
// whole number of vectors. While one is sampled, the bytes of up to two others are brought into the
// cache (next[i][0] null: of none).
struct SampleBatch {
  static constexpr int kMaxRows = 16;
  int count = 0;
  const std::uint8_t* rows[kMaxRows];
  const std::uint8_t* next[kMaxRows][2];
  float* lines[kMaxRows][3];
};
using SampleLines = void (*)(const TapTable& table, const SampleBatch& batch);

// The one that needs no vectors.
void sample_plain(const TapTable& table, const SampleBatch& batch);

// Brings the columns at the edges to the table's unit.
void scale_columns(const TapTable& table, int begin, int end, float* const* lines);
inline void scale_edges(const TapTable& table, float* const* lines) {
  if (table.whole_begin > 0) scale_columns(table, 0, table.whole_begin, lines);
  const int end = table.whole_begin > table.whole_end ? table.whole_begin : table.whole_end;
  if (end < table.columns) scale_columns(table, end, table.columns, lines);
}

// acc[i] = line[i] * weight, or with `add` acc[i] += line[i] * weight, up to a whole vector.
using AccumulateLine = void (*)(const float* line, float weight, bool add, int columns, float* acc);

struct SampleKernels {
  const char* target;
  int lanes;
  bool wide_shuffles;
  SampleLines (*sampler)(const TapTable& table);
  AccumulateLine accumulate;
  // Brings bytes into the cache.
  void (*prefetch)(const std::uint8_t* from, int bytes);
};
// Of the best instruction set here.
const SampleKernels& sample_kernels();

}  // namespace sparing::internal

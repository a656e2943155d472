// Lines of one component group for a few tensor rows at a time: which source rows they need, which
// of those are there already, and which will be needed next.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sparing/frame/video_frame.h"
#include "sparing/kernels/sample.h"
#include "sparing/kernels/store.h"
#include "sparing/kernels/taps.h"

namespace sparing::internal {

// A component group in a frame.
struct SampleSource {
  bool chroma = false;
  int line = 0;  // of the first component
  Plane plane;
  int row_bytes = 0;
  SamplePlan sampling;
};

// Floats for the lines of one component. They are cut into slots of a line each.
inline constexpr int kLinePool = 2 * kLineFloats;
// Tensor rows that are made at once, at most: so many that short rows are worth a call.
inline constexpr int kMaxBatch = SampleBatch::kMaxRows / 2;

// Rows of a tile of so many columns that are made at once: a power of 2. 1 where a filter adds up
// more than two source rows.
int batch_rows(int columns, bool pairs);

class RowSampler {
 public:
  // `pool` has kLinePool floats for each component, `sums` kLineFloats. All is kept by reference.
  void start(const SampleSource& source, const AxisTaps& rows, int batch, float* const* pool,
             float* const* sums);
  // Brings what the first batch, from row y on, will read into the cache: columns of bytes
  // [begin, end) of its rows.
  void prefetch_first(int y, int end_row, int begin, int end);
  void set_table(const TapTable& table, int columns);

  // Makes the lines of tensor rows [y, y + count), count <= batch, and names them in `blend`. Rows
  // are asked for in order; those up to `end` will be.
  void sample(int y, int count, int end, BlendRow* blend);

 private:
  // A few tensor rows of pairs: the source rows to sample for them, and the slots that each blends.
  struct Batch {
    int first = -1;  // tensor row
    SampleBatch sample;
    int slots[SampleBatch::kMaxRows];  // of sample.rows
    struct Blend {
      int upper;  // slot
      int lower;
      float weight;
    } blend[kMaxBatch];
  };

  void plan(int y, int count, Batch& batch);
  void blend_pairs(int y, int count, int end, BlendRow* blend);
  void add_up(int y, int end, BlendRow* blend);
  void run(Batch& now, const std::uint8_t* const* next, int next_count);
  float* line(int slot, int component) const { return pool_[component] + slot * slot_floats_; }
  const std::uint8_t* row(int index) const {
    return source_->plane.data + index * source_->plane.stride;
  }

  const SampleSource* source_ = nullptr;
  const AxisTaps* rows_ = nullptr;
  const TapTable* table_ = nullptr;
  SampleLines sampler_ = nullptr;
  float* pool_[3] = {};
  float* sums_[3] = {};
  int batch_rows_ = 1;
  int slots_ = 2;  // a power of 2
  int slot_floats_ = 0;
  int columns_ = 0;
  bool backwards_ = false;

  // The rows that were planned last, the later first, and their slots; -1: none.
  int last_[2] = {-1, -1};
  int last_slot_[2] = {0, 1};
  // This batch and the next, whose rows are brought into the cache during this one.
  Batch batches_[2];
  int turn_ = 0;
};

}  // namespace sparing::internal

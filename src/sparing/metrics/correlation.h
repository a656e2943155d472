// The inner loop of the perceptual consistency: highest correlations between two sets of feature
// vectors. Private to metrics.
#pragma once

#include <cstddef>

namespace sparing::internal {

// Vectors are kept in blocks, channel by channel: value c of the i-th vector of a block of n is at
// block[c * n + i].
inline constexpr int kRowBlock = 6;      // vectors of a block of rows
inline constexpr int kColumnBlock = 16;  // and of columns

struct CorrelationJob {
  int channels = 0;
  const float* rows = nullptr;     // one block
  const float* columns = nullptr;  // `column_blocks` blocks, one after another
  int column_blocks = 0;
  float* row_best = nullptr;     // kRowBlock: raised to the highest product with any column
  float* column_best = nullptr;  // column_blocks * kColumnBlock: likewise with any row
};

// Every row with every column. Sums run over the channels in order, so that a pair's product is the
// same wherever it lies; with fused or separate operations by the instruction set.
void raise_to_correlations(const CorrelationJob& job);

// The name of the instruction set in use, for tests.
const char* correlation_simd_target();

}  // namespace sparing::internal

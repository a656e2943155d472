// The samplers without vectors: the same sums, one by one, to the same bits.
#include <cstdint>
#include <cstring>

#include "sparing/kernels/sample.h"

namespace sparing::internal {
namespace {

std::int32_t sample_at(const TapTable& table, const std::uint8_t* row, int at) {
  if (table.group.sample_bytes == 1) return at < table.row_bytes ? row[at] : 0;
  if (at + 2 > table.row_bytes) return 0;
  return (row[at] | row[at + 1] << 8) - 32768;
}

// A pair of taps by its index, relative to `base`, and its weights.
std::int32_t pair_sum(const TapTable& table, const std::uint8_t* row, int base,
                      const std::uint8_t* index, const std::uint8_t* weights) {
  std::int32_t sum = 0;
  for (int tap = 0; tap < 2; ++tap) {
    std::int16_t weight;
    std::memcpy(&weight, weights + 2 * tap, sizeof weight);
    if (index[2 * tap] < 0x80) sum += sample_at(table, row, base + index[2 * tap]) * weight;
  }
  return sum;
}

// The sums of a column's windows, as the vector code adds them: see add_sums() there.
template <class Sum>
void lane_sums(const TapTable& table, const std::uint8_t* row, int i, float* const* lines) {
  Sum sums[4] = {0, 0, 0, 0};
  for (int step = 0; step < table.steps; ++step) {
    const std::uint8_t* weights = table.data + 16 * ((i / 4 * table.steps + step) * 4 + i % 4);
    for (int a = 0; a < 4; ++a) {
      sums[a] += static_cast<Sum>(pair_sum(table, row, table.base[i] + step * table.stride,
                                           table.lane_index + 4 * a, weights + 4 * a));
    }
  }
  if (table.group.components == 1) sums[0] = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  if (table.group.components == 2) {
    sums[0] = sums[0] + sums[2];
    sums[1] = sums[1] + sums[3];
  }
  for (int c = 0; c < table.group.components; ++c) lines[c][i] = static_cast<float>(sums[c]);
}

void pair_sums(const TapTable& table, const std::uint8_t* row, int i, float* const* lines) {
  const int base = table.base[table.mode == SampleMode::kBlock ? i / 4 : i];
  for (int c = 0; c < table.group.components; ++c) {
    std::int32_t sum = 0;
    for (int step = 0; step < table.steps; ++step) {
      sum += pair_sum(table, row, base + table.group.delta[c], table.indices(step) + 4 * i,
                      table.weights(step) + 4 * i);
    }
    lines[c][i] = static_cast<float>(sum);
  }
}

}  // namespace

void sample_plain(const TapTable& table, const SampleBatch& batch) {
  for (int r = 0; r < batch.count; ++r) {
    const std::uint8_t* row = batch.rows[r];
    for (int i = 0; i < table.padded_columns(); ++i) {
      if (table.mode == SampleMode::kRun) {
        batch.lines[r][0][i] = static_cast<float>(sample_at(table, row, table.base[0] + i)) *
                               static_cast<float>(table.unit);
      } else if (table.mode != SampleMode::kLane) {
        pair_sums(table, row, i, batch.lines[r]);
      } else if (table.group.sample_bytes == 1) {
        lane_sums<std::int32_t>(table, row, i, batch.lines[r]);
      } else {
        lane_sums<float>(table, row, i, batch.lines[r]);
      }
    }
    scale_edges(table, batch.lines[r]);
  }
}

}  // namespace sparing::internal

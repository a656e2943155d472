// The samplers without vectors: the same sums, one by one, to the same bits.
#include <cstdint>
#include <type_traits>

#include "sparing/kernels/sample.h"

namespace sparing::internal {
namespace {

// One of these for samples of 1 byte and of 2.
template <int kBytes>
class PlainSampler {
 public:
  PlainSampler(const TapTable& table, const std::uint8_t* row, float* const* lines)
      : table_(table), row_(row), lines_(lines) {}

  void line() const {
    const int columns = table_.padded_columns();
    switch (table_.mode) {
      case SampleMode::kRun:
        for (int i = 0; i < columns; ++i) {
          lines_[0][i] =
              static_cast<float>(sample(table_.base[0] + i)) * static_cast<float>(table_.unit);
        }
        return;
      case SampleMode::kLane:
        for (int i = 0; i < columns; ++i) lane_sums(i);
        return;
      default:
        for (int c = 0; c < table_.group.components; ++c) pair_sums(c, columns);
    }
  }

 private:
  std::int32_t sample(int at) const {
    if (at + kBytes > table_.row_bytes) return 0;
    if constexpr (kBytes == 1) return row_[at];
    return (row_[at] | row_[at + 1] << 8) - 32768;
  }

  std::int32_t weighted(int base, std::uint8_t index, const std::uint8_t* weight) const {
    if (index >= 0x80) return 0;
    return sample(base + index) * static_cast<std::int16_t>(weight[0] | weight[1] << 8);
  }

  // A pair of taps by its index, relative to `base`, and its weights.
  std::int32_t pair_sum(int base, const std::uint8_t* index, const std::uint8_t* weights) const {
    return weighted(base, index[0], weights) + weighted(base, index[2], weights + 2);
  }

  void pair_sums(int component, int columns) const {
    float* const line = lines_[component];
    const int delta = table_.group.delta[component];
    const bool blocks = table_.mode == SampleMode::kBlock;
    for (int i = 0; i < columns; ++i) {
      const int base = table_.base[blocks ? i / 4 : i] + delta;
      std::int32_t sum = 0;
      for (int step = 0; step < table_.steps; ++step) {
        sum += pair_sum(base, table_.indices(step) + 4 * i, table_.weights(step) + 4 * i);
      }
      line[i] = static_cast<float>(sum);
    }
  }

  // The sums of a column's windows, as the vector code adds them: see add_sums() there.
  void lane_sums(int i) const {
    using Sum = std::conditional_t<kBytes == 1, std::int32_t, float>;
    Sum sums[4] = {0, 0, 0, 0};
    for (int step = 0; step < table_.steps; ++step) {
      const std::uint8_t* weights = table_.data + 16 * ((i / 4 * table_.steps + step) * 4 + i % 4);
      for (int a = 0; a < 4; ++a) {
        sums[a] += static_cast<Sum>(pair_sum(table_.base[i] + step * table_.stride,
                                             table_.lane_index + 4 * a, weights + 4 * a));
      }
    }
    if (table_.group.components == 1) sums[0] = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    if (table_.group.components == 2) {
      sums[0] = sums[0] + sums[2];
      sums[1] = sums[1] + sums[3];
    }
    for (int c = 0; c < table_.group.components; ++c) lines_[c][i] = static_cast<float>(sums[c]);
  }

  const TapTable& table_;
  const std::uint8_t* const row_;
  float* const* const lines_;
};

}  // namespace

void sample_plain(const TapTable& table, const SampleBatch& batch) {
  for (int r = 0; r < batch.count; ++r) {
    if (table.group.sample_bytes == 1) {
      PlainSampler<1>(table, batch.rows[r], batch.lines[r]).line();
    } else {
      PlainSampler<2>(table, batch.rows[r], batch.lines[r]).line();
    }
    scale_edges(table, batch.lines[r]);
  }
}

}  // namespace sparing::internal

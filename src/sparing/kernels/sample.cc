#include "sparing/kernels/sample.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace sparing::internal {
namespace {

constexpr double kPairUnit = 32767;  // the largest weight that a signed 16-bit number holds
constexpr int kMaxBlockSteps = 4;
constexpr int kWideColumns = 16;  // of one group of kWide
constexpr int kMaxWideWindow = 256;
constexpr std::uint8_t kZero = 0x80;  // as a shuffle's index: a byte of 0

// Products of a column's taps are added up in 32 bits, of samples up to 255, or of 2 bytes within
// -32768..32767. Those of 2 bytes with many taps are added as floats.
double largest_unit(int sample_bytes, SampleMode mode) {
  if (sample_bytes == 1) return 8.4e6;
  return mode == SampleMode::kLane ? 1e9 : 65535;
}

// The greatest unit whose weights fit. Rounding may take a weight up by 1.
double unit_for(double largest_weight, double largest_unit) {
  return std::min(std::floor((kPairUnit - 1) / largest_weight), largest_unit);
}

// Pixels that see less at the edge of the picture have greater weights. They get units of their
// own: with theirs, the weights of the many would be too coarse.
double choose_unit(const AxisTaps& taps, double largest_unit) {
  if (taps.are_pairs()) return kPairUnit;
  // A little greater, so that no rounding gives a pixel in the middle a unit of its own.
  return unit_for(taps.largest_weight() * (1 + 1e-9), largest_unit);
}

// Whole weights with the sum `unit`: the rounded sums of the first 1, 2, ... weights, apart.
void quantize(const double* weights, int count, double unit, int* whole) {
  double sum = 0;
  int before = 0;
  for (int i = 0; i < count; ++i) {
    sum += weights[i];
    const int now = i + 1 == count ? static_cast<int>(unit) : static_cast<int>(sum * unit + 0.5);
    whole[i] = now - before;
    before = now;
  }
}

int max_delta(const ComponentGroup& group) {
  return *std::max_element(group.delta, group.delta + group.components);
}

int taps_per_window(const ComponentGroup& group) {
  if (group.components == 1) return 8;
  return group.components == 2 ? 4 : 2;
}

bool is_run(const AxisTaps& taps, const ComponentGroup& group, int pixels) {
  if (group.components != 1 || group.step != 1 || group.sample_bytes != 1) return false;
  if (taps.pitch() != 1 || !taps.are_pairs()) return false;
  const TapPair first = taps.pair(0);
  const TapPair last = taps.pair(pixels - 1);
  return first.weight1 == 0 && last.weight1 == 0 && last.first - first.first == pixels - 1;
}

// Bytes from the first to the last that so many neighbouring columns take.
int span(const AxisTaps& taps, const ComponentGroup& group, int columns) {
  // Pixels as large as whole pictures take some number that is too large for any window.
  constexpr double kLargest = 1e6;
  const double distance = std::ceil((columns - 1) * std::fabs(taps.pitch()) - 1e-9);
  const int samples = static_cast<int>(std::min(distance, kLargest)) + taps.max_count();
  return (samples - 1) * group.step + max_delta(group) + group.sample_bytes;
}

class TableFiller {
 public:
  TableFiller(const SamplePlan& plan, const AxisTaps& taps, int first, TapTable& table)
      : plan_(plan), taps_(taps), first_(first), table_(table) {}

  void fill() {
    switch (plan_.mode) {
      case SampleMode::kRun: return fill_run();
      case SampleMode::kBlock: return fill_blocks(4);
      case SampleMode::kWide: return fill_blocks(kWideColumns);
      case SampleMode::kPair: return fill_pairs();
      case SampleMode::kLane: return fill_lanes();
    }
  }

 private:
  struct Column {
    int first = 0;
    int count = 0;
    int weights[kMaxTaps];
  };

  // Beyond the last column it is repeated, so that whole vectors have something to do.
  void column(int i, Column& column) const {
    const int k = first_ + std::min(i, table_.columns - 1);
    if (taps_.are_pairs()) {
      const TapPair pair = taps_.pair(k);
      column.first = pair.first;
      column.count = pair.weight1 > 0 ? 2 : 1;
      column.weights[1] = static_cast<int>(pair.weight1 * kPairUnit + 0.5);
      column.weights[0] = static_cast<int>(kPairUnit) - column.weights[1];
      return;
    }
    double weights[kMaxTaps];
    const TapRun run = taps_.run(k, weights);
    column.first = run.first;
    column.count = run.count;
    const double largest = *std::max_element(weights, weights + run.count);
    const double unit = std::min(plan_.unit, unit_for(largest, plan_.unit));
    quantize(weights, run.count, unit, column.weights);
    set_factor(i, unit);
  }

  // Columns with a unit of their own are at the begin and at the end.
  void set_factor(int i, double unit) const {
    if (i >= table_.columns) return;
    table_.factor[i] = static_cast<float>(plan_.unit / unit);
    if (unit == plan_.unit) return;
    if (2 * i < table_.columns) {
      table_.whole_begin = i + 1;
    } else {
      table_.whole_end = std::min(table_.whole_end, i);
    }
  }

  int byte_of(int sample) const { return sample * plan_.group.step + plan_.group.offset; }

  void fill_run() {
    table_.base[0] = byte_of(taps_.pair(first_).first);
    // Whole vectors of 16 bytes are loaded.
    const int loaded = (table_.row_bytes - table_.base[0]) / kMaxLanes * kMaxLanes;
    table_.safe_end = std::clamp(loaded, 0, table_.padded_columns());
  }

  // The bytes of a tap at `offset` of its window, as the low half of a shuffle's 4-byte index.
  std::uint32_t tap_index(int offset) const {
    const auto low = static_cast<std::uint32_t>(offset);
    return low | (plan_.group.sample_bytes == 2 ? low + 1 : std::uint32_t{kZero}) << 8;
  }

  void put_pair(int step, int i, const Column& column, int base) {
    const auto half = [&](int tap) {
      if (tap >= column.count) return std::uint32_t{kZero} | std::uint32_t{kZero} << 8;
      return tap_index(byte_of(column.first + tap) - base);
    };
    const auto weight = [&](int tap) {
      return tap < column.count ? static_cast<std::uint32_t>(column.weights[tap]) : 0u;
    };
    const std::uint32_t index = half(2 * step) | half(2 * step + 1) << 16;
    const std::uint32_t pair = weight(2 * step) | weight(2 * step + 1) << 16;
    std::memcpy(table_.indices(step) + 4 * i, &index, sizeof index);
    std::memcpy(table_.weights(step) + 4 * i, &pair, sizeof pair);
  }

  // Of pairs, which small pictures have many of for their few pixels.
  void fill_pair_block(int begin, int columns) {
    const auto step = static_cast<std::uint32_t>(plan_.group.step);
    const std::uint32_t others = plan_.group.sample_bytes == 2 ? 0x01000100u : 0x80008000u;
    std::uint32_t offset[kWideColumns];
    std::uint32_t weight[kWideColumns];
    auto base = static_cast<std::uint32_t>(std::max(0, table_.row_bytes - table_.window));
    for (int k = 0; k < columns; ++k) {
      const TapPair pair = taps_.pair(first_ + std::min(begin + k, table_.columns - 1));
      offset[k] = static_cast<std::uint32_t>(byte_of(pair.first));
      weight[k] = static_cast<std::uint32_t>(pair.weight1 * kPairUnit + 0.5);
      base = std::min(base, offset[k]);
    }
    table_.base[begin / columns] = static_cast<std::int32_t>(base);
    for (int k = 0; k < columns; ++k) {
      const std::uint32_t first = offset[k] - base;
      // Of a column with one tap only, the second may lie beyond the window.
      const std::uint32_t second = weight[k] != 0 ? first + step : first;
      const std::uint32_t index = plan_.group.sample_bytes == 2
                                      ? (first | first << 8 | second << 16 | second << 24) + others
                                      : first | second << 16 | others;
      const std::uint32_t pair = (static_cast<std::uint32_t>(kPairUnit) - weight[k]) | weight[k]
                                                                                           << 16;
      std::memcpy(table_.indices(0) + 4 * (begin + k), &index, sizeof index);
      std::memcpy(table_.weights(0) + 4 * (begin + k), &pair, sizeof pair);
    }
  }

  void fill_any_block(int begin, int columns, Column* taps) {
    int base = table_.row_bytes - table_.window;
    for (int k = 0; k < columns; ++k) {
      column(begin + k, taps[k]);
      base = std::min(base, byte_of(taps[k].first));
    }
    base = std::max(0, base);
    table_.base[begin / columns] = base;
    for (int k = 0; k < columns; ++k) {
      for (int step = 0; step < plan_.steps; ++step) put_pair(step, begin + k, taps[k], base);
    }
  }

  void fill_blocks(int columns) {
    Column taps[kWideColumns];
    for (int i = 0; i < table_.padded_columns(); i += columns) {
      taps_.are_pairs() ? fill_pair_block(i, columns) : fill_any_block(i, columns, taps);
    }
    table_.safe_end = table_.row_bytes >= table_.window ? table_.padded_columns() : 0;
  }

  void fill_pairs() {
    Column taps;
    for (int i = 0; i < table_.padded_columns(); ++i) {
      column(i, taps);
      const int base = std::max(0, std::min(byte_of(taps.first), table_.row_bytes - table_.window));
      table_.base[i] = base;
      put_pair(0, i, taps, base);
    }
    table_.safe_end = table_.row_bytes >= table_.window ? table_.padded_columns() : 0;
  }

  void fill_lanes() {
    const int per_window = taps_per_window(plan_.group);
    fill_lane_index(per_window);
    table_.stride = per_window * plan_.group.step;
    const int capacity = per_window * plan_.steps;
    const int reach = (plan_.steps - 1) * table_.stride + table_.window;
    Column taps;
    bool safe[kLineFloats / kMaxLanes];
    for (int i = 0; i < table_.padded_columns(); ++i) {
      column(i, taps);
      // Windows end within the row, where there is room for the taps further on in them.
      const int beyond = taps.first + capacity - table_.row_bytes / plan_.group.step;
      const int back = std::clamp(beyond, 0, std::min(taps.first, capacity - taps.count));
      table_.base[i] = byte_of(taps.first - back);
      put_lane(i, taps, back, per_window);
      const int g = i / kMaxLanes;
      if (i % kMaxLanes == 0) safe[g] = true;
      safe[g] = safe[g] && table_.base[i] + reach <= table_.row_bytes;
    }
    const int groups = table_.padded_columns() / kMaxLanes;
    int begin = 0;
    while (begin < groups && !safe[begin]) ++begin;
    int end = begin;
    while (end < groups && safe[end]) ++end;
    table_.safe_begin = begin * kMaxLanes;
    table_.safe_end = end * kMaxLanes;
  }

  // 8 weights a window, as the components' pairs of taps lie: (tap, tap + 1) of each component, and
  // then the next pairs, 4 pairs in all.
  void put_lane(int i, const Column& taps, int back, int per_window) {
    const int pairs = per_window / 2;
    for (int step = 0; step < plan_.steps; ++step) {
      std::int16_t eight[8];
      for (int q = 0; q < 8; ++q) {
        const int pair = pairs == 4 ? q / 2 : pairs == 2 ? q / 4 : 0;
        const int tap = step * per_window + 2 * pair + q % 2 - back;
        eight[q] = tap >= 0 && tap < taps.count ? static_cast<std::int16_t>(taps.weights[tap])
                                                : std::int16_t{0};
      }
      std::memcpy(table_.data + lane_place(i, step), eight, sizeof eight);
    }
  }

  // Vectors hold the columns 0, 4, 8, 12 of a group of 16, then 1, 5, 9, 13, and so on.
  std::size_t lane_place(int i, int step) const {
    const int lanes = sample_kernels().lanes;
    const int group = i / lanes;
    const int in_vector = i % lanes / 4;
    const int vector = i % 4;
    return std::size_t{16} *
           static_cast<std::size_t>(((group * plan_.steps + step) * 4 + vector) * (lanes / 4) +
                                    in_vector);
  }

  void fill_lane_index(int per_window) {
    const int pairs = per_window / 2;
    for (int q = 0; q < 8; ++q) {
      const int component = pairs == 4 ? 0 : pairs == 2 ? q / 2 % 2 : q / 2;
      const int pair = pairs == 4 ? q / 2 : pairs == 2 ? q / 4 : 0;
      std::uint32_t index = std::uint32_t{kZero} | std::uint32_t{kZero} << 8;
      if (component < plan_.group.components) {
        index = tap_index((2 * pair + q % 2) * plan_.group.step + plan_.group.delta[component]);
      }
      table_.lane_index[2 * q] = static_cast<std::uint8_t>(index);
      table_.lane_index[2 * q + 1] = static_cast<std::uint8_t>(index >> 8);
    }
  }

  const SamplePlan& plan_;
  const AxisTaps& taps_;
  int first_;
  TapTable& table_;
};

// A line too many does little harm; the sparser the columns, the less.
int group_lines(const AxisTaps& taps, const ComponentGroup& group) {
  const double bytes = std::fabs(taps.pitch()) * group.step * sample_kernels().lanes;
  return static_cast<int>(std::clamp(std::ceil(bytes / 64), 1.0, 1.0 * kMaxLanes));
}

int lane_window(const ComponentGroup& group) {
  const int used =
      (taps_per_window(group) - 1) * group.step + max_delta(group) + group.sample_bytes;
  return used <= 8 ? 8 : 16;
}

// Of kWide, with a margin of a sample for rounding; more than kMaxWideWindow: too much for it.
int wide_window(const AxisTaps& taps, const ComponentGroup& group) {
  const int bytes = span(taps, group, kWideColumns) + group.step;
  int window = 64;
  while (window < bytes && window <= kMaxWideWindow) window *= 2;
  return window;
}

}  // namespace

std::optional<SamplePlan> plan_sampling(const AxisTaps& taps, const ComponentGroup& group,
                                        int pixels, int row_bytes) {
  if (taps.max_count() > kMaxTaps) return std::nullopt;
  SamplePlan plan;
  plan.group = group;
  plan.max_columns = kTileColumns;
  const int pairs = (taps.max_count() + 1) / 2;
  const int wide = wide_window(taps, group);
  if (is_run(taps, group, pixels)) {
    plan.mode = SampleMode::kRun;
  } else if (sample_kernels().wide_shuffles && pairs <= kMaxBlockSteps && wide <= kMaxWideWindow &&
             wide <= row_bytes) {
    plan.mode = SampleMode::kWide;
    plan.steps = pairs;
    plan.window = wide;
  } else if (span(taps, group, 4) <= 16 && pairs <= kMaxBlockSteps) {
    plan.mode = SampleMode::kBlock;
    plan.steps = pairs;
    plan.window = 16;
  } else if (pairs == 1 && group.components <= 2 &&
             group.step + max_delta(group) + group.sample_bytes <= 8) {
    plan.mode = SampleMode::kPair;
    plan.steps = 1;
    plan.window = 8;
  } else {
    plan.mode = SampleMode::kLane;
    plan.window = lane_window(group);
    const int per_window = taps_per_window(group);
    plan.steps = (taps.max_count() + per_window - 1) / per_window;
    const int fitting = static_cast<int>(TapTable::kDataBytes) / (16 * plan.steps);
    plan.max_columns = std::min(kTileColumns, fitting / kMaxLanes * kMaxLanes);
    if (plan.max_columns == 0) return std::nullopt;
  }
  plan.unit = choose_unit(taps, largest_unit(group.sample_bytes, plan.mode));
  return plan;
}

ByteRange byte_range(const ComponentGroup& group, const AxisTaps& taps, int first, int columns) {
  // A wide filter's other half is near enough.
  const auto at = [&](int k) {
    if (taps.are_pairs()) return taps.pair(k).first;
    double weights[kMaxTaps];
    return taps.run(k, weights).first;
  };
  const int a = at(first);
  const int b = at(first + columns - 1);
  return {std::min(a, b) * group.step, (std::max(a, b) + taps.max_count()) * group.step};
}

void fill_taps(const SamplePlan& plan, const AxisTaps& taps, int first, int columns, int row_bytes,
               TapTable& table) {
  table.mode = plan.mode;
  table.group = plan.group;
  table.columns = columns;
  table.steps = plan.steps;
  table.window = plan.window;
  table.unit = plan.unit;
  table.backwards = taps.pitch() < 0;
  table.group_lines = group_lines(taps, plan.group);
  table.row_bytes = row_bytes;
  table.whole_begin = 0;
  table.whole_end = columns;
  table.safe_begin = 0;
  table.safe_end = 0;
  TableFiller(plan, taps, first, table).fill();
  const ByteRange range = byte_range(plan.group, taps, first, columns);
  table.first_byte = range.begin;
  table.byte_count = range.end - range.begin;
}

void scale_columns(const TapTable& table, int begin, int end, float* const* lines) {
  for (int c = 0; c < table.group.components; ++c) {
    for (int i = begin; i < end; ++i) lines[c][i] *= table.factor[i];
  }
}

}  // namespace sparing::internal

// The samplers, compiled once for each instruction set.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "sparing/kernels/sample.h"
#include "sparing/kernels/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sparing/kernels/sample_simd.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
// clang-format off: highway.h must come after foreach_target.h
#include "hwy/highway.h"
#include "hwy/cache_control.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace sparing::internal {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using DF = hn::CappedTag<float, kMaxLanes>;
using VF = hn::Vec<DF>;

constexpr int kCacheLine = 64;

// Brings the bytes of the next rows into the cache that lie where this row is sampled.
class Prefetcher {
 public:
  Prefetcher(const TapTable& table, const NextRows& next)
      : next_(next), backwards_(table.backwards), at_(backwards_ ? 1 << 30 : -(1 << 30)) {}

  HWY_INLINE void reach(int begin, int end) {
    if (next_.rows[0] == nullptr) return;
    if (backwards_) {
      at_ = std::min(at_, end);
      for (; at_ > begin; at_ -= kCacheLine) fetch(at_ - kCacheLine);
    } else {
      at_ = std::max(at_, begin);
      for (; at_ < end; at_ += kCacheLine) fetch(at_);
    }
  }

 private:
  HWY_INLINE void fetch(int offset) const {
    hwy::Prefetch(next_.rows[0] + offset);
    if (next_.rows[1] != nullptr) hwy::Prefetch(next_.rows[1] + offset);
  }

  NextRows next_;
  bool backwards_;
  int at_;
};

#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128

// Without shuffles: the same sums, one by one. Columns are grouped by 4, as for vectors of 4 lanes.
constexpr int kLanes = 4;

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

void sample_plain(const TapTable& table, const std::uint8_t* row, const NextRows&,
                  float* const* lines) {
  for (int i = 0; i < table.padded_columns(); ++i) {
    if (table.mode == SampleMode::kRun) {
      lines[0][i] = static_cast<float>(sample_at(table, row, table.base[0] + i)) *
                    static_cast<float>(table.unit);
    } else if (table.mode != SampleMode::kLane) {
      pair_sums(table, row, i, lines);
    } else if (table.group.sample_bytes == 1) {
      lane_sums<std::int32_t>(table, row, i, lines);
    } else {
      lane_sums<float>(table, row, i, lines);
    }
  }
}

SampleLine sampler(const TapTable&) { return &sample_plain; }

#else

using DI = hn::Rebind<std::int32_t, DF>;
using DU = hn::Rebind<std::uint32_t, DF>;
using D64 = hn::Repartition<std::uint64_t, DF>;
using D16 = hn::Repartition<std::int16_t, DF>;
using D8 = hn::Repartition<std::uint8_t, DF>;
using VI = hn::Vec<DI>;
using V16 = hn::Vec<D16>;
using V8 = hn::Vec<D8>;
using D128 = hn::Full128<std::uint8_t>;
using V128 = hn::Vec<D128>;

constexpr int kLanes = static_cast<int>(hn::MaxLanes(DF()));
constexpr int kBlocks = kLanes / 4;  // of 16 bytes

// The sum of the products of neighbouring pairs.
HWY_INLINE VI pair_dot(V16 a, V16 b) {
#if HWY_ARCH_X86
  VI unused = hn::Zero(DI());
  return hn::ReorderWidenMulAccumulate(DI(), a, b, hn::Zero(DI()), unused);
#else
  const DI di;
  const VI a32 = hn::BitCast(di, a);
  const VI b32 = hn::BitCast(di, b);
  const VI even = hn::Mul(hn::ShiftRight<16>(hn::ShiftLeft<16>(a32)),
                          hn::ShiftRight<16>(hn::ShiftLeft<16>(b32)));
  return hn::Add(even, hn::Mul(hn::ShiftRight<16>(a32), hn::ShiftRight<16>(b32)));
#endif
}

// `kBytes` (8 or 16) at `offset`, then zeros. With kTail, zeros also from the row's end on.
template <int kBytes, bool kTail>
HWY_INLINE V128 window(const TapTable& table, const std::uint8_t* row, int offset) {
  const D128 d;
  if constexpr (kTail) {
    alignas(16) std::uint8_t bytes[16] = {};
    const int there = std::min(table.row_bytes - offset, kBytes);
    if (there > 0) std::memcpy(bytes, row + offset, static_cast<std::size_t>(there));
    return hn::Load(d, bytes);
  } else if constexpr (kBytes == 16) {
    return hn::LoadU(d, row + offset);
  } else {
#if HWY_ARCH_X86
    return V128{_mm_loadl_epi64(reinterpret_cast<const __m128i*>(row + offset))};
#else
    const hn::Half<D128> half;
    return hn::Combine(d, hn::Zero(half), hn::LoadU(half, row + offset));
#endif
  }
}

// One window for each block, from offsets that lie `kStride` apart.
template <int kBytes, bool kTail, int kStride>
HWY_INLINE V8 windows(const TapTable& table, const std::uint8_t* row, const std::int32_t* base,
                      int add) {
  const auto at = [&](int block) {
    return window<kBytes, kTail>(table, row, base[block * kStride] + add);
  };
#if HWY_MAX_BYTES >= 64
  const hn::Half<D8> half;
  return hn::Combine(D8(), hn::Combine(half, at(3), at(2)), hn::Combine(half, at(1), at(0)));
#elif HWY_MAX_BYTES == 32
  return hn::Combine(D8(), at(1), at(0));
#else
  return at(0);
#endif
}

// Shuffled bytes as signed samples: those of 2 bytes less 32768.
template <int kSampleBytes>
HWY_INLINE V16 samples(V8 bytes) {
  const D16 d16;
  if constexpr (kSampleBytes == 1) return hn::BitCast(d16, bytes);
  return hn::Xor(hn::BitCast(d16, bytes), hn::Set(d16, std::int16_t{-32768}));
}

HWY_INLINE V8 load_table(const std::uint8_t* at) { return hn::Load(D8(), at); }
HWY_INLINE V16 load_weights(const std::uint8_t* at) { return hn::BitCast(D16(), load_table(at)); }
HWY_INLINE void store_line(VI sums, float* to) {
  hn::Store(hn::ConvertTo(DF(), sums), DF(), to);
}

// A component's shuffle from the first one's; indices of zeros (0x80) stay such.
HWY_INLINE V8 moved(V8 index, const ComponentGroup& group, int component) {
  if (component == 0 && group.delta[0] == 0) return index;
  return hn::Add(index, hn::Set(D8(), static_cast<std::uint8_t>(group.delta[component])));
}

// ---- kBlock

template <int kComponents, int kSampleBytes, bool kOneStep>
struct BlockSampler {
  template <bool kTail>
  static HWY_INLINE void group(const TapTable& table, const std::uint8_t* row, int i,
                               float* const* lines) {
    const V8 bytes = windows<16, kTail, 1>(table, row, table.base + i / 4, 0);
    const int steps = kOneStep ? 1 : table.steps;
    VI sums[kComponents];
    for (int c = 0; c < kComponents; ++c) sums[c] = hn::Zero(DI());
    for (int step = 0; step < steps; ++step) {
      const V8 index = load_table(table.indices(step) + 4 * i);
      const V16 weights = load_weights(table.weights(step) + 4 * i);
      for (int c = 0; c < kComponents; ++c) {
        const V8 taps = hn::TableLookupBytesOr0(bytes, moved(index, table.group, c));
        const VI sum = pair_dot(samples<kSampleBytes>(taps), weights);
        sums[c] = kOneStep ? sum : hn::Add(sums[c], sum);
      }
    }
    for (int c = 0; c < kComponents; ++c) store_line(sums[c], lines[c] + i);
  }
  static constexpr int kColumnsPerBase = 4;
};

// ---- kPair: vector k holds the windows of columns k, 4 + k, ...; each gives the 4 bytes of the
// columns it has, and they are put together.

template <int kComponents, int kSampleBytes>
struct PairSampler {
  template <bool kTail>
  static HWY_INLINE void group(const TapTable& table, const std::uint8_t* row, int i,
                               float* const* lines) {
    const DU du;
    const D8 d8;
    const V8 index = load_table(table.indices(0) + 4 * i);
    const V16 weights = load_weights(table.weights(0) + 4 * i);
    V8 taps[kComponents];
    for (int k = 0; k < 4; ++k) {
      alignas(16) static constexpr std::uint32_t kOthers[4][4] = {
          {0, 0x80808080u, 0x80808080u, 0x80808080u},
          {0x80808080u, 0, 0x80808080u, 0x80808080u},
          {0x80808080u, 0x80808080u, 0, 0x80808080u},
          {0x80808080u, 0x80808080u, 0x80808080u, 0}};
      const V8 bytes = windows<8, kTail, 4>(table, row, table.base + i + k, 0);
      const V8 others = hn::BitCast(d8, hn::LoadDup128(du, kOthers[k]));
      for (int c = 0; c < kComponents; ++c) {
        const V8 own = hn::TableLookupBytesOr0(bytes, hn::Or(moved(index, table.group, c), others));
        taps[c] = k == 0 ? own : hn::Or(taps[c], own);
      }
    }
    for (int c = 0; c < kComponents; ++c) {
      store_line(pair_dot(samples<kSampleBytes>(taps[c]), weights), lines[c] + i);
    }
  }
  static constexpr int kColumnsPerBase = 1;
};

// ---- kLane

// Rows to columns of each 4 x 4 block of the four vectors.
HWY_INLINE void transpose(VI (&v)[4]) {
  const DI di;
  const D64 d64;
  const auto lower = [&](VI a, VI b) { return hn::BitCast(d64, hn::InterleaveLower(di, a, b)); };
  const auto upper = [&](VI a, VI b) { return hn::BitCast(d64, hn::InterleaveUpper(di, a, b)); };
  const auto low01 = lower(v[0], v[1]);
  const auto low23 = lower(v[2], v[3]);
  const auto high01 = upper(v[0], v[1]);
  const auto high23 = upper(v[2], v[3]);
  v[0] = hn::BitCast(di, hn::InterleaveLower(d64, low01, low23));
  v[1] = hn::BitCast(di, hn::InterleaveUpper(d64, low01, low23));
  v[2] = hn::BitCast(di, hn::InterleaveLower(d64, high01, high23));
  v[3] = hn::BitCast(di, hn::InterleaveUpper(d64, high01, high23));
}

// Sums of a column's windows. Samples of 2 bytes would overflow 32 bits: theirs are added as floats,
// in the same order everywhere.
template <int kSampleBytes>
HWY_INLINE VI add_sums(VI a, VI b) {
  if constexpr (kSampleBytes == 1) return hn::Add(a, b);
  const DF df;
  return hn::BitCast(DI(), hn::Add(hn::BitCast(df, a), hn::BitCast(df, b)));
}

template <int kSampleBytes>
HWY_INLINE VI window_sum(V8 taps, V16 weights) {
  const VI sum = pair_dot(samples<kSampleBytes>(taps), weights);
  if constexpr (kSampleBytes == 1) return sum;
  return hn::BitCast(DI(), hn::ConvertTo(DF(), sum));
}

template <int kSampleBytes>
HWY_INLINE void store_sums(VI sums, float* to) {
  if constexpr (kSampleBytes == 1) return store_line(sums, to);
  hn::Store(hn::BitCast(DF(), sums), DF(), to);
}

template <int kComponents, int kSampleBytes, int kWindow>
struct LaneSampler {
  template <bool kTail>
  static HWY_INLINE void group(const TapTable& table, const std::uint8_t* row, int i,
                               float* const* lines) {
    const V8 index = hn::LoadDup128(D8(), table.lane_index);
    const std::uint8_t* weights = table.data + std::size_t{16} * i * table.steps;
    VI sums[4];
    for (int k = 0; k < 4; ++k) sums[k] = hn::Zero(DI());
    for (int step = 0; step < table.steps; ++step) {
      for (int k = 0; k < 4; ++k) {
        const V8 bytes =
            windows<kWindow, kTail, 4>(table, row, table.base + i + k, step * table.stride);
        const V8 taps = hn::TableLookupBytesOr0(bytes, index);
        sums[k] =
            add_sums<kSampleBytes>(sums[k], window_sum<kSampleBytes>(taps, load_weights(weights)));
        weights += 4 * kLanes;
      }
    }
    transpose(sums);
    const auto add = [](VI a, VI b) { return add_sums<kSampleBytes>(a, b); };
    const auto put = [&](VI sum, int c) { store_sums<kSampleBytes>(sum, lines[c] + i); };
    if constexpr (kComponents == 1) {
      put(add(add(sums[0], sums[1]), add(sums[2], sums[3])), 0);
    } else if constexpr (kComponents == 2) {
      put(add(sums[0], sums[2]), 0);
      put(add(sums[1], sums[3]), 1);
    } else {
      for (int c = 0; c < 3; ++c) put(sums[c], c);
    }
  }
  static constexpr int kColumnsPerBase = 1;
};

// ---- All columns of a line

template <class Sampler>
void sample_line(const TapTable& table, const std::uint8_t* row, const NextRows& next,
                 float* const* lines) {
  constexpr int kPer = Sampler::kColumnsPerBase;
  Prefetcher prefetcher(table, next);
  const int columns = table.padded_columns();
  const auto reach = [&](int i) {
    const int first = table.base[i / kPer];
    const int last = table.base[(i + kLanes - 1) / kPer];
    prefetcher.reach(std::min(first, last), std::max(first, last) + table.window);
  };
  int i = 0;
  for (; i < table.safe_begin; i += kLanes) {
    reach(i);
    Sampler::template group<true>(table, row, i, lines);
  }
  for (; i < table.safe_end; i += kLanes) {
    reach(i);
    Sampler::template group<false>(table, row, i, lines);
  }
  for (; i < columns; i += kLanes) {
    reach(i);
    Sampler::template group<true>(table, row, i, lines);
  }
}

void sample_run(const TapTable& table, const std::uint8_t* row, const NextRows& next,
                float* const* lines) {
  const DF df;
  const DI di;
  const hn::Rebind<std::uint8_t, DF> d8;
  const VF unit = hn::Set(df, static_cast<float>(table.unit));
  Prefetcher prefetcher(table, next);
  prefetcher.reach(table.base[0], table.base[0] + table.columns);
  const std::uint8_t* from = row + table.base[0];
  const auto convert = [&](const std::uint8_t* bytes, int i) {
    const VF values = hn::ConvertTo(df, hn::PromoteTo(di, hn::LoadU(d8, bytes)));
    hn::Store(hn::Mul(values, unit), df, lines[0] + i);
  };
  int i = 0;
  for (; i < table.safe_end; i += kLanes) convert(from + i, i);
  if (i >= table.columns) return;
  std::uint8_t rest[2 * kMaxLanes] = {};
  std::memcpy(rest, from + i, static_cast<std::size_t>(table.columns - i));
  for (int k = 0; i < table.padded_columns(); i += kLanes, k += kLanes) convert(rest + k, i);
}

template <int kComponents, int kSampleBytes>
SampleLine sampler_of(const TapTable& table) {
  if constexpr (kComponents <= 2) {
    if (table.mode == SampleMode::kPair) return &sample_line<PairSampler<kComponents, kSampleBytes>>;
  }
  if (table.mode == SampleMode::kBlock) {
    return table.steps == 1 ? &sample_line<BlockSampler<kComponents, kSampleBytes, true>>
                            : &sample_line<BlockSampler<kComponents, kSampleBytes, false>>;
  }
  return table.window == 8 ? &sample_line<LaneSampler<kComponents, kSampleBytes, 8>>
                           : &sample_line<LaneSampler<kComponents, kSampleBytes, 16>>;
}

SampleLine sampler(const TapTable& table) {
  if (table.mode == SampleMode::kRun) return &sample_run;
  const bool wide = table.group.sample_bytes == 2;
  switch (table.group.components) {
    case 1: return wide ? sampler_of<1, 2>(table) : sampler_of<1, 1>(table);
    case 2: return wide ? sampler_of<2, 2>(table) : sampler_of<2, 1>(table);
    default: return sampler_of<3, 1>(table);
  }
}

#endif

void accumulate(const float* line, float weight, bool add, int columns, float* acc) {
  const DF df;
  const VF w = hn::Set(df, weight);
  const int lanes = static_cast<int>(hn::Lanes(df));
  for (int i = 0; i < columns; i += lanes) {
    const VF value = hn::Load(df, line + i);
    hn::Store(add ? hn::MulAdd(value, w, hn::Load(df, acc + i)) : hn::Mul(value, w), df, acc + i);
  }
}

void prefetch(const TapTable& table, const std::uint8_t* row) {
  const int columns = table.padded_columns();
  int first = table.base[0];
  int last = first + columns;
  if (table.mode != SampleMode::kRun) {
    last = table.base[table.mode == SampleMode::kBlock ? columns / 4 - 1 : columns - 1];
  }
  if (first > last) std::swap(first, last);
  NextRows next;
  next.rows[0] = row;
  Prefetcher(table, next).reach(first, last + table.window);
}

const SampleKernels& kernels() {
  static const SampleKernels kKernels{hwy::TargetName(HWY_TARGET), kLanes, &sampler, &accumulate,
                                      &prefetch};
  return kKernels;
}

}  // namespace HWY_NAMESPACE
}  // namespace sparing::internal
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sparing::internal {

HWY_EXPORT(kernels);

const SampleKernels& sample_kernels() { return HWY_DYNAMIC_DISPATCH(kernels)(); }

}  // namespace sparing::internal
#endif  // HWY_ONCE

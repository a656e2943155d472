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

#undef SPARING_WIDE_SHUFFLES
// Whether bytes can be shuffled across 64 (AVX-512 VBMI).
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3_DL
#define SPARING_WIDE_SHUFFLES 1
#else
#define SPARING_WIDE_SHUFFLES 0
#endif

// WebAssembly has no prefetch: code for it would only be larger.
#undef SPARING_PREFETCHES
#define SPARING_PREFETCHES (!HWY_ARCH_WASM)

constexpr int kCacheLine = 64;

void prefetch(const std::uint8_t* from, int bytes) {
  for (int i = 0; i < bytes; i += kCacheLine) hwy::Prefetch(from + i);
  if (bytes > 0) hwy::Prefetch(from + bytes - 1);
}

#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128

// Without shuffles. Columns are grouped by 4, as for vectors of 4 lanes.
constexpr int kLanes = 4;

SampleLines sampler(const TapTable&) { return &sample_plain; }

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

// The sum of the products of neighbouring pairs.
HWY_INLINE VI pair_dot(V16 a, V16 b) {
#if HWY_ARCH_X86
  VI unused = hn::Zero(DI());
  return hn::ReorderWidenMulAccumulate(DI(), a, b, hn::Zero(DI()), unused);
#elif HWY_TARGET == HWY_WASM
  return VI{wasm_i32x4_dot_i16x8(a.raw, b.raw)};
#else
  const DI di;
  const VI a32 = hn::BitCast(di, a);
  const VI b32 = hn::BitCast(di, b);
  const VI even = hn::Mul(hn::ShiftRight<16>(hn::ShiftLeft<16>(a32)),
                          hn::ShiftRight<16>(hn::ShiftLeft<16>(b32)));
  return hn::Add(even, hn::Mul(hn::ShiftRight<16>(a32), hn::ShiftRight<16>(b32)));
#endif
}

struct Row {
  const std::uint8_t* data;
  std::ptrdiff_t size;
};

#if HWY_ARCH_WASM
#define SPARING_TAIL HWY_NOINLINE  // few columns are at the row's end, and modules are downloaded
#else
#define SPARING_TAIL HWY_INLINE
#endif

SPARING_TAIL V128 tail_window(Row row, std::ptrdiff_t offset, int size) {
  alignas(16) std::uint8_t bytes[16] = {};
  const std::ptrdiff_t there = std::min<std::ptrdiff_t>(row.size - offset, size);
  if (there > 0) std::memcpy(bytes, row.data + offset, static_cast<std::size_t>(there));
  return hn::Load(D128(), bytes);
}

// `kBytes` (8 or 16) at `offset`, then zeros. With kTail, zeros also from the row's end on.
template <int kBytes, bool kTail>
HWY_INLINE V128 window(Row row, std::ptrdiff_t offset) {
  const D128 d;
  if constexpr (kTail) {
    return tail_window(row, offset, kBytes);
  } else if constexpr (kBytes == 16) {
    return hn::LoadU(d, row.data + offset);
  } else {
#if HWY_ARCH_X86
    return V128{_mm_loadl_epi64(reinterpret_cast<const __m128i*>(row.data + offset))};
#else
    const hn::Half<D128> half;
    return hn::Combine(d, hn::Zero(half), hn::LoadU(half, row.data + offset));
#endif
  }
}

// One window for each block, from offsets that lie `kStride` apart.
template <int kBytes, bool kTail, int kStride>
HWY_INLINE V8 windows(Row row, const std::int32_t* base, int add) {
  const auto at = [&](int block) {
    return window<kBytes, kTail>(row, std::ptrdiff_t{base[block * kStride]} + add);
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

// Bytes `index` of each block of 16, zero where it is negative.
HWY_INLINE V8 shuffled(V8 bytes, V8 index) {
#if HWY_TARGET == HWY_WASM
  return V8{wasm_i8x16_swizzle(bytes.raw, index.raw)};  // Highway 1.0 goes byte by byte
#else
  return hn::TableLookupBytesOr0(bytes, index);
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
HWY_INLINE void store_line(VI sums, float* to) { hn::Store(hn::ConvertTo(DF(), sums), DF(), to); }

// A component's shuffle from the first one's; indices of zeros (0x80) stay such.
HWY_INLINE V8 moved(V8 index, const ComponentGroup& group, int component) {
  if (component == 0 && group.delta[0] == 0) return index;
  return hn::Add(index, hn::Set(D8(), static_cast<std::uint8_t>(group.delta[component])));
}

// The line of each component; copied, for nothing that is stored may change them.
struct Lines {
  float* at[3];
};

// A sampler's group() makes the values of kLanes columns, from column i on. They are made once a
// line and hold what does not change with the column.

// ---- kBlock

template <int kComponents, int kSampleBytes, bool kOneStep>
class BlockSampler {
 public:
  static constexpr int kColumnsPerBase = 4;

  explicit HWY_INLINE BlockSampler(const TapTable& table)
      : group_(table.group),
        steps_(kOneStep ? 1 : table.steps),
        stride_(table.indices(1) - table.indices(0)),
        base_(table.base),
        indices_(table.indices(0)),
        weights_(table.weights(0)) {}

  template <bool kTail>
  HWY_INLINE void group(Row row, int i, const Lines& lines) const {
    const V8 bytes = windows<16, kTail, 1>(row, base_ + i / 4, 0);
    VI sums[kComponents];
    for (int c = 0; c < kComponents; ++c) sums[c] = step_sum(bytes, i, c, 0);
    for (int step = 1; step < steps_; ++step) {
      for (int c = 0; c < kComponents; ++c) {
        sums[c] = hn::Add(sums[c], step_sum(bytes, i, c, step));
      }
    }
    for (int c = 0; c < kComponents; ++c) store_line(sums[c], lines.at[c] + i);
  }

 private:
  HWY_INLINE VI step_sum(V8 bytes, int i, int component, int step) const {
    const std::ptrdiff_t at = step * stride_ + 4 * i;
    const V8 index = moved(load_table(indices_ + at), group_, component);
    const V8 taps = shuffled(bytes, index);
    return pair_dot(samples<kSampleBytes>(taps), load_weights(weights_ + at));
  }

  ComponentGroup group_;
  int steps_;
  std::ptrdiff_t stride_;
  const std::int32_t* base_;
  const std::uint8_t* indices_;
  const std::uint8_t* weights_;
};

// ---- kWide

#if SPARING_WIDE_SHUFFLES

// Bytes `index` of the window, and zero for every second one when samples are single bytes.
template <int kWindow, int kSampleBytes>
HWY_INLINE V8 wide_shuffle(const std::uint8_t* window, V8 index) {
  const __mmask64 wanted = kSampleBytes == 1 ? 0x5555555555555555ull : ~0ull;
  const auto load = [&](int at) HWY_ATTR { return _mm512_loadu_si512(window + at); };
  if constexpr (kWindow == 64) {
    return V8{_mm512_maskz_permutexvar_epi8(wanted, index.raw, load(0))};
  } else {
    const __m512i low = _mm512_maskz_permutex2var_epi8(wanted, load(0), index.raw, load(64));
    if constexpr (kWindow == 128) return V8{low};
    const __mmask64 upper = _mm512_movepi8_mask(index.raw) & wanted;
    const __m512i high = _mm512_permutex2var_epi8(load(128), index.raw, load(192));
    return V8{_mm512_mask_mov_epi8(low, upper, high)};
  }
}

template <int kComponents, int kSampleBytes, int kWindow, bool kOneStep>
class WideSampler {
 public:
  static constexpr int kColumnsPerBase = 16;

  explicit HWY_INLINE WideSampler(const TapTable& table)
      : group_(table.group),
        steps_(kOneStep ? 1 : table.steps),
        stride_(table.indices(1) - table.indices(0)),
        base_(table.base),
        indices_(table.indices(0)),
        weights_(table.weights(0)) {}

  // Windows are always within the row.
  template <bool>
  HWY_INLINE void group(Row row, int i, const Lines& lines) const {
    const std::uint8_t* window = row.data + base_[i / 16];
    VI sums[kComponents];
    for (int c = 0; c < kComponents; ++c) sums[c] = step_sum(window, i, c, 0);
    for (int step = 1; step < steps_; ++step) {
      for (int c = 0; c < kComponents; ++c) {
        sums[c] = hn::Add(sums[c], step_sum(window, i, c, step));
      }
    }
    for (int c = 0; c < kComponents; ++c) store_line(sums[c], lines.at[c] + i);
  }

 private:
  HWY_INLINE VI step_sum(const std::uint8_t* window, int i, int component, int step) const {
    const std::ptrdiff_t at = step * stride_ + 4 * i;
    const V8 index = moved(load_table(indices_ + at), group_, component);
    const V8 taps = wide_shuffle<kWindow, kSampleBytes>(window, index);
    return pair_dot(samples<kSampleBytes>(taps), load_weights(weights_ + at));
  }

  ComponentGroup group_;
  int steps_;
  std::ptrdiff_t stride_;
  const std::int32_t* base_;
  const std::uint8_t* indices_;
  const std::uint8_t* weights_;
};

#endif

// ---- kPair: vector k holds the windows of columns k, 4 + k, ...; each gives the 4 bytes of the
// columns it has, and they are put together.

template <int kComponents, int kSampleBytes>
class PairSampler {
 public:
  static constexpr int kColumnsPerBase = 1;

  explicit HWY_INLINE PairSampler(const TapTable& table)
      : group_(table.group),
        base_(table.base),
        indices_(table.indices(0)),
        weights_(table.weights(0)) {}

  template <bool kTail>
  HWY_INLINE void group(Row row, int i, const Lines& lines) const {
    const DU du;
    const V8 index = load_table(indices_ + 4 * i);
    const V16 weights = load_weights(weights_ + 4 * i);
    V8 taps[kComponents];
    for (int k = 0; k < 4; ++k) {
      alignas(16) static constexpr std::uint32_t kOthers[4][4] = {
          {0, 0x80808080u, 0x80808080u, 0x80808080u},
          {0x80808080u, 0, 0x80808080u, 0x80808080u},
          {0x80808080u, 0x80808080u, 0, 0x80808080u},
          {0x80808080u, 0x80808080u, 0x80808080u, 0}};
      const V8 bytes = windows<8, kTail, 4>(row, base_ + i + k, 0);
      const V8 others = hn::BitCast(D8(), hn::LoadDup128(du, kOthers[k]));
      for (int c = 0; c < kComponents; ++c) {
        const V8 own = shuffled(bytes, hn::Or(moved(index, group_, c), others));
        taps[c] = k == 0 ? own : hn::Or(taps[c], own);
      }
    }
    for (int c = 0; c < kComponents; ++c) {
      store_line(pair_dot(samples<kSampleBytes>(taps[c]), weights), lines.at[c] + i);
    }
  }

 private:
  ComponentGroup group_;
  const std::int32_t* base_;
  const std::uint8_t* indices_;
  const std::uint8_t* weights_;
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

// Sums of a column's windows. Samples of 2 bytes would overflow 32 bits: theirs are added as
// floats, in the same order everywhere.
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

template <int kComponents, int kSampleBytes, int kWindow, bool kOneStep>
class LaneSampler {
 public:
  static constexpr int kColumnsPerBase = 1;

  explicit HWY_INLINE LaneSampler(const TapTable& table)
      : steps_(kOneStep ? 1 : table.steps),
        stride_(table.stride),
        base_(table.base),
        weights_(table.data),
        index_(hn::LoadDup128(D8(), table.lane_index)) {}

  template <bool kTail>
  HWY_INLINE void group(Row row, int i, const Lines& lines) const {
    const std::uint8_t* weights = weights_ + std::ptrdiff_t{16} * i * steps_;
    VI sums[4];
    for (int k = 0; k < 4; ++k) sums[k] = step_sum<kTail>(row, i, weights, 0, k);
    for (int step = 1; step < steps_; ++step) {
      for (int k = 0; k < 4; ++k) {
        sums[k] = add_sums<kSampleBytes>(sums[k], step_sum<kTail>(row, i, weights, step, k));
      }
    }
    transpose(sums);
    const auto add = [](VI a, VI b) { return add_sums<kSampleBytes>(a, b); };
    const auto put = [&](VI sum, int c) { store_sums<kSampleBytes>(sum, lines.at[c] + i); };
    if constexpr (kComponents == 1) {
      put(add(add(sums[0], sums[1]), add(sums[2], sums[3])), 0);
    } else if constexpr (kComponents == 2) {
      put(add(sums[0], sums[2]), 0);
      put(add(sums[1], sums[3]), 1);
    } else {
      for (int c = 0; c < 3; ++c) put(sums[c], c);
    }
  }

 private:
  template <bool kTail>
  HWY_INLINE VI step_sum(Row row, int i, const std::uint8_t* weights, int step, int k) const {
    const V8 bytes = windows<kWindow, kTail, 4>(row, base_ + i + k, step * stride_);
    const V8 taps = shuffled(bytes, index_);
    return window_sum<kSampleBytes>(taps, load_weights(weights + 4 * kLanes * (4 * step + k)));
  }

  int steps_;
  int stride_;
  const std::int32_t* base_;
  const std::uint8_t* weights_;
  V8 index_;
};

// ---- All columns of a line

// Brings the bytes of other rows into the cache that lie where a group of columns is sampled.
class Prefetcher {
 public:
  Prefetcher(const TapTable& table, int columns_per_base, const std::uint8_t* const* rows)
      : rows_{rows[0], rows[1]}, lines_(table.group_lines), base_(table.base) {
    // Offsets rise or fall with the column; the group's lowest is its first or its last.
    lowest_ = table.backwards ? (kLanes - 1) / columns_per_base : 0;
  }

  template <int kRows>
  HWY_INLINE void fetch(int group_base) const {
    const std::ptrdiff_t offset = base_[group_base + lowest_];
    for (int k = 0; k < kRows; ++k) hwy::Prefetch(rows_[k] + offset);
    for (int more = 1; more < lines_; ++more) {
      for (int k = 0; k < kRows; ++k) hwy::Prefetch(rows_[k] + offset + kCacheLine * more);
    }
  }

 private:
  const std::uint8_t* rows_[2];
  int lines_;
  int lowest_;
  const std::int32_t* base_;
};

template <bool kTail, int kNextRows, class Sampler>
HWY_INLINE void sample_columns(const Sampler& sampler, const Prefetcher& prefetcher, Row row,
                               int begin, int end, const Lines& lines) {
  for (int i = begin; i < end; i += kLanes) {
    prefetcher.fetch<kNextRows>(i / Sampler::kColumnsPerBase);
    sampler.template group<kTail>(row, i, lines);
  }
}

template <class Sampler>
void sample_lines(const TapTable& table, const SampleBatch& batch) {
  const Sampler sampler(table);
  const int columns = table.padded_columns();
  const int begin = table.safe_begin;
  const int end = table.safe_end;
  for (int r = 0; r < batch.count; ++r) {
    const Row row{batch.rows[r], table.row_bytes};
    Lines lines = {};
    for (int c = 0; c < table.group.components; ++c) lines.at[c] = batch.lines[r][c];
    const std::uint8_t* const* next = batch.next[r];
    const Prefetcher prefetcher(table, Sampler::kColumnsPerBase, next);
    sample_columns<true, 0>(sampler, prefetcher, row, 0, begin, lines);
    if (!SPARING_PREFETCHES || next[0] == nullptr) {
      sample_columns<false, 0>(sampler, prefetcher, row, begin, end, lines);
    } else if (next[1] == nullptr) {
      sample_columns<false, 1>(sampler, prefetcher, row, begin, end, lines);
    } else {
      sample_columns<false, 2>(sampler, prefetcher, row, begin, end, lines);
    }
    sample_columns<true, 0>(sampler, prefetcher, row, std::max(begin, end), columns, lines);
    scale_edges(table, batch.lines[r]);
  }
}

// Without scaling, samples are the line.
void sample_runs(const TapTable& table, const SampleBatch& batch) {
  const DF df;
  const DI di;
  const hn::Rebind<std::uint8_t, DF> d8;
  const VF unit = hn::Set(df, static_cast<float>(table.unit));
  for (int r = 0; r < batch.count; ++r) {
    const std::uint8_t* from = batch.rows[r] + table.base[0];
    float* const line = batch.lines[r][0];
    const auto convert = [&](const std::uint8_t* bytes, int i) {
      const VF values = hn::ConvertTo(df, hn::PromoteTo(di, hn::LoadU(d8, bytes)));
      hn::Store(hn::Mul(values, unit), df, line + i);
    };
    for (const std::uint8_t* other : batch.next[r]) {
      if (other != nullptr) prefetch(other + table.first_byte, table.byte_count);
    }
    int i = 0;
    for (; i < table.safe_end; i += kLanes) convert(from + i, i);
    if (i >= table.columns) continue;
    std::uint8_t rest[2 * kMaxLanes] = {};
    std::memcpy(rest, from + i, static_cast<std::size_t>(table.columns - i));
    for (int k = 0; i < table.padded_columns(); i += kLanes, k += kLanes) convert(rest + k, i);
  }
}

#if SPARING_WIDE_SHUFFLES
template <int kComponents, int kSampleBytes, int kWindow>
SampleLines wide_sampler(const TapTable& table) {
  return table.steps == 1 ? &sample_lines<WideSampler<kComponents, kSampleBytes, kWindow, true>>
                          : &sample_lines<WideSampler<kComponents, kSampleBytes, kWindow, false>>;
}
#endif

template <int kComponents, int kSampleBytes>
SampleLines sampler_of(const TapTable& table) {
#if SPARING_WIDE_SHUFFLES
  if (table.mode == SampleMode::kWide) {
    if (table.window == 64) return wide_sampler<kComponents, kSampleBytes, 64>(table);
    if (table.window == 128) return wide_sampler<kComponents, kSampleBytes, 128>(table);
    return wide_sampler<kComponents, kSampleBytes, 256>(table);
  }
#endif
  if constexpr (kComponents <= 2) {
    if (table.mode == SampleMode::kPair)
      return &sample_lines<PairSampler<kComponents, kSampleBytes>>;
  }
  if (table.mode == SampleMode::kBlock) {
    return table.steps == 1 ? &sample_lines<BlockSampler<kComponents, kSampleBytes, true>>
                            : &sample_lines<BlockSampler<kComponents, kSampleBytes, false>>;
  }
  if (table.window == 16) return &sample_lines<LaneSampler<kComponents, kSampleBytes, 16, false>>;
  // The gain of one step on its own is small, and modules are downloaded.
  return table.steps == 1 && !HWY_ARCH_WASM
             ? &sample_lines<LaneSampler<kComponents, kSampleBytes, 8, true>>
             : &sample_lines<LaneSampler<kComponents, kSampleBytes, 8, false>>;
}

SampleLines sampler(const TapTable& table) {
  if (table.mode == SampleMode::kRun) return &sample_runs;
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

const SampleKernels& kernels() {
  static const SampleKernels kKernels{hwy::TargetName(HWY_TARGET),
                                      kLanes,
                                      SPARING_WIDE_SHUFFLES != 0,
                                      &sampler,
                                      &accumulate,
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

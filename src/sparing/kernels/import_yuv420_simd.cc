// The vector part of import_yuv420, compiled once for each instruction set.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "sparing/kernels/import_yuv420.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sparing/kernels/import_yuv420_simd.cc"
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
using DU = hn::Rebind<std::uint32_t, DF>;
using DI = hn::Rebind<std::int32_t, DF>;
using VF = hn::Vec<DF>;
using VU = hn::Vec<DU>;
using VI = hn::Vec<DI>;

HWY_INLINE VF lerp(VF a, VF b, VF weight) { return hn::MulAdd(hn::Sub(b, a), weight, a); }

// Byte kByte of each word, as a float.
template <int kByte>
HWY_INLINE VF byte_of(VU words) {
  const DU du;
  VU byte = words;
  if constexpr (kByte > 0) byte = hn::ShiftRight<8 * kByte>(byte);
  if constexpr (kByte < 3) byte = hn::And(byte, hn::Set(du, 0xFFu));
  return hn::ConvertTo(DF(), hn::BitCast(DI(), byte));
}

// 4 bytes at `offsets` of a row. With kAtEnd some words would end beyond the row: those are read
// further left and shifted, so that the first tap is the lowest byte all the same. What then fills
// the upper bytes has the weight 0.
template <bool kAtEnd>
HWY_INLINE VU gather(const std::uint8_t* row, VI offsets, int row_bytes) {
  const DU du;
  const DI di;
  const auto* words = reinterpret_cast<const std::uint32_t*>(row);
  if constexpr (kAtEnd) {
    const VI safe = hn::Min(offsets, hn::Set(di, row_bytes - 4));
    const VI shift = hn::ShiftLeft<3>(hn::Sub(offsets, safe));
    return hn::Shr(hn::GatherOffset(du, words, safe), hn::BitCast(du, shift));
  } else {
    return hn::GatherOffset(du, words, offsets);
  }
}

// 16-bit pairs of bytes, one in each lane.
HWY_INLINE VU load_pairs(const std::uint8_t* from) {
#if HWY_TARGET == HWY_SCALAR  // has no lanes to take apart
  std::uint16_t pair;
  std::memcpy(&pair, from, sizeof pair);
  return hn::Set(DU(), pair);
#else
  const hn::Rebind<std::uint16_t, DF> d16;
  const hn::Repartition<std::uint8_t, decltype(d16)> d8;
  return hn::PromoteTo(DU(), hn::BitCast(d16, hn::LoadU(d8, from)));
#endif
}

// Alternating lanes of even and odd, from `to` on.
HWY_INLINE void store_alternating(VF even, VF odd, float* to) {
#if HWY_TARGET == HWY_SCALAR
  const float pair[2] = {hn::GetLane(even), hn::GetLane(odd)};
  std::memcpy(to, pair, sizeof pair);
#else
  hn::StoreInterleaved2(even, odd, DF(), to);
#endif
}

// Red, green or blue (c) of the tensor from raw samples.
template <int c>
HWY_INLINE VF color_of(const ColorTransform& color, VF y, VF u, VF v) {
  const DF df;
  VF value = hn::MulAdd(y, hn::Set(df, color.y[c]), hn::Set(df, color.bias[c]));
  if constexpr (c != 0) value = hn::MulAdd(u, hn::Set(df, color.u[c]), value);
  if constexpr (c != 2) value = hn::MulAdd(v, hn::Set(df, color.v[c]), value);
  return hn::Min(hn::Max(value, hn::Set(df, color.low[c])), hn::Set(df, color.high[c]));
}

// Stores the first `count` lanes, which may be all.
HWY_INLINE void store_lanes(VF value, int count, float* to) {
  const DF df;
  if (static_cast<std::size_t>(count) >= hn::Lanes(df)) {
    hn::StoreU(value, df, to);
    return;
  }
  HWY_ALIGN float lanes[kMaxLanes];
  hn::Store(value, df, lanes);
  std::memcpy(to, lanes, static_cast<std::size_t>(count) * sizeof(float));
}

// A row of a plane and the next one.
struct RowPair {
  const std::uint8_t* row0;
  const std::uint8_t* row1;
};

HWY_INLINE RowPair row_pair(const Plane& plane, const LinearTap& tap) {
  const std::uint8_t* row0 = plane.data + tap.at0 * plane.stride;
  // With the weight 0 there may be no row below.
  return {row0, tap.weight1 > 0 ? row0 + plane.stride : row0};
}

// Brings the taps of the next content row into the cache, a line ahead of where this row is.
class Prefetcher {
 public:
  void add(const RowPair& now, const RowPair& next) {
    if (next.row0 != now.row0 && next.row0 != now.row1) rows_[count_++] = next.row0;
    if (next.row1 != next.row0 && next.row1 != now.row1) rows_[count_++] = next.row1;
  }
  void begin_at(int offset) { next_ = offset; }
  HWY_INLINE void run_to(int offset) {
    for (; next_ <= offset; next_ += kLine) {
      for (int r = 0; r < count_; ++r) hwy::Prefetch(rows_[r] + next_);
    }
  }

 private:
  static constexpr int kLine = 64;
  const std::uint8_t* rows_[4];
  int count_ = 0;
  int next_ = 0;
};

struct Row {
  RowPair luma;
  RowPair u;
  RowPair v;
  float luma_weight;
  float chroma_weight;
};

HWY_INLINE Row make_row(const Yuv420Tile& tile, int j) {
  const RowTaps taps = row_taps(*tile.plan, j);
  Row row;
  row.luma = row_pair(tile.source->luma, taps.luma);
  row.u = row_pair(tile.source->u, taps.chroma);
  row.v = tile.interleaved ? row.u : row_pair(tile.source->v, taps.chroma);
  row.luma_weight = taps.luma.weight1;
  row.chroma_weight = taps.chroma.weight1;
  return row;
}

HWY_INLINE float* row_of(const Yuv420Tile& tile, int c, int j) {
  return reinterpret_cast<float*>(reinterpret_cast<std::uint8_t*>(tile.channels[c]) +
                                  j * tile.stride_y);
}

// Columns [begin, end) of row j at any scale.
template <bool kInterleaved, bool kAtEnd>
HWY_INLINE void gather_columns(const Yuv420Tile& tile, const Row& row, int j, int begin, int end,
                               Prefetcher& luma_ahead, Prefetcher& chroma_ahead) {
  const DF df;
  const DI di;
  const int lanes = static_cast<int>(hn::Lanes(df));
  const ColorTransform color = *tile.color;  // a copy, which stores to the tensor cannot change
  const ColumnTaps& taps = *tile.taps;
  const int luma_bytes = tile.source->luma_row_bytes;
  const int chroma_bytes = tile.source->chroma_row_bytes;
  const VF luma_wy = hn::Set(df, row.luma_weight);
  const VF chroma_wy = hn::Set(df, row.chroma_weight);
  float* const red = row_of(tile, 0, j);
  float* const green = row_of(tile, 1, j);
  float* const blue = row_of(tile, 2, j);
  for (int i = begin; i < end; i += lanes) {
    const int count = std::min(lanes, end - i);
    luma_ahead.run_to(taps.luma_offset[i + count - 1]);
    chroma_ahead.run_to(taps.chroma_offset[i + count - 1]);

    const VI luma_at = hn::LoadU(di, taps.luma_offset + i);
    const VF luma_wx = hn::LoadU(df, taps.luma_weight + i);
    const VU y0 = gather<kAtEnd>(row.luma.row0, luma_at, luma_bytes);
    const VU y1 = gather<kAtEnd>(row.luma.row1, luma_at, luma_bytes);
    const VF y = lerp(lerp(byte_of<0>(y0), byte_of<1>(y0), luma_wx),
                      lerp(byte_of<0>(y1), byte_of<1>(y1), luma_wx), luma_wy);

    const VI chroma_at = hn::LoadU(di, taps.chroma_offset + i);
    const VF chroma_wx = hn::LoadU(df, taps.chroma_weight + i);
    VF u, v;
    const VU u0 = gather<kAtEnd>(row.u.row0, chroma_at, chroma_bytes);
    const VU u1 = gather<kAtEnd>(row.u.row1, chroma_at, chroma_bytes);
    if constexpr (kInterleaved) {
      u = lerp(lerp(byte_of<0>(u0), byte_of<2>(u0), chroma_wx),
               lerp(byte_of<0>(u1), byte_of<2>(u1), chroma_wx), chroma_wy);
      v = lerp(lerp(byte_of<1>(u0), byte_of<3>(u0), chroma_wx),
               lerp(byte_of<1>(u1), byte_of<3>(u1), chroma_wx), chroma_wy);
    } else {
      const VU v0 = gather<kAtEnd>(row.v.row0, chroma_at, chroma_bytes);
      const VU v1 = gather<kAtEnd>(row.v.row1, chroma_at, chroma_bytes);
      u = lerp(lerp(byte_of<0>(u0), byte_of<1>(u0), chroma_wx),
               lerp(byte_of<0>(u1), byte_of<1>(u1), chroma_wx), chroma_wy);
      v = lerp(lerp(byte_of<0>(v0), byte_of<1>(v0), chroma_wx),
               lerp(byte_of<0>(v1), byte_of<1>(v1), chroma_wx), chroma_wy);
    }
    store_lanes(color_of<0>(color, y, u, v), count, red + i);
    store_lanes(color_of<1>(color, y, u, v), count, green + i);
    store_lanes(color_of<2>(color, y, u, v), count, blue + i);
  }
}

template <bool kInterleaved>
void gather_tile(const Yuv420Tile& tile) {
  const int lanes = static_cast<int>(hn::Lanes(DF()));
  // Whole vectors only: the one with the first shifted column is of the second kind.
  const int unshifted = tile.unshifted_columns == tile.columns
                            ? tile.columns
                            : tile.unshifted_columns / lanes * lanes;
  const int rows = tile.plan->content.height;
  Row row = make_row(tile, 0);
  for (int j = 0; j < rows; ++j) {
    const Row next = j + 1 < rows ? make_row(tile, j + 1) : row;
    Prefetcher luma_ahead;
    Prefetcher chroma_ahead;
    luma_ahead.add(row.luma, next.luma);
    chroma_ahead.add(row.u, next.u);
    if (!kInterleaved) chroma_ahead.add(row.v, next.v);
    luma_ahead.begin_at(tile.taps->luma_offset[0]);
    chroma_ahead.begin_at(tile.taps->chroma_offset[0]);
    gather_columns<kInterleaved, false>(tile, row, j, 0, unshifted, luma_ahead, chroma_ahead);
    gather_columns<kInterleaved, true>(tile, row, j, unshifted, tile.columns, luma_ahead,
                                       chroma_ahead);
    row = next;
  }
}

// ---- Scale 1 at whole samples: no gathers. Chroma rows are blended into a line of floats, and
// each pair of columns takes two neighbours of it.

// Chroma of one row of a tile, from chroma column `straight->chroma_first` on.
struct ChromaLine {
  static constexpr int kSize = kTileColumns / 2 + 2 + kMaxLanes;
  HWY_ALIGN float u[kSize];
  HWY_ALIGN float v[kSize];
};

template <bool kInterleaved>
HWY_INLINE void blend_one(const Row& row, int column, int at, ChromaLine& line) {
  const int step = kInterleaved ? 2 : 1;
  const auto blend = [&](const RowPair& pair, int offset) {
    const float upper = pair.row0[column * step + offset];
    const float lower = pair.row1[column * step + offset];
    return upper + (lower - upper) * row.chroma_weight;
  };
  line.u[at] = blend(row.u, 0);
  line.v[at] = blend(row.v, kInterleaved ? 1 : 0);
}

template <bool kInterleaved>
HWY_INLINE void blend_many(const Row& row, int column, int at, ChromaLine& line) {
  const DF df;
  const DI di;
  const VF weight = hn::Set(df, row.chroma_weight);
  if constexpr (kInterleaved) {
    const VU w0 = load_pairs(row.u.row0 + 2 * column);
    const VU w1 = load_pairs(row.u.row1 + 2 * column);
    hn::StoreU(lerp(byte_of<0>(w0), byte_of<0>(w1), weight), df, line.u + at);
    hn::StoreU(lerp(byte_of<1>(w0), byte_of<1>(w1), weight), df, line.v + at);
  } else {
    const hn::Rebind<std::uint8_t, DF> d8;
    const auto floats = [&](const std::uint8_t* from) {
      return hn::ConvertTo(df, hn::PromoteTo(di, hn::LoadU(d8, from + column)));
    };
    hn::StoreU(lerp(floats(row.u.row0), floats(row.u.row1), weight), df, line.u + at);
    hn::StoreU(lerp(floats(row.v.row0), floats(row.v.row1), weight), df, line.v + at);
  }
}

template <bool kInterleaved>
HWY_INLINE void blend_chroma(const Yuv420Tile& tile, const Row& row, ChromaLine& line) {
  const SampleAxis& axis = tile.plan->chroma.x;
  const int lanes = static_cast<int>(hn::Lanes(DF()));
  const int size = (tile.columns + 1) / 2 + 2;
  const int first = tile.straight->chroma_first;
  int at = 0;
  for (; at < size && first + at < axis.first; ++at) {
    blend_one<kInterleaved>(row, axis.first, at, line);
  }
  for (; at + lanes <= size && first + at + lanes - 1 <= axis.last; at += lanes) {
    blend_many<kInterleaved>(row, first + at, at, line);
  }
  for (; at < size; ++at) {
    blend_one<kInterleaved>(row, std::min(first + at, axis.last), at, line);
  }
}

// 2 * lanes columns from luma and line position `at`, to three places for as many floats.
HWY_INLINE void straight_pixels(const Yuv420Tile& tile, const ColorTransform& color,
                                const std::uint8_t* luma, const ChromaLine& line, int at,
                                float* const (&to)[3]) {
  const DF df;
  const StraightColumns& columns = *tile.straight;
  const VU pairs = load_pairs(luma);
  const VF y0 = byte_of<0>(pairs);
  const VF y1 = byte_of<1>(pairs);
  const auto chroma = [&](const float* from, int step, float weight) {
    return lerp(hn::LoadU(df, from + at + step), hn::LoadU(df, from + at + step + 1),
                hn::Set(df, weight));
  };
  const VF u0 = chroma(line.u, 0, columns.weight[0]);
  const VF v0 = chroma(line.v, 0, columns.weight[0]);
  const VF u1 = chroma(line.u, columns.step, columns.weight[1]);
  const VF v1 = chroma(line.v, columns.step, columns.weight[1]);
  store_alternating(color_of<0>(color, y0, u0, v0), color_of<0>(color, y1, u1, v1), to[0]);
  store_alternating(color_of<1>(color, y0, u0, v0), color_of<1>(color, y1, u1, v1), to[1]);
  store_alternating(color_of<2>(color, y0, u0, v0), color_of<2>(color, y1, u1, v1), to[2]);
}

template <bool kInterleaved>
void straight_tile(const Yuv420Tile& tile) {
  const int step = 2 * static_cast<int>(hn::Lanes(DF()));
  const ColorTransform color = *tile.color;
  ChromaLine line = {};
  for (int j = 0; j < tile.plan->content.height; ++j) {
    const Row row = make_row(tile, j);
    blend_chroma<kInterleaved>(tile, row, line);
    const std::uint8_t* luma = row.luma.row0 + tile.straight->luma_first;
    float* const out[3] = {row_of(tile, 0, j), row_of(tile, 1, j), row_of(tile, 2, j)};
    int i = 0;
    for (; i + step <= tile.columns; i += step) {
      float* const to[3] = {out[0] + i, out[1] + i, out[2] + i};
      straight_pixels(tile, color, luma + i, line, i / 2, to);
    }
    if (i == tile.columns) continue;
    const auto rest = static_cast<std::size_t>(tile.columns - i);
    std::uint8_t last[2 * kMaxLanes] = {};
    std::memcpy(last, luma + i, rest);
    float pixels[3][2 * kMaxLanes];
    float* const to[3] = {pixels[0], pixels[1], pixels[2]};
    straight_pixels(tile, color, last, line, i / 2, to);
    for (int c = 0; c < 3; ++c) std::memcpy(out[c] + i, pixels[c], rest * sizeof(float));
  }
}

void import_tile(const Yuv420Tile& tile) {
  if (tile.straight != nullptr) {
    tile.interleaved ? straight_tile<true>(tile) : straight_tile<false>(tile);
  } else {
    tile.interleaved ? gather_tile<true>(tile) : gather_tile<false>(tile);
  }
}

const char* target_name() { return hwy::TargetName(HWY_TARGET); }

}  // namespace HWY_NAMESPACE
}  // namespace sparing::internal
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sparing::internal {

HWY_EXPORT(import_tile);
HWY_EXPORT(target_name);

void import_yuv420_tile(const Yuv420Tile& tile) { HWY_DYNAMIC_DISPATCH(import_tile)(tile); }

const char* yuv420_simd_target() { return HWY_DYNAMIC_DISPATCH(target_name)(); }

}  // namespace sparing::internal
#endif  // HWY_ONCE

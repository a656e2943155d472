// The stores, compiled once for each instruction set.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "sparing/kernels/sample.h"
#include "sparing/kernels/simd_targets.h"
#include "sparing/kernels/store.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sparing/kernels/store_simd.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
// clang-format off: highway.h must come after foreach_target.h
#include "hwy/highway.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace sparing::internal {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using DF = hn::CappedTag<float, kMaxLanes>;
using DI = hn::Rebind<std::int32_t, DF>;
using DU = hn::Rebind<std::uint32_t, DF>;
using VF = hn::Vec<DF>;
using VI = hn::Vec<DI>;

constexpr int kLanes = static_cast<int>(hn::MaxLanes(DF()));

// ---- One of these for each data type: Tag of a vector of the stored elements, and the rounding,
// half to even.

struct ToFloat32 {
  using Tag = DF;
  static HWY_INLINE VF convert(VF value) { return value; }
};

struct ToInt32 {
  using Tag = DI;
  static HWY_INLINE VI convert(VF value) { return hn::NearestInt(value); }
};

// Added to a float of less than 2^22, it leaves the number, rounded, in the low bits.
constexpr float kRounder = 12582912.0f;  // 1.5 * 2^23

template <class T>
struct ToByte {
  using Tag = hn::Rebind<T, DF>;
  // Fewer instructions than NearestInt, which minds values that are clamped away already.
  static HWY_INLINE VI rounded(VF value) {
    return hn::BitCast(DI(), hn::Add(value, hn::Set(DF(), kRounder)));
  }
  static HWY_INLINE hn::Vec<Tag> convert(VF value) {
    const VI offset = hn::BitCast(DI(), hn::Set(DF(), kRounder));
    return hn::DemoteTo(Tag(), hn::Sub(rounded(value), offset));
  }
};

// The upper half of the float, rounded: overflow carries into infinity.
struct ToBfloat16 {
  using Tag = hn::Rebind<std::uint16_t, DF>;
  static HWY_INLINE hn::Vec<Tag> convert(VF value) {
    const DU du;
    const auto bits = hn::BitCast(du, value);
    const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 1u));
    const auto rounded = hn::ShiftRight<16>(hn::Add(hn::Add(bits, hn::Set(du, 0x7FFFu)), odd));
    return hn::DemoteTo(Tag(), hn::BitCast(DI(), rounded));
  }
};

struct ToFloat16 {
  using Tag = hn::Rebind<std::uint16_t, DF>;
#if HWY_TARGET <= HWY_AVX2 || HWY_TARGET == HWY_NEON
  static HWY_INLINE hn::Vec<Tag> convert(VF value) {
    return hn::BitCast(Tag(), hn::DemoteTo(hn::Rebind<hwy::float16_t, DF>(), value));
  }
#else
  // By the float's bits: the exponent moved, the mantissa's last 13 bits rounded off; below 2^-14
  // by an addition that leaves the mantissa in units of 2^-24.
  static HWY_INLINE hn::Vec<Tag> convert(VF value) {
    const DU du;
    const DF df;
    const auto bits = hn::BitCast(du, value);
    const auto magnitude = hn::And(bits, hn::Set(du, 0x7FFFFFFFu));
    const auto sign = hn::ShiftRight<16>(hn::Xor(bits, magnitude));
    const auto odd = hn::And(hn::ShiftRight<13>(magnitude), hn::Set(du, 1u));
    const auto moved = hn::Sub(hn::Add(magnitude, hn::Set(du, 0xFFFu)), hn::Set(du, 112u << 23));
    const auto normal = hn::Min(hn::ShiftRight<13>(hn::Add(moved, odd)), hn::Set(du, 0x7C00u));
    const auto added = hn::Add(hn::BitCast(df, magnitude), hn::Set(df, 0.5f));
    const auto small = hn::Sub(hn::BitCast(du, added), hn::BitCast(du, hn::Set(df, 0.5f)));
    const auto is_small = hn::Lt(hn::BitCast(DI(), magnitude), hn::Set(DI(), 113 << 23));
    const auto half = hn::IfThenElse(hn::RebindMask(du, is_small), small, normal);
    return hn::DemoteTo(Tag(), hn::BitCast(DI(), hn::Or(half, sign)));
  }
#endif
};

// ---- A row

HWY_INLINE VF lerp(VF a, VF b, VF weight) { return hn::MulAdd(hn::Sub(b, a), weight, a); }

// The channels of kLanes columns, from column i on.
template <int kLines, int kColors>
struct Pixels {
  VF channel[kColors];

  HWY_INLINE Pixels(const ColorTransform& color, const BlendRow& row, int i) {
    const DF df;
    VF line[kLines];
    for (int k = 0; k < kLines; ++k) {
      line[k] = lerp(hn::LoadU(df, row.upper[k] + i), hn::LoadU(df, row.lower[k] + i),
                     hn::Set(df, row.weight[k]));
    }
    for (int c = 0; c < kColors; ++c) {
      VF value = hn::Set(df, color.bias[c]);
      for (int k = 0; k < kLines; ++k) {
        value = hn::MulAdd(line[k], hn::Set(df, color.matrix[c][k]), value);
      }
      channel[c] = hn::Min(hn::Max(value, hn::Set(df, color.low[c])), hn::Set(df, color.high[c]));
    }
  }
};

StoreRows choose_rows(const StoreJob& job);

// Rows shorter than a vector, by way of one; their lines may be read as whole vectors.
void store_narrow(const StoreJob& given) {
  HWY_ALIGN std::byte part[4][4 * sizeof(float) * kMaxLanes];
  StoreJob one = given;
  one.columns = kLanes;
  one.rows = 1;
  for (int c = 0; c < 4; ++c) one.out[c] = part[c];
  const StoreRows store = choose_rows(one);
  const bool planar = given.layout == RowLayout::kPlanar;
  const int elements = planar ? given.columns : given.columns * given.channels;
  const std::size_t bytes = static_cast<std::size_t>(elements) * info(given.type).size;
  for (int r = 0; r < given.rows; ++r) {
    one.blend = given.blend + r;
    store(one);
    for (int c = 0; c < (planar ? given.channels : 1); ++c) {
      std::memcpy(given.out[c] + r * given.row_stride, part[c], bytes);
    }
  }
}

// Calls put(i) for groups of kLanes columns, of which there are as many at least, so that all are
// written: the last group overlaps the one before.
template <class Put>
HWY_INLINE void for_groups(int columns, const Put& put) {
#if HWY_ARCH_WASM
  // In one place: what is inlined there is most of the module.
  for (int i = 0; i < columns; i += kLanes) put(std::min(i, columns - kLanes));
#else
  int i = 0;
  for (; i + kLanes <= columns; i += kLanes) put(i);
  if (i < columns) put(columns - kLanes);
#endif
}

// What is stored cannot change these copies.
struct Job {
  int columns;
  int rows;
  const BlendRow* blend;
  std::ptrdiff_t row_stride;
  ColorTransform color;

  explicit HWY_INLINE Job(const StoreJob& job)
      : columns(job.columns),
        rows(job.rows),
        blend(job.blend),
        row_stride(job.row_stride),
        color(*job.color) {}
};

template <class Type, int kLines, int kChannels>
void store_planar(const StoreJob& given) {
  using Tag = typename Type::Tag;
  using T = hn::TFromD<Tag>;
  constexpr int kColors = std::min(kChannels, 3);
  if (given.columns < kLanes) return store_narrow(given);
  const Job job(given);
  const auto alpha = Type::convert(hn::Set(DF(), job.color.alpha));
  for (int r = 0; r < job.rows; ++r) {
    const BlendRow row = job.blend[r];
    T* out[kChannels];
    for (int c = 0; c < kChannels; ++c) {
      out[c] = reinterpret_cast<T*>(given.out[c] + r * job.row_stride);
    }
    const auto put = [&](int i) HWY_ATTR {
      const Pixels<kLines, kColors> pixels(job.color, row, i);
      for (int c = 0; c < kColors; ++c) {
        hn::StoreU(Type::convert(pixels.channel[c]), Tag(), out[c] + i);
      }
      if constexpr (kChannels == 4) hn::StoreU(alpha, Tag(), out[3] + i);
    };
    for_groups(job.columns, put);
  }
}

template <class Type, int kLines, int kChannels>
HWY_INLINE void store_pixels(const Job& job, const BlendRow& row, int i,
                             hn::TFromD<typename Type::Tag>* to) {
  using Tag = typename Type::Tag;
  const Pixels<kLines, 3> pixels(job.color, row, i);
  const auto c0 = Type::convert(pixels.channel[0]);
  const auto c1 = Type::convert(pixels.channel[1]);
  const auto c2 = Type::convert(pixels.channel[2]);
  if constexpr (kChannels == 3) {
    hn::StoreInterleaved3(c0, c1, c2, Tag(), to);
  } else {
    const auto alpha = Type::convert(hn::Set(DF(), job.color.alpha));
    hn::StoreInterleaved4(c0, c1, c2, alpha, Tag(), to);
  }
}

template <class Type, int kLines, int kChannels>
void store_interleaved(const StoreJob& given) {
  using T = hn::TFromD<typename Type::Tag>;
  if (given.columns < kLanes) return store_narrow(given);
  const Job job(given);
  for (int r = 0; r < job.rows; ++r) {
    const BlendRow row = job.blend[r];
    T* out = reinterpret_cast<T*>(given.out[0] + r * job.row_stride);
    const auto put = [&](int i) HWY_ATTR {
      store_pixels<Type, kLines, kChannels>(job, row, i, out + kChannels * i);
    };
    for_groups(job.columns, put);
  }
}

#if HWY_TARGET != HWY_SCALAR
// 3 bytes a pixel: put together in 32 bits, and the fourth byte closed up, first within 16 bytes
// and then across them. Writes a whole vector.
template <class Type, int kLines>
HWY_INLINE void store_byte_pixels(const Job& job, const BlendRow& row, int i, std::uint8_t* to) {
  const DU du;
  const hn::Repartition<std::uint8_t, DU> d8;
  const Pixels<kLines, 3> pixels(job.color, row, i);
  const auto byte = [&](int c) HWY_ATTR {
    return hn::And(hn::BitCast(du, Type::rounded(pixels.channel[c])), hn::Set(du, 0xFFu));
  };
  const auto words = hn::Or(byte(0), hn::Or(hn::ShiftLeft<8>(byte(1)), hn::ShiftLeft<16>(byte(2))));
  alignas(16) static constexpr std::uint8_t kClosed[16] = {0,  1,  2,  4,  5, 6, 8,  9,
                                                           10, 12, 13, 14, 3, 7, 11, 15};
  const auto order = hn::LoadDup128(d8, kClosed);
#if HWY_TARGET == HWY_WASM
  // Highway 1.0 goes byte by byte.
  const decltype(order) closed{wasm_i8x16_swizzle(words.raw, order.raw)};
#else
  const auto closed = hn::TableLookupBytes(hn::BitCast(d8, words), order);
#endif
  alignas(64) static constexpr std::int32_t kWords[16] = {0,  1,  2,  4,  5, 6, 8,  9,
                                                          10, 12, 13, 14, 3, 7, 11, 15};
  alignas(32) static constexpr std::int32_t kWords8[8] = {0, 1, 2, 4, 5, 6, 3, 7};
  if constexpr (kLanes == 4) {
    hn::StoreU(closed, d8, to);
  } else {
    const auto across = hn::SetTableIndices(du, kLanes == 16 ? kWords : kWords8);
    hn::StoreU(hn::BitCast(d8, hn::TableLookupLanes(hn::BitCast(du, closed), across)), d8, to);
  }
}

template <class Type, int kLines>
void store_bytes(const StoreJob& given) {
  // A vector is a third longer than its pixels, and must not reach beyond the last column.
  constexpr int kReach = kLanes + (kLanes + 2) / 3;
  if (given.columns < kLanes) return store_narrow(given);
  const Job job(given);
  for (int r = 0; r < job.rows; ++r) {
    const BlendRow row = job.blend[r];
    auto* out = reinterpret_cast<std::uint8_t*>(given.out[0] + r * job.row_stride);
    const auto put_part = [&](int i) HWY_ATTR {
      HWY_ALIGN std::uint8_t part[4 * kMaxLanes];
      store_byte_pixels<Type, kLines>(job, row, i, part);
      std::memcpy(out + 3 * i, part, 3 * kLanes);
    };
    int i = 0;
    for (; i + kReach <= job.columns; i += kLanes) {
      store_byte_pixels<Type, kLines>(job, row, i, out + 3 * i);
    }
    for (; i < job.columns; i += kLanes) put_part(std::min(i, job.columns - kLanes));
  }
}
#endif

template <class Type, int kLines>
StoreRows rows_of(const StoreJob& job) {
  if (job.channels == 1) return &store_planar<Type, kLines, 1>;
#if HWY_TARGET != HWY_SCALAR
  if constexpr (sizeof(hn::TFromD<typename Type::Tag>) == 1) {
    if (job.layout == RowLayout::kInterleaved && job.channels == 3) {
      return &store_bytes<Type, kLines>;
    }
  }
#endif
  if (job.layout == RowLayout::kInterleaved) {
    return job.channels == 3 ? &store_interleaved<Type, kLines, 3>
                             : &store_interleaved<Type, kLines, 4>;
  }
  return job.channels == 3 ? &store_planar<Type, kLines, 3> : &store_planar<Type, kLines, 4>;
}

template <class Type>
StoreRows type_rows(const StoreJob& job) {
  return job.lines == 1 ? rows_of<Type, 1>(job) : rows_of<Type, 3>(job);
}

StoreRows choose_rows(const StoreJob& job) {
#if HWY_ARCH_WASM && HWY_TARGET == HWY_EMU128
  const StoreRows plain = store_rows_plain(job);
  return plain != nullptr ? plain : type_rows<ToFloat16>(job);
#else
  switch (job.type) {
    case DataType::kFloat32: return type_rows<ToFloat32>(job);
    case DataType::kFloat16: return type_rows<ToFloat16>(job);
    case DataType::kUint8: return type_rows<ToByte<std::uint8_t>>(job);
    case DataType::kInt8: return type_rows<ToByte<std::int8_t>>(job);
#ifndef __wasm__
    case DataType::kBfloat16: return type_rows<ToBfloat16>(job);
    case DataType::kInt32: return type_rows<ToInt32>(job);
#endif
    default: return nullptr;  // see has_store()
  }
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace sparing::internal
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sparing::internal {

HWY_EXPORT(choose_rows);

StoreRows store_rows(const StoreJob& job) { return HWY_DYNAMIC_DISPATCH(choose_rows)(job); }

}  // namespace sparing::internal
#endif  // HWY_ONCE

// See class_map_simd.h.
#include "sparing/kernels/class_map_simd.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "sparing/kernels/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sparing/kernels/class_map_simd.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
// clang-format off: highway.h must come after foreach_target.h
#include "hwy/highway.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace sparing::internal {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using DF = hn::CappedTag<float, kClassLanes>;
constexpr int kLanes = static_cast<int>(hn::MaxLanes(DF()));
constexpr float kInfinity = std::numeric_limits<float>::infinity();

// ---- Scores to probabilities. D is one lane for the pixels that are left after whole vectors.

// e^x, for x cut to [-87, 87], within 3e-7 of it: x = n ln 2 + r, and the series of e^r, whose
// terms from r^8 on are below 1e-8.
template <class D>
HWY_INLINE hn::Vec<D> exponential(D d, hn::Vec<D> x) {
  const hn::Rebind<std::int32_t, D> di;
  x = hn::Min(hn::Max(x, hn::Set(d, -87.0f)), hn::Set(d, 87.0f));
  // Added to a float of less than 2^22, it leaves the number, rounded, in the low bits.
  const auto rounder = hn::Set(d, 12582912.0f);  // 1.5 * 2^23
  const auto moved = hn::Add(hn::Mul(x, hn::Set(d, 1.44269504f)), rounder);
  const auto n = hn::Sub(moved, rounder);
  // ln 2 in two parts, the first with so few bits that its product with n is exact.
  auto r = hn::Sub(x, hn::Mul(n, hn::Set(d, 0.693145751953125f)));
  r = hn::Sub(r, hn::Mul(n, hn::Set(d, 1.42860677e-6f)));
  constexpr float kSeries[] = {1.0f / 5040, 1.0f / 720, 1.0f / 120, 1.0f / 24,
                               1.0f / 6,    0.5f,       1.0f,       1.0f};
  auto sum = hn::Set(d, kSeries[0]);
  for (int i = 1; i < 8; ++i) sum = hn::Add(hn::Mul(sum, r), hn::Set(d, kSeries[i]));
  const auto power = hn::Sub(hn::BitCast(di, moved), hn::BitCast(di, rounder));
  const auto bits = hn::ShiftLeft<23>(hn::Add(power, hn::Set(di, 127)));
  return hn::Mul(sum, hn::BitCast(d, bits));
}

template <ScoreUse kUse, class D>
HWY_INLINE hn::Vec<D> weight_of(D d, hn::Vec<D> score, hn::Vec<D> greatest) {
  if constexpr (kUse == ScoreUse::kExponential) return exponential(d, hn::Sub(score, greatest));
  if constexpr (kUse == ScoreUse::kSigmoid) {
    const auto one = hn::Set(d, 1.0f);
    return hn::Div(one, hn::Add(one, exponential(d, hn::Neg(score))));
  }
  if constexpr (kUse == ScoreUse::kShare) {
    return hn::Min(hn::Max(score, hn::Zero(d)), hn::Set(d, 1.0f));
  }
  if constexpr (kUse == ScoreUse::kKeep) {
    return hn::Min(hn::Max(score, hn::Set(d, -kMaxLogit)), hn::Set(d, kMaxLogit));
  }
}

// The pixels of one vector, from pixel i on.
template <ScoreUse kUse, class D>
HWY_INLINE void score_pixels(D d, const ScoreJob& job, std::ptrdiff_t i, ScoreTally& tally) {
  const auto infinity = hn::Set(d, kInfinity);
  auto greatest = hn::Set(d, -kInfinity);
  // Not a comparison with NaN holds.
  auto good = hn::Eq(infinity, infinity);
  for (int c = 0; c < job.channel_count; ++c) {
    const auto score = hn::LoadU(d, job.channels[c].from + i);
    good = hn::And(good, hn::Lt(score, infinity));
    greatest = hn::Max(greatest, score);
  }
  good = hn::And(good, hn::Gt(greatest, hn::Neg(infinity)));

  auto sum = hn::Zero(d);
  auto least = hn::Zero(d);
  auto most = hn::Zero(d);
  for (int c = 0; c < job.channel_count; ++c) {
    const ScoreChannel& channel = job.channels[c];
    const auto score = hn::LoadU(d, channel.from + i);
    if constexpr (kUse == ScoreUse::kShare) {
      const auto finite = hn::IfThenElseZero(hn::Lt(hn::Abs(score), infinity), score);
      least = hn::Min(least, finite);
      most = hn::Max(most, finite);
    }
    float* const plane = job.out + channel.plane * job.plane_stride + i;
    const auto weight = weight_of<kUse>(d, score, greatest);
    sum = hn::Add(sum, weight);
    hn::StoreU(channel.adds ? hn::Add(hn::LoadU(d, plane), weight) : weight, d, plane);
  }

  if constexpr (kUse == ScoreUse::kShare) {
    tally.least = std::min(tally.least, hn::GetLane(hn::MinOfLanes(d, least)));
    tally.greatest = std::max(tally.greatest, hn::GetLane(hn::MaxOfLanes(d, most)));
  }

  auto factor = hn::Set(d, 1.0f);
  auto otherwise = hn::Zero(d);
  if constexpr (kUse != ScoreUse::kKeep) {
    good = hn::And(good, hn::Gt(sum, hn::Zero(d)));
    factor = hn::Div(factor, sum);
    otherwise = hn::Set(d, 1.0f / static_cast<float>(job.plane_count));
  }
  const bool all_good = hn::AllTrue(d, good);
  if (!all_good) {
    tally.bad +=
        static_cast<std::int64_t>(hn::Lanes(d)) - static_cast<std::int64_t>(hn::CountTrue(d, good));
  }
  if (kUse == ScoreUse::kKeep && all_good) return;
  for (int c = 0; c < job.channel_count; ++c) {
    if (job.channels[c].adds) continue;
    float* const plane = job.out + job.channels[c].plane * job.plane_stride + i;
    const auto value = hn::Mul(hn::LoadU(d, plane), factor);
    hn::StoreU(hn::IfThenElse(good, value, otherwise), d, plane);
  }
}

template <ScoreUse kUse>
ScoreTally score_all(const ScoreJob& given) {
  const ScoreJob job = given;  // what is stored cannot change it
  ScoreTally tally;
  std::ptrdiff_t i = 0;
  for (; i + kLanes <= job.count; i += kLanes) score_pixels<kUse>(DF(), job, i, tally);
  for (; i < job.count; ++i) score_pixels<kUse>(hn::CappedTag<float, 1>(), job, i, tally);
  return tally;
}

ScoreTally scores(const ScoreJob& job) {
  switch (job.use) {
    case ScoreUse::kExponential: return score_all<ScoreUse::kExponential>(job);
    case ScoreUse::kSigmoid: return score_all<ScoreUse::kSigmoid>(job);
    case ScoreUse::kShare: return score_all<ScoreUse::kShare>(job);
    case ScoreUse::kKeep: return score_all<ScoreUse::kKeep>(job);
  }
  return {};
}

// ---- The greatest

template <class D>
struct Greatest {
  using DI = hn::Rebind<std::int32_t, D>;
  hn::Vec<D> value;
  hn::Vec<DI> label;

  // Written out, so that it is compiled for the instruction set.
  HWY_INLINE Greatest() : value(hn::Set(D(), -kInfinity)), label(hn::Zero(DI())) {}
  HWY_INLINE void see(hn::Vec<D> other, int c) {
    const auto greater = hn::Gt(other, value);
    value = hn::IfThenElse(greater, other, value);
    label = hn::IfThenElse(hn::RebindMask(DI(), greater), hn::Set(DI(), c), label);
  }
  HWY_INLINE void store(std::uint8_t* labels) const {
    const hn::Rebind<std::uint8_t, D> d8;
    hn::StoreU(hn::DemoteTo(d8, label), d8, labels);
  }
};

template <class D>
HWY_INLINE void argmax_pixels(D d, const float* values, std::ptrdiff_t plane_stride, int classes,
                              std::uint8_t* labels) {
  Greatest<D> greatest;
  for (int c = 0; c < classes; ++c) greatest.see(hn::LoadU(d, values + c * plane_stride), c);
  greatest.store(labels);
}

void argmax(const float* values, std::ptrdiff_t plane_stride, int classes, std::ptrdiff_t count,
            std::uint8_t* labels) {
  std::ptrdiff_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    argmax_pixels(DF(), values + i, plane_stride, classes, labels + i);
  }
  for (; i < count; ++i) {
    argmax_pixels(hn::CappedTag<float, 1>(), values + i, plane_stride, classes, labels + i);
  }
}

// ---- Resizing

HWY_INLINE hn::Vec<DF> lerp(hn::Vec<DF> a, hn::Vec<DF> b, hn::Vec<DF> weight) {
  return hn::Add(a, hn::Mul(hn::Sub(b, a), weight));
}

void sample(const ColumnTable& table, const float* row, std::ptrdiff_t plane_stride, int width,
            int classes, const ClassLines& lines) {
  const DF df;
  const hn::Rebind<std::int32_t, DF> di;
  for (int i = 0; i < table.padded; i += kLanes) {
    const auto weight = hn::Load(df, table.weight + i);
    // Where the map is enlarged, the samples of a vector of columns lie within one load.
    const int base = std::min(table.left[i], width - kLanes);
    if (base >= 0 && table.right[i + kLanes - 1] - base < kLanes) {
      alignas(64) std::int32_t at[kLanes];
      hn::Store(hn::Sub(hn::Load(di, table.left + i), hn::Set(di, base)), di, at);
      const auto left = hn::SetTableIndices(df, at);
      hn::Store(hn::Sub(hn::Load(di, table.right + i), hn::Set(di, base)), di, at);
      const auto right = hn::SetTableIndices(df, at);
      for (int c = 0; c < classes; ++c) {
        const auto loaded = hn::LoadU(df, row + c * plane_stride + base);
        const auto value =
            lerp(hn::TableLookupLanes(loaded, left), hn::TableLookupLanes(loaded, right), weight);
        hn::Store(value, df, lines.data + c * lines.stride + i);
      }
      continue;
    }
    const auto left = hn::Load(di, table.left + i);
    const auto right = hn::Load(di, table.right + i);
    for (int c = 0; c < classes; ++c) {
      const float* const from = row + c * plane_stride;
      const auto value =
          lerp(hn::GatherIndex(df, from, left), hn::GatherIndex(df, from, right), weight);
      hn::Store(value, df, lines.data + c * lines.stride + i);
    }
  }
}

void argmax_between(const ClassLines& upper, const ClassLines& lower, float weight, int classes,
                    int columns, std::uint8_t* labels) {
  const DF df;
  const auto share = hn::Set(df, weight);
  for (int i = 0; i < columns; i += kLanes) {
    Greatest<DF> greatest;
    for (int c = 0; c < classes; ++c) {
      const auto a = hn::Load(df, upper.data + c * upper.stride + i);
      const auto b = hn::Load(df, lower.data + c * lower.stride + i);
      greatest.see(lerp(a, b, share), c);
    }
    if (i + kLanes <= columns) {
      greatest.store(labels + i);
    } else {
      std::uint8_t rest[kClassLanes];
      greatest.store(rest);
      std::memcpy(labels + i, rest, static_cast<std::size_t>(columns - i));
    }
  }
}

void between(const float* upper, const float* lower, float weight, int columns, float* out) {
  const DF df;
  const auto share = hn::Set(df, weight);
  for (int i = 0; i < columns; i += kLanes) {
    const auto value = lerp(hn::Load(df, upper + i), hn::Load(df, lower + i), share);
    if (i + kLanes <= columns) {
      hn::StoreU(value, df, out + i);
    } else {
      alignas(64) float rest[kClassLanes];
      hn::Store(value, df, rest);
      std::memcpy(out + i, rest, static_cast<std::size_t>(columns - i) * sizeof(float));
    }
  }
}

const ClassKernels& class_table() {
  static const ClassKernels kKernels{
      hwy::TargetName(HWY_TARGET), &scores, &argmax, &sample, &argmax_between, &between};
  return kKernels;
}

}  // namespace HWY_NAMESPACE
}  // namespace sparing::internal
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sparing::internal {

HWY_EXPORT(class_table);

const ClassKernels& class_kernels() { return HWY_DYNAMIC_DISPATCH(class_table)(); }

}  // namespace sparing::internal
#endif  // HWY_ONCE

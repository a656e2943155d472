// The inner loops of the warp, compiled once for each instruction set.
#include <algorithm>
#include <cstdint>

#include "sparing/adapt/simd_targets.h"
#include "sparing/adapt/warp_kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sparing/adapt/warp_simd.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
// clang-format off: highway.h must come after foreach_target.h
#include "hwy/highway.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace sparing::adapt {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Wide = hn::ScalableTag<float>;
using Quad = hn::CappedTag<float, kQuad>;  // a whole one, but on targets without vectors

void put_in_fours(const float* const planes[kQuad], std::size_t count, float* quads) {
  const Wide d;
  const std::size_t lanes = hn::Lanes(d);
  const auto zero = hn::Zero(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto at = [&](std::size_t k) HWY_ATTR {
      return planes[k] == nullptr ? zero : hn::LoadU(d, planes[k] + i);
    };
    hn::StoreInterleaved4(at(0), at(1), at(2), at(3), d, quads + i * kQuad);
  }
  for (; i < count; ++i) {
    for (std::size_t k = 0; k < kQuad; ++k) {
      quads[i * kQuad + k] = planes[k] == nullptr ? 0 : planes[k][i];
    }
  }
}

void take_from_fours(const float* quads, std::size_t count, float* const planes[kQuad]) {
  const Wide d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    hn::Vec<Wide> a, b, c, e;
    hn::LoadInterleaved4(d, quads + i * kQuad, a, b, c, e);
    if (planes[0] != nullptr) hn::StoreU(a, d, planes[0] + i);
    if (planes[1] != nullptr) hn::StoreU(b, d, planes[1] + i);
    if (planes[2] != nullptr) hn::StoreU(c, d, planes[2] + i);
    if (planes[3] != nullptr) hn::StoreU(e, d, planes[3] + i);
  }
  for (; i < count; ++i) {
    for (std::size_t k = 0; k < kQuad; ++k) {
      if (planes[k] != nullptr) planes[k][i] = quads[i * kQuad + k];
    }
  }
}

// Where a run of pixels was, as the upper left of four neighbours, and their weights.
constexpr std::size_t kRun = 64;
struct Places {
  alignas(64) std::int32_t first[kRun];  // pixel
  alignas(64) std::int32_t right[kRun];  // to the next column, 0 at the edge
  alignas(64) std::int32_t below[kRun];  // to the next row, 0 at the edge
  alignas(64) float w00[kRun], w10[kRun], w01[kRun], w11[kRun];
};

// Of `count` pixels from (x, y). Vectors may go beyond `count`, not beyond kRun.
template <class D>
HWY_INLINE void place(D d, const WarpJob& job, int x, int y, std::size_t i, Places& places) {
  const hn::RebindToSigned<D> di;
  const auto zero = hn::Zero(d);
  const auto last_x = hn::Set(d, static_cast<float>(job.size.width - 1));
  const auto last_y = hn::Set(d, static_cast<float>(job.size.height - 1));
  const std::size_t pixel = static_cast<std::size_t>(y) * static_cast<std::size_t>(job.size.width) +
                            static_cast<std::size_t>(x) + i;
  const auto inside = [&](hn::Vec<D> at, hn::Vec<D> last) HWY_ATTR {
    return hn::IfThenElseZero(hn::Ge(at, zero), hn::Min(at, last));
  };
  const auto column = hn::Add(hn::ConvertTo(d, hn::Iota(di, 0)),
                              hn::Set(d, static_cast<float>(static_cast<std::size_t>(x) + i)));
  const auto u = inside(hn::Add(column, hn::LoadU(d, job.dx + pixel)), last_x);
  const auto v =
      inside(hn::Add(hn::Set(d, static_cast<float>(y)), hn::LoadU(d, job.dy + pixel)), last_y);
  const auto x0 = hn::ConvertTo(di, u);
  const auto y0 = hn::ConvertTo(di, v);
  const auto fx = hn::Sub(u, hn::ConvertTo(d, x0));
  const auto fy = hn::Sub(v, hn::ConvertTo(d, y0));
  const auto width = hn::Set(di, job.size.width);
  hn::Store(hn::Add(hn::Mul(y0, width), x0), di, places.first + i);
  const auto more_x = hn::Lt(x0, hn::Set(di, job.size.width - 1));
  const auto more_y = hn::Lt(y0, hn::Set(di, job.size.height - 1));
  hn::Store(hn::IfThenElseZero(more_x, hn::Set(di, 1)), di, places.right + i);
  hn::Store(hn::IfThenElseZero(more_y, width), di, places.below + i);
  const auto w11 = hn::Mul(fx, fy);
  const auto w10 = hn::Sub(fx, w11);
  const auto w01 = hn::Sub(fy, w11);
  hn::Store(w11, d, places.w11 + i);
  hn::Store(w10, d, places.w10 + i);
  hn::Store(w01, d, places.w01 + i);
  hn::Store(hn::Sub(hn::Sub(hn::Set(d, 1.0f), fx), w01), d, places.w00 + i);
}

template <bool kBlend>
HWY_INLINE void warp_run(const WarpJob& job, std::size_t pixel, std::size_t count,
                         const Places& places) {
  const Quad d;
  const std::size_t pixels =
      static_cast<std::size_t>(job.size.width) * static_cast<std::size_t>(job.size.height);
  for (std::size_t q = 0; q < job.quads; ++q) {
    const float* past = job.past + q * pixels * kQuad;
    float* out = job.out + (q * pixels + pixel) * kQuad;
    for (std::size_t i = 0; i < count; ++i, out += kQuad) {
      const float* p00 = past + static_cast<std::size_t>(places.first[i]) * kQuad;
      const float* p10 = p00 + static_cast<std::size_t>(places.right[i]) * kQuad;
      const std::size_t below = static_cast<std::size_t>(places.below[i]) * kQuad;
      for (std::size_t k = 0; k < kQuad; k += hn::MaxLanes(d)) {
        auto sum = hn::Mul(hn::LoadU(d, p00 + k), hn::Set(d, places.w00[i]));
        sum = hn::MulAdd(hn::LoadU(d, p10 + k), hn::Set(d, places.w10[i]), sum);
        sum = hn::MulAdd(hn::LoadU(d, p00 + below + k), hn::Set(d, places.w01[i]), sum);
        sum = hn::MulAdd(hn::LoadU(d, p10 + below + k), hn::Set(d, places.w11[i]), sum);
        if constexpr (kBlend) {
          const auto now = hn::LoadU(d, out + k);
          sum = hn::MulAdd(hn::Sub(sum, now), hn::Set(d, job.weights[pixel + i]), now);
        }
        hn::StoreU(sum, d, out + k);
      }
    }
  }
}

template <bool kBlend>
void warp_all(const WarpJob& job) {
  const hn::CappedTag<float, kRun> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto width = static_cast<std::size_t>(job.size.width);
  Places places;
  for (int y = 0; y < job.size.height; ++y) {
    for (std::size_t x = 0; x < width; x += kRun) {
      const std::size_t count = std::min(kRun, width - x);
      std::size_t i = 0;
      for (; i + lanes <= count; i += lanes) place(d, job, static_cast<int>(x), y, i, places);
      for (; i < count; ++i) {
        place(hn::CappedTag<float, 1>(), job, static_cast<int>(x), y, i, places);
      }
      warp_run<kBlend>(job, static_cast<std::size_t>(y) * width + x, count, places);
    }
  }
}

void warp(const WarpJob& job) {
  if (job.weights != nullptr) {
    warp_all<true>(job);
  } else {
    warp_all<false>(job);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace sparing::adapt
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sparing::adapt {

HWY_EXPORT(put_in_fours);
HWY_EXPORT(take_from_fours);
HWY_EXPORT(warp);

void to_quads(const float* const planes[kQuad], std::size_t count, float* quads) {
  HWY_DYNAMIC_DISPATCH(put_in_fours)(planes, count, quads);
}
void from_quads(const float* quads, std::size_t count, float* const planes[kQuad]) {
  HWY_DYNAMIC_DISPATCH(take_from_fours)(quads, count, planes);
}
void warp_quads(const WarpJob& job) { HWY_DYNAMIC_DISPATCH(warp)(job); }

}  // namespace sparing::adapt
#endif  // HWY_ONCE

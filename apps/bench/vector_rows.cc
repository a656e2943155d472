#include "sparing/kernels/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "vector_rows.cc"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

#include "sparing/base/check.h"
#include "vector_rows.h"

HWY_BEFORE_NAMESPACE();
namespace sparing::bench {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using F32 = hn::ScalableTag<float>;
using U8 = hn::Rebind<std::uint8_t, F32>;  // as many bytes as there are floats in a vector

template <class Bytes>
HWY_INLINE hn::Vec<F32> normalized(Bytes bytes, float scale, float bias) {
  const F32 f32;
  const auto value = hn::ConvertTo(f32, hn::PromoteTo(hn::RebindToSigned<F32>(), bytes));
  return hn::MulAdd(value, hn::Set(f32, scale), hn::Set(f32, bias));
}

HWY_INLINE void store(hn::Vec<F32> value, float* out) { hn::StoreU(value, F32(), out); }
HWY_INLINE void store(hn::Vec<F32> value, hwy::float16_t* out) {
  const hn::Rebind<hwy::float16_t, F32> f16;
  hn::StoreU(hn::DemoteTo(f16, value), f16, out);
}

// Calls step(x) so that vectors at these x cover 0..width; the last one overlaps its neighbour.
// Precondition: width is at least a vector.
template <class Step>
HWY_INLINE void for_each_vector(std::size_t width, const Step& step) {
  const std::size_t lanes = hn::Lanes(F32());
  std::size_t x = 0;
  for (; x + lanes <= width; x += lanes) step(x);
  if (x < width) step(width - lanes);
}

// In place or elsewhere, hence no overlapping last vector.
template <class T>
void plane_row(const float* in, std::size_t width, float scale, float bias, T* out) {
  const F32 f32;
  const auto map = [&](std::size_t x) HWY_ATTR {
    store(hn::MulAdd(hn::LoadU(f32, in + x), hn::Set(f32, scale), hn::Set(f32, bias)), out + x);
  };
  const std::size_t lanes = hn::Lanes(f32);
  for (std::size_t x = 0; x + lanes <= width; x += lanes) map(x);
}

// out[k], scale[k] and bias[k] belong to byte k of the pixel.
struct RowOutput {
  std::array<void*, 3> out;
  std::array<float, 3> scale;
  std::array<float, 3> bias;
};

template <class T, bool kFour>
void pixel_row(const std::uint8_t* in, std::size_t width, const RowOutput& to) {
  T* const out0 = static_cast<T*>(to.out[0]);
  T* const out1 = static_cast<T*>(to.out[1]);
  T* const out2 = static_cast<T*>(to.out[2]);
  for_each_vector(width, [&](std::size_t x) HWY_ATTR {
    hn::Vec<U8> v0, v1, v2, v3;
    if (kFour) {
      hn::LoadInterleaved4(U8(), in + 4 * x, v0, v1, v2, v3);
    } else {
      hn::LoadInterleaved3(U8(), in + 3 * x, v0, v1, v2);
    }
    store(normalized(v0, to.scale[0], to.bias[0]), out0 + x);
    store(normalized(v1, to.scale[1], to.bias[1]), out1 + x);
    store(normalized(v2, to.scale[2], to.bias[2]), out2 + x);
  });
}

std::uint8_t* address(const TensorView& tensor, std::size_t c, int y) {
  return reinterpret_cast<std::uint8_t*>(tensor.data) +
         static_cast<std::ptrdiff_t>(c) * tensor.stride_c + y * tensor.stride_y;
}

template <class T>
void store_pixels_as(const PixelRows& from, const Normalization& n, const TensorView& tensor) {
  const auto width = static_cast<std::size_t>(tensor.width);
  RowOutput to;
  for (int y = 0; y < tensor.height; ++y) {
    for (std::size_t c = 0; c < 3; ++c) {
      const std::size_t k = from.channel[c];
      to.out[k] = address(tensor, c, y);
      to.scale[k] = n.scale[c];
      to.bias[k] = n.bias[c];
    }
    const std::uint8_t* in = from.data + y * from.stride;
    from.step == 4 ? pixel_row<T, true>(in, width, to) : pixel_row<T, false>(in, width, to);
  }
}

template <class T>
void store_planes_as(const PlaneRows& from, const Normalization& n, const TensorView& tensor) {
  for (std::size_t c = 0; c < 3; ++c) {
    for (int y = 0; y < tensor.height; ++y) {
      plane_row(from.data[c] + y * from.stride, static_cast<std::size_t>(tensor.width),
                n.scale[c] * 255, n.bias[c], reinterpret_cast<T*>(address(tensor, c, y)));
    }
  }
}

void store_pixels_here(const PixelRows& from, const Normalization& n, const TensorView& tensor) {
  SPARING_CHECK(static_cast<std::size_t>(tensor.width) >= hn::Lanes(F32()));
  tensor.type == DataType::kFloat16 ? store_pixels_as<hwy::float16_t>(from, n, tensor)
                                    : store_pixels_as<float>(from, n, tensor);
}

void store_planes_here(const PlaneRows& from, const Normalization& n, const TensorView& tensor) {
  SPARING_CHECK(static_cast<std::size_t>(tensor.width) % hn::Lanes(F32()) == 0);
  tensor.type == DataType::kFloat16 ? store_planes_as<hwy::float16_t>(from, n, tensor)
                                    : store_planes_as<float>(from, n, tensor);
}

std::uint64_t read_here(const std::uint8_t* data, std::size_t bytes) {
  const hn::ScalableTag<std::uint64_t> u64;
  const std::size_t lanes = hn::Lanes(u64);
  auto even = hn::Zero(u64);
  auto odd = hn::Zero(u64);
  for (std::size_t at = 0; at < bytes; at += 128) {
    // The processor's own prefetching stops at every page.
    hwy::Prefetch(data + at + 4096);
    hwy::Prefetch(data + at + 4096 + 64);
    const auto* words = reinterpret_cast<const std::uint64_t*>(data + at);
    for (std::size_t i = 0; i < 128 / sizeof(std::uint64_t); i += 2 * lanes) {
      even = hn::Add(even, hn::LoadU(u64, words + i));
      odd = hn::Add(odd, hn::LoadU(u64, words + i + lanes));
    }
  }
  return hn::GetLane(hn::SumOfLanes(u64, hn::Add(even, odd)));
}

void write_here(std::uint8_t* data, std::size_t bytes, std::uint8_t value) {
  const hn::ScalableTag<std::uint8_t> u8;
  const auto filled = hn::Set(u8, value);
  std::size_t at = 0;
  for (; at + hn::Lanes(u8) <= bytes; at += hn::Lanes(u8)) hn::StoreU(filled, u8, data + at);
  std::memset(data + at, value, bytes - at);
}

}  // namespace HWY_NAMESPACE
}  // namespace sparing::bench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sparing::bench {

HWY_EXPORT(store_pixels_here);
HWY_EXPORT(store_planes_here);
HWY_EXPORT(read_here);
HWY_EXPORT(write_here);

void store_pixels(const PixelRows& from, const Normalization& normalization,
                  const TensorView& tensor) {
  HWY_DYNAMIC_DISPATCH(store_pixels_here)(from, normalization, tensor);
}

void store_planes(const PlaneRows& from, const Normalization& normalization,
                  const TensorView& tensor) {
  HWY_DYNAMIC_DISPATCH(store_planes_here)(from, normalization, tensor);
}

std::uint64_t read_pass(const std::uint8_t* data, std::size_t bytes) {
  return HWY_DYNAMIC_DISPATCH(read_here)(data, bytes);
}

void write_pass(std::uint8_t* data, std::size_t bytes, std::uint8_t value) {
  HWY_DYNAMIC_DISPATCH(write_here)(data, bytes, value);
}

}  // namespace sparing::bench
#endif  // HWY_ONCE

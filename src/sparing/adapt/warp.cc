#include "sparing/adapt/warp.h"

#include <algorithm>

#include "sparing/base/check.h"

namespace sparing::adapt {
namespace {

// Four neighbours of each pixel, weighted, to `emit(pixel, lane group start, four sums)`.
template <class Emit>
void for_each_warped(const float* values, std::size_t stride, const FlowField& back, Emit&& emit) {
  const auto width = static_cast<std::size_t>(back.size.width);
  const auto height = static_cast<std::size_t>(back.size.height);
  for (std::size_t y = 0; y < height; ++y) {
    for (std::size_t x = 0; x < width; ++x) {
      const std::size_t pixel = y * width + x;
      const Bilinear b = bilinear(static_cast<float>(x) + back.dx[pixel],
                                  static_cast<float>(y) + back.dy[pixel], back.size);
      const float w11 = b.fx * b.fy;
      const float w10 = b.fx - w11;
      const float w01 = b.fy - w11;
      const float w00 = 1 - b.fx - w01;
      const float* p00 = values + (b.y0 * width + b.x0) * stride;
      const float* p10 = values + (b.y0 * width + b.x1) * stride;
      const float* p01 = values + (b.y1 * width + b.x0) * stride;
      const float* p11 = values + (b.y1 * width + b.x1) * stride;
      for (std::size_t c = 0; c < stride; c += PixelClasses::kLanes) {
        float sums[PixelClasses::kLanes];
        for (std::size_t i = 0; i < PixelClasses::kLanes; ++i) {
          sums[i] = p00[c + i] * w00 + p10[c + i] * w10 + p01[c + i] * w01 + p11[c + i] * w11;
        }
        emit(pixel, c, sums);
      }
    }
  }
}

}  // namespace

void PixelClasses::resize(int classes, Size size) {
  classes_ = classes;
  size_ = size;
  stride_ = (static_cast<std::size_t>(classes) + kLanes - 1) / kLanes * kLanes;
  values_.resize(stride_ * static_cast<std::size_t>(size.width) *
                 static_cast<std::size_t>(size.height));
}

void PixelClasses::clear() {
  classes_ = 0;
  size_ = {};
  values_.clear();
}

void PixelClasses::from_planes(const ProbabilityMap& planes) {
  resize(planes.classes, planes.size);
  const std::size_t pixels = planes.pixels();
  const auto classes = static_cast<std::size_t>(planes.classes);
  // In blocks of pixels that stay in the first cache while class after class is put in.
  constexpr std::size_t kBlockPixels = 256;
  for (std::size_t start = 0; start < pixels; start += kBlockPixels) {
    const std::size_t end = std::min(start + kBlockPixels, pixels);
    for (std::size_t c = 0; c < stride_; ++c) {
      float* out = values_.data() + start * stride_ + c;
      if (c < classes) {
        const float* in = planes.values.data() + c * pixels;
        for (std::size_t i = start; i < end; ++i, out += stride_) *out = in[i];
      } else {
        for (std::size_t i = start; i < end; ++i, out += stride_) *out = 0;
      }
    }
  }
}

void PixelClasses::to_planes(ProbabilityMap& planes) const {
  planes.resize(classes_, size_);
  const std::size_t pixels = planes.pixels();
  constexpr std::size_t kBlockPixels = 256;
  for (std::size_t start = 0; start < pixels; start += kBlockPixels) {
    const std::size_t end = std::min(start + kBlockPixels, pixels);
    for (std::size_t c = 0; c < static_cast<std::size_t>(classes_); ++c) {
      const float* in = values_.data() + start * stride_ + c;
      float* out = planes.values.data() + c * pixels;
      for (std::size_t i = start; i < end; ++i, in += stride_) out[i] = *in;
    }
  }
}

void PixelClasses::warp(const PixelClasses& past, const FlowField& back) {
  SPARING_CHECK(&past != this && past.size_ == back.size);
  resize(past.classes_, past.size_);
  float* out = values_.data();
  for_each_warped(past.values_.data(), stride_, back,
                  [&](std::size_t pixel, std::size_t c, const float* sums) {
                    float* to = out + pixel * stride_ + c;
                    for (std::size_t i = 0; i < kLanes; ++i) to[i] = sums[i];
                  });
}

void PixelClasses::blend_warped(const PixelClasses& past, const FlowField& back,
                                std::span<const float> weights) {
  SPARING_CHECK(&past != this && past.size_ == back.size && size_ == past.size_ &&
                classes_ == past.classes_ && weights.size() * stride_ == values_.size());
  float* out = values_.data();
  for_each_warped(past.values_.data(), stride_, back,
                  [&](std::size_t pixel, std::size_t c, const float* sums) {
                    float* to = out + pixel * stride_ + c;
                    const float w = weights[pixel];
                    for (std::size_t i = 0; i < kLanes; ++i) to[i] += (sums[i] - to[i]) * w;
                  });
}

}  // namespace sparing::adapt

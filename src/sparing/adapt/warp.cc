#include "sparing/adapt/warp.h"

#include <array>

#include "sparing/adapt/warp_kernels.h"
#include "sparing/base/check.h"

namespace sparing::adapt {
namespace {

// The planes of the q-th four classes; nullptr beyond the last.
template <class Float>
std::array<Float*, kQuad> planes_of(std::size_t q, Float* values, int classes, std::size_t pixels) {
  std::array<Float*, kQuad> planes{};
  for (std::size_t k = 0; k < kQuad; ++k) {
    const std::size_t c = q * kQuad + k;
    if (c < static_cast<std::size_t>(classes)) planes[k] = values + c * pixels;
  }
  return planes;
}

}  // namespace

void PixelClasses::resize(int classes, Size size) {
  classes_ = classes;
  size_ = size;
  quads_ = (static_cast<std::size_t>(classes) + kQuad - 1) / kQuad;
  values_.resize(quads_ * kQuad * pixels());
}

void PixelClasses::clear() {
  classes_ = 0;
  size_ = {};
  values_.clear();
}

void PixelClasses::from_planes(const ProbabilityMap& planes) {
  resize(planes.classes, planes.size);
  for (std::size_t q = 0; q < quads_; ++q) {
    const auto four = planes_of(q, planes.values.data(), classes_, pixels());
    to_quads(four.data(), pixels(), values_.data() + q * pixels() * kQuad);
  }
}

void PixelClasses::to_planes(ProbabilityMap& planes) const {
  planes.resize(classes_, size_);
  for (std::size_t q = 0; q < quads_; ++q) {
    const auto four = planes_of(q, planes.values.data(), classes_, pixels());
    from_quads(values_.data() + q * pixels() * kQuad, pixels(), four.data());
  }
}

void PixelClasses::warp(const PixelClasses& past, const FlowField& back) {
  SPARING_CHECK(&past != this && past.size_ == back.size);
  resize(past.classes_, past.size_);
  warp_quads({past.values_.data(), values_.data(), quads_, size_, back.dx.data(), back.dy.data(),
              nullptr});
}

void PixelClasses::blend_warped(const PixelClasses& past, const FlowField& back,
                                std::span<const float> weights) {
  SPARING_CHECK(&past != this && past.size_ == back.size && size_ == past.size_ &&
                classes_ == past.classes_ && weights.size() == pixels());
  warp_quads({past.values_.data(), values_.data(), quads_, size_, back.dx.data(), back.dy.data(),
              weights.data()});
}

}  // namespace sparing::adapt

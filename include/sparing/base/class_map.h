// A class for each pixel, and how likely each class is there: what segmentation makes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sparing/base/geometry.h"

namespace sparing {

// A label that stands for no class: unlabelled ground truth, pixels without an answer.
inline constexpr std::uint8_t kIgnoreLabel = 255;
// Classes are 0 .. classes - 1, of which there are at most this many.
inline constexpr int kMaxClasses = 255;

// A class index or kIgnoreLabel per pixel, row by row, dense.
struct LabelMap {
  Size size;
  std::vector<std::uint8_t> labels;  // size.width * size.height

  void resize(Size to) {
    size = to;
    labels.resize(static_cast<std::size_t>(to.width) * static_cast<std::size_t>(to.height));
  }
  // Precondition: 0 <= y < size.height.
  std::span<std::uint8_t> row(int y) { return {labels.data() + offset(y), columns()}; }
  std::span<const std::uint8_t> row(int y) const { return {labels.data() + offset(y), columns()}; }
  friend bool operator==(const LabelMap&, const LabelMap&) = default;

 private:
  std::size_t columns() const { return static_cast<std::size_t>(size.width); }
  std::size_t offset(int y) const { return static_cast<std::size_t>(y) * columns(); }
};

// A number per class and pixel: plane by plane (class, row, column), dense. Probabilities of a
// pixel are in [0, 1] and sum to 1; the same struct holds logits where that is said.
struct ProbabilityMap {
  int classes = 0;
  Size size;
  std::vector<float> values;  // classes * size.width * size.height

  void resize(int class_count, Size to) {
    classes = class_count;
    size = to;
    values.resize(static_cast<std::size_t>(class_count) * pixels());
  }
  std::size_t pixels() const {
    return static_cast<std::size_t>(size.width) * static_cast<std::size_t>(size.height);
  }
  // Precondition: 0 <= c < classes.
  std::span<float> plane(int c) {
    return {values.data() + static_cast<std::size_t>(c) * pixels(), pixels()};
  }
  std::span<const float> plane(int c) const {
    return {values.data() + static_cast<std::size_t>(c) * pixels(), pixels()};
  }
};

}  // namespace sparing

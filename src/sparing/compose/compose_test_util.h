// Pictures for the tests of compose. Failures are gtest's.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include "sparing/io/picture.h"

namespace sparing::testing {

using Sample = std::function<int(int plane, int x, int y)>;

inline Picture make_picture(Size size, const Sample& sample, ColorSpace space = {}) {
  Picture picture;
  EXPECT_TRUE(picture.allocate(size, space).ok());
  for (int p = 0; p < 3; ++p) {
    for (int y = 0; y < picture.plane_size(p).height; ++y) {
      for (int x = 0; x < picture.plane_size(p).width; ++x) {
        picture.row(p, y)[x] = static_cast<std::uint8_t>(sample(p, x, y));
      }
    }
  }
  return picture;
}

inline Picture random_picture(Size size, unsigned seed) {
  std::mt19937 random(seed);
  return make_picture(size, [&](int, int, int) { return static_cast<int>(random() % 256); });
}

inline Picture copy_of(const Picture& picture) {
  Picture copy;
  EXPECT_TRUE(copy.copy_from(picture).ok());
  return copy;
}

// Calls check(plane, x, y) for every sample.
inline void for_each_sample(const Picture& picture,
                            const std::function<void(int, int, int)>& check) {
  for (int p = 0; p < 3; ++p) {
    for (int y = 0; y < picture.plane_size(p).height; ++y) {
      for (int x = 0; x < picture.plane_size(p).width; ++x) check(p, x, y);
    }
  }
}

inline int differing_samples(const Picture& a, const Picture& b) {
  EXPECT_EQ(a.size(), b.size());
  int count = 0;
  for_each_sample(a, [&](int p, int x, int y) { count += a.row(p, y)[x] != b.row(p, y)[x]; });
  return count;
}

}  // namespace sparing::testing

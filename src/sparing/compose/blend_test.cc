#include "sparing/compose/blend.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace sparing {
namespace {

TEST(Blend, RoundsEveryCombinationToTheNearest) {
  std::vector<std::uint8_t> top, bottom;
  for (int t = 0; t < 256; t += 3) {
    for (int b = 0; b < 256; b += 3) {
      top.push_back(static_cast<std::uint8_t>(t));
      bottom.push_back(static_cast<std::uint8_t>(b));
    }
  }
  const int count = static_cast<int>(top.size());
  for (int a = 0; a < 256; ++a) {
    std::vector<std::uint8_t> out = top;
    const std::vector<std::uint8_t> alpha(top.size(), static_cast<std::uint8_t>(a));
    blend_row(out.data(), alpha.data(), bottom.data(), count);
    int wrong = 0;
    for (std::size_t i = 0; i < top.size(); ++i) {
      const double exact = (a * top[i] + (255 - a) * bottom[i]) / 255.0;
      wrong += out[i] != std::lround(exact) ? 1 : 0;
    }
    ASSERT_EQ(wrong, 0) << "alpha " << a;
    if (a == 0) {
      EXPECT_EQ(out, bottom);
    }
    if (a == 255) {
      EXPECT_EQ(out, top);
    }
  }
}

TEST(Blend, TakesAnyLength) {
  std::mt19937 random(1);
  for (int count = 0; count < 70; ++count) {
    const auto size = static_cast<std::size_t>(count) + 1;
    std::vector<std::uint8_t> top(size), alpha(size), bottom(size);
    for (auto* row : {&top, &alpha, &bottom}) {
      for (std::uint8_t& value : *row) value = static_cast<std::uint8_t>(random());
    }
    std::vector<std::uint8_t> out = top;
    blend_row(out.data(), alpha.data(), bottom.data(), count);
    for (std::size_t i = 0; i + 1 < size; ++i) {
      const double exact = (alpha[i] * top[i] + (255 - alpha[i]) * bottom[i]) / 255.0;
      ASSERT_EQ(out[i], std::lround(exact));
    }
    EXPECT_EQ(out.back(), top.back());  // nothing behind the row
  }
}

TEST(Blend, ChromaHasTheMeanAlphaOfItsPixels) {
  std::mt19937 random(2);
  for (int width = 1; width < 40; ++width) {
    std::vector<std::uint8_t> upper, lower;
    for (int x = 0; x < width; ++x) {
      upper.push_back(static_cast<std::uint8_t>(random()));
      lower.push_back(static_cast<std::uint8_t>(random()));
    }
    std::vector<std::uint8_t> out(static_cast<std::size_t>(width + 1) / 2);
    halve_alpha(upper.data(), lower.data(), width, out.data());
    for (int i = 0; i < (width + 1) / 2; ++i) {
      const auto left = static_cast<std::size_t>(2 * i);
      const auto right = static_cast<std::size_t>(std::min(2 * i + 1, width - 1));
      const double mean = (upper[left] + upper[right] + lower[left] + lower[right]) / 4.0;
      ASSERT_EQ(out[static_cast<std::size_t>(i)], std::floor(mean + 0.5)) << width << " " << i;
    }
  }
}

}  // namespace
}  // namespace sparing

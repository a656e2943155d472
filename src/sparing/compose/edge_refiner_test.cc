#include "sparing/compose/edge_refiner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "sparing/compose/compose_test_util.h"

namespace sparing {
namespace {

using testing::make_picture;

TEST(EdgeRefiner, LeavesUniformMasksExactly) {
  const Picture picture = testing::random_picture({203, 151}, 1);
  EdgeRefiner refiner;
  ByteRaster alpha;
  for (const std::uint8_t value : {0, 255}) {
    const std::vector<std::uint8_t> mask(32 * 24, value);
    refiner.refine(MaskView({32, 24}, mask), picture, 2, alpha);
    ASSERT_EQ(alpha.size, picture.size());
    for (const std::uint8_t a : alpha.values) ASSERT_EQ(a, value);
  }
}

// A bright disc before a dark ground, and a mask of 1/8 of its resolution that is moved by `off`
// pixels.
double error_of(Size size, double off, bool refine) {
  const auto truth = [&](double x, double y) {
    return std::hypot(x - size.width / 2.0, y - size.height / 2.0) < size.height * 0.3;
  };
  const Picture picture = make_picture(size, [&](int p, int x, int y) {
    return p > 0 ? 128 : (truth(x + 0.5, y + 0.5) ? 200 : 60) + (x * 7 + y * 5) % 9;
  });
  const Size small{size.width / 8, size.height / 8};
  std::vector<float> mask;
  for (int y = 0; y < small.height; ++y) {
    for (int x = 0; x < small.width; ++x) {
      double sum = 0;
      for (int k = 0; k < 64; ++k) {
        sum += truth(8 * x + k % 8 + 0.5 + off, 8 * y + k / 8 + 0.5) ? 1.0 / 64 : 0.0;
      }
      mask.push_back(static_cast<float>(sum));
    }
  }
  ByteRaster alpha;
  if (refine) {
    EdgeRefiner().refine(MaskView(small, mask), picture, 2, alpha);
  } else {
    MaskSampler().sample(MaskView(small, mask), size, 2, alpha);
  }
  int wrong = 0;
  for (int y = 0; y < size.height; ++y) {
    for (int x = 0; x < size.width; ++x) {
      wrong += (alpha.row(y)[x] >= 128) != truth(x + 0.5, y + 0.5) ? 1 : 0;
    }
  }
  return static_cast<double>(wrong) / (size.width * size.height);
}

TEST(EdgeRefiner, FindsTheEdgeThatACoarseMaskMisses) {
  for (const Size size : {Size{240, 160}, Size{483, 325}}) {
    EXPECT_LT(error_of(size, 4, true), 0.4 * error_of(size, 4, false));
    EXPECT_LE(error_of(size, 0, true), error_of(size, 0, false) + 0.001);
  }
}

TEST(EdgeRefiner, HelpsCoarseMasksOnly) {
  const std::vector<std::uint8_t> values(256 * 256);
  MaskView mask({256, 256}, values);
  EXPECT_TRUE(EdgeRefiner::helps(mask, {1280, 720}));
  EXPECT_FALSE(EdgeRefiner::helps(mask, {256, 256}));
  mask.region = {0, 0, 128, 128};
  EXPECT_TRUE(EdgeRefiner::helps(mask, {256, 256}));
}

}  // namespace
}  // namespace sparing

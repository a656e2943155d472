#include "sparing/compose/alpha_plane.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace sparing {
namespace {

using ::testing::HasSubstr;

// Bilinear at a point of the mask, in mask pixels (centres at .5), by the definition.
double reference(const std::vector<float>& mask, Size size, double x, double y) {
  const auto at = [&](double position, int count) {
    return std::clamp(position - 0.5, 0.0, count - 1.0);
  };
  const double px = at(x, size.width), py = at(y, size.height);
  const int x0 = static_cast<int>(std::floor(px)), y0 = static_cast<int>(std::floor(py));
  const int x1 = std::min(x0 + 1, size.width - 1), y1 = std::min(y0 + 1, size.height - 1);
  const double fx = px - x0, fy = py - y0;
  const auto value = [&](int column, int row) {
    const float v = mask[static_cast<std::size_t>(row * size.width + column)];
    return std::isnan(v) ? 0.0 : std::clamp(static_cast<double>(v), 0.0, 1.0);
  };
  return (1 - fy) * ((1 - fx) * value(x0, y0) + fx * value(x1, y0)) +
         fy * ((1 - fx) * value(x0, y1) + fx * value(x1, y1));
}

std::vector<float> random_mask(Size size, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> values;
  for (int i = 0; i < size.width * size.height; ++i) {
    // With some beyond the range, and whole areas at its ends.
    values.push_back(static_cast<float>(random() % 1400) / 1000.0f - 0.2f);
  }
  return values;
}

TEST(MaskSampler, AgreesWithTheDefinition) {
  MaskSampler sampler;
  ByteRaster alpha;
  unsigned seed = 0;
  for (const Size mask_size : {Size{1, 1}, Size{2, 3}, Size{16, 9}, Size{33, 40}}) {
    for (const Size size : {Size{1, 1}, Size{7, 5}, Size{64, 36}, Size{31, 90}}) {
      for (const bool part : {false, true}) {
        const std::vector<float> values = random_mask(mask_size, ++seed);
        MaskView mask(mask_size, values);
        Rect region{0, 0, static_cast<double>(mask_size.width),
                    static_cast<double>(mask_size.height)};
        if (part) {
          region = {region.width * 0.25, 0, region.width * 0.5, region.height * 0.8};
          mask.region = region;
        }
        sampler.sample(mask, size, 1, alpha);
        ASSERT_EQ(alpha.size, size);
        for (int y = 0; y < size.height; ++y) {
          for (int x = 0; x < size.width; ++x) {
            const double exact =
                255 * reference(values, mask_size, region.x + (x + 0.5) * region.width / size.width,
                                region.y + (y + 0.5) * region.height / size.height);
            ASSERT_NEAR(alpha.row(y)[x], exact, 0.501) << x << "," << y;
          }
        }
      }
    }
  }
}

TEST(MaskSampler, BytesAreTheSameAsFloats) {
  const Size mask_size{13, 11}, size{50, 37};
  std::vector<std::uint8_t> bytes;
  std::vector<float> floats;
  for (int i = 0; i < 143; ++i) {
    bytes.push_back(static_cast<std::uint8_t>(i * 37));
    floats.push_back(static_cast<float>(bytes.back()) / 255.0f);
  }
  MaskSampler sampler;
  ByteRaster a, b;
  sampler.sample(MaskView(mask_size, bytes), size, 1, a);
  sampler.sample(MaskView(mask_size, floats), size, 1, b);
  for (std::size_t i = 0; i < a.values.size(); ++i) ASSERT_NEAR(a.values[i], b.values[i], 1);
  // At its own size a mask stays as it is.
  sampler.sample(MaskView(mask_size, bytes), mask_size, 1, a);
  EXPECT_EQ(a.values, bytes);
}

TEST(MaskSampler, EndsAreExact) {
  const Size mask_size{8, 8}, size{100, 77};
  MaskSampler sampler;
  ByteRaster alpha;
  for (const float value : {0.0f, 1.0f, -3.0f, 7.0f, std::numeric_limits<float>::infinity()}) {
    const std::vector<float> values(64, value);
    sampler.sample(MaskView(mask_size, values), size, 1, alpha);
    for (const std::uint8_t a : alpha.values) ASSERT_EQ(a, value > 0 ? 255 : 0);
  }
  const std::vector<float> nothing(64, std::numeric_limits<float>::quiet_NaN());
  sampler.sample(MaskView(mask_size, nothing), size, 1, alpha);
  for (const std::uint8_t a : alpha.values) ASSERT_EQ(a, 0);
}

TEST(MaskSampler, ContrastPushesAwayFromTheMiddle) {
  const Size mask_size{5, 4}, size{60, 41};
  const std::vector<float> values = random_mask(mask_size, 7);
  MaskSampler sampler;
  ByteRaster alpha;
  for (const double contrast : {1.0, 2.0, 50.0}) {
    sampler.sample(MaskView(mask_size, values), size, static_cast<float>(contrast), alpha);
    for (int y = 0; y < size.height; ++y) {
      for (int x = 0; x < size.width; ++x) {
        const double soft = reference(values, mask_size, (x + 0.5) * 5 / 60, (y + 0.5) * 4 / 41);
        const double exact = 255 * std::clamp((soft - 0.5) * contrast + 0.5, 0.0, 1.0);
        ASSERT_NEAR(alpha.row(y)[x], exact, 0.505) << contrast;
      }
    }
  }
}

TEST(MaskSampler, CellsAreSampledAtTheirCentres) {
  const Size mask_size{9, 7}, size{45, 30};
  const std::vector<float> values = random_mask(mask_size, 99);
  MaskSampler sampler;
  FloatRaster cells;
  for (const int factor : {1, 2, 4, 8}) {
    sampler.sample_cells(MaskView(mask_size, values), size, factor, cells);
    ASSERT_EQ(cells.size, (Size{(45 + factor - 1) / factor, (30 + factor - 1) / factor}));
    for (int y = 0; y < cells.size.height; ++y) {
      for (int x = 0; x < cells.size.width; ++x) {
        const double exact = reference(values, mask_size, (x + 0.5) * factor * 9 / 45.0,
                                       (y + 0.5) * factor * 7 / 30.0);
        ASSERT_NEAR(cells.row(y)[x], exact, 1e-5);
      }
    }
  }
}

TEST(MaskView, IsChecked) {
  const std::vector<float> values(12);
  MaskView mask({4, 3}, values);
  EXPECT_TRUE(validate(mask).ok());
  mask.region = {1, 1, 2, 2};
  EXPECT_TRUE(validate(mask).ok());
  mask.region = {3, 1, 2, 2};
  EXPECT_THAT(validate(mask).error().to_string(), HasSubstr("reaches outside 4x3"));
  EXPECT_THAT(validate(MaskView({4, 4}, values)).error().to_string(),
              HasSubstr("12 values for 4x4; give 16"));
  EXPECT_THAT(validate(MaskView()).error().to_string(), HasSubstr("0x0 has no pixels"));
}

}  // namespace
}  // namespace sparing

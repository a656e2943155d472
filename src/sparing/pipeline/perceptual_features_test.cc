#include "sparing/pipeline/perceptual_features.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <random>
#include <vector>

namespace sparing {
namespace {

constexpr int kBins = 27;  // 8 + 6 + 6 + 7

using Colour = std::array<std::uint8_t, 3>;

SharedFrame rgb_frame(Size size, const std::function<Colour(int x, int y)>& colour) {
  auto frame = allocate_frame(PixelFormat::kRgb24, size);
  EXPECT_TRUE(frame.ok());
  std::uint8_t* pixels = mutable_plane(*frame, 0);
  for (int y = 0; y < size.height; ++y) {
    for (int x = 0; x < size.width; ++x) {
      const Colour c = colour(x, y);
      std::copy(c.begin(), c.end(), pixels + y * frame->view().planes[0].stride + 3 * x);
    }
  }
  return *frame;
}

FeatureGrid features_of(const SharedFrame& frame) {
  FeatureGrid grid;
  const Status status = PerceptualFeatures().extract(frame.view(), grid);
  EXPECT_TRUE(status.ok()) << (status.ok() ? "" : status.error().to_string());
  return grid;
}

// A share of bin i of a value whose bins' centres are at whole numbers: a triangle around i.
double triangle(double at, int bin, int bins) {
  at = std::clamp(at, 0.0, bins - 1.0);
  return std::max(0.0, 1 - std::abs(at - bin));
}

// The histograms of a square of cells, pixel by pixel, straight from the definition.
std::vector<double> histogram(const std::vector<std::vector<Colour>>& picture, int cell_x,
                              int cell_y, int radius) {
  const int height = static_cast<int>(picture.size());
  const int width = static_cast<int>(picture[0].size());
  const auto at = [&](int x, int y) -> const Colour& {
    return picture[static_cast<std::size_t>(std::clamp(y, 0, height - 1))]
                  [static_cast<std::size_t>(std::clamp(x, 0, width - 1))];
  };
  const auto luma = [&](int x, int y) {
    return 0.299 * at(x, y)[0] + 0.587 * at(x, y)[1] + 0.114 * at(x, y)[2];
  };
  std::vector<double> bins(kBins);
  int pixels = 0;
  for (int y = std::max(cell_y - radius, 0) * 4; y < std::min((cell_y + radius + 1) * 4, height);
       ++y) {
    for (int x = std::max(cell_x - radius, 0) * 4; x < std::min((cell_x + radius + 1) * 4, width);
         ++x) {
      ++pixels;
      const double l = luma(x, y);
      for (int b = 0; b < 8; ++b) bins[static_cast<std::size_t>(b)] += triangle(l / 255 * 7, b, 8);
      for (int b = 0; b < 6; ++b) {
        const auto bin = static_cast<std::size_t>(b);
        bins[8 + bin] += triangle((at(x, y)[2] - l + 60) / 24, b, 6);
        bins[14 + bin] += triangle((at(x, y)[0] - l + 60) / 24, b, 6);
      }
      const double dx = (luma(x + 1, y) - luma(x - 1, y)) / 2;
      const double dy = (luma(x, y + 1) - luma(x, y - 1)) / 2;
      const double slope = std::hypot(dx, dy);
      const double strength = slope / (slope + 6);
      bins[26] += 1 - strength;
      if (slope == 0) continue;
      double turn = std::atan2(dy, dx) / M_PI;
      if (turn < 0) turn += 1;
      for (int b = 0; b < 6; ++b) {
        const double away = std::abs(turn * 6 - b);
        bins[static_cast<std::size_t>(20 + b)] +=
            strength * std::max(0.0, 1 - std::min(away, 6 - away));
      }
    }
  }
  for (double& value : bins) value = std::sqrt(value / pixels);
  return bins;
}

TEST(PerceptualFeatures, AgreeWithThePlainDefinition) {
  std::mt19937 random(3);
  const Size size{52, 36};  // drawn pixel by pixel: 13x9 cells
  std::vector<std::vector<Colour>> picture(36, std::vector<Colour>(52));
  for (int y = 0; y < 36; ++y) {
    for (int x = 0; x < 52; ++x) {
      for (auto& c : picture[static_cast<std::size_t>(y)][static_cast<std::size_t>(x)]) {
        // Flat on the left, noise on the right.
        c = static_cast<std::uint8_t>(x < 20 ? 40 + 3 * x : static_cast<int>(random() % 256));
      }
    }
  }
  const FeatureGrid grid = features_of(rgb_frame(size, [&](int x, int y) {
    return picture[static_cast<std::size_t>(y)][static_cast<std::size_t>(x)];
  }));
  ASSERT_EQ(grid.size, (Size{13, 9}));
  ASSERT_EQ(grid.channels, 3 * kBins);
  ASSERT_EQ(grid.values.size(), 81u * 13 * 9);
  int scale = 0;
  for (const int radius : {0, 2, 6}) {
    for (int y = 0; y < 9; ++y) {
      for (int x = 0; x < 13; ++x) {
        const std::vector<double> expected = histogram(picture, x, y, radius);
        for (int b = 0; b < kBins; ++b) {
          const auto i = static_cast<std::size_t>(((scale * kBins + b) * 9 + y) * 13 + x);
          // The square root makes more of rounding near 0.
          EXPECT_NEAR(grid.values[i], expected[static_cast<std::size_t>(b)], 1e-3)
              << "radius " << radius << " cell " << x << "," << y << " bin " << b;
        }
      }
    }
    ++scale;
  }
}

TEST(PerceptualFeatures, AreUnitVectorsByHistogramOnPicturesOfAnySize) {
  std::mt19937 random(4);
  struct Case {
    Size size, cells;
  };
  for (const Case& c : {Case{{1, 1}, {1, 1}},
                        {{3, 2}, {1, 1}},
                        {{64, 48}, {16, 12}},
                        {{480, 360}, {120, 90}},
                        {{1000, 30}, {120, 4}},
                        {{40, 1200}, {4, 120}}}) {
    const FeatureGrid grid = features_of(rgb_frame(c.size, [&](int, int) {
      return Colour{static_cast<std::uint8_t>(random()), static_cast<std::uint8_t>(random()),
                    static_cast<std::uint8_t>(random())};
    }));
    ASSERT_EQ(grid.size, c.cells);
    const auto cells = static_cast<std::size_t>(c.cells.width * c.cells.height);
    for (std::size_t cell = 0; cell < cells; cell += 7) {
      for (std::size_t scale = 0; scale < 3; ++scale) {
        for (const auto& [first, bins] : {std::pair{0, 8}, {8, 6}, {14, 6}, {20, 7}}) {
          double square = 0;
          for (int b = first; b < first + bins; ++b) {
            const float v =
                grid.values[(scale * kBins + static_cast<std::size_t>(b)) * cells + cell];
            square += v * v;
          }
          EXPECT_NEAR(square, 1, 1e-5);
        }
      }
    }
  }
}

TEST(PerceptualFeatures, OfAFrameDoNotDependOnTheOneBefore) {
  const auto first = rgb_frame({64, 48}, [](int x, int y) {
    return Colour{static_cast<std::uint8_t>(x * y), static_cast<std::uint8_t>(x), 9};
  });
  const auto second = rgb_frame({30, 90}, [](int x, int y) {
    return Colour{7, static_cast<std::uint8_t>(x * 3), static_cast<std::uint8_t>(y)};
  });
  const FeatureGrid expected = features_of(first);
  PerceptualFeatures features;
  FeatureGrid grid;
  ASSERT_TRUE(features.extract(second.view(), grid).ok());
  ASSERT_TRUE(features.extract(first.view(), grid).ok());
  EXPECT_EQ(grid.values, expected.values);
  EXPECT_EQ(grid.size, expected.size);
}

TEST(PerceptualFeatures, RefuseAFrameThatIsNone) {
  FeatureGrid grid;
  EXPECT_FALSE(PerceptualFeatures().extract(VideoFrame{}, grid).ok());
}

}  // namespace
}  // namespace sparing

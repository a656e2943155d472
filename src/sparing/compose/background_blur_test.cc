#include "sparing/compose/background_blur.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "sparing/compose/compose_test_util.h"

namespace sparing {
namespace {

using testing::make_picture;

std::vector<std::vector<std::uint8_t>> rows_of(BackgroundBlur& blur, const Picture& picture,
                                               int plane) {
  std::vector<std::vector<std::uint8_t>> rows;
  const Size size = picture.plane_size(plane);
  blur.begin(plane);
  for (int y = 0; y < size.height; ++y) {
    const std::uint8_t* row = blur.row(y);
    rows.emplace_back(row, row + size.width);
  }
  return rows;
}

ByteRaster alpha_of(Size size, const std::function<int(int, int)>& value) {
  ByteRaster alpha;
  alpha.resize(size);
  for (int y = 0; y < size.height; ++y) {
    for (int x = 0; x < size.width; ++x) alpha.row(y)[x] = static_cast<std::uint8_t>(value(x, y));
  }
  return alpha;
}

// The Gaussian in double precision at full resolution, weights outside the picture 0, at one pixel.
double gaussian_at(const Picture& picture, int plane, int cx, int cy, double sigma) {
  const Size size = picture.plane_size(plane);
  const int reach = static_cast<int>(std::ceil(4 * sigma));
  double sum = 0, weights = 0;
  for (int y = std::max(0, cy - reach); y <= std::min(size.height - 1, cy + reach); ++y) {
    for (int x = std::max(0, cx - reach); x <= std::min(size.width - 1, cx + reach); ++x) {
      const double d2 = (x - cx) * (x - cx) + (y - cy) * (y - cy);
      const double weight = std::exp(-d2 / (2 * sigma * sigma));
      sum += weight * picture.row(plane, y)[x];
      weights += weight;
    }
  }
  return sum / weights;
}

TEST(BackgroundBlur, IsAGaussianWhereAllIsBackground) {
  // Steps, slopes and detail.
  const auto scene = [](int p, int x, int y) {
    const int step = (x / 23 + y / 31) % 2 != 0 ? 190 : 50;
    return p > 0 ? 60 + x : std::min(255, step + (x * 7 + y * 13) % 40);
  };
  for (const Size size : {Size{160, 120}, Size{161, 117}, Size{90, 150}}) {
    const Picture picture = make_picture(size, scene);
    const ByteRaster alpha = alpha_of(size, [](int, int) { return 0; });
    for (const double sigma : {1.5, 3.0, 7.0, 14.0}) {
      BackgroundBlur blur;
      blur.prepare(picture, alpha, sigma);
      for (int p = 0; p < 3; ++p) {
        const auto rows = rows_of(blur, picture, p);
        const double own = p > 0 ? sigma / 2 : sigma;
        double sum = 0;
        int count = 0;
        const Size plane = picture.plane_size(p);
        for (int y = 2; y < plane.height; y += 13) {
          for (int x = 2; x < plane.width; x += 11) {
            const double error = rows[static_cast<std::size_t>(y)][static_cast<std::size_t>(x)] -
                                 gaussian_at(picture, p, x, y, own);
            sum += error * error;
            ++count;
          }
        }
        // Of a contrast of 140: cells see the border of the picture a little differently.
        EXPECT_LT(std::sqrt(sum / count), p > 0 ? 2.0 : 4.0)
            << size.width << "x" << size.height << " sigma " << sigma << " plane " << p;
      }
    }
  }
}

TEST(BackgroundBlur, NothingOfTheForegroundComesThrough) {
  // A bright red body on uniform grey; its mask is 3 pixels too small all around.
  const Size size{321, 241};
  const auto inside = [](int x, int y, int less) {
    return std::hypot(x - 160, y - 120) < 60 - less;
  };
  const Picture picture = make_picture(size, [&](int p, int x, int y) {
    if (p == 0) return inside(x, y, 0) ? 235 : 90;
    return inside(2 * x, 2 * y, 0) ? (p == 1 ? 80 : 240) : 128;
  });
  const ByteRaster alpha = alpha_of(size, [&](int x, int y) { return inside(x, y, 1) ? 255 : 0; });
  for (const double sigma : {2.0, 6.0, 12.0, 40.0}) {
    BackgroundBlur blur;
    blur.prepare(picture, alpha, sigma);
    for (int p = 0; p < 3; ++p) {
      int wrong = 0;
      for (const auto& row : rows_of(blur, picture, p)) {
        for (const std::uint8_t value : row) wrong += value != (p == 0 ? 90 : 128) ? 1 : 0;
      }
      EXPECT_EQ(wrong, 0) << "sigma " << sigma << " plane " << p;
    }
  }
}

TEST(BackgroundBlur, WithoutBackgroundThereIsTheMeanColour) {
  const Size size{64, 48};
  const Picture picture = make_picture(size, [](int p, int x, int) { return p > 0 ? 99 : x; });
  const ByteRaster alpha = alpha_of(size, [](int, int) { return 255; });
  BackgroundBlur blur;
  blur.prepare(picture, alpha, 5);
  EXPECT_NEAR(rows_of(blur, picture, 0)[20][30], 31.5, 1);
  EXPECT_EQ(rows_of(blur, picture, 1)[10][10], 99);
}

TEST(BackgroundBlur, TakesTinyPictures) {
  for (const Size size : {Size{1, 1}, Size{2, 1}, Size{1, 5}, Size{3, 3}}) {
    const Picture picture = make_picture(size, [](int p, int, int) { return 40 + 30 * p; });
    const ByteRaster alpha = alpha_of(size, [](int, int) { return 0; });
    for (const double sigma : {0.1, 3.0, 500.0}) {
      BackgroundBlur blur;
      blur.prepare(picture, alpha, sigma);
      for (int p = 0; p < 3; ++p) {
        for (const auto& row : rows_of(blur, picture, p)) {
          for (const std::uint8_t value : row) EXPECT_EQ(value, 40 + 30 * p);
        }
      }
    }
  }
}

}  // namespace
}  // namespace sparing

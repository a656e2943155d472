// The row functions against OpenCV's, and against the definition.
#include "sparing/roi/mask.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <opencv2/imgproc.hpp>
#include <random>

namespace sparing::roi {
namespace {

constexpr Size kSizes[] = {{1, 1}, {1, 7}, {2, 2}, {9, 1}, {17, 5}, {64, 48}, {131, 77}};

LumaImage random_image(Size size, unsigned seed) {
  LumaImage image;
  image.fill(size, 1, 0);
  std::minstd_rand random(seed);
  for (int y = 0; y < size.height; ++y) {
    for (std::uint8_t& pixel : image.row(y)) {
      // Extremes are where sums and differences overflow.
      const unsigned value = static_cast<unsigned>(random() >> 8) % 300;
      pixel = static_cast<std::uint8_t>(value < 22 ? 0 : std::min(value - 22, 255u));
    }
  }
  return image;
}

cv::Mat view(const LumaImage& image) {
  return cv::Mat(image.height(), image.width(), CV_8UC1, const_cast<std::uint8_t*>(image.data()));
}

TEST(Blur, IsOpenCvs) {
  for (const Size& size : kSizes) {
    const LumaImage image = random_image(size, 3);
    LumaImage out;
    blur(image, out);
    cv::Mat expected;
    cv::blur(view(image), expected, {3, 3});
    EXPECT_EQ(cv::norm(expected, view(out), cv::NORM_INF), 0) << size.width << "x" << size.height;
  }
}

TEST(DifferenceMask, MarksWhatDiffersByMore) {
  for (const Size& size : kSizes) {
    const LumaImage a = random_image(size, 5), b = random_image(size, 8);
    for (const double threshold : {1.0, 20.7, 127.0, 254.0, 255.0}) {
      cv::Mat mask;
      const double share = difference_mask(a, b, threshold, mask);
      int count = 0;
      for (int y = 0; y < size.height; ++y) {
        for (int x = 0; x < size.width; ++x) {
          const auto at = static_cast<std::size_t>(x);
          const bool differs = std::abs(a.row(y)[at] - b.row(y)[at]) > threshold;
          ASSERT_EQ(mask.at<std::uint8_t>(y, x), differs ? 255 : 0) << x << "," << y;
          count += differs ? 1 : 0;
        }
      }
      EXPECT_DOUBLE_EQ(share, count / (1.0 * size.width * size.height));
    }
  }
}

}  // namespace
}  // namespace sparing::roi

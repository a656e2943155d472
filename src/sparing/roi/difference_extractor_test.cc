#include "sparing/roi/difference_extractor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>
#include <random>
#include <vector>

#include "sparing/roi/roi_test_util.h"

namespace sparing::roi {
namespace {

using testing::add_noise;
using testing::brighten;
using testing::coverage;
using testing::Texture;
using testing::to_rect;

constexpr Size kSize{200, 150};

LumaImage blurred(const LumaImage& image) {
  LumaImage out;
  blur(image, out);
  return out;
}

struct Walker {
  PixelRect start;
  int vx, vy;
  PixelRect at(int i) const {
    return {start.x + vx * i, start.y + vy * i, start.width, start.height};
  }
};
const std::vector<Walker> kWalkers{{{20, 20, 10, 24}, 2, 0}, {{120, 90, 16, 16}, -3, 1}};

LumaImage scene(int i, double noise) {
  LumaImage image = Texture(1, 0.4).draw(kSize, {});
  for (const Walker& w : kWalkers) brighten(image, w.at(i), 50);
  if (noise > 0) add_noise(image, noise, static_cast<unsigned>(100 + i));
  return image;
}

TEST(DifferenceExtractor, CoversMovingSquaresAndNothingElseWhateverTheNoise) {
  for (const double noise : {0.0, 2.0, 6.0}) {
    DifferenceExtractor extractor({5});
    for (int i = 0; i < 12; ++i) {
      const LumaImage image = blurred(scene(i, noise));
      extractor.compare(image);
      extractor.remember(image);
      if (i < 2) continue;
      // What moved is between here and where it was; a pixel or two may be lost at blurred edges.
      const auto found = extractor.boxes(4);
      EXPECT_EQ(found.boxes.size(), kWalkers.size()) << "noise " << noise << " frame " << i;
      const int gap = std::min(i, 5);
      for (const Walker& w : kWalkers) {
        EXPECT_GE(coverage(to_rect(w.at(i)), found.boxes), 0.8) << noise << " " << i;
        EXPECT_GE(coverage(to_rect(w.at(i - gap)), found.boxes), 0.8) << noise << " " << i;
      }
      for (const Rect& box : found.boxes) EXPECT_LT(box.area(), 40 * 40) << noise;
    }
  }
}

TEST(DifferenceExtractor, TheThresholdFollowsTheNoise) {
  const LumaImage ground = Texture(2, 0.4).draw(kSize, {});
  for (const double sigma : {1.0, 3.0, 8.0}) {
    LumaImage a = ground, b = ground;
    add_noise(a, sigma, 1);
    add_noise(b, sigma, 2);
    // Two pictures' noise, each the mean of 9 pixels.
    const double expected = sigma * std::sqrt(2.0) / 3;
    EXPECT_NEAR(difference_noise(blurred(a), blurred(b)), expected, 0.15 * expected + 0.1) << sigma;
    DifferenceExtractor extractor({5, -1, 1});
    extractor.remember(blurred(a));
    extractor.compare(blurred(b));
    EXPECT_NEAR(extractor.threshold(), 5 * expected, 0.2 * 5 * expected + 0.5) << sigma;
  }
}

TEST(DifferenceExtractor, NeitherALightStepNorMotionIsNoise) {
  const LumaImage before = Texture(3, 0.4).draw(kSize, {});
  LumaImage after = before;
  brighten(after, {0, 0, kSize.width, kSize.height}, 40);
  brighten(after, {30, 30, 60, 60}, 60);
  EXPECT_LT(difference_noise(before, after), 1);
}

TEST(DifferenceExtractor, AFixedThresholdIsKept) {
  DifferenceExtractor extractor({1, 30});
  LumaImage image;
  image.fill(kSize, 1, 100);
  extractor.remember(image);
  brighten(image, {50, 50, 20, 20}, 30);
  EXPECT_EQ(extractor.compare(image), 0) << "30 is not above 30";
  brighten(image, {50, 50, 20, 20}, 1);
  EXPECT_DOUBLE_EQ(extractor.compare(image), 400.0 / (kSize.width * kSize.height));
}

TEST(DifferenceExtractor, ComparesWithTheFrameAsFarBackAsTheGap) {
  DifferenceExtractor extractor({3});
  LumaImage image;
  for (int i = 0; i < 8; ++i) {
    image.fill(kSize, 1, static_cast<std::uint8_t>(10 * i));
    if (i > 0) {
      EXPECT_EQ(extractor.reference().row(0)[0], 10 * std::max(0, i - 3));
    }
    extractor.remember(image);
  }
  extractor.restart();
  EXPECT_FALSE(extractor.has_reference());
  EXPECT_EQ(extractor.compare(image), 0);
  EXPECT_TRUE(extractor.boxes(1).boxes.empty());
}

cv::Mat mask_of(const std::vector<cv::Rect>& parts) {
  cv::Mat mask = cv::Mat::zeros(100, 120, CV_8UC1);
  for (const cv::Rect& part : parts) mask(part).setTo(255);
  return mask;
}

TEST(MaskBoxes, AreExactAndLargestFirst) {
  cv::Mat scratch;
  const auto found = mask_boxes(
      mask_of({{10, 10, 6, 8}, {60, 50, 30, 20}, {0, 90, 5, 10}, {110, 0, 10, 7}}), 4, scratch);
  EXPECT_EQ(found.boxes,
            (std::vector<Rect>{{60, 50, 30, 20}, {110, 0, 10, 7}, {0, 90, 5, 10}, {10, 10, 6, 8}}));
}

TEST(MaskBoxes, CloseSmallGapsAndCountWhatIsTooSmall) {
  cv::Mat scratch;
  const auto found = mask_boxes(mask_of({{10, 10, 6, 8},
                                         {20, 10, 5, 8},  // 4 apart: one
                                         {50, 10, 6, 8},
                                         {63, 10, 5, 8},  // 7 apart: two
                                         {90, 80, 3, 3},
                                         {90, 60, 3, 4}}),
                                4, scratch);
  ASSERT_EQ(found.boxes.size(), 4u);
  EXPECT_EQ(found.boxes[0], (Rect{10, 10, 15, 8}));
  EXPECT_EQ(found.too_small, 1) << "small on both sides";
}

TEST(MaskBoxes, AreThoseOfOpenCvsContours) {
  std::mt19937 random(4);
  cv::Mat scratch, dilated;
  for (int round = 0; round < 40; ++round) {
    cv::Mat mask = cv::Mat::zeros(60 + round, 90, CV_8UC1);
    for (int n = 0; n < 10 * round; ++n) {
      mask.at<std::uint8_t>(static_cast<int>(random() % static_cast<unsigned>(mask.rows)),
                            static_cast<int>(random() % 90)) = 255;
    }
    cv::dilate(mask, dilated, cv::getStructuringElement(cv::MORPH_RECT, {5, 5}));
    std::vector<std::vector<cv::Point>> contours;
    std::vector<cv::Vec4i> tree;  // with the level of each: those within holes are parts, too
    cv::findContours(dilated, contours, tree, cv::RETR_CCOMP, cv::CHAIN_APPROX_SIMPLE);
    std::vector<double> expected, found;
    for (std::size_t i = 0; i < contours.size(); ++i) {
      if (tree[i][3] >= 0) continue;  // the border of a hole
      const cv::Rect r = cv::boundingRect(contours[i]);
      const int left = r.x == 0 ? 0 : r.x + 2, top = r.y == 0 ? 0 : r.y + 2;
      const int right = r.br().x == mask.cols ? mask.cols : r.br().x - 2;
      const int bottom = r.br().y == mask.rows ? mask.rows : r.br().y - 2;
      expected.push_back(left + 1e3 * top + 1e6 * std::max(right - left, 1) +
                         1e9 * std::max(bottom - top, 1));
    }
    for (const Rect& r : mask_boxes(mask, 0, scratch).boxes) {
      found.push_back(r.x + 1e3 * r.y + 1e6 * r.width + 1e9 * r.height);
    }
    std::sort(expected.begin(), expected.end());
    std::sort(found.begin(), found.end());
    EXPECT_EQ(found, expected) << round;
  }
}

TEST(MaskBoxes, WhatIsKnownExplainsABox) {
  const cv::Mat mask = mask_of({{10, 10, 10, 10}, {50, 50, 20, 10}});
  cv::Mat scratch;
  const auto after = [&](const std::vector<Rect>& known, double share) {
    auto found = mask_boxes(mask, 4, scratch);
    drop_explained(mask, known, share, found, scratch);
    EXPECT_EQ(found.explained, 2 - static_cast<int>(found.boxes.size()));
    return found.boxes;
  };
  EXPECT_EQ(after({}, 0.9).size(), 2u);
  EXPECT_EQ(after({{9, 9, 12, 12}}, 0.9), (std::vector<Rect>{{50, 50, 20, 10}}));
  EXPECT_EQ(after({{50, 50, 15, 10}}, 0.9).size(), 2u) << "three quarters";
  EXPECT_EQ(after({{50, 50, 15, 10}}, 0.75).size(), 1u);
  EXPECT_EQ(after({{50, 50, 10, 10}, {60, 50, 10, 10}}, 1).size(), 1u) << "two together";
  EXPECT_EQ(after({{-500, -500, 10, 10}, {500, 0, 9, 9}}, 0.5).size(), 2u) << "outside";
}

TEST(DifferenceExtractor, StartsNoThreads) {
  if (!std::filesystem::exists("/proc/self/task")) GTEST_SKIP() << "no /proc here";
  const auto threads = [] {
    const std::filesystem::directory_iterator tasks("/proc/self/task");
    return std::distance(begin(tasks), end(tasks));
  };
  const auto before = threads();
  DifferenceExtractor extractor({1});
  for (int i = 0; i < 3; ++i) {
    LumaImage image;
    image.fill({1280, 720}, 1, static_cast<std::uint8_t>(50 * i));
    const LumaImage smooth = blurred(image);
    extractor.compare(smooth);
    extractor.boxes(2);
    extractor.remember(smooth);
  }
  EXPECT_EQ(threads(), before);
}

}  // namespace
}  // namespace sparing::roi

#include "sparing/compose/privacy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "sparing/compose/compose_test_util.h"

namespace sparing {
namespace {

using testing::copy_of;
using testing::differing_samples;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::make_picture;
using testing::random_picture;

const std::vector<std::string> kLabels{"road", "person", "car"};

PrivacyMasker masker_of(const PrivacyOptions& options) {
  auto masker = PrivacyMasker::create(options);
  EXPECT_TRUE(masker.ok()) << masker.error().to_string();
  return std::move(*masker);
}

LabelMap labels_of(Size size, const std::function<int(int, int)>& label) {
  LabelMap map;
  map.resize(size);
  for (int y = 0; y < size.height; ++y) {
    for (int x = 0; x < size.width; ++x) map.row(y)[x] = static_cast<std::uint8_t>(label(x, y));
  }
  return map;
}

// Whether a label pixel of class 1 reaches to within `margin` of the picture's pixel, by geometry.
bool masked_reference(const LabelMap& labels, Size size, int margin, int x, int y) {
  for (int j = 0; j < labels.size.height; ++j) {
    for (int i = 0; i < labels.size.width; ++i) {
      if (labels.row(j)[i] != 1) continue;
      const double left = 1.0 * i * size.width / labels.size.width;
      const double right = 1.0 * (i + 1) * size.width / labels.size.width;
      const double top = 1.0 * j * size.height / labels.size.height;
      const double bottom = 1.0 * (j + 1) * size.height / labels.size.height;
      // The pixels that the label pixel overlaps, widened by whole pixels.
      if (x >= std::floor(left + 1e-9) - margin && x < std::ceil(right - 1e-9) + margin &&
          y >= std::floor(top + 1e-9) - margin && y < std::ceil(bottom - 1e-9) + margin) {
        return true;
      }
    }
  }
  return false;
}

bool chroma_masked(const LabelMap& labels, Size size, int margin, int x, int y) {
  for (int dy = 0; dy < 2; ++dy) {
    for (int dx = 0; dx < 2; ++dx) {
      const int px = std::min(2 * x + dx, size.width - 1);
      const int py = std::min(2 * y + dy, size.height - 1);
      if (masked_reference(labels, size, margin, px, py)) return true;
    }
  }
  return false;
}

TEST(PrivacyMasker, MasksTheClassAndAMarginAndNothingElse) {
  unsigned seed = 0;
  for (const Size size : {Size{32, 24}, Size{27, 19}}) {
    for (const Size label_size : {size, Size{16, 12}, Size{50, 40}, Size{7, 5}}) {
      for (const int margin : {0, 30, 60}) {
        std::mt19937 random(++seed);
        const LabelMap labels =
            labels_of(label_size, [&](int, int) { return random() % 40 == 0 ? 1 : 2; });
        const int pixels =
            static_cast<int>(std::ceil(margin * std::min(size.width, size.height) / 720.0 - 1e-9));
        const Picture input = random_picture(size, seed);
        Picture picture = copy_of(input);
        PrivacyMasker masker =
            masker_of({.classes = {1}, .color = {255, 255, 255}, .margin = margin});
        ASSERT_TRUE(masker.apply(labels, picture).ok());
        std::int64_t count = 0;
        testing::for_each_sample(picture, [&](int p, int x, int y) {
          const bool masked = p > 0 ? chroma_masked(labels, size, pixels, x, y)
                                    : masked_reference(labels, size, pixels, x, y);
          if (p == 0) count += masked ? 1 : 0;
          ASSERT_EQ(picture.row(p, y)[x], masked ? (p > 0 ? 128 : 235) : input.row(p, y)[x])
              << p << " " << x << "," << y;
        });
        EXPECT_EQ(masker.masked_pixels(), count);
      }
    }
  }
}

// Nothing but the means of blocks tells what was there: pictures whose blocks have the same means
// become the same.
TEST(PrivacyMasker, KeepsNothingButMeans) {
  const Size size{160, 128};
  const LabelMap labels =
      labels_of({40, 32}, [](int x, int y) { return std::hypot(x - 20, y - 16) < 11 ? 1 : 0; });
  for (const PrivacyFill fill : {PrivacyFill::kColor, PrivacyFill::kPixelate, PrivacyFill::kBlur}) {
    PrivacyMasker masker = masker_of({.classes = {1}, .fill = fill, .margin = 0});
    std::vector<Picture> results;
    for (int k = 0; k < 3; ++k) {
      // Each 4x4 cell has the mean 100, as stripes one way, the other way, or as one value. A label
      // pixel is such a cell.
      Picture picture = make_picture(size, [&](int p, int x, int y) {
        const int wave = k == 0 ? x % 2 : y % 2;
        return p > 0 || k == 2 ? 100 : 40 + 120 * wave;
      });
      ASSERT_TRUE(masker.apply(labels, picture).ok());
      results.push_back(std::move(picture));
    }
    for (int y = 0; y < size.height; ++y) {
      for (int x = 0; x < size.width; ++x) {
        if (labels.row(y / 4)[x / 4] != 1) continue;
        ASSERT_EQ(results[0].row(0, y)[x], results[1].row(0, y)[x]);
        ASSERT_EQ(results[0].row(0, y)[x], results[2].row(0, y)[x]);
        ASSERT_EQ(results[0].row(0, y)[x], fill == PrivacyFill::kColor ? 16 : 100);
      }
    }
  }
}

TEST(PrivacyMasker, PixelatesByTheMeanOfWhatIsMasked) {
  const Size size{96, 72};
  const Picture input = random_picture(size, 11);
  Picture picture = copy_of(input);
  const LabelMap labels = labels_of(size, [](int x, int) { return x < 53 ? 1 : 0; });
  PrivacyMasker masker =
      masker_of({.classes = {1}, .fill = PrivacyFill::kPixelate, .block = 1.0 / 6, .margin = 0});
  ASSERT_TRUE(masker.apply(labels, picture).ok());
  constexpr int kBlock = 12;
  testing::for_each_sample(picture, [&](int p, int x, int y) {
    const int block = p > 0 ? kBlock / 2 : kBlock;
    const int end = p > 0 ? 27 : 53;  // chroma sample 26 has the masked column 52
    if (x >= end) {
      ASSERT_EQ(picture.row(p, y)[x], input.row(p, y)[x]);
      return;
    }
    double sum = 0;
    int count = 0;
    const Size plane = picture.plane_size(p);
    for (int by = y / block * block; by < std::min(plane.height, (y / block + 1) * block); ++by) {
      for (int bx = x / block * block; bx < std::min(end, (x / block + 1) * block); ++bx) {
        sum += input.row(p, by)[bx];
        ++count;
      }
    }
    ASSERT_NEAR(picture.row(p, y)[x], sum / count, 0.501);
  });
}

TEST(PrivacyMasker, BlurStaysBetweenTheMeans) {
  Picture picture = make_picture({200, 100}, [](int p, int x, int y) {
    return p > 0 ? 128 : x < 100 ? 60 + (x + y) % 3 : 180 + (x + y) % 3;
  });
  const LabelMap labels = labels_of({1, 1}, [](int, int) { return 1; });
  PrivacyMasker masker = masker_of({.classes = {1}, .fill = PrivacyFill::kBlur, .block = 0.2});
  ASSERT_TRUE(masker.apply(labels, picture).ok());
  // From block to block, without steps of more than a few levels.
  for (int x = 1; x < 200; ++x) {
    EXPECT_LE(std::abs(picture.row(0, 50)[x] - picture.row(0, 50)[x - 1]), 8);
  }
  EXPECT_NEAR(picture.row(0, 50)[0], 61, 1);
  EXPECT_NEAR(picture.row(0, 50)[199], 181, 1);
}

TEST(PrivacyMasker, UnknownPixelsAreMaskedUnlessToldOtherwise) {
  const LabelMap labels = labels_of({4, 4}, [](int x, int) { return x < 2 ? kIgnoreLabel : 0; });
  const Picture input = random_picture({32, 32}, 12);
  Picture picture = copy_of(input);
  PrivacyMasker masker = masker_of({.classes = {1}, .margin = 0});
  ASSERT_TRUE(masker.apply(labels, picture).ok());
  EXPECT_EQ(masker.masked_pixels(), 512);
  PrivacyMasker lax = masker_of({.classes = {1}, .margin = 0, .mask_unknown = false});
  Picture other = copy_of(input);
  ASSERT_TRUE(lax.apply(labels, other).ok());
  EXPECT_EQ(differing_samples(other, input), 0);
}

TEST(PrivacyMasker, SizesMayChangeMidStream) {
  PrivacyMasker masker = masker_of({.classes = {1}});
  for (const Size size : {Size{64, 48}, Size{1, 1}, Size{301, 207}, Size{64, 48}}) {
    for (const Size label_size : {Size{32, 24}, Size{3, 70}}) {
      Picture picture = random_picture(size, 13);
      const LabelMap labels = labels_of(label_size, [](int, int) { return 1; });
      ASSERT_TRUE(masker.apply(labels, picture).ok());
      EXPECT_EQ(masker.masked_pixels(), std::int64_t{size.width} * size.height);
      testing::for_each_sample(
          picture, [&](int p, int x, int y) { ASSERT_EQ(picture.row(p, y)[x], p > 0 ? 128 : 16); });
    }
  }
}

TEST(PrivacyMasker, RefusesWhatDoesNotFit) {
  EXPECT_THAT(PrivacyMasker::create({}).error().to_string(), HasSubstr("no classes"));
  EXPECT_FALSE(PrivacyMasker::create({.classes = {1}, .block = 0}).ok());
  EXPECT_FALSE(PrivacyMasker::create({.classes = {1}, .margin = -1}).ok());
  PrivacyMasker masker = masker_of({.classes = {1}});
  Picture picture = random_picture({8, 8}, 14);
  LabelMap labels;
  EXPECT_THAT(masker.apply(labels, picture).error().to_string(), HasSubstr("0x0"));
  labels.resize({4, 4});
  labels.labels.pop_back();
  EXPECT_THAT(masker.apply(labels, picture).error().to_string(), HasSubstr("15 labels for 4x4"));
}

TEST(PrivacyOptions, AreParsed) {
  const auto options = parse_privacy("car,1,person:colour=#ff0000", kLabels);
  ASSERT_TRUE(options.ok()) << options.error().to_string();
  EXPECT_THAT(options->classes, ElementsAre(2, 1));
  EXPECT_EQ(options->fill, PrivacyFill::kColor);
  EXPECT_EQ(options->color, (Rgb{255, 0, 0}));
  EXPECT_EQ(parse_privacy("person:pixelate", kLabels)->fill, PrivacyFill::kPixelate);
  EXPECT_EQ(parse_privacy("person:blur", kLabels)->fill, PrivacyFill::kBlur);
  EXPECT_EQ(parse_privacy("person:color", kLabels)->fill, PrivacyFill::kColor);
  EXPECT_THAT(parse_privacy("7", {})->classes, ElementsAre(7));
}

TEST(PrivacyOptions, SayWhatIsWrong) {
  const auto problem = [](std::string_view text) {
    const auto options = parse_privacy(text, kLabels);
    EXPECT_FALSE(options.ok()) << text;
    return options.ok() ? "" : options.error().to_string();
  };
  EXPECT_EQ(problem("dog"),
            "privacy 'dog': there is no class 'dog'; give one of road, person, car");
  EXPECT_THAT(problem("3"), HasSubstr("no class '3'"));
  EXPECT_THAT(problem("-1"), HasSubstr("no class '-1'"));
  EXPECT_THAT(problem(""), HasSubstr("a class is missing"));
  EXPECT_THAT(problem("car,,road"), HasSubstr("a class is missing"));
  EXPECT_THAT(problem("car:sepia"), HasSubstr("no fill 'sepia'"));
  EXPECT_THAT(problem("car:colour=x"), HasSubstr("'x' is no colour"));
  EXPECT_THAT(problem("car:blur=3"), HasSubstr("takes no colour"));
}

}  // namespace
}  // namespace sparing

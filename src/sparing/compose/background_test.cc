#include "sparing/compose/background.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "sparing/compose/compose_test_util.h"
#include "sparing/io/overlay.h"
#include "sparing/io/test_video.h"

namespace sparing {
namespace {

using testing::copy_of;
using testing::differing_samples;
using testing::make_picture;
using testing::random_picture;
using testing::TestDirectory;

BackgroundComposer composer_of(const BackgroundOptions& options) {
  auto composer = BackgroundComposer::create(options);
  EXPECT_TRUE(composer.ok()) << composer.error().to_string();
  return std::move(*composer);
}

// Every effect, as options; the replacement is a grey picture.
std::vector<BackgroundOptions> every_effect(const TestDirectory& dir) {
  testing::write_file(dir / "grey.ppm", testing::grey_ppm(20, 20, 200));
  std::vector<BackgroundOptions> all;
  for (const BackgroundEffectInfo& row : background_effects()) {
    for (const bool refine : {false, true}) {
      BackgroundOptions options;
      options.effect = row.effect;
      options.replacement = (dir / "grey.ppm").string();
      options.refine = refine;
      all.push_back(options);
    }
  }
  return all;
}

TEST(BackgroundComposer, ForegroundStaysExactly) {
  const TestDirectory dir;
  const std::vector<float> mask(16 * 9, 1.0f);
  for (const BackgroundOptions& options : every_effect(dir)) {
    BackgroundComposer composer = composer_of(options);
    for (const Size size : {Size{64, 36}, Size{65, 37}, Size{1, 1}, Size{200, 150}}) {
      const Picture input = random_picture(size, 3);
      Picture picture = copy_of(input);
      ASSERT_TRUE(composer.compose(MaskView({16, 9}, mask), picture).ok());
      EXPECT_EQ(differing_samples(picture, input), 0);
      EXPECT_EQ(picture.has_alpha(), options.effect == BackgroundEffect::kCutout);
    }
  }
}

TEST(BackgroundComposer, BackgroundIsExactlyTheColour) {
  const std::vector<std::uint8_t> mask(16 * 9, 0);
  for (const ColorMatrix matrix : {ColorMatrix::kBt601, ColorMatrix::kBt709}) {
    for (const ColorRange range : {ColorRange::kLimited, ColorRange::kFull}) {
      Picture picture = random_picture({33, 21}, 4);
      ASSERT_TRUE(picture.allocate({33, 21}, {matrix, range}).ok());
      BackgroundComposer composer =
          composer_of({.effect = BackgroundEffect::kColor, .color = {200, 30, 90}});
      ASSERT_TRUE(composer.compose(MaskView({16, 9}, mask), picture).ok());
      // By the formulas of the standards.
      const double kr = matrix == ColorMatrix::kBt601 ? 0.299 : 0.2126;
      const double kb = matrix == ColorMatrix::kBt601 ? 0.114 : 0.0722;
      const double luma = (kr * 200 + (1 - kr - kb) * 30 + kb * 90) / 255;
      const double u = (90 / 255.0 - luma) / (2 * (1 - kb)),
                   v = (200 / 255.0 - luma) / (2 * (1 - kr));
      const bool full = range == ColorRange::kFull;
      const double expected[3] = {full ? 255 * luma : 16 + 219 * luma, 128 + (full ? 255 : 224) * u,
                                  128 + (full ? 255 : 224) * v};
      testing::for_each_sample(picture, [&](int p, int x, int y) {
        ASSERT_NEAR(picture.row(p, y)[x], expected[p], 0.501);
      });
    }
  }
}

// The mask of the following tests at a picture's pixels, by the definition.
double soft_alpha(int x, Size size, double contrast) {
  const double position = (x + 0.5) * 4 / size.width;  // of four mask columns: 0 0 1 1
  return std::clamp((std::clamp(position - 1.5, 0.0, 1.0) - 0.5) * contrast + 0.5, 0.0, 1.0);
}
const std::vector<float> kSoftMask{0, 0, 1, 1, 0, 0, 1, 1};

TEST(BackgroundComposer, BlendsAsInDoublePrecision) {
  const TestDirectory dir;
  testing::write_file(dir / "grey.ppm", testing::grey_ppm(20, 20, 200));
  for (const Size size : {Size{64, 36}, Size{65, 37}, Size{30, 80}}) {
    const Picture input = random_picture(size, 5);
    for (const auto& row :
         {std::pair{BackgroundEffect::kColor, 1.0}, std::pair{BackgroundEffect::kColor, 2.0},
          std::pair{BackgroundEffect::kReplace, 1.0}}) {
      const BackgroundEffect effect = row.first;
      const double contrast = row.second;
      Picture picture = copy_of(input);
      BackgroundComposer composer = composer_of({.effect = effect,
                                                 .replacement = (dir / "grey.ppm").string(),
                                                 .color = {200, 200, 200},
                                                 .contrast = contrast});
      ASSERT_TRUE(composer.compose(MaskView({4, 2}, kSoftMask), picture).ok());
      const YuvColor grey = to_yuv({200, 200, 200}, picture.color_space());
      testing::for_each_sample(picture, [&](int p, int x, int y) {
        double alpha = soft_alpha(x, size, contrast);
        if (p > 0) {
          alpha = (soft_alpha(2 * x, size, contrast) +
                   soft_alpha(std::min(2 * x + 1, size.width - 1), size, contrast)) /
                  2;
        }
        const double bottom = p == 0 ? grey.y : 128;
        const double exact = alpha * input.row(p, y)[x] + (1 - alpha) * bottom;
        // Alpha in 255 steps, chroma's in two roundings; swscale's grey may be one off.
        ASSERT_NEAR(picture.row(p, y)[x], exact, 2.0) << p << " " << x << "," << y;
        if (alpha == 0 && effect == BackgroundEffect::kColor) {
          ASSERT_EQ(picture.row(p, y)[x], bottom);
        }
        if (alpha == 1) {
          ASSERT_EQ(picture.row(p, y)[x], input.row(p, y)[x]);
        }
      });
    }
  }
}

TEST(BackgroundComposer, BlursWhatIsBehind) {
  // A checkerboard becomes its mean behind, and stays in front.
  const Size size{320, 240};
  const Picture input = make_picture(size, [](int p, int x, int y) {
    return p > 0 ? 128 : (x / 2 + y / 2) % 2 != 0 ? 180 : 60;
  });
  for (const double radius : {0.1, 24.0}) {
    Picture picture = copy_of(input);
    BackgroundComposer composer =
        composer_of({.effect = BackgroundEffect::kBlur, .blur_radius = radius});
    ASSERT_TRUE(composer.compose(MaskView({4, 2}, kSoftMask), picture).ok());
    for (int y = 0; y < size.height; y += 7) {
      for (int x = 0; x < 100; x += 7) EXPECT_NEAR(picture.row(0, y)[x], 120, 2);
      for (int x = 220; x < size.width; x += 7) {
        EXPECT_EQ(picture.row(0, y)[x], input.row(0, y)[x]);
      }
    }
  }
}

TEST(BackgroundComposer, CutsOutAndWipesWhatIsGone) {
  for (const Size size : {Size{64, 36}, Size{65, 37}}) {
    const Picture input = random_picture(size, 6);
    // Of the picture's size, so that it is alpha as it is; half of its pixels are gone.
    std::vector<std::uint8_t> mask;
    std::mt19937 random(7);
    for (int i = 0; i < size.width * size.height; ++i) {
      mask.push_back(static_cast<std::uint8_t>(random() % 2 == 0 ? 0 : random() % 256));
    }
    Picture picture = copy_of(input);
    BackgroundComposer composer = composer_of({.effect = BackgroundEffect::kCutout, .contrast = 1});
    ASSERT_TRUE(composer.compose(MaskView(size, mask), picture).ok());
    ASSERT_TRUE(picture.has_alpha());
    const auto alpha = [&](int x, int y) {
      return mask[static_cast<std::size_t>(std::min(y, size.height - 1) * size.width +
                                           std::min(x, size.width - 1))];
    };
    testing::for_each_sample(picture, [&](int p, int x, int y) {
      // A chroma sample is gone when none of its pixels is to be seen.
      const int seen = p == 0 ? alpha(x, y)
                              : alpha(2 * x, 2 * y) | alpha(2 * x + 1, 2 * y) |
                                    alpha(2 * x, 2 * y + 1) | alpha(2 * x + 1, 2 * y + 1);
      ASSERT_EQ(picture.row(p, y)[x], seen != 0 ? input.row(p, y)[x] : p == 0 ? 16 : 128);
      if (p == 0) {
        ASSERT_EQ(picture.alpha_row(y)[x], alpha(x, y));
      }
    });
  }
}

TEST(BackgroundComposer, MaskLiesUprightOnTurnedFrames) {
  // A frame whose coded rows are shown as columns: the mask is of what is shown.
  auto frame = allocate_frame(PixelFormat::kNv12, {40, 24});
  ASSERT_TRUE(frame.ok());
  frame->view().rotation = Rotation::k90;
  PictureConverter converter;
  Picture picture;
  ASSERT_TRUE(converter.convert(frame->view(), picture).ok());
  ASSERT_EQ(picture.size(), (Size{24, 40}));
  picture.fill(100, 128, 128);
  BackgroundComposer composer =
      composer_of({.effect = BackgroundEffect::kColor, .color = {255, 255, 255}});
  const std::vector<float> upper_half{1, 1, 0, 0};
  ASSERT_TRUE(composer.compose(MaskView({1, 4}, upper_half), picture).ok());
  EXPECT_EQ(picture.row(0, 2)[12], 100);
  EXPECT_EQ(picture.row(0, 37)[12], 235);
}

TEST(BackgroundComposer, SizesMayChangeMidStream) {
  const TestDirectory dir;
  for (const BackgroundOptions& options : every_effect(dir)) {
    BackgroundComposer composer = composer_of(options);
    for (const Size size : {Size{64, 36}, Size{333, 170}, Size{3, 2}, Size{64, 36}}) {
      Picture again = random_picture(size, 7);
      Picture picture = copy_of(again);
      ASSERT_TRUE(composer.compose(MaskView({4, 2}, kSoftMask), picture).ok());
      // As a composer that saw no other size does it.
      BackgroundComposer fresh = composer_of(options);
      ASSERT_TRUE(fresh.compose(MaskView({4, 2}, kSoftMask), again).ok());
      EXPECT_EQ(differing_samples(picture, again), 0);
    }
  }
}

TEST(BackgroundComposer, RefusesWhatDoesNotFit) {
  using ::testing::HasSubstr;
  BackgroundComposer composer = composer_of({.effect = BackgroundEffect::kBlur});
  const Picture input = random_picture({32, 32}, 8);
  Picture picture = copy_of(input);
  const std::vector<float> few(3);
  const Status status = composer.compose(MaskView({2, 2}, few), picture);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(differing_samples(picture, input), 0);
  Picture nothing;
  EXPECT_FALSE(composer.compose(MaskView({4, 2}, kSoftMask), nothing).ok());
  for (const double radius : {0.0, -1.0, 1001.0, std::nan("")}) {
    EXPECT_FALSE(
        BackgroundComposer::create({.effect = BackgroundEffect::kBlur, .blur_radius = radius})
            .ok());
  }
  EXPECT_FALSE(
      BackgroundComposer::create({.effect = BackgroundEffect::kColor, .contrast = 0.5}).ok());
  EXPECT_THAT(
      BackgroundComposer::create({.effect = BackgroundEffect::kReplace}).error().to_string(),
      HasSubstr("nothing to replace it with"));
}

TEST(BackgroundComposer, NoneChangesNothing) {
  BackgroundComposer composer = composer_of({});
  const Picture input = random_picture({32, 32}, 9);
  Picture picture = copy_of(input);
  ASSERT_TRUE(composer.compose(MaskView(), picture).ok());
  EXPECT_EQ(differing_samples(picture, input), 0);
}

}  // namespace
}  // namespace sparing

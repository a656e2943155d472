// Synthetic scenes are what their truth says: nothing of a person lies outside his box, the same
// seed gives the same pixels, light and shakes do what they say, and files play what was rendered.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "scene.h"
#include "scene_mask.h"
#include "scene_random.h"
#include "scene_test_material.h"
#include "scene_video.h"
#include "sparing/io/annotations.h"
#include "sparing/io/source.h"

namespace sparing::bench {
namespace {

namespace fs = std::filesystem;

using testing::block_material;
using testing::grey_picture;

SceneOptions small_scene() {
  SceneOptions options;
  options.size = {320, 180};
  options.frames = 36;
  options.noise = 0;
  return options;
}

std::vector<std::uint8_t> luma_of(const Scene& scene, int frame) {
  const auto picture = scene.render(frame);
  EXPECT_TRUE(picture.ok());
  const VideoFrame& view = picture->view();
  std::vector<std::uint8_t> samples;
  for (int y = 0; y < view.coded_size.height; ++y) {
    const std::uint8_t* row = view.planes[0].data + y * view.planes[0].stride;
    samples.insert(samples.end(), row, row + view.coded_size.width);
  }
  return samples;
}

// The smallest box of the samples that differ by more than `least`.
Box changed_box(const std::vector<std::uint8_t>& a, const std::vector<std::uint8_t>& b, int width,
                int least) {
  Box box{1e6f, 1e6f, -1, -1};
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::abs(a[i] - b[i]) <= least) continue;
    const auto x = static_cast<float>(static_cast<int>(i) % width);
    const auto y = static_cast<float>(static_cast<int>(i) / width);
    box = {std::min(box.x0, x), std::min(box.y0, y), std::max(box.x1, x + 1),
           std::max(box.y1, y + 1)};
  }
  return box;
}

TEST(SceneTest, BoxesHoldEveryPixelOfTheirPerson) {
  const auto material = block_material();
  const SceneOptions options = small_scene();
  const Scene empty(material, options);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Scene scene(material, options);
    const double scale = 0.4 + 0.05 * static_cast<double>(seed);
    scene.add(scene.place(seed, 0, scale, 0, 11, 0));
    for (const int frame : {0, 1, 17, 35}) {
      const auto truth = scene.truth(frame);
      ASSERT_EQ(truth.size(), 1u);
      const Box seen =
          changed_box(luma_of(empty, frame), luma_of(scene, frame), options.size.width, 4);
      const Box& box = truth[0].box;
      EXPECT_GE(seen.x0, box.x0 - 1);
      EXPECT_GE(seen.y0, box.y0 - 1);
      EXPECT_LE(seen.x1, box.x1 + 1);
      EXPECT_LE(seen.y1, box.y1 + 1);
      // The block fills 10 of 14 and 20 of 24 pixels of its box, at its own place in it.
      EXPECT_NEAR((seen.x0 + seen.x1) / 2, (box.x0 + box.x1) / 2, 1 + scale);
      EXPECT_NEAR(seen.y1 - seen.y0, 20 * scale, 2);
      EXPECT_NEAR(box.height(), 24 * scale, 1e-3);
    }
  }
}

TEST(SceneTest, PeopleMoveEvenlyBetweenTheVideosFrames) {
  Scene scene(block_material(), small_scene());
  scene.add(scene.place(3, 0, 1.0, 0, 11, 0));
  // 3 pixels a frame of 10 a second are 1 pixel a frame of 30.
  for (int frame = 1; frame < 33; ++frame) {
    EXPECT_NEAR(scene.truth(frame)[0].box.x0 - scene.truth(frame - 1)[0].box.x0, 1, 1e-3);
  }
  EXPECT_EQ(scene.truth(35).size(), 1u);
  EXPECT_TRUE(scene.truth(36).empty());
}

TEST(SceneTest, PlacesAreInsideAndOnTheGround) {
  const auto material = block_material();
  const Scene scene(material, small_scene());
  // 160 x 120 is enlarged 2.2 times to 352 columns, and the lower 212 of 264 rows are shown.
  const double ground = 50 * 2.2 - (264 - 212) - kSceneMargin;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Scene one = scene;
    one.add(scene.place(seed, 1, 0.7, 0, 11, 0));
    for (int frame = 0; frame < 36; ++frame) {
      const auto truth = one.truth(frame);
      ASSERT_EQ(truth.size(), 1u);
      EXPECT_GE(truth[0].box.x0, -1e-3);
      EXPECT_LE(truth[0].box.x1, 320 + 1e-3);
      EXPECT_GE(truth[0].box.y1, ground - 1e-3);
      EXPECT_NEAR(truth[0].box.height(), 24 * 0.7, 1e-3);  // nothing is clipped
    }
  }
}

TEST(SceneTest, TheSameSeedGivesTheSamePixels) {
  const auto material = block_material();
  SceneOptions options = small_scene();
  options.noise = 2;
  Scene a(material, options);
  Scene b(material, options);
  a.add_people(3, 0.5, 1);
  b.add_people(3, 0.5, 1);
  for (const int frame : {0, 20}) EXPECT_EQ(luma_of(a, frame), luma_of(b, frame));
  options.seed = 2;
  Scene other(material, options);
  other.add_people(3, 0.5, 1);
  EXPECT_NE(luma_of(a, 0), luma_of(other, 0));
  EXPECT_NE(a.actors()[0].offset, other.actors()[0].offset);
}

TEST(SceneTest, AsManyPeopleAsAskedForAllTheTime) {
  Scene scene(block_material(), small_scene());
  scene.add_people(3, 0.5, 1);
  for (int frame = 0; frame < 36; ++frame) EXPECT_EQ(scene.truth(frame).size(), 3u) << frame;
}

TEST(SceneTest, NoiseHasItsDeviationAndNoMean) {
  const auto material = block_material();
  SceneOptions options = small_scene();
  const Scene clean(material, options);
  options.noise = 2;
  const Scene noisy(material, options);
  const auto a = luma_of(clean, 0);
  const auto b = luma_of(noisy, 0);
  const auto later = luma_of(noisy, 1);
  double sum = 0, squares = 0, across = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum += b[i] - a[i];
    squares += (b[i] - a[i]) * (b[i] - a[i]);
    across += (b[i] - a[i]) * (later[i] - a[i]);
  }
  const auto count = static_cast<double>(a.size());
  EXPECT_NEAR(sum / count, 0, 0.05);
  EXPECT_NEAR(std::sqrt(squares / count), 2, 0.1);
  EXPECT_NEAR(across / squares, 0, 0.05);  // of one frame it says nothing about the next
}

TEST(SceneTest, ALightStepChangesWhatComesAfterIt) {
  const auto material = block_material();
  SceneOptions options = small_scene();
  const Scene plain(material, options);
  options.light = {0.5, 1.25, 10};
  const Scene lit(material, options);
  EXPECT_EQ(luma_of(plain, 14), luma_of(lit, 14));
  const auto before = luma_of(plain, 15);
  const auto after = luma_of(lit, 15);
  for (std::size_t i = 0; i < before.size(); ++i) {
    ASSERT_EQ(after[i], std::lround(16 + 1.25 * (before[i] - 16) + 10));
  }
}

TEST(SceneTest, AShakeMovesThePictureAndItsTruth) {
  const auto material = block_material();
  SceneOptions options = small_scene();
  Scene still(material, options);
  const SceneActor actor = still.place(1, 0, 1, 0, 11, 0);
  still.add(actor);
  options.shake.start = 0.5;
  options.shake.shift = {10, -4};
  Scene moved(material, options);
  moved.add(actor);
  EXPECT_EQ(luma_of(still, 14), luma_of(moved, 14));
  const auto a = luma_of(still, 15);
  const auto b = luma_of(moved, 15);
  for (int y = 0; y < 180 - 4; ++y) {
    for (int x = 10; x < 320; ++x) {
      ASSERT_EQ(b[static_cast<std::size_t>(y * 320 + x)],
                a[static_cast<std::size_t>((y + 4) * 320 + x - 10)]);
    }
  }
  EXPECT_NEAR(moved.truth(15)[0].box.x0, still.truth(15)[0].box.x0 + 10, 1e-3);
  EXPECT_NEAR(moved.truth(15)[0].box.y0, still.truth(15)[0].box.y0 - 4, 1e-3);

  options.shake.settle = 0.4;
  Scene swinging(material, options);
  swinging.add(actor);
  EXPECT_EQ(luma_of(swinging, 15), luma_of(moved, 15));
  EXPECT_NE(luma_of(swinging, 20), luma_of(moved, 20));
  EXPECT_EQ(luma_of(swinging, 27), luma_of(still, 27));  // at rest where it was
}

TEST(SceneTest, WhoIsMostlyCoveredDoesNotCount) {
  Scene scene(block_material(), small_scene());
  const SceneActor far = scene.place(1, 0, 1, 0, 11, 0);
  SceneActor near = far;
  near.offset.y += 2;
  scene.add(near);
  scene.add(far);
  const ImageAnnotations image = scene.annotations(0);
  ASSERT_EQ(image.objects.size(), 2u);
  EXPECT_TRUE(image.objects[0].ignore);
  EXPECT_FALSE(image.objects[1].ignore);
  EXPECT_GT(image.objects[1].box.y1, image.objects[0].box.y1);
}

TEST(SceneMaskTest, ThePersonIsFoundAndAShiftOfBrightnessIsNot) {
  const YuvPicture background = grey_picture({80, 80}, 100);
  YuvPicture picture = grey_picture({80, 80}, 106);
  for (int y = 30; y < 60; ++y) std::fill_n(picture.planes[0].row(y) + 34, 12, std::uint8_t{30});
  picture.planes[0].row(44)[40] = 104;  // a hole
  picture.planes[0].row(66)[51] = 30;   // a speck
  const Box box{30, 26, 54, 68};
  const SamplePlane mask = person_mask(picture, background, box, {30, 26, 24, 42});
  for (int y = 0; y < 42; ++y) {
    for (int x = 0; x < 24; ++x) {
      const bool person = x >= 4 && x < 16 && y >= 4 && y < 34;
      ASSERT_EQ(mask.row(y)[x], person ? 255 : 0) << x << ' ' << y;
    }
  }
}

class SceneFileTest : public ::testing::Test {
 protected:
  fs::path folder_ = fs::temp_directory_path() / ("scene-test-" + std::to_string(::getpid()));
  void TearDown() override { fs::remove_all(folder_); }
};

TEST_F(SceneFileTest, PlaysWhatWasRenderedAndIsWrittenOnce) {
  SceneOptions options = small_scene();
  options.noise = 1;
  Scene scene(block_material(), options);
  scene.add_people(2, 0.6, 1);
  const auto file = write_scene(scene, folder_);
  ASSERT_TRUE(file.ok()) << file.error().to_string();
  auto source = open_source(file->string());
  ASSERT_TRUE(source.ok());
  EXPECT_EQ((*source)->info().codec, "h264");
  int frames = 0;
  while (true) {
    const auto next = (*source)->next();
    ASSERT_TRUE(next.ok());
    if (!*next) break;
    const VideoFrame& view = (**next).frame.view();
    EXPECT_NEAR(view.timestamp.seconds(), frames / 30.0, 1e-6);
    const auto rendered = luma_of(scene, frames);
    double error = 0;
    for (int y = 0; y < 180; ++y) {
      for (int x = 0; x < 320; ++x) {
        error += std::abs(view.planes[0].data[y * view.planes[0].stride + x] -
                          rendered[static_cast<std::size_t>(y * 320 + x)]);
      }
    }
    EXPECT_LT(error / (320 * 180), 4) << frames;
    ++frames;
  }
  EXPECT_EQ(frames, options.frames);

  const auto truth = read_ground_truth(fs::path(*file).replace_extension(".txt"));
  ASSERT_TRUE(truth.ok()) << truth.error().to_string();
  const AnnotationSet expected = scene_truth(scene);
  ASSERT_EQ(expected.images.size(), 36u);
  ASSERT_EQ(truth->images.size(), 36u);
  for (std::size_t i = 0; i < 36; ++i) {
    ASSERT_EQ(truth->images[i].objects.size(), expected.images[i].objects.size());
    EXPECT_GT(iou(truth->images[i].objects[0].box, expected.images[i].objects[0].box), 0.99);
  }

  const auto written = fs::last_write_time(*file);
  const auto again = write_scene(scene, folder_);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(*again, *file);
  EXPECT_EQ(fs::last_write_time(*file), written);
  options.seed = 9;
  Scene other(block_material(), options);
  const auto another = write_scene(other, folder_);
  ASSERT_TRUE(another.ok());
  EXPECT_NE(*another, *file);
}

TEST(SceneMaterialTest, MissingFilesAreNamed) {
  const auto none = cut_out_people("/no/video.avi", "/no/truth.txt");
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code, ErrorCode::kInput);
  EXPECT_THAT(none.error().to_string(), ::testing::HasSubstr("/no/truth.txt"));
}

}  // namespace
}  // namespace sparing::bench

#include "sparing/io/image_sequence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "sparing/io/image.h"
#include "sparing/io/test_play.h"
#include "sparing/io/test_video.h"

namespace sparing {
namespace {

namespace fs = std::filesystem;

using ::testing::ElementsAre;
using testing::grey_ppm;
using ::testing::HasSubstr;
using testing::play;
using testing::Played;
using testing::TestDirectory;
using testing::write_file;
using testing::write_video;

TEST(NaturalOrder, NumbersCompareAsNumbers) {
  const std::vector<std::string> ordered{"",
                                         "1",
                                         "01",
                                         "2",
                                         "10",
                                         "a",
                                         "a0",
                                         "a1b2",
                                         "a1b10",
                                         "a2",
                                         "a02",
                                         "a10b1",
                                         "img2.x",
                                         "img10.x",
                                         "img10.y",
                                         "img99999999999999999998",
                                         "img99999999999999999999"};
  for (std::size_t i = 0; i < ordered.size(); ++i) {
    for (std::size_t j = 0; j < ordered.size(); ++j) {
      if (ordered[i] == "01" || ordered[j] == "01" || ordered[i] == "a02" || ordered[j] == "a02") {
        continue;  // equal but for zeros: below
      }
      EXPECT_EQ(natural_less(ordered[i], ordered[j]), i < j) << ordered[i] << " " << ordered[j];
    }
  }
  // Leading zeros decide last, so that the order is total.
  EXPECT_NE(natural_less("1", "01"), natural_less("01", "1"));
  EXPECT_TRUE(natural_less("01", "2"));
  EXPECT_TRUE(natural_less("a02", "a10b1"));
}

TEST(ImageNames, ByExtension) {
  for (const char* name : {"a.jpg", "a.JPG", "a.jpeg", "a.png", "x/y.webp", "a.b.tiff", "a.pgm"}) {
    EXPECT_TRUE(is_image_name(name)) << name;
  }
  for (const char* name :
       {"a", "jpg", ".jpg", "a.", "a.jp", "a.txt", "a.mp4", "a.jpg.txt", "a.g.j"}) {
    EXPECT_FALSE(is_image_name(name)) << name;
  }
}

TEST(ImageSource, DirectoriesAreInNaturalOrder) {
  const TestDirectory dir;
  for (const int i : {10, 9, 1, 2, 100}) {
    write_file(dir / ("img" + std::to_string(i) + ".ppm"), grey_ppm(4, 4, i));
  }
  write_file(dir / ".hidden.ppm", grey_ppm(4, 4, 7));
  write_file(dir / "readme.txt", "no image");
  fs::create_directory(dir / "folder.png");
  const auto check = [&](const Played& played) {
    EXPECT_FALSE(played.error);
    std::vector<int> values;
    for (const SourceFrame& frame : played.frames) {
      EXPECT_EQ(frame.index, std::int64_t(values.size()));
      EXPECT_EQ(frame.frame.view().timestamp, (Timestamp{frame.index, {1, 25}}));
      values.push_back(frame.frame.view().planes[0].data[0]);
      EXPECT_EQ(frame.file, (dir / ("img" + std::to_string(values.back()) + ".ppm")).string());
    }
    EXPECT_THAT(values, ElementsAre(1, 2, 9, 10, 100));
  };
  check(play(dir.path()));
  check(play(dir / "*.ppm"));
  check(play(dir / "img*.pp[m]"));
  EXPECT_EQ(play(dir / "img?.ppm").frames.size(), 3u);
  EXPECT_EQ(play(dir / "img10.ppm").frames.size(), 1u);
  EXPECT_EQ(play(dir.path(), {.max_frames = 2}).frames.size(), 2u);
}

TEST(ImageSource, AppliesExifOrientation) {
  const TestDirectory dir;
  write_video(dir / "a.mjpeg", {.codec = "mjpeg", .format = AV_PIX_FMT_YUVJ420P, .times = {0}});
  const std::string plain = testing::read_file(dir / "a.mjpeg");
  struct Case {
    Rotation rotation;
    bool flip;
  };
  constexpr Case kCases[] = {{Rotation::k0, false},   {Rotation::k0, true},
                             {Rotation::k180, false}, {Rotation::k180, true},
                             {Rotation::k90, true},   {Rotation::k90, false},
                             {Rotation::k270, true},  {Rotation::k270, false}};
  for (int value = 1; value <= 8; ++value) {
    SCOPED_TRACE(value);
    // A TIFF directory with one entry: orientation, a short.
    std::string exif("Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0?\0\0\0\0\0\0\0", 32);
    exif[24] = static_cast<char>(value);
    std::string jpeg = plain;
    jpeg.insert(2, std::string("\xFF\xE1\0\x22", 4) + exif);
    write_file(dir / "b.jpg", jpeg);
    const Played played = play(dir / "b.jpg");
    ASSERT_EQ(played.frames.size(), 1u);
    const VideoFrame& view = played.frames[0].frame.view();
    EXPECT_EQ(view.rotation, kCases[value - 1].rotation);
    EXPECT_EQ(view.flip, kCases[value - 1].flip);
    EXPECT_EQ(view.format, PixelFormat::kI420);
    EXPECT_EQ(view.color_space.range, ColorRange::kFull);
    EXPECT_EQ(view.color_space.siting, ChromaSiting::kCenter);
  }
}

TEST(ImageSource, ACutJpegIsMarkedAsDamaged) {
  const TestDirectory dir;
  write_video(dir / "a.mjpeg", {.codec = "mjpeg", .format = AV_PIX_FMT_YUVJ420P, .times = {0}});
  const std::string whole = testing::read_file(dir / "a.mjpeg");
  write_file(dir / "1.jpg", whole);
  write_file(dir / "2.jpg", whole.substr(0, whole.size() * 7 / 8));
  auto source = open_source(dir.path().string());
  ASSERT_TRUE(source.ok());
  const Played played = play(**source);
  ASSERT_EQ(played.frames.size(), 2u);
  EXPECT_FALSE(played.frames[0].damaged);
  EXPECT_TRUE(played.frames[1].damaged);
  EXPECT_EQ((*source)->damaged_frames(), 1);
}

TEST(ImageSource, SizesAndTypesMayDiffer) {
  const TestDirectory dir;
  write_file(dir / "1.ppm", grey_ppm(1, 1, 10));
  write_file(dir / "2.pgm", "P5\n3 5\n255\n" + std::string(15, '\x20'));
  write_file(dir / "3.ppm", grey_ppm(7, 3, 30));
  const Played played = play(dir.path());
  ASSERT_EQ(played.frames.size(), 3u);
  EXPECT_EQ(display_size(played.frames[0].frame.view()), (Size{1, 1}));
  EXPECT_EQ(played.frames[1].frame.view().format, PixelFormat::kGray8);
  EXPECT_EQ(display_size(played.frames[1].frame.view()), (Size{3, 5}));
  EXPECT_EQ(played.frames[1].frame.view().planes[0].data[0], 0x20);
  EXPECT_EQ(played.frames[2].frame.view().planes[0].data[0], 30);
}

TEST(ImageSource, PicturesOfOneSizeStandForThemselves) {
  const TestDirectory dir;
  constexpr Size kSize{33, 17};
  for (int i = 0; i < 3; ++i) {
    std::vector<std::uint8_t> pixels(33 * 17 * 3);
    for (std::size_t p = 0; p < pixels.size(); ++p) {
      pixels[p] = static_cast<std::uint8_t>(p * (3 + static_cast<std::size_t>(i)) + 40);
    }
    const fs::path file = dir / (std::to_string(i) + ".png");
    ASSERT_TRUE(write_png(file, kSize, 3, pixels).ok());
  }
  const Played all = play(dir.path());
  ASSERT_EQ(all.frames.size(), 3u);
  for (int i = 0; i < 3; ++i) {
    const Played alone = play(dir / (std::to_string(i) + ".png"));
    ASSERT_EQ(alone.frames.size(), 1u);
    const VideoFrame& a = all.frames[static_cast<std::size_t>(i)].frame.view();
    const VideoFrame& b = alone.frames[0].frame.view();
    ASSERT_EQ(a.format, b.format);
    for (int y = 0; y < kSize.height; ++y) {
      EXPECT_EQ(std::memcmp(a.planes[0].data + y * a.planes[0].stride,
                            b.planes[0].data + y * b.planes[0].stride, 33),
                0)
          << "picture " << i << ", row " << y;
    }
  }
}

TEST(ImageSource, ABrokenImageIsAnErrorWithItsName) {
  const TestDirectory dir;
  write_file(dir / "1.ppm", grey_ppm(4, 4, 1));
  write_file(dir / "2.jpg", "\xFF\xD8\xFF\xE0 not really");
  write_file(dir / "3.ppm", grey_ppm(4, 4, 3));
  const Played played = play(dir.path());
  EXPECT_EQ(played.frames.size(), 1u);
  ASSERT_TRUE(played.error);
  EXPECT_EQ(played.error->code, ErrorCode::kInput);
  EXPECT_THAT(played.error->to_string(), HasSubstr((dir / "2.jpg").string()));
  write_file(dir / "2.jpg", "text under a false name");
  EXPECT_THAT(play(dir.path()).error->to_string(), HasSubstr("not an image"));
  write_file(dir / "2.jpg", "");
  EXPECT_THAT(play(dir.path()).error->to_string(), HasSubstr("it is empty"));
}

}  // namespace
}  // namespace sparing

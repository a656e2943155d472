#include "sparing/compose/replacement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sparing/io/test_video.h"

namespace sparing {
namespace {

using testing::TestDirectory;

constexpr ColorSpace kSpace{ColorMatrix::kBt601, ColorRange::kLimited, ColorPrimaries::kUnspecified,
                            ColorTransfer::kUnspecified, ChromaSiting::kLeft};

// Luma is 50 + 20 * the frame's number.
void write_levels(const std::filesystem::path& path, std::vector<std::int64_t> times) {
  testing::TestVideo video;
  video.times = std::move(times);
  video.time_base = {1, 10};
  video.color_space = AVCOL_SPC_SMPTE170M;
  video.color_range = AVCOL_RANGE_MPEG;
  video.paint = [](AVFrame& frame, int index) {
    for (int p = 0; p < 3; ++p) {
      const int rows = p == 0 ? frame.height : frame.height / 2;
      std::memset(frame.data[p], p == 0 ? 50 + 20 * index : 128,
                  static_cast<std::size_t>(frame.linesize[p]) * static_cast<std::size_t>(rows));
    }
  };
  testing::write_video(path, video);
}

int level_at(Replacement& replacement, double seconds, Size size = {64, 48}) {
  const auto picture = replacement.at(seconds, size, kSpace);
  EXPECT_TRUE(picture.ok()) << picture.error().to_string();
  if (!picture.ok()) return -1;
  EXPECT_EQ((*picture)->size(), size);
  return ((*picture)->row(0, size.height / 2)[size.width / 2] - 50 + 3) / 20;
}

TEST(Replacement, PlaysByTimeAndBeginsAgain) {
  const TestDirectory dir;
  write_levels(dir / "a.mkv", {0, 1, 2, 3});  // 0.1 s each
  auto replacement = Replacement::open((dir / "a.mkv").string());
  ASSERT_TRUE(replacement.ok()) << replacement.error().to_string();
  EXPECT_EQ(level_at(*replacement, 0), 0);
  EXPECT_EQ(level_at(*replacement, 0.05), 0);
  EXPECT_EQ(level_at(*replacement, 0.12), 1);
  EXPECT_EQ(level_at(*replacement, 0.35), 3);
  EXPECT_EQ(level_at(*replacement, 0.45), 0);
  EXPECT_EQ(level_at(*replacement, 0.62), 2);
  EXPECT_EQ(level_at(*replacement, 0.50), 2);        // time does not go backwards
  EXPECT_EQ(level_at(*replacement, 4000000.31), 3);  // passes that nobody sees are not played
  EXPECT_EQ(level_at(*replacement, 4000000.42), 0);
}

TEST(Replacement, KeepsAVariableRate) {
  const TestDirectory dir;
  write_levels(dir / "a.mkv", {5, 6, 15});  // from 0 on: 0.1 s, 0.9 s
  auto replacement = Replacement::open((dir / "a.mkv").string());
  ASSERT_TRUE(replacement.ok());
  EXPECT_EQ(level_at(*replacement, 0.05), 0);
  EXPECT_EQ(level_at(*replacement, 0.95), 1);
  EXPECT_EQ(level_at(*replacement, 1.05), 2);
}

TEST(Replacement, OnePictureStaysAndIsCutToFill) {
  const TestDirectory dir;
  // 40x20: red on the left quarter, grey elsewhere.
  std::string ppm = "P6\n40 20\n255\n";
  for (int i = 0; i < 800; ++i) {
    ppm += i % 40 < 10 ? std::string("\xff\x00\x00", 3) : std::string("\x80\x80\x80", 3);
  }
  testing::write_file(dir / "a.ppm", ppm);
  auto replacement = Replacement::open((dir / "a.ppm").string());
  ASSERT_TRUE(replacement.ok()) << replacement.error().to_string();
  for (const double seconds : {0.0, 5.0, 1e6}) {
    const auto picture = replacement->at(seconds, {60, 60}, kSpace);
    ASSERT_TRUE(picture.ok());
    // A square of it: the middle half, in which nothing is red.
    EXPECT_NEAR((*picture)->row(0, 30)[8], 126, 2);
    EXPECT_NEAR((*picture)->row(2, 15)[4], 128, 2);
  }
  // The whole of it.
  const auto picture = replacement->at(0, {80, 40}, kSpace);
  ASSERT_TRUE(picture.ok());
  EXPECT_GT((*picture)->row(2, 10)[4], 220);
  EXPECT_NEAR((*picture)->row(2, 10)[30], 128, 2);
}

TEST(Replacement, SizesMayChange) {
  const TestDirectory dir;
  write_levels(dir / "a.mkv", {0, 1, 2, 3});
  auto replacement = Replacement::open((dir / "a.mkv").string());
  ASSERT_TRUE(replacement.ok());
  EXPECT_EQ(level_at(*replacement, 0, {64, 48}), 0);
  EXPECT_EQ(level_at(*replacement, 0.11, {33, 71}), 1);
  EXPECT_EQ(level_at(*replacement, 0.11, {64, 48}), 1);
}

TEST(Replacement, SaysWhatCannotBeRead) {
  const TestDirectory dir;
  EXPECT_EQ(Replacement::open((dir / "none.png").string()).error().code, ErrorCode::kInput);
  testing::write_file(dir / "text.mp4", "this is no video");
  EXPECT_EQ(Replacement::open((dir / "text.mp4").string()).error().code, ErrorCode::kInput);
}

}  // namespace
}  // namespace sparing

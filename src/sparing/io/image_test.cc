#include "sparing/io/image.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>
#include <vector>

#include "sparing/io/file.h"
#include "sparing/io/test_play.h"
#include "sparing/io/test_samples.h"
#include "sparing/io/test_video.h"

namespace sparing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::read_file;
using testing::TestDirectory;
using testing::write_file;

std::vector<std::uint8_t> pattern(Size size, int channels) {
  std::vector<std::uint8_t> pixels;
  for (int i = 0; i < size.width * size.height * channels; ++i) {
    pixels.push_back(static_cast<std::uint8_t>(7 * i + i / 11));
  }
  return pixels;
}

TEST(WritePng, ReadsBackAsItWas) {
  const TestDirectory dir;
  for (const Size size : {Size{1, 1}, Size{33, 17}, Size{640, 480}}) {
    for (const int channels : {1, 3, 4}) {
      const std::vector<std::uint8_t> pixels = pattern(size, channels);
      const auto path = dir / "new folder/a.png";
      const Status status = write_png(path, size, channels, pixels);
      ASSERT_TRUE(status.ok()) << status.error().to_string();
      const auto played = testing::play(path);
      ASSERT_EQ(played.frames.size(), 1u);
      const VideoFrame& view = played.frames[0].frame.view();
      ASSERT_EQ(view.format, channels == 4   ? PixelFormat::kRgba
                             : channels == 3 ? PixelFormat::kRgb24
                                             : PixelFormat::kGray8);
      ASSERT_EQ(view.coded_size, size);
      std::size_t next = 0;
      for (int y = 0; y < size.height; ++y) {
        for (int x = 0; x < size.width; ++x) {
          for (int c = 0; c < channels; ++c) {
            ASSERT_EQ(testing::sample(view, c, x, y), pixels[next++]) << x << "," << y;
          }
        }
      }
    }
  }
  EXPECT_THAT(dir.names(), ElementsAre("new folder"));
}

TEST(WritePng, RefusesWhatIsNoPicture) {
  const TestDirectory dir;
  const std::vector<std::uint8_t> pixels(12);
  const auto problem = [&](Size size, int channels) {
    const Status status = write_png(dir / "a.png", size, channels, pixels);
    EXPECT_FALSE(status.ok());
    if (status.ok()) return std::string();
    EXPECT_EQ(status.error().code, ErrorCode::kInvalidArgument);
    return status.error().to_string();
  };
  EXPECT_THAT(problem({0, 2}, 3), HasSubstr("0x2"));
  EXPECT_THAT(problem({2, 16385}, 3), HasSubstr("2x16385"));
  EXPECT_THAT(problem({2, 3}, 2), HasSubstr("2 channels"));
  EXPECT_THAT(problem({2, 3}, 3), HasSubstr("give 18 for 2x3"));
  EXPECT_TRUE(dir.names().empty());
}

TEST(WriteFile, ReplacesWholeAndKeepsPermissions) {
  const TestDirectory dir;
  const auto path = dir / "a.bin";
  write_file(path, "an earlier and longer text");
  ASSERT_EQ(::chmod(path.c_str(), 0640), 0);
  const std::string head = "head ", body = "body";
  const std::array parts{std::as_bytes(std::span(head)), std::as_bytes(std::span(body))};
  const Status status = sparing::write_file(path, parts);
  ASSERT_TRUE(status.ok()) << status.error().to_string();
  EXPECT_EQ(read_file(path), "head body");
  struct stat after{};
  ASSERT_EQ(::stat(path.c_str(), &after), 0);
  EXPECT_EQ(after.st_mode & 0777, 0640u);
  EXPECT_THAT(dir.names(), ElementsAre("a.bin"));
}

TEST(WriteFile, SaysWhatCannotBeWritten) {
  const TestDirectory dir;
  for (const char* path : {"/proc/nowhere/a", "/dev/full"}) {
    const std::string text(100, 'x');
    const std::array parts{std::as_bytes(std::span(text))};
    const Status status = sparing::write_file(path, parts);
    ASSERT_FALSE(status.ok()) << path;
    EXPECT_EQ(status.error().code, ErrorCode::kOutput);
    EXPECT_THAT(status.error().to_string(), HasSubstr(path));
    EXPECT_FALSE(status.error().fix.empty());
  }
}

TEST(CheckNotAnInput, FollowsLinks) {
  const TestDirectory dir;
  write_file(dir / "in.png", "x");
  std::filesystem::create_symlink("in.png", dir / "link.png");
  SourceInfo source;
  source.name = "folder";
  source.files = {(dir / "in.png").string()};
  const std::array sources{source};
  EXPECT_TRUE(check_not_an_input(dir / "out.png", sources).ok());
  for (const char* name : {"in.png", "link.png"}) {
    const Status status = check_not_an_input(dir / name, sources);
    ASSERT_FALSE(status.ok()) << name;
    EXPECT_EQ(status.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(status.error().to_string(), HasSubstr("'folder'"));
  }
}

}  // namespace
}  // namespace sparing

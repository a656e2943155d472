// Single maps as PNG, and the sinks.
#include "sparing/io/masks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "sparing/io/image.h"
#include "sparing/io/label_png.h"
#include "sparing/io/test_sink.h"
#include "sparing/io/test_video.h"

namespace sparing {
namespace {

namespace fs = std::filesystem;

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::make_result;
using testing::read_file;
using testing::run_of;
using testing::TestDirectory;
using ::testing::UnorderedElementsAre;

LabelMap counting_map(Size size, int first = 0) {
  LabelMap map;
  map.resize(size);
  int value = first;
  for (auto& label : map.labels) label = static_cast<std::uint8_t>(value++ % 256);
  return map;
}

template <class T>
std::string error_of(const T& result) {
  EXPECT_FALSE(result.ok());
  return result.ok() ? "" : result.error().to_string();
}

std::unique_ptr<MaskSink> must_open_masks(const fs::path& path, const RunInfo& run,
                                          const MaskSinkOptions& options = {}) {
  auto sink = open_mask_sink(path, run, options);
  EXPECT_TRUE(sink.ok()) << (sink.ok() ? "" : sink.error().to_string());
  return sink.ok() ? std::move(*sink) : nullptr;
}

MaskResult result_of(std::int64_t index, const LabelMap& labels, const std::string& file = "") {
  MaskResult result{0, make_result(index, {}).source, labels};
  result.source.file = file;
  return result;
}

TEST(LabelPng, ReadsBackEveryLabelAtAnySize) {
  const TestDirectory dir;
  for (const Size size : {Size{1, 1}, {16, 16}, {257, 3}, {3, 300}}) {
    const LabelMap map = counting_map(size);
    ASSERT_TRUE(write_label_png(dir / "sub/a.png", map).ok());
    const auto back = read_label_png(dir / "sub/a.png");
    ASSERT_TRUE(back.ok()) << back.error().to_string();
    EXPECT_EQ(*back, map);
  }
}

// A palette's indices are the labels, whatever colours they have and however many bits.
TEST(LabelPng, ReadsTheIndicesOfAPalette) {
  // 3x2, 2 bits a pixel: 0 1 2 / 3 2 1 in red, green, blue, white.
  static constexpr std::uint8_t kFile[] = {
      0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x48,
      0x44, 0x52, 0x00, 0x00, 0x00, 0x03, 0x00, 0x00, 0x00, 0x02, 0x02, 0x03, 0x00, 0x00,
      0x00, 0xe0, 0x1a, 0x8e, 0x89, 0x00, 0x00, 0x00, 0x0c, 0x50, 0x4c, 0x54, 0x45, 0xff,
      0x00, 0x00, 0x00, 0xff, 0x00, 0x00, 0x00, 0xff, 0xff, 0xff, 0xff, 0xfb, 0x00, 0x60,
      0xf6, 0x00, 0x00, 0x00, 0x0c, 0x49, 0x44, 0x41, 0x54, 0x78, 0x9c, 0x63, 0x90, 0x60,
      0x78, 0x02, 0x00, 0x01, 0x30, 0x00, 0xfd, 0x56, 0xcd, 0x1c, 0x73, 0x00, 0x00, 0x00,
      0x00, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82};
  const auto map = parse_label_png(kFile, "a.png");
  ASSERT_TRUE(map.ok()) << map.error().to_string();
  EXPECT_EQ(map->size, (Size{3, 2}));
  EXPECT_THAT(map->labels, ElementsAre(0, 1, 2, 3, 2, 1));
}

TEST(LabelPng, RefusesPicturesWithoutClassNumbers) {
  const TestDirectory dir;
  const std::vector<std::uint8_t> rgb(12);
  ASSERT_TRUE(write_png(dir / "rgb.png", {2, 2}, 3, rgb).ok());
  EXPECT_THAT(error_of(read_label_png(dir / "rgb.png")), HasSubstr("8-bit RGB"));
  EXPECT_THAT(error_of(read_label_png(dir / "none.png")), HasSubstr("No such file"));
  EXPECT_THAT(error_of(read_label_png(dir.path())), HasSubstr("cannot be read"));
  testing::write_file(dir / "text.png", "0 1 2");
  EXPECT_THAT(error_of(read_label_png(dir / "text.png")), HasSubstr("not a PNG"));
  testing::write_file(dir / "empty.png", "");
  EXPECT_THAT(error_of(read_label_png(dir / "empty.png")), HasSubstr("not a PNG"));

  ASSERT_TRUE(write_label_png(dir / "good.png", counting_map({64, 64})).ok());
  const std::string good = read_file(dir / "good.png");
  const auto with = [&](std::size_t at, char value) {
    std::string bytes = good;
    bytes[at] = value;
    testing::write_file(dir / "bad.png", bytes);
    return error_of(read_label_png(dir / "bad.png"));
  };
  EXPECT_THAT(with(24, 16), HasSubstr("16-bit grey"));
  EXPECT_THAT(with(24, 1), HasSubstr("1-bit grey"));
  EXPECT_THAT(with(25, 4), HasSubstr("8-bit grey with alpha"));
  EXPECT_THAT(with(good.size() / 2, static_cast<char>(good[good.size() / 2] ^ 0x55)),
              HasSubstr("bad.png"));
  for (const std::size_t length : {std::size_t{20}, std::size_t{33}, good.size() / 2}) {
    testing::write_file(dir / "bad.png", good.substr(0, length));
    EXPECT_FALSE(read_label_png(dir / "bad.png").ok()) << length;
  }
}

TEST(LabelPng, RefusesMapsThatAreNoPictures) {
  const TestDirectory dir;
  LabelMap map = counting_map({4, 4});
  map.labels.pop_back();
  EXPECT_THAT(error_of(write_label_png(dir / "a.png", map)), HasSubstr("15 labels for 4x4"));
  EXPECT_THAT(error_of(write_label_png(dir / "a.png", {})), HasSubstr("0x0"));
  EXPECT_THAT(dir.names(), IsEmpty());
}

TEST(MaskSinks, AreInTheTable) {
  std::vector<std::string> names;
  for (const MaskFormat& format : mask_formats()) names.emplace_back(format.name);
  EXPECT_THAT(names, ElementsAre("png", "rle"));
}

TEST(PngMaskSink, WritesAFileAFrameByNameOrNumber) {
  const TestDirectory dir;
  auto sink = must_open_masks(dir / "out/masks", run_of("a"));
  ASSERT_TRUE(sink);
  EXPECT_TRUE(fs::is_directory(dir / "out/masks"));
  const LabelMap first = counting_map({8, 6}), second = counting_map({5, 5}, 7);
  ASSERT_TRUE(sink->write(result_of(12, first)).ok());
  ASSERT_TRUE(sink->write(result_of(13, second, "/data/img 7.jpeg")).ok());
  EXPECT_EQ(sink->frames(), 2);
  EXPECT_EQ(*read_label_png(dir / "out/masks/000012.png"), first);  // complete at once
  ASSERT_TRUE(sink->finish().ok());
  EXPECT_EQ(*read_label_png(dir / "out/masks/img 7.png"), second);
  EXPECT_EQ(sink->name(), (dir / "out/masks").string());
}

TEST(PngMaskSink, RefusesAFolderOfOtherPicturesUnlessTold) {
  const TestDirectory dir;
  const fs::path folder = dir.path() / "a.jsonl";  // a folder, whatever its name
  fs::create_directories(folder);
  testing::write_file(folder / "notes.txt", "x");
  testing::write_file(folder / ".hidden.png", "x");
  EXPECT_TRUE(open_mask_sink(folder, run_of("a")).ok());
  testing::write_file(folder / "000000.png", "x");
  EXPECT_THAT(error_of(open_mask_sink(folder, run_of("a"))), HasSubstr("'000000.png'"));
  MaskSinkOptions options;
  options.replace = true;
  auto sink = must_open_masks(folder, run_of("a"), options);
  ASSERT_TRUE(sink);
  ASSERT_TRUE(sink->write(result_of(0, counting_map({2, 2}))).ok());
  EXPECT_TRUE(read_label_png(folder / "000000.png").ok());
}

TEST(PngMaskSink, TellsWhatItCannotWriteAndKeepsTheRest) {
  const TestDirectory dir;
  auto sink = must_open_masks(dir / "m", run_of("a"));
  ASSERT_TRUE(sink);
  const LabelMap map = counting_map({4, 4});
  ASSERT_TRUE(sink->write(result_of(0, map, "x/a.jpg")).ok());
  EXPECT_THAT(error_of(sink->write(result_of(1, map, "y/a.png"))), HasSubstr("called 'a', too"));
  LabelMap wrong = map;
  wrong.labels.clear();
  EXPECT_THAT(error_of(sink->write(result_of(1, wrong))), HasSubstr("frame 1 for"));
  ASSERT_TRUE(sink->write(result_of(2, map)).ok()) << "nothing was lost by that";
  fs::create_directory(dir / "m/000003.png");  // in the way
  const std::string error = error_of(sink->write(result_of(3, map)));
  EXPECT_THAT(error, HasSubstr("000003.png"));
  EXPECT_EQ(error_of(sink->write(result_of(4, map))), error);
  EXPECT_EQ(error_of(sink->finish()), error);
  EXPECT_EQ(sink->frames(), 2);
  EXPECT_TRUE(read_label_png(dir / "m/000002.png").ok());
  testing::write_file(dir / "file", "x");
  EXPECT_THAT(error_of(open_mask_sink(dir / "file", run_of("a"))), HasSubstr("not a folder"));
  EXPECT_THAT(error_of(open_mask_sink(dir / "file/masks", run_of("a"))), HasSubstr("file/masks"));
}

TEST(RleMaskSink, WritesALineAFrame) {
  const TestDirectory dir;
  const fs::path file = dir / "sub/masks.jsonl";
  auto sink = must_open_masks(file, run_of("cam.mp4", {"sky", "road"}));
  ASSERT_TRUE(sink);
  LabelMap map;
  map.resize({3, 2});
  map.labels = {0, 0, 9, 255, 0, 9};
  ASSERT_TRUE(sink->write(result_of(3, map)).ok());
  std::fill(map.labels.begin(), map.labels.end(), kIgnoreLabel);
  ASSERT_TRUE(sink->write(result_of(4, map, "b.png")).ok());
  EXPECT_FALSE(fs::exists(file)) << "appears when it is whole";
  ASSERT_TRUE(sink->finish().ok());
  EXPECT_EQ(sink->frames(), 2);
  const std::string text = read_file(file);
  // Columns: (0, -), (0, 0), (9, 9).
  EXPECT_EQ(
      text,
      "{\"schema\":1,\"source\":\"cam.mp4\",\"stream\":0,\"frame\":3,\"pts\":3,\"time_base\":"
      "[1,25],\"time\":0.12,\"width\":64,\"height\":48,\"mask_size\":[3,2],\"masks\":["
      "{\"class\":0,\"label\":\"sky\",\"rle\":{\"size\":[2,3],\"counts\":\"01111\"}},"
      "{\"class\":9,\"rle\":{\"size\":[2,3],\"counts\":\"42\"}}]}\n"
      "{\"schema\":1,\"source\":\"cam.mp4\",\"stream\":0,\"frame\":4,\"file\":\"b.png\",\"pts\""
      ":4,\"time_base\":[1,25],\"time\":0.16,\"width\":64,\"height\":48,\"mask_size\":[3,2],"
      "\"masks\":[]}\n");
}

TEST(RleMaskSink, LeavesNothingWithoutFinish) {
  const TestDirectory dir;
  {
    auto sink = must_open_masks(dir / "a.jsonl", run_of("a"));
    ASSERT_TRUE(sink);
    ASSERT_TRUE(sink->write(result_of(0, counting_map({4, 4}))).ok());
    LabelMap wrong;
    EXPECT_THAT(error_of(sink->write(result_of(1, wrong))), HasSubstr("frame 1 for"));
  }
  EXPECT_THAT(dir.names(), IsEmpty());
}

TEST(MaskSinks, RefuseWhatTheyCannotBe) {
  const TestDirectory dir;
  RunInfo two = run_of("a");
  two.sources.push_back(two.sources[0]);
  EXPECT_THAT(error_of(open_mask_sink(dir / "m", two)), HasSubstr("holds one input"));
  EXPECT_TRUE(open_mask_sink(dir / "m.jsonl", two).ok());
  EXPECT_THAT(error_of(open_mask_sink(dir / "m.json", run_of("a"))), HasSubstr("extension .json"));
  EXPECT_THAT(error_of(open_mask_sink("", run_of("a"))), HasSubstr("name is empty"));
  MaskSinkOptions options;
  options.format = "gif";
  EXPECT_THAT(error_of(open_mask_sink(dir / "m", run_of("a"), options)), HasSubstr("png, rle"));
  options.format = "png";
  EXPECT_THAT(error_of(open_mask_sink("-", run_of("a"), options)), HasSubstr("standard output"));
  RunInfo own = run_of("a");
  own.sources[0].files = {(dir / "in.jsonl").string()};
  testing::write_file(dir / "in.jsonl", "x");
  EXPECT_THAT(error_of(open_mask_sink(dir / "in.jsonl", own)), HasSubstr("file of the input"));
  options.format = "rle";
  EXPECT_TRUE(open_mask_sink(dir / "any.name", run_of("a"), options).ok());
}

}  // namespace
}  // namespace sparing

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "sparing/io/mask_lines.h"
#include "sparing/io/masks.h"
#include "sparing/io/test_sink.h"
#include "sparing/io/test_video.h"

namespace sparing {
namespace {

namespace fs = std::filesystem;

using ::testing::HasSubstr;
using testing::make_result;
using testing::run_of;
using testing::TestDirectory;

LabelMap filled(int label, Size size = {3, 2}) {
  LabelMap map;
  map.resize(size);
  std::fill(map.labels.begin(), map.labels.end(), static_cast<std::uint8_t>(label));
  return map;
}

template <class T>
std::string error_of(const T& result) {
  EXPECT_FALSE(result.ok());
  if (result.ok()) return "";
  EXPECT_EQ(result.error().code, ErrorCode::kInput);
  return result.error().to_string();
}

SourceInfo pictures(std::vector<std::string> files) {
  SourceInfo info;
  info.container = "image2";
  info.files = std::move(files);
  return info;
}

SourceInfo video() {
  SourceInfo info;
  info.container = "avi";
  info.files = {"clip.avi"};
  return info;
}

SourceFrame frame_of(std::int64_t index, const std::string& file = "") {
  SourceFrame frame;
  frame.index = index;
  frame.file = file;
  return frame;
}

// The label that fills the frame's map; -1: it has none, -2: an error.
int label_of(MaskReader& reader, const SourceFrame& frame) {
  const auto labels = reader.next(frame);
  if (!labels.ok()) return -2;
  return labels->has_value() ? (*labels)->labels.front() : -1;
}

std::unique_ptr<MaskReader> must_open(const fs::path& path, const SourceInfo& frames,
                                      const MaskReaderOptions& options = {}) {
  auto reader = open_masks(path, frames, options);
  EXPECT_TRUE(reader.ok()) << (reader.ok() ? "" : reader.error().to_string());
  return reader.ok() ? std::move(*reader) : nullptr;
}

TEST(MaskFolder, PairsByNameWhereThePicturesHaveOne) {
  const TestDirectory dir;
  ASSERT_TRUE(write_label_png(dir / "c.png", filled(3)).ok());
  ASSERT_TRUE(write_label_png(dir / "a.png", filled(1)).ok());
  ASSERT_TRUE(write_label_png(dir / "extra.PNG", filled(9)).ok());
  testing::write_file(dir / "notes.txt", "");
  auto reader = must_open(dir.path(), pictures({"x/a.jpg", "x/b.jpg", "x/c.jpg"}));
  ASSERT_TRUE(reader);
  EXPECT_EQ(reader->pairing(), "by name");
  EXPECT_EQ(label_of(*reader, frame_of(0, "x/a.jpg")), 1);
  EXPECT_EQ(label_of(*reader, frame_of(1, "x/b.jpg")), -1);
  EXPECT_EQ(label_of(*reader, frame_of(2, "x/c.jpg")), 3);
  EXPECT_EQ(*reader->finish(), 1);
}

TEST(MaskFolder, PairsAVideosFramesByNumber) {
  const TestDirectory dir;
  ASSERT_TRUE(write_label_png(dir / "000000.png", filled(4)).ok());
  ASSERT_TRUE(write_label_png(dir / "10.png", filled(5)).ok());
  auto reader = must_open(dir.path(), video());
  ASSERT_TRUE(reader);
  EXPECT_EQ(reader->pairing(), "by number");
  EXPECT_EQ(label_of(*reader, frame_of(0)), 4);
  for (int i = 1; i < 10; ++i) EXPECT_EQ(label_of(*reader, frame_of(i)), -1);
  EXPECT_EQ(label_of(*reader, frame_of(10)), 5);
  EXPECT_EQ(*reader->finish(), 0);
}

TEST(MaskFolder, PairsInNaturalOrderElseAndThenAllOfThem) {
  const TestDirectory dir;
  ASSERT_TRUE(write_label_png(dir / "m10.png", filled(2)).ok());
  ASSERT_TRUE(write_label_png(dir / "m9.png", filled(1)).ok());
  for (const SourceInfo& frames : {video(), pictures({"p1.jpg", "p2.jpg"})}) {
    auto reader = must_open(dir.path(), frames);
    ASSERT_TRUE(reader);
    EXPECT_EQ(reader->pairing(), "by order");
    EXPECT_EQ(label_of(*reader, frame_of(0, "p1.jpg")), 1);
    EXPECT_THAT(error_of(reader->finish()), HasSubstr("1 more than frames"));
    EXPECT_EQ(label_of(*reader, frame_of(1, "p2.jpg")), 2);
    EXPECT_EQ(*reader->finish(), 0);
    EXPECT_THAT(error_of(reader->next(frame_of(2))), HasSubstr("there are 2, but more frames"));
  }
}

TEST(MaskFolder, TellsWhatIsWrong) {
  const TestDirectory dir;
  fs::create_directories(dir / "empty");
  testing::write_file(dir / "empty/a.jpg", "\xFF\xD8\xFF");
  EXPECT_THAT(error_of(open_masks(dir / "empty", video())), HasSubstr("no PNG files"));
  EXPECT_THAT(error_of(open_masks(dir / "none", video())), HasSubstr("No such file"));
  ASSERT_TRUE(write_label_png(dir / "two/7.png", filled(2)).ok());
  ASSERT_TRUE(write_label_png(dir / "two/07.png", filled(2)).ok());
  EXPECT_THAT(error_of(open_masks(dir / "two", video())), HasSubstr("one number"));
  fs::create_directories(dir / "bad");
  testing::write_file(dir / "bad/0.png", "no picture");
  auto reader = must_open(dir / "bad", video());
  ASSERT_TRUE(reader);
  EXPECT_THAT(error_of(reader->next(frame_of(0))), HasSubstr("bad/0.png"));
}

std::string line(int stream, int frame, const std::string& masks = "[]",
                 const std::string& size = "[3,2]") {
  return "{\"schema\":1,\"stream\":" + std::to_string(stream) +
         ",\"frame\":" + std::to_string(frame) + ",\"mask_size\":" + size + ",\"masks\":" + masks +
         "}\n";
}

TEST(MaskLines, ReadBackWhatTheSinkWrote) {
  const TestDirectory dir;
  auto sink = open_mask_sink(dir / "a.jsonl", run_of("clip"));
  ASSERT_TRUE(sink.ok());
  std::vector<LabelMap> maps;
  for (int i = 0; i < 5; ++i) {
    LabelMap map = filled(255, {7 + i, 9});
    for (std::size_t k = 0; k < map.labels.size(); ++k) {
      map.labels[k] = static_cast<std::uint8_t>(k * k % 13 + (k % 5 == 0 ? 242 : 0));
    }
    maps.push_back(map);
    ASSERT_TRUE((*sink)->write({0, make_result(i, {}).source, maps.back()}).ok());
  }
  ASSERT_TRUE((*sink)->finish().ok());
  auto reader = must_open(dir / "a.jsonl", video());
  ASSERT_TRUE(reader);
  for (int i = 0; i < 5; ++i) {
    const auto labels = reader->next(frame_of(i));
    ASSERT_TRUE(labels.ok() && labels->has_value());
    EXPECT_EQ(**labels, maps[static_cast<std::size_t>(i)]);
  }
  EXPECT_EQ(*reader->finish(), 0);
}

TEST(MaskLines, GoToTheirFramesAndTheirStream) {
  const TestDirectory dir;
  const auto full = [](int label) {
    return "[{\"class\":" + std::to_string(label) + ",\"rle\":{\"size\":[2,3],\"counts\":\"06\"}}]";
  };
  testing::write_file(dir / "a.jsonl", line(0, 1, full(1)) + line(1, 0, full(7)) + "\n" +
                                           line(1, 2, full(8)) + line(0, 3, full(3)) +
                                           line(0, 9, full(9)) + line(0, 10, full(9)));
  MaskReaderOptions options;
  options.stream = 0;
  auto reader = must_open(dir / "a.jsonl", video(), options);
  ASSERT_TRUE(reader);
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(label_of(*reader, frame_of(i)), i == 1 ? 1 : i == 3 ? 3 : -1) << i;
  }
  EXPECT_EQ(*reader->finish(), 2);
  auto mixed = must_open(dir / "a.jsonl", video());
  ASSERT_TRUE(mixed);
  EXPECT_EQ(label_of(*mixed, frame_of(0)), -1);
  EXPECT_EQ(label_of(*mixed, frame_of(1)), 1);
  EXPECT_THAT(error_of(mixed->next(frame_of(2))), HasSubstr("line 2: field 'stream' is 1 after 0"));
  options.stream = 5;
  EXPECT_THAT(error_of(open_masks(dir / "a.jsonl", video(), options)), HasSubstr("stream 5"));
}

TEST(MaskLines, OutOfOrderAreAnError) {
  const TestDirectory dir;
  testing::write_file(dir / "a.jsonl", line(0, 2) + line(0, 2));
  auto reader = must_open(dir / "a.jsonl", video());
  ASSERT_TRUE(reader);
  EXPECT_THAT(error_of(reader->finish()), HasSubstr("line 2: field 'frame' is 2 after 2"));
  testing::write_file(dir / "b.jsonl", "\n \n");
  EXPECT_THAT(error_of(open_masks(dir / "b.jsonl", video())), HasSubstr("no lines"));
}

TEST(MaskLines, NameTheFieldThatIsWrong) {
  const auto problem = [](const std::string& text) {
    return error_of(parse_mask_line(text, "file 'a', line 1"));
  };
  const auto mask = [](const std::string& fields) { return line(0, 0, "[{" + fields + "}]"); };
  const std::string rle = R"("rle":{"size":[2,3],"counts":"06"})";
  EXPECT_TRUE(parse_mask_line(mask("\"class\":254," + rle), "f").ok());
  EXPECT_THAT(problem("[]"), HasSubstr("not a JSON object"));
  EXPECT_THAT(problem("{"), HasSubstr("not JSON"));
  EXPECT_THAT(problem("{}"), HasSubstr("'schema' is missing"));
  EXPECT_THAT(problem(R"({"schema":2})"), HasSubstr("this version reads 1"));
  EXPECT_THAT(problem(R"({"schema":1})"), HasSubstr("'frame' is missing"));
  EXPECT_THAT(problem(R"({"schema":1,"frame":-1})"), HasSubstr("'frame' is -1"));
  EXPECT_THAT(problem(R"({"schema":1,"frame":0})"), HasSubstr("'mask_size' is missing"));
  for (const char* size : {"[]", "[3]", "[3,2,1]", "[0,2]", "[3,-2]", "[3,16385]", "[3.5,2]",
                           "[\"3\",2]", "[3,18446744073709551615]"}) {
    EXPECT_THAT(problem(line(0, 0, "[]", size)), HasSubstr("'mask_size' is no size")) << size;
  }
  EXPECT_THAT(problem(R"({"schema":1,"frame":0,"mask_size":[3,2]})"),
              HasSubstr("'masks' is missing"));
  EXPECT_THAT(problem(line(0, 0, "[1]")), HasSubstr("'masks[0]' is 1"));
  EXPECT_THAT(problem(mask(rle)), HasSubstr("'masks[0].class' is missing"));
  EXPECT_THAT(problem(mask("\"class\":255," + rle)), HasSubstr("'masks[0].class' is 255"));
  EXPECT_THAT(problem(mask("\"class\":1")), HasSubstr("'masks[0].rle' is missing"));
  EXPECT_THAT(problem(mask("\"class\":1,\"rle\":[]")), HasSubstr("is not an object"));
  EXPECT_THAT(problem(mask(R"("class":1,"rle":{"size":[3,2],"counts":"06"})")),
              HasSubstr("'masks[0].rle.size' is [3,2], the frame's mask_size [3,2]"));
  EXPECT_THAT(problem(mask(R"("class":1,"rle":{"size":[2,3],"counts":[0,6]})")),
              HasSubstr("'masks[0].rle.counts' is no text"));
  EXPECT_THAT(problem(mask(R"("class":1,"rle":{"size":[2,3],"counts":"05"})")),
              HasSubstr("is wrong: the runs cover 5 of 6 pixels"));
  EXPECT_THAT(problem(line(0, 0, "[{\"class\":1," + rle + "},{\"class\":2," + rle + "}]")),
              HasSubstr("'masks[1].rle.counts' is wrong: pixel (0, 0) is of class 1 already"));
}

}  // namespace
}  // namespace sparing

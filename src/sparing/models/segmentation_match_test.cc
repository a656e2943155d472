// Segmentation: guesses from graphs, checks of graphs, and pairs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sparing/backends/fake.h"
#include "sparing/models/registry.h"

namespace sparing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

Graph graph_of(Shape input, Shape output, DataType type = DataType::kFloat32,
               const std::string& name = "out") {
  FakeGraph fake;
  fake.inputs = {{"image", {DataType::kFloat32, std::move(input)}}};
  fake.outputs = {{name, {type, std::move(output)}}};
  Context context = create_fake_context({}, {{"g", fake}}).value();
  return context.load_graph("g.onnx").value();
}

ModelManifest matched(const Graph& graph) {
  Result<ModelManifest> result = match_head(graph, "g");
  if (!result.ok()) {
    ADD_FAILURE() << result.error().to_string();
    return {};
  }
  EXPECT_EQ(result->task, ModelTask::kSegment);
  EXPECT_EQ(result->segmentation.classes, static_cast<int>(result->labels.size()));
  EXPECT_TRUE(check_graph(*result, graph).ok());
  // A guess is a good manifest, too, and survives being written down.
  result->file = "g.onnx";
  Result<ModelManifest> again = parse_manifest(to_json(*result), "guess");
  if (!again.ok()) {
    ADD_FAILURE() << again.error().to_string();
    return *result;
  }
  again->input.fixed_size = result->input.fixed_size;
  EXPECT_EQ(*again, *result);
  return *result;
}

TEST(SegmentationMatch, PlanesOfLogits) {
  const ModelManifest manifest = matched(graph_of({1, 3, 360, 480}, {1, 11, 180, 240}));
  EXPECT_EQ(manifest.segmentation.kind, SegmentationKind::kScores);
  EXPECT_EQ(manifest.segmentation.layout, Layout::kNchw);
  EXPECT_EQ(manifest.segmentation.activation, Activation::kSoftmax);
  EXPECT_EQ(manifest.segmentation.output, "out");
  EXPECT_EQ(manifest.labels.size(), 11u);
  EXPECT_EQ(manifest.labels[10], "class10");
  EXPECT_EQ(manifest.input.default_size, (Size{480, 360}));
  EXPECT_TRUE(manifest.input.fixed_size);
  EXPECT_EQ(manifest.input.mean, (std::array{123.675f, 116.28f, 103.53f}));
  EXPECT_EQ(manifest.input.fit, Fit::kStretch);
}

TEST(SegmentationMatch, Layouts) {
  struct Case {
    Shape input, output;
    Layout layout;
    std::size_t labels;
  };
  const Case kCases[] = {
      {{1, 512, 512, 3}, {1, 512, 512, 19}, Layout::kNhwc, 19},
      {{1, 3, 512, 512}, {1, 64, 64, 19}, Layout::kNhwc, 19},
      {{1, 512, 512, 3}, {1, 21, 128, 128}, Layout::kNchw, 21},
      {{1, 3, 513, 513}, {1, 21, 65, 65}, Layout::kNchw, 21},  // an eighth, rounded up
      {{-1, 3, -1, -1}, {-1, 21, -1, -1}, Layout::kNchw, 21},
      {{1, -1, -1, 3}, {1, -1, -1, 2}, Layout::kNhwc, 2},
      // Both fit: as the input.
      {{1, 3, 64, 64}, {1, 64, 64, 64}, Layout::kNchw, 64},
      {{1, 64, 64, 3}, {1, 64, 64, 64}, Layout::kNhwc, 64},
  };
  for (const Case& shape : kCases) {
    const ModelManifest manifest = matched(graph_of(shape.input, shape.output));
    EXPECT_EQ(manifest.segmentation.layout, shape.layout) << to_string_shape(shape.output);
    EXPECT_EQ(manifest.labels.size(), shape.labels);
  }
  const ModelManifest dynamic = matched(graph_of({1, -1, -1, 3}, {1, -1, -1, 2}));
  EXPECT_EQ(dynamic.input.default_size, Size{});
  EXPECT_EQ(dynamic.input.multiple_of, 32);
  EXPECT_EQ(dynamic.input.std, (std::array{255.0f, 255.0f, 255.0f}));
}

TEST(SegmentationMatch, ForegroundAndNames) {
  ModelManifest manifest = matched(graph_of({1, 256, 256, 3}, {1, 256, 256, 1}));
  EXPECT_EQ(manifest.segmentation.kind, SegmentationKind::kForeground);
  EXPECT_EQ(manifest.segmentation.activation, Activation::kSigmoid);
  EXPECT_EQ(manifest.labels, (std::vector<std::string>{"background", "foreground"}));
  const DataType f32 = DataType::kFloat32;
  manifest = matched(graph_of({1, 256, 256, 3}, {1, 256, 256, 1}, f32, "Sigmoid_7"));
  EXPECT_EQ(manifest.segmentation.activation, Activation::kNone);
  manifest = matched(graph_of({1, 3, 64, 64}, {1, 4, 64, 64}, f32, "probabilities"));
  EXPECT_EQ(manifest.segmentation.activation, Activation::kNone);
}

TEST(SegmentationMatch, Refuses) {
  for (const Shape& output :
       {Shape{1, 11, 100, 240}, Shape{1, 256, 360, 480}, Shape{1, 11, 0, 0}, Shape{1, 180, 240},
        Shape{1, -1, 180, 240}, Shape{1, 11, 5, 6}, Shape{8, 11, 180, 240}}) {
    const Result<ModelManifest> result = match_head(graph_of({1, 3, 360, 480}, output), "g");
    ASSERT_FALSE(result.ok()) << to_string_shape(output);
    EXPECT_THAT(result.error().to_string(),
                AllOf(HasSubstr(to_string_shape(output)), HasSubstr("segmentation: one output")));
  }
  EXPECT_FALSE(
      match_head(graph_of({1, 3, 360, 480}, {1, 1, 360, 480}, DataType::kInt64), "g").ok());
}

ModelManifest manifest_of(SegmentationKind kind, int classes) {
  ModelManifest manifest;
  manifest.name = "m";
  manifest.task = ModelTask::kSegment;
  manifest.input.default_size = {480, 360};
  manifest.segmentation.kind = kind;
  manifest.segmentation.classes = classes;
  manifest.labels.assign(static_cast<std::size_t>(classes), "x");
  return manifest;
}

TEST(SegmentationCheckGraph, NamesWhatDiffers) {
  using Kind = SegmentationKind;
  const auto error = [](const ModelManifest& manifest, Shape output,
                        DataType type = DataType::kFloat32) {
    const Status status =
        check_graph(manifest, graph_of({1, 3, 360, 480}, std::move(output), type));
    if (status.ok()) return std::string("no error");
    EXPECT_EQ(status.error().code, ErrorCode::kModel);
    return status.error().to_string();
  };
  ModelManifest manifest = manifest_of(Kind::kScores, 11);
  EXPECT_EQ(error(manifest, {1, 11, 180, 240}), "no error");
  EXPECT_EQ(error(manifest, {1, -1, 180, 240}), "no error");
  EXPECT_THAT(error(manifest, {1, 19, 180, 240}),
              AllOf(HasSubstr("[1,19,180,240]"), HasSubstr("expected float32[1,11,h,w]"),
                    HasSubstr("class_map")));
  EXPECT_THAT(error(manifest, {11, 180, 240}), HasSubstr("[1,11,h,w]"));
  EXPECT_THAT(error(manifest, {1, 11, 180, 240}, DataType::kInt64), HasSubstr("int64"));
  manifest.segmentation.layout = Layout::kNhwc;
  EXPECT_THAT(error(manifest, {1, 11, 180, 240}), HasSubstr("[1,h,w,11]"));
  manifest.segmentation.class_map = {0, 1, 2, 3};
  EXPECT_EQ(error(manifest, {1, 180, 240, 4}), "no error");
  manifest.segmentation.output = "logits";
  EXPECT_THAT(
      error(manifest, {1, 180, 240, 4}),
      AllOf(HasSubstr("'logits' is missing; found 'out'"), HasSubstr("segmentation.output")));

  manifest = manifest_of(Kind::kLabels, 11);
  EXPECT_EQ(error(manifest, {1, 360, 480}, DataType::kInt64), "no error");
  EXPECT_EQ(error(manifest, {1, 1, 360, 480}), "no error");
  EXPECT_THAT(error(manifest, {1, 11, 180, 240}), HasSubstr("[1,h,w]"));
  manifest = manifest_of(Kind::kForeground, 2);
  EXPECT_EQ(error(manifest, {1, 360, 480, 1}), "no error");
  EXPECT_THAT(error(manifest, {1, 360, 480, 1}, DataType::kUint8), HasSubstr("uint8"));
  EXPECT_THAT(error(manifest, {1, 2, 360, 480}), HasSubstr("[1,2,360,480]"));
  manifest.input.default_size = {320, 240};
  EXPECT_THAT(error(manifest, {1, 360, 480, 1}), HasSubstr("input.size.default"));
}

TEST(CheckPair, LabelsMustBeTheSame) {
  ModelManifest main = manifest_of(SegmentationKind::kScores, 3);
  main.labels = {"sky", "road", "car"};
  ModelManifest aux = main;
  aux.name = "aux";
  EXPECT_TRUE(check_pair(main, aux).ok());
  aux.labels[1] = "pavement";
  EXPECT_THAT(check_pair(main, aux).error().to_string(),
              AllOf(HasSubstr("models 'm' and 'aux'"),
                    HasSubstr("label 1 is 'road' and 'pavement'"), HasSubstr("class_map")));
  aux.labels.pop_back();
  EXPECT_THAT(check_pair(main, aux).error().to_string(), HasSubstr("3 and 2 labels"));
  aux.task = ModelTask::kDetect;
  EXPECT_THAT(check_pair(main, aux).error().to_string(),
              AllOf(HasSubstr("'aux'"), HasSubstr("cannot segment"), HasSubstr("sparing detect")));
  EXPECT_TRUE(check_task(aux, ModelTask::kDetect).ok());
  EXPECT_THAT(check_task(main, ModelTask::kDetect).error().to_string(),
              HasSubstr("sparing segment"));
}

}  // namespace
}  // namespace sparing

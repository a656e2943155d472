// Guesses of manifests from graphs, on graphs as the networks' own exporters write them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sparing/backends/fake.h"
#include "sparing/models/head.h"
#include "sparing/models/registry.h"

namespace sparing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

GraphOperand operand(std::string name, Shape shape, DataType type = DataType::kFloat32) {
  return {std::move(name), {type, std::move(shape)}};
}

Graph graph_of(std::vector<GraphOperand> inputs, std::vector<GraphOperand> outputs) {
  FakeGraph fake;
  fake.inputs = std::move(inputs);
  fake.outputs = std::move(outputs);
  Context context = create_fake_context({}, {{"g", fake}}).value();
  return context.load_graph("g.onnx").value();
}

const Shape kImage640{1, 3, 640, 640};
const Shape kDynamicImage{1, 3, -1, -1};

ModelManifest matched(const Graph& graph) {
  Result<ModelManifest> result = match_head(graph, "g");
  if (!result.ok()) {
    ADD_FAILURE() << result.error().to_string();
    return {};
  }
  EXPECT_EQ(result->name, "g");
  EXPECT_EQ(result->head.classes, static_cast<int>(result->labels.size()));
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

TEST(Match, DefaultDetector) {
  const ModelManifest manifest = matched(
      graph_of({operand("input", kDynamicImage)},
               {operand("scores_8", {1, -1, 80}), operand("scores_16", {1, -1, 80}),
                operand("scores_32", {1, -1, 80}), operand("distribution_8", {1, -1, 44}),
                operand("distribution_16", {1, -1, 44}), operand("distribution_32", {1, -1, 44})}));
  const Result<ModelManifest> shipped =
      load_manifest(std::filesystem::path(SPARING_SOURCE_DIR) / "models/nanodet-g.json");
  ASSERT_TRUE(shipped.ok());
  EXPECT_EQ(manifest.head, shipped->head);
  EXPECT_EQ(manifest.labels, shipped->labels);
  EXPECT_EQ(manifest.input.order, shipped->input.order);
  EXPECT_EQ(manifest.input.mean, shipped->input.mean);
  EXPECT_EQ(manifest.input.std, shipped->input.std);
  EXPECT_EQ(manifest.input.default_size, Size{});
  EXPECT_EQ(manifest.input.multiple_of, 32);
}

TEST(Match, NanodetLevelsInAnyOrder) {
  const ModelManifest manifest =
      matched(graph_of({operand("data", {1, 3, 320, 320})},
                       {operand("dis_32", {1, 100, 32}), operand("cls_16", {1, 400, 32}),
                        operand("cls_8", {1, 1600, 32}), operand("dis_8", {1, 1600, 32}),
                        operand("cls_32", {1, 100, 32}), operand("dis_16", {1, 400, 32})}));
  EXPECT_EQ(manifest.head.type, HeadType::kNanodet);
  EXPECT_EQ(manifest.head.outputs.scores, (std::vector<std::string>{"cls_8", "cls_16", "cls_32"}));
  EXPECT_EQ(manifest.head.outputs.distribution,
            (std::vector<std::string>{"dis_8", "dis_16", "dis_32"}));
  EXPECT_EQ(manifest.head.reg_max, 7);
  EXPECT_EQ(manifest.labels.size(), 32u);
  EXPECT_TRUE(manifest.input.fixed_size);
  EXPECT_EQ(manifest.input.default_size, (Size{320, 320}));
}

TEST(Match, NanodetPlus) {
  const ModelManifest manifest =
      matched(graph_of({operand("data", {1, 3, 416, 416})}, {operand("output", {1, 3598, 112})}));
  EXPECT_EQ(manifest.head.type, HeadType::kNanodet);
  EXPECT_EQ(manifest.head.outputs.combined, "output");
  EXPECT_EQ(manifest.head.strides, (std::vector<int>{8, 16, 32, 64}));
  EXPECT_EQ(manifest.head.cell_offset, 0.0);
  EXPECT_EQ(manifest.head.reg_max, 7);
  EXPECT_EQ(manifest.labels[79], "toothbrush");
}

TEST(Match, Yolox) {
  const ModelManifest manifest =
      matched(graph_of({operand("images", kImage640)}, {operand("output", {1, 8400, 85})}));
  EXPECT_EQ(manifest.head.type, HeadType::kYolox);
  EXPECT_FALSE(manifest.head.decoded);
  EXPECT_EQ(manifest.input.order, ChannelOrder::kBgr);
  EXPECT_EQ(manifest.input.std, (std::array{1.0f, 1.0f, 1.0f}));
  EXPECT_EQ(manifest.input.fit, Fit::kLetterbox);
  EXPECT_EQ(manifest.input.anchor, Anchor::kTopLeft);
  EXPECT_EQ(manifest.labels.size(), 80u);

  // Own classes, told by the number of cells; dynamic, told by COCO's 85 columns.
  EXPECT_EQ(
      matched(graph_of({operand("images", {1, 3, 416, 416})}, {operand("output", {1, 3549, 8})}))
          .labels,
      (std::vector<std::string>{"class0", "class1", "class2"}));
  EXPECT_EQ(
      matched(graph_of({operand("images", {-1, 3, -1, -1})}, {operand("output", {-1, -1, 85})}))
          .input.default_size,
      (Size{640, 640}));
}

TEST(Match, Yolov8) {
  const ModelManifest manifest =
      matched(graph_of({operand("images", kImage640)}, {operand("output0", {1, 84, 8400})}));
  EXPECT_EQ(manifest.head.type, HeadType::kYolov8);
  EXPECT_EQ(manifest.input.order, ChannelOrder::kRgb);
  EXPECT_EQ(manifest.input.std, (std::array{255.0f, 255.0f, 255.0f}));
  EXPECT_EQ(manifest.input.fit, Fit::kLetterbox);
  EXPECT_EQ(manifest.input.anchor, Anchor::kCenter);
  EXPECT_EQ(manifest.labels.size(), 80u);

  const std::pair<Shape, std::size_t> kOthers[] = {{{1, 84, -1}, 80}, {{1, 8400, 84}, 80},
                                                   {{1, -1, 84}, 80}, {{1, 6, 8400}, 2},
                                                   {{1, 5, 8400}, 1}, {{-1, 84, 8400}, 80}};
  for (const auto& [shape, classes] : kOthers) {
    const ModelManifest other =
        matched(graph_of({operand("images", kImage640)}, {operand("output0", shape)}));
    EXPECT_EQ(other.head.type, HeadType::kYolov8) << to_string_shape(shape);
    EXPECT_EQ(other.labels.size(), classes) << to_string_shape(shape);
  }
  // Channels last.
  EXPECT_EQ(
      matched(graph_of({operand("images", {1, 640, 640, 3})}, {operand("output0", {1, 84, 8400})}))
          .input.layout,
      Layout::kNhwc);
}

TEST(Match, Yolov10) {
  const ModelManifest manifest =
      matched(graph_of({operand("images", kImage640)}, {operand("output0", {1, 300, 6})}));
  EXPECT_EQ(manifest.head.type, HeadType::kEnd2end);
  EXPECT_EQ(manifest.head.outputs.detections, "output0");
  EXPECT_EQ(manifest.head.box_format, BoxFormat::kXyxy);
  EXPECT_EQ(manifest.nms, NmsMode::kNone);
  EXPECT_EQ(manifest.input.fit, Fit::kLetterbox);
  // As many rows as a YOLOX of one class has cells.
  EXPECT_EQ(matched(graph_of({operand("images", kImage640)}, {operand("output0", {1, 8400, 6})}))
                .head.type,
            HeadType::kYolox);
}

TEST(Match, Detr) {
  const ModelManifest manifest =
      matched(graph_of({operand("pixel_values", {1, 3, 800, 800})},
                       {operand("logits", {1, 100, 92}), operand("pred_boxes", {1, 100, 4})}));
  EXPECT_EQ(manifest.head.type, HeadType::kEnd2end);
  EXPECT_EQ(manifest.head.outputs.boxes, "pred_boxes");
  EXPECT_EQ(manifest.head.outputs.scores, std::vector<std::string>{"logits"});
  EXPECT_EQ(manifest.head.activation, Activation::kSoftmax);
  EXPECT_EQ(manifest.head.background, Background::kLast);
  EXPECT_TRUE(manifest.head.normalized);
  EXPECT_EQ(manifest.labels[1], "person");
  EXPECT_EQ(manifest.labels[90], "toothbrush");
  EXPECT_EQ(manifest.labels[12], "class12");

  const ModelManifest rt =
      matched(graph_of({operand("pixel_values", {-1, 3, 640, 640})},
                       {operand("logits", {-1, 300, 80}), operand("pred_boxes", {-1, 300, 4})}));
  EXPECT_EQ(rt.head.activation, Activation::kSigmoid);
  EXPECT_EQ(rt.head.background, Background::kNone);
  EXPECT_EQ(rt.head.box_format, BoxFormat::kCxcywh);
  EXPECT_EQ(rt.labels[0], "person");

  const ModelManifest triple =
      matched(graph_of({operand("images", kImage640)},
                       {operand("labels", {1, 300}, DataType::kInt64),
                        operand("boxes", {1, 300, 4}), operand("scores", {1, 300})}));
  EXPECT_EQ(triple.head.outputs.labels, "labels");
  EXPECT_FALSE(triple.head.normalized);
  EXPECT_EQ(triple.head.activation, Activation::kNone);
}

TEST(Match, RefusesWithWhatWasFoundAndWhatIsSupported) {
  struct Case {
    std::vector<GraphOperand> inputs, outputs;
    const char* says;
  };
  const GraphOperand image = operand("images", kImage640);
  const Case kCases[] = {
      {{image}, {operand("prob", {1, 1000})}, "'prob' [1,1000]"},
      {{image}, {operand("output0", {1, 25200, 85})}, "'output0' [1,25200,85]"},
      {{image}, {operand("output0", {1, -1, -1})}, "'output0' [1,?,?]"},
      {{image}, {operand("output0", {1, 8400, 1000000000000})}, "[1,8400,1000000000000]"},
      {{image}, {operand("map", {1, 640, 640})}, "'map' [1,640,640]"},
      {{image}, {operand("a", {1, 300, 4}), operand("b", {1, 300, 4})}, "'a' [1,300,4]"},
      {{image, operand("orig_target_sizes", {1, 2}, DataType::kInt64)},
       {operand("boxes", {1, 300, 4})},
       "2 inputs"},
      {{operand("images", kImage640, DataType::kUint8)}, {operand("o", {1, 84, 8400})}, "float32"},
      {{operand("images", {8, 3, 640, 640})}, {operand("o", {8, 84, 8400})}, "[8,3,640,640]"},
      {{operand("tokens", {1, 77})}, {operand("o", {1, 84, 8400})}, "'tokens' [1,77]"},
  };
  for (const Case& refused : kCases) {
    const Result<ModelManifest> result = match_head(graph_of(refused.inputs, refused.outputs), "g");
    ASSERT_FALSE(result.ok()) << refused.says;
    EXPECT_EQ(result.error().code, ErrorCode::kModel);
    EXPECT_THAT(result.error().to_string(),
                AllOf(HasSubstr("model 'g'"), HasSubstr(refused.says), HasSubstr("NanoDet"),
                      HasSubstr("YOLOX"), HasSubstr("YOLOv8"), HasSubstr("DETR")));
  }
}

TEST(CheckGraph, NamesWhatDiffers) {
  const Graph graph = graph_of({operand("images", kImage640)}, {operand("output0", {1, 84, 8400})});
  const ModelManifest good = matched(graph);
  const auto error = [&](auto change) {
    ModelManifest manifest = good;
    change(manifest);
    const Status status = check_graph(manifest, graph);
    return status.ok() ? std::string("no error") : status.error().to_string();
  };
  EXPECT_EQ(error([](ModelManifest&) {}), "no error");
  EXPECT_EQ(error([](ModelManifest& m) { m.input.name = ""; }), "no error");
  EXPECT_EQ(error([](ModelManifest& m) { m.head.outputs.predictions = ""; }), "no error");
  EXPECT_THAT(error([](ModelManifest& m) { m.input.name = "x"; }),
              AllOf(HasSubstr("'x' is missing"), HasSubstr("'images'")));
  EXPECT_THAT(error([](ModelManifest& m) { m.head.outputs.predictions = "x"; }),
              AllOf(HasSubstr("'x' is missing"), HasSubstr("'output0'")));
  EXPECT_THAT(error([](ModelManifest& m) { m.input.layout = Layout::kNhwc; }),
              HasSubstr("[1,H,W,3]"));
  EXPECT_THAT(error([](ModelManifest& m) { m.input.default_size = {320, 320}; }),
              HasSubstr("[640,640]"));
}

}  // namespace
}  // namespace sparing

// Every operator against the double-precision reference: the
// forward pass, and the gradient of every parameter against central differences.
#include <string>

#include <gtest/gtest.h>

#include "sparing/train/gradients_test_util.h"

namespace sparing::train {
namespace {

using Ints = GraphBuilder::Ints;

struct Case {
  const char* name;
  // Builds a graph and returns the name of its output.
  std::string (*build)(GraphBuilder&);
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

// In each, a convolution stands before what is tested, so that its weights learn only through it.
std::string first(GraphBuilder& g) { return g.same_conv("first", "image", {6, 4, 3, 3}); }
std::string large(GraphBuilder& g) {  // spread over the kinks of activations
  g.node("Mul", "large", {first(g), g.tensor("three", {}, {3})});
  return "large";
}

constexpr Case kCases[] = {
    {"Conv", [](GraphBuilder& g) { return g.same_conv("c", first(g), {5, 6, 3, 3}); }},
    {"ConvWithoutBias", [](GraphBuilder& g) { return g.conv("c", first(g), {5, 6, 2, 3}, false); }},
    {"ConvStrided",
     [](GraphBuilder& g) {
       g.conv("c", first(g), {5, 6, 3, 3});
       g.with("strides", Ints{2, 2}).with("pads", Ints{1, 1, 1, 1});
       return std::string("c");
     }},
    {"ConvStrideThree",
     [](GraphBuilder& g) {
       g.conv("c", first(g), {5, 6, 3, 3});
       g.with("strides", Ints{3, 3});
       return std::string("c");
     }},
    {"ConvDilated",
     [](GraphBuilder& g) {
       g.conv("c", first(g), {5, 6, 3, 3});
       g.with("dilations", Ints{2, 3}).with("pads", Ints{2, 3, 2, 3});
       return std::string("c");
     }},
    {"ConvUnevenPadding",
     [](GraphBuilder& g) {
       g.conv("c", first(g), {5, 6, 3, 2});
       g.with("pads", Ints{0, 1, 2, 0}).with("strides", Ints{1, 2});
       return std::string("c");
     }},
    {"ConvDepthwise",
     [](GraphBuilder& g) {
       g.same_conv("c", first(g), {6, 1, 3, 3});
       g.with("group", std::int64_t{6});
       return std::string("c");
     }},
    {"ConvDepthwiseDilatedStrided",
     [](GraphBuilder& g) {
       g.conv("c", first(g), {6, 1, 3, 3});
       g.with("group", std::int64_t{6}).with("dilations", Ints{2, 2});
       g.with("pads", Ints{2, 2, 2, 2}).with("strides", Ints{2, 2});
       return std::string("c");
     }},
    {"ConvDepthwiseDilated",
     [](GraphBuilder& g) {
       g.conv("c", first(g), {6, 1, 3, 3});
       g.with("group", std::int64_t{6}).with("dilations", Ints{2, 3});
       g.with("pads", Ints{2, 3, 1, 3});
       return g.norm("n", "c", 6, "c");
     }},
    {"ConvDepthwiseDilatedShared",
     [](GraphBuilder& g) {
       const std::string x = first(g);
       g.conv("c", x, {6, 1, 5, 5}, false);
       g.with("group", std::int64_t{6}).with("pads", Ints{2, 2, 2, 2});
       return g.node("Relu", "r", {g.node("Add", "a", {"c", x})});
     }},
    {"ConvDepthwiseMultiplied",
     [](GraphBuilder& g) {
       g.same_conv("c", first(g), {12, 1, 3, 3});
       g.with("group", std::int64_t{6});
       return std::string("c");
     }},
    {"ConvGrouped",
     [](GraphBuilder& g) {
       g.same_conv("c", first(g), {4, 3, 3, 3});
       g.with("group", std::int64_t{2});
       return std::string("c");
     }},
    {"ConvOneByOne", [](GraphBuilder& g) { return g.conv("c", first(g), {11, 6, 1, 1}); }},
    {"ConvTranspose",
     [](GraphBuilder& g) {
       g.conv("c", first(g), {6, 5, 2, 2}, true, "ConvTranspose");
       g.with("strides", Ints{2, 2});
       return std::string("c");
     }},
    {"ConvTransposePadded",
     [](GraphBuilder& g) {
       g.conv("c", first(g), {6, 5, 3, 4}, true, "ConvTranspose");
       g.with("strides", Ints{2, 2}).with("pads", Ints{1, 1, 1, 1});
       g.with("output_padding", Ints{1, 0});
       return std::string("c");
     }},
    {"ConvTransposeGrouped",
     [](GraphBuilder& g) {
       g.conv("c", first(g), {6, 2, 3, 3}, false, "ConvTranspose");
       g.with("group", std::int64_t{2}).with("dilations", Ints{2, 1});
       return std::string("c");
     }},
    {"ConvTransposeDepthwise",
     [](GraphBuilder& g) {
       g.conv("c", first(g), {6, 1, 4, 4}, false, "ConvTranspose");
       g.with("group", std::int64_t{6}).with("strides", Ints{2, 2}).with("pads", Ints{1, 1, 1, 1});
       return std::string("c");
     }},
    {"ConvSamePadding",
     [](GraphBuilder& g) {
       // What auto_pad means here is written out in the reference's pads.
       g.conv("c", first(g), {5, 6, 3, 3});
       g.with("strides", Ints{2, 2}).with("pads", Ints{1, 1, 1, 1});
       return std::string("c");
     }},
    {"NormFolded",
     [](GraphBuilder& g) {
       return g.norm("n", g.conv("c", first(g), {5, 6, 3, 3}, false), 5, "c");
     }},
    {"NormFoldedWithBias",
     [](GraphBuilder& g) { return g.norm("n", g.conv("c", first(g), {5, 6, 3, 3}), 5, "c"); }},
    {"NormFoldedTransposed",
     [](GraphBuilder& g) {
       return g.norm("n", g.conv("c", first(g), {6, 5, 2, 2}, true, "ConvTranspose"), 5, "c");
     }},
    {"NormAlone",
     [](GraphBuilder& g) { return g.norm("n", g.node("Relu", "r", {first(g)}), 6, "n"); }},
    {"NormAloneRelu",
     [](GraphBuilder& g) {
       return g.node("Relu", "s", {g.norm("n", g.node("Relu", "r", {first(g)}), 6, "n")});
     }},
    {"Relu", [](GraphBuilder& g) { return g.node("Relu", "r", {first(g)}); }},
    {"ReluAlone", [](GraphBuilder& g) { return g.node("Relu", "r", {large(g)}); }},
    {"Relu6",
     [](GraphBuilder& g) {
       return g.node("Clip", "r", {large(g), g.tensor("l", {}, {0}), g.tensor("h", {}, {6})});
     }},
    {"ClipOfConv",
     [](GraphBuilder& g) {
       return g.node("Clip", "r", {first(g), g.tensor("l", {}, {-.5f}), g.tensor("h", {}, {.5f})});
     }},
    {"LeakyRelu",
     [](GraphBuilder& g) {
       g.node("LeakyRelu", "r", {first(g)});
       g.with("alpha", 0.1f);
       return std::string("r");
     }},
    {"LeakyReluNegative",
     [](GraphBuilder& g) {
       g.node("LeakyRelu", "r", {first(g)});
       g.with("alpha", -0.3f);
       return std::string("r");
     }},
    {"PRelu",
     [](GraphBuilder& g) {
       return g.node("PRelu", "p", {first(g), g.random("p.weight", {6, 1, 1}, .3f)});
     }},
    {"PReluShared",
     [](GraphBuilder& g) {
       return g.node("PRelu", "p", {first(g), g.tensor("p.weight", {1}, {.25f})});
     }},
    {"HardSwish", [](GraphBuilder& g) { return g.node("HardSwish", "h", {large(g)}); }},
    {"HardSwishAsProduct",
     [](GraphBuilder& g) {
       const std::string x = large(g);
       g.node("HardSigmoid", "gate", {x});
       g.with("alpha", 1.0f / 6);
       return g.node("Mul", "h", {x, "gate"});
     }},
    {"HardSwishAsClip",
     [](GraphBuilder& g) {
       const std::string x = large(g);
       g.node("Add", "plus", {x, g.tensor("t", {}, {3})});
       g.node("Clip", "clip", {"plus", g.tensor("l", {}, {0}), g.tensor("h", {}, {6})});
       g.node("Mul", "times", {x, "clip"});
       return g.node("Div", "h2", {"times", g.tensor("six", {}, {6})});
     }},
    {"HardSigmoid", [](GraphBuilder& g) { return g.node("HardSigmoid", "h", {large(g)}); }},
    {"Sigmoid", [](GraphBuilder& g) { return g.node("Sigmoid", "s", {large(g)}); }},
    {"Add",
     [](GraphBuilder& g) {
       const std::string x = first(g);
       return g.node("Add", "a", {x, g.same_conv("c", x, {6, 6, 3, 3})});
     }},
    {"SumOfThree",
     [](GraphBuilder& g) {
       const std::string x = first(g);
       const std::string c = g.same_conv("c", x, {6, 6, 3, 3});
       return g.node("Sum", "s", {x, c, g.node("Sigmoid", "h", {c})});
     }},
    {"SumOfOneAndOfTwoRelu",
     [](GraphBuilder& g) {
       const std::string x = first(g);
       const std::string one = g.node("Sum", "one", {g.same_conv("c", x, {6, 6, 3, 3})});
       return g.node("Relu", "r", {g.node("Sum", "two", {one, x})});
     }},
    {"AddRelu",
     [](GraphBuilder& g) {
       const std::string x = first(g);
       return g.node("Relu", "r", {g.node("Add", "a", {g.same_conv("c", x, {6, 6, 3, 3}), x})});
     }},
    {"AddToItself",
     [](GraphBuilder& g) {
       const std::string x = first(g);
       return g.node("Add", "a", {x, x});
     }},
    {"AddPerChannel",
     [](GraphBuilder& g) {
       const std::string x = first(g);
       return g.node("Add", "a", {g.node("GlobalAveragePool", "m", {x}), x});
     }},
    {"Multiply",
     [](GraphBuilder& g) {
       const std::string x = first(g);
       return g.node("Mul", "m", {x, g.same_conv("c", x, {6, 6, 3, 3})});
     }},
    {"Square",
     [](GraphBuilder& g) {
       const std::string x = first(g);
       return g.node("Mul", "m", {x, x});
     }},
    {"MultiplyPerChannel",
     [](GraphBuilder& g) {
       const std::string x = first(g);
       return g.node("Mul", "m", {x, g.node("GlobalAveragePool", "p", {x})});
     }},
    {"ConstantsPerChannel",
     [](GraphBuilder& g) {
       g.node("Mul", "m", {first(g), g.random("k", {1, 6, 1, 1})});
       g.node("Sub", "s", {"m", g.random("l", {6, 1, 1})});
       return g.node("Div", "d", {"s", g.random("o", {6, 1, 1}, .5f, 1.5f)});
     }},
    {"ConstantMinus",
     [](GraphBuilder& g) { return g.node("Sub", "s", {g.tensor("one", {1}, {1}), first(g)}); }},
    {"Concat",
     [](GraphBuilder& g) {
       const std::string x = first(g);
       g.node("Concat", "c", {x, g.same_conv("d", x, {3, 6, 3, 3}), x});
       g.with("axis", std::int64_t{1});
       return std::string("c");
     }},
    {"AveragePool",
     [](GraphBuilder& g) {
       g.node("AveragePool", "p", {first(g)});
       g.with("kernel_shape", Ints{3, 3}).with("strides", Ints{2, 2});
       g.with("pads", Ints{1, 1, 1, 1});
       return std::string("p");
     }},
    {"AveragePoolCountingPadding",
     [](GraphBuilder& g) {
       g.node("AveragePool", "p", {first(g)});
       g.with("kernel_shape", Ints{3, 2}).with("pads", Ints{1, 0, 1, 1});
       g.with("count_include_pad", std::int64_t{1});
       return std::string("p");
     }},
    {"AveragePoolCeil",
     [](GraphBuilder& g) {
       g.node("AveragePool", "p", {first(g)});
       g.with("kernel_shape", Ints{2, 2}).with("strides", Ints{2, 2});
       g.with("ceil_mode", std::int64_t{1});
       return std::string("p");
     }},
    {"MaxPool",
     [](GraphBuilder& g) {
       g.node("MaxPool", "p", {first(g)});
       g.with("kernel_shape", Ints{3, 3}).with("strides", Ints{2, 2});
       g.with("pads", Ints{1, 1, 1, 1});
       return std::string("p");
     }},
    {"MaxPoolShared",
     [](GraphBuilder& g) {
       const std::string x = first(g);
       g.node("MaxPool", "p", {x});
       g.with("kernel_shape", Ints{3, 3}).with("pads", Ints{1, 1, 1, 1});
       return g.node("Add", "a", {"p", x});
     }},
    {"ReduceMean",
     [](GraphBuilder& g) {
       const std::string x = first(g);
       g.node("ReduceMean", "m", {x});
       g.with("axes", Ints{-1, -2}).with("keepdims", std::int64_t{1});
       return g.node("Add", "a", {x, "m"});
     }},
    {"PadTakenOver",
     [](GraphBuilder& g) {
       g.node("Pad", "p", {first(g), g.integers("pads", {0, 0, 1, 2, 0, 0, 0, 1})});
       return g.conv("c", "p", {5, 6, 3, 3});
     }},
    {"IdentityOnTheWay",
     [](GraphBuilder& g) {
       const std::string x = g.node("Identity", "i", {first(g)});
       // Two readers: the ReLU must not be drawn into the convolution.
       return g.node("Add", "a", {g.node("Relu", "r", {x}), x});
     }},
};

class Operator : public testing::TestWithParam<Case> {};

TEST_P(Operator, AsTheReference) {
  GraphBuilder graph;
  const std::string output = GetParam().build(graph);
  GradientCheck().run(graph.bytes(output));
}

TEST_P(Operator, OnTwoThreadsAndThreeImages) {
  GraphBuilder graph({0, 4, 9, 7});
  const std::string output = GetParam().build(graph);
  GradientCheck check;
  check.options.threads = 2;
  check.options.batch = 3;
  check.samples = 3;
  check.run(graph.bytes(output));
}

INSTANTIATE_TEST_SUITE_P(All, Operator, testing::ValuesIn(kCases),
                         [](const auto& info) { return info.param.name; });

// ---- Resizing: every way of mapping coordinates, enlarging and reducing.

struct ResizeCase {
  const char* mode;
  const char* coordinates;
  const char* rounding;
  bool by_size;
  float scale_h, scale_w;
  Ints size;
};

void PrintTo(const ResizeCase& c, std::ostream* out) { *out << c.mode << " " << c.coordinates; }

class ResizeOperator : public testing::TestWithParam<ResizeCase> {};

TEST_P(ResizeOperator, AsTheReference) {
  const ResizeCase& c = GetParam();
  for (const bool inside : {false, true}) {  // at the end, and before another layer
    GraphBuilder graph;
    const std::string x = first(graph);
    const std::string sizes =
        c.by_size ? graph.integers("sizes", {1, 6, c.size[0], c.size[1]}) : "";
    const std::string scales =
        c.by_size ? "" : graph.tensor("scales", {4}, {1, 1, c.scale_h, c.scale_w});
    graph.node("Resize", "r", {x, "", scales, sizes});
    graph.with("mode", c.mode).with("coordinate_transformation_mode", c.coordinates);
    graph.with("nearest_mode", c.rounding);
    const std::string output = inside ? graph.conv("last", "r", {3, 6, 1, 1}) : "r";
    GradientCheck().run(graph.bytes(output));
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, ResizeOperator,
    testing::Values(ResizeCase{"linear", "half_pixel", "floor", true, 0, 0, {18, 20}},
                    ResizeCase{"linear", "align_corners", "floor", true, 0, 0, {13, 14}},
                    ResizeCase{"linear", "asymmetric", "floor", false, 2, 3, {}},
                    ResizeCase{"linear", "pytorch_half_pixel", "floor", false, 2.5f, 1.5f, {}},
                    ResizeCase{"linear", "half_pixel", "floor", true, 0, 0, {4, 3}},
                    ResizeCase{"linear", "half_pixel", "floor", true, 0, 0, {9, 7}},
                    ResizeCase{"nearest", "asymmetric", "floor", false, 2, 2, {}},
                    ResizeCase{"nearest", "half_pixel", "round_prefer_floor", true, 0, 0, {18, 10}},
                    ResizeCase{"nearest", "half_pixel", "round_prefer_ceil", true, 0, 0, {5, 21}},
                    ResizeCase{"nearest", "align_corners", "ceil", true, 0, 0, {11, 4}}));

TEST(Resize, UpsampleOfOldOperatorSets) {
  GraphBuilder graph({1, 4, 9, 7}, 9);
  graph.node("Upsample", "u", {first(graph), graph.tensor("scales", {4}, {1, 1, 2, 3})});
  graph.with("mode", "linear");
  GradientCheck().run(graph.bytes("u"));
}

// Exporters compute the wanted size from another picture's.
TEST(Resize, SizeFromTheShapeOfAnotherPicture) {
  GraphBuilder graph;
  const std::string x = first(graph);
  graph.conv("small", x, {6, 6, 3, 3});
  graph.with("strides", Ints{2, 2});
  graph.node("Shape", "shape", {x});
  graph.node("Slice", "slice",
             {"shape", graph.integers("from", {2}), graph.integers("to", {4}),
              graph.integers("axes", {0})});
  graph.node("Shape", "shape2", {"small"});
  graph.node("Slice", "slice2",
             {"shape2", graph.integers("from2", {0}), graph.integers("to2", {2}),
              graph.integers("axes2", {0})});
  graph.node("Concat", "sizes", {"slice2", "slice"});
  graph.with("axis", std::int64_t{0});
  graph.node("Resize", "large", {"small", "", "", "sizes"});
  graph.with("mode", "linear");
  const std::string bytes = graph.bytes(graph.node("Add", "sum", {"large", x}));
  Result<OnnxGraph> read = read_onnx(as_bytes(bytes), "test");
  ASSERT_TRUE(read.ok());
  Result<Net> net = lower(*std::move(read), {});
  ASSERT_TRUE(net.ok()) << net.error().to_string();
  EXPECT_EQ(net->output_of(net->ops.back()).height, 9);
  EXPECT_EQ(net->output_of(net->ops.back()).width, 7);
}

}  // namespace
}  // namespace sparing::train

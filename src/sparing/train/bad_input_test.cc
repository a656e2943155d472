// What is not a network that can be trained is refused, with the name of what is wrong.
#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sparing/train/graph_builder_test_util.h"
#include "sparing/train/trainer.h"

namespace sparing {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using train::GraphBuilder;
using Ints = GraphBuilder::Ints;

std::string problem(const std::string& bytes, const TrainerOptions& options = {}) {
  const Result<Trainer> trainer = Trainer::create(train::as_bytes(bytes), "bad.onnx", options);
  if (trainer.ok()) return "no error";
  EXPECT_EQ(trainer.error().to_string().find('\n'), std::string::npos);
  EXPECT_FALSE(trainer.error().fix.empty());
  return trainer.error().to_string();
}

std::string problem(GraphBuilder& graph, const std::string& output,
                    const TrainerOptions& options = {}) {
  return problem(graph.bytes(output), options);
}

TEST(BadFile, IsSaid) {
  const auto error = [](const std::filesystem::path& file) {
    return Trainer::create(file, {}).error().to_string();
  };
  EXPECT_THAT(error("/nowhere/aux.onnx"), HasSubstr("'/nowhere/aux.onnx': no such file"));
  EXPECT_THAT(error(std::filesystem::temp_directory_path()), HasSubstr("not a file"));
  const std::filesystem::path file = std::filesystem::path(testing::TempDir()) / "not_onnx.onnx";
  std::ofstream(file) << "this is no network";
  EXPECT_THAT(error(file), HasSubstr("not an ONNX file"));
  EXPECT_THAT(problem(""), HasSubstr("not an ONNX file"));
}

TEST(BadFile, CutAnywhereIsAnError) {
  GraphBuilder graph;
  const std::string bytes = graph.bytes(graph.same_conv("c", "image", {3, 4, 3, 3}));
  for (std::size_t size = 0; size < bytes.size(); size += 7) {
    const std::string text = problem(bytes.substr(0, size));
    EXPECT_NE(text, "no error") << size;
  }
}

TEST(BadOptions, AreSaid) {
  GraphBuilder graph;
  const std::string bytes = graph.bytes(graph.same_conv("c", "image", {3, 4, 3, 3}));
  TrainerOptions options;
  options.optimizer = "lbfgs";
  EXPECT_THAT(problem(bytes, options), HasSubstr("--optimizer: 'lbfgs'"));
  options = {};
  options.width = 12;
  EXPECT_THAT(problem(bytes, options), HasSubstr("its input is [1,4,9,7], not 12 pixels wide"));
  options = {};
  options.threads = 0;
  EXPECT_THAT(problem(bytes, options), HasSubstr("--aux-threads"));
}

TEST(BadOptions, AnInputOfNoKnownSizeIsSaid) {
  GraphBuilder graph({1, 4, 0, 0});
  const std::string bytes = graph.bytes(graph.same_conv("c", "image", {3, 4, 3, 3}));
  EXPECT_THAT(problem(bytes), HasSubstr("give a width and a height"));
  TrainerOptions options;
  options.width = options.height = 8;
  EXPECT_EQ(problem(bytes, options), "no error");
}

// Whatever the trainer has no operator for is named, wherever it lies: it could not run it either.
TEST(UnknownOperator, IsNamedAboveAndBelowTheCut) {
  TrainerOptions last;
  last.train = "last";
  for (const TrainerOptions& options : {TrainerOptions{}, last}) {
    GraphBuilder graph;
    graph.node("Erf", "strange", {graph.same_conv("c", "image", {3, 4, 3, 3})});
    const std::string output = graph.conv("classes", "strange", {2, 3, 1, 1});
    EXPECT_THAT(problem(graph, output, options),
                AllOf(HasSubstr("node 'strange' (Erf)"), HasSubstr("no operator Erf")));
  }
}

TEST(UnknownOperator, OfAnotherDomainIsNamedWithIt) {
  GraphBuilder graph;
  graph.node("Relu", "r", {"image"});
  graph.graph().mutable_node(0)->set_domain("com.example");
  EXPECT_THAT(problem(graph, "r"), HasSubstr("com.example::Relu"));
}

TEST(UnknownOperator, SoftmaxMayOnlyEndTheNetwork) {
  GraphBuilder graph;
  graph.node("Softmax", "s", {graph.same_conv("c", "image", {3, 4, 3, 3})});
  graph.with("axis", std::int64_t{1});
  const std::string output = graph.conv("classes", "s", {2, 3, 1, 1});
  EXPECT_THAT(problem(graph, output), HasSubstr("not the end of the network"));
}

struct BadGraph {
  const char* name;
  std::string (*build)(GraphBuilder&);
  const char* says;
};

void PrintTo(const BadGraph& bad, std::ostream* out) { *out << bad.name; }

const BadGraph kBadGraphs[] = {
    {"WeightsOfOtherChannels", [](GraphBuilder& g) { return g.conv("c", "image", {3, 5, 3, 3}); },
     "for 4 channels"},
    {"WeightsOfThreeAxes",
     [](GraphBuilder& g) { return g.node("Conv", "c", {"image", g.random("w", {3, 4, 3})}); },
     "kernel, strides"},
    {"KernelOfAnotherSize",
     [](GraphBuilder& g) {
       g.node("Conv", "c", {"image", g.random("w", {3, 4, 3, 3})});
       g.with("kernel_shape", Ints{5, 5});
       return std::string("c");
     },
     "weights of the shape [3,4,3,3]"},
    {"KernelLargerThanThePicture",
     [](GraphBuilder& g) { return g.conv("c", "image", {3, 4, 11, 11}); }, "makes a picture of"},
    {"BiasOfAnotherSize",
     [](GraphBuilder& g) {
       return g.node("Conv", "c", {"image", g.random("w", {3, 4, 3, 3}), g.random("b", {4})});
     },
     "not 3 elements"},
    {"WeightsFromThePicture",
     [](GraphBuilder& g) { return g.node("Conv", "c", {"image", "image"}); }, "no constant"},
    {"WeightsNotFinite",
     [](GraphBuilder& g) {
       return g.node("Conv", "c", {"image", g.tensor("w", {1, 4, 1, 1}, {1, 2, 3, 1.0f / 0.0f})});
     },
     "NaN or infinity"},
    {"GroupsThatDoNotDivide",
     [](GraphBuilder& g) {
       g.conv("c", "image", {3, 1, 3, 3});
       g.with("group", std::int64_t{3});
       return std::string("c");
     },
     "in 3 groups"},
    {"StrideZero",
     [](GraphBuilder& g) {
       g.conv("c", "image", {3, 4, 3, 3});
       g.with("strides", Ints{0, 1});
       return std::string("c");
     },
     "strides"},
    {"DilationBeyondReason",
     [](GraphBuilder& g) {
       g.conv("c", "image", {3, 4, 3, 3});
       g.with("dilations", Ints{std::int64_t{1} << 62, 1});
       return std::string("c");
     },
     "dilations"},
    {"NormOfAnotherSize", [](GraphBuilder& g) { return g.norm("n", "image", 5, "n"); },
     "not 4 elements"},
    {"NormOfNegativeVariance",
     [](GraphBuilder& g) {
       return g.node("BatchNormalization", "n",
                     {"image", g.random("a", {4}), g.random("b", {4}), g.random("c", {4}),
                      g.tensor("v", {4}, {1, 1, -1, 1})});
     },
     "variance"},
    {"SumOfTwoSizes",
     [](GraphBuilder& g) {
       return g.node("Add", "a", {"image", g.conv("c", "image", {4, 4, 3, 3})});
     },
     "of pictures [C,H,W] [4,9,7] and [4,7,5]"},
    {"ConstantOfAPicture",
     [](GraphBuilder& g) { return g.node("Add", "a", {"image", g.random("k", {9, 7})}); },
     "a constant of the shape [9,7]"},
    {"ConcatOfTwoSizes",
     [](GraphBuilder& g) {
       g.node("Concat", "k", {"image", g.conv("c", "image", {4, 4, 3, 3})});
       g.with("axis", std::int64_t{1});
       return std::string("k");
     },
     "different sizes: 7x9 and 5x7"},
    {"ConcatAlongRows",
     [](GraphBuilder& g) {
       g.node("Concat", "k", {"image", "image"});
       g.with("axis", std::int64_t{2});
       return std::string("k");
     },
     "along axis 2"},
    {"ResizeCubic",
     [](GraphBuilder& g) {
       g.node("Resize", "r", {"image", "", g.tensor("s", {4}, {1, 1, 2, 2})});
       g.with("mode", "cubic");
       return std::string("r");
     },
     "mode cubic"},
    {"ResizeOfChannels",
     [](GraphBuilder& g) {
       return g.node("Resize", "r", {"image", "", g.tensor("s", {4}, {1, 2, 2, 2})});
     },
     "of images or channels"},
    {"ResizeBeyondMemory",
     [](GraphBuilder& g) {
       return g.node("Resize", "r", {"image", "", "", g.integers("s", {1, 4, 1 << 30, 1 << 30})});
     },
     "a size"},
    {"ResizeToNothing",
     [](GraphBuilder& g) {
       return g.node("Resize", "r", {"image", "", "", g.integers("s", {1, 4, 0, 9})});
     },
     "not positive"},
    {"PoolPaddedBeyondItsKernel",
     [](GraphBuilder& g) {
       g.node("MaxPool", "p", {"image"});
       g.with("kernel_shape", Ints{2, 2}).with("pads", Ints{2, 2, 2, 2});
       return std::string("p");
     },
     "padding as large as the kernel"},
    {"PadBeforeRelu",
     [](GraphBuilder& g) {
       g.node("Pad", "p", {"image", g.integers("pads", {0, 0, 1, 1, 0, 0, 1, 1})});
       return g.node("Relu", "r", {"p"});
     },
     "follows a Pad"},
    {"PadByReflection",
     [](GraphBuilder& g) {
       g.node("Pad", "p", {"image", g.integers("pads", {0, 0, 1, 1, 0, 0, 1, 1})});
       g.with("mode", "reflect");
       return g.conv("c", "p", {4, 4, 3, 3});
     },
     "not of zeros"},
    {"MeanOfChannels",
     [](GraphBuilder& g) {
       g.node("ReduceMean", "m", {"image"});
       g.with("axes", Ints{1});
       return std::string("m");
     },
     "other axes"},
    {"NodesOutOfOrder",
     [](GraphBuilder& g) {
       g.node("Relu", "a", {"b"});
       g.node("Relu", "b", {"image"});
       return std::string("a");
     },
     "reads 'b', which nothing before it makes"},
    {"OutputThatNothingMakes",
     [](GraphBuilder& g) {
       g.node("Relu", "a", {"image"});
       return std::string("nothing");
     },
     "does not come from the picture"},
    {"OutputThatIsTheInput", [](GraphBuilder&) { return std::string("image"); },
     "does not come from the picture"},
    {"ThreeHundredClasses", [](GraphBuilder& g) { return g.conv("c", "image", {300, 4, 1, 1}); },
     "300 channels"},
    {"NothingToTrain", [](GraphBuilder& g) { return g.node("Relu", "a", {"image"}); },
     "nothing to train"},
    {"TwoInputs",
     [](GraphBuilder& g) {
       g.graph().add_input()->set_name("other");
       return g.node("Relu", "a", {"image"});
     },
     "two inputs, 'image' and 'other'"},
    {"WeightsInAnotherFile",
     [](GraphBuilder& g) {
       g.conv("c", "image", {3, 4, 1, 1});
       auto* tensor = g.graph().mutable_initializer(0);
       tensor->clear_float_data();
       tensor->set_data_location(onnx::TensorProto::EXTERNAL);
       return std::string("c");
     },
     "lies in another file"},
    {"FewerNumbersThanTheShapeSays",
     [](GraphBuilder& g) {
       g.conv("c", "image", {3, 4, 1, 1});
       g.graph().mutable_initializer(0)->set_dims(0, 1 << 20);
       return std::string("c");
     },
     "elements for the shape"},
    {"ShapeThatOverflows",
     [](GraphBuilder& g) {
       g.conv("c", "image", {3, 4, 1, 1});
       for (int i : {0, 1}) g.graph().mutable_initializer(0)->set_dims(i, std::int64_t{1} << 40);
       return std::string("c");
     },
     "has the shape"},
    {"QuantisedWeights",
     [](GraphBuilder& g) {
       g.conv("c", "image", {3, 4, 1, 1});
       g.graph().mutable_initializer(0)->set_data_type(onnx::TensorProto::INT8);
       return std::string("c");
     },
     "not quantised"},
    {"PictureOfThreeAxes",
     [](GraphBuilder& g) {
       g.graph()
           .mutable_input(0)
           ->mutable_type()
           ->mutable_tensor_type()
           ->mutable_shape()
           ->mutable_dim()
           ->RemoveLast();
       return g.conv("c", "image", {3, 4, 1, 1});
     },
     "[N,C,H,W]"},
    {"OldOperatorSet",
     [](GraphBuilder& g) {
       g.model().mutable_opset_import(0)->set_version(6);
       return g.conv("c", "image", {3, 4, 1, 1});
     },
     "operator set 6"},
};

class BadGraphs : public testing::TestWithParam<BadGraph> {};

TEST_P(BadGraphs, AreRefusedWithTheReason) {
  GraphBuilder graph;
  const std::string output = GetParam().build(graph);
  EXPECT_THAT(problem(graph, output), HasSubstr(GetParam().says));
}

INSTANTIATE_TEST_SUITE_P(All, BadGraphs, testing::ValuesIn(kBadGraphs),
                         [](const auto& info) { return info.param.name; });

// Weights in half precision are widened.
TEST(Float16, WeightsAreWidened) {
  GraphBuilder graph({1, 1, 1, 1});
  graph.node("Conv", "c", {"image", "w"});
  auto* tensor = graph.graph().add_initializer();
  tensor->set_name("w");
  tensor->set_data_type(onnx::TensorProto::FLOAT16);
  for (const int size : {4, 1, 1, 1}) tensor->add_dims(size);
  // 1.5, -0.25, the largest number, the smallest one.
  for (const int bits : {0x3e00, 0xb400, 0x7bff, 0x0001}) tensor->add_int32_data(bits);
  Result<Trainer> trainer = Trainer::create(train::as_bytes(graph.bytes("c")), "half.onnx", {});
  ASSERT_TRUE(trainer.ok()) << trainer.error().to_string();
  EXPECT_THAT(*trainer->weights("c", "weight"),
              testing::ElementsAre(1.5f, -0.25f, 65504.0f, 0x1p-24f));
}

TEST(Operators, AreListedForPeople) {
  EXPECT_THAT(trainer_operators(), testing::Contains("ConvTranspose"));
  EXPECT_THAT(trainer_operators(), testing::Contains("PRelu"));
}

}  // namespace
}  // namespace sparing

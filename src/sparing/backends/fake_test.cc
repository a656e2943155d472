#include "sparing/backends/fake.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>

namespace sparing {
namespace {

FakeGraph negate_graph() {
  FakeGraph graph;
  graph.inputs = {{"x", {DataType::kUint8, {-1, 2}}}};
  graph.outputs = {{"y", {DataType::kUint8, {-1, 2}}}};
  graph.infer_shapes = [](const std::map<std::string, Shape>& shapes) {
    return std::map<std::string, Shape>{{"y", shapes.at("x")}};
  };
  graph.run = [](const auto& inputs, const auto& outputs) -> Status {
    const auto& x = inputs.at("x");
    for (std::size_t i = 0; i < x.bytes.size(); ++i) outputs.at("y").bytes[i] = ~x.bytes[i];
    return {};
  };
  return graph;
}

Tensor make_tensor(Context& context, const Shape& shape) {
  return context.create_tensor({DataType::kUint8, shape, true, true}).value();
}

TEST(FakeBackend, RunsTheFunctionOnTheTensors) {
  Context context = create_fake_context({}, {{"negate", negate_graph()}}).value();
  EXPECT_EQ(context.backend_name(), "fake");
  EXPECT_GE(context.options().threads, 1);
  const Graph graph = context.load_graph("some/folder/negate.onnx").value();
  const Tensor x = make_tensor(context, {1, 2});
  const Tensor y = make_tensor(context, {1, 2});
  const std::array in{std::byte{1}, std::byte{2}};
  ASSERT_TRUE(context.write_tensor(x, in).ok());
  const Completion completion = context.dispatch(graph, {{"x", x}}, {{"y", y}}).value();
  ASSERT_TRUE(completion.wait().ok());
  EXPECT_TRUE(completion.done());
  EXPECT_GT(completion.inference_seconds(), 0);
  std::array<std::byte, 2> out{};
  ASSERT_TRUE(context.read_tensor(y, out).ok());
  EXPECT_EQ(out[0], std::byte{0xFE});
  EXPECT_EQ(out[1], std::byte{0xFD});
}

TEST(FakeBackend, LooksGraphsUpByStem) {
  Context context = create_fake_context({}, {{"negate", negate_graph()}}).value();
  const auto missing = context.load_graph("other.onnx");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code, ErrorCode::kModel);
  EXPECT_NE(missing.error().thing.find("other.onnx"), std::string::npos);
}

TEST(FakeBackend, FixesShapesAsAnEngineDoes) {
  Context context = create_fake_context({}, {{"negate", negate_graph()}}).value();
  const Graph fixed = context.load_graph("negate", {{"x", {5, 2}}}).value();
  EXPECT_EQ(fixed.inputs()[0].descriptor.shape, (Shape{5, 2}));
  EXPECT_EQ(fixed.outputs()[0].descriptor.shape, (Shape{5, 2}));
  EXPECT_EQ(context.load_graph("negate", {{"x", {5, 3}}}).error().code, ErrorCode::kModel);
  EXPECT_EQ(context.load_graph("negate", {{"z", {5, 2}}}).error().code, ErrorCode::kModel);
  EXPECT_EQ(context.load_graph("negate", {{"x", {-1, 2}}}).error().code, ErrorCode::kModel);
}

TEST(FakeBackend, InfersAndChecksOutputShapes) {
  Context context = create_fake_context({}, {{"negate", negate_graph()}}).value();
  const Graph graph = context.load_graph("negate").value();
  const auto shapes = context.infer_output_shapes(graph, {{"x", {7, 2}}});
  ASSERT_TRUE(shapes.ok());
  EXPECT_EQ(shapes->at("y"), (Shape{7, 2}));
  // Both fit the descriptors, but not each other.
  const auto completion = context.dispatch(graph, {{"x", make_tensor(context, {1, 2})}},
                                           {{"y", make_tensor(context, {3, 2})}});
  ASSERT_TRUE(completion.ok());
  const Status status = completion->wait();
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kInvalidArgument);
  EXPECT_NE(status.error().to_string().find("[3,2]"), std::string::npos);
}

TEST(FakeBackend, StaticGraphsNeedNoShapeFunction) {
  FakeGraph graph = negate_graph();
  graph.infer_shapes = nullptr;
  Context context = create_fake_context({}, {{"dynamic", graph}}).value();
  const Graph dynamic = context.load_graph("dynamic").value();
  EXPECT_EQ(context.infer_output_shapes(dynamic, {{"x", {7, 2}}}).error().code,
            ErrorCode::kNotSupported);
  graph.outputs[0].descriptor.shape = {4, 2};
  context = create_fake_context({}, {{"static", graph}}).value();
  const Graph fixed = context.load_graph("static").value();
  EXPECT_EQ(context.infer_output_shapes(fixed, {{"x", {4, 2}}})->at("y"), (Shape{4, 2}));
}

TEST(FakeBackend, RefusesBadOptions) {
  ContextOptions options;
  options.streams = 0;
  EXPECT_EQ(create_fake_context(options, {}).error().code, ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace sparing

// The error conditions of the interface.
#include "sparing/webnn/webnn.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "sparing/webnn/impl.h"
#include "sparing/webnn/webnn_test_util.h"

namespace sparing {
namespace {

using ::testing::HasSubstr;

// The one assertion of most tests: what kind of error, and that it names what is wrong.
template <class T>
void expect_error(const T& result, ErrorCode code, const std::string& part) {
  ASSERT_FALSE(result.ok()) << part;
  EXPECT_EQ(to_string(result.error().code), to_string(code)) << result.error().to_string();
  EXPECT_THAT(result.error().to_string(), HasSubstr(part));
}

template <class T>
void expect_invalid(const T& result, const std::string& part) {
  expect_error(result, ErrorCode::kInvalidArgument, part);
}

FakeGraph two_by_two() {
  FakeGraph graph;
  graph.inputs = {{"a", {DataType::kFloat32, {2, -1}}}, {"b", {DataType::kUint8, {3}}}};
  graph.outputs = {{"c", {DataType::kFloat32, {2, -1}}}, {"d", {DataType::kInt64, {}}}};
  return graph;
}

class WebnnErrors : public ::testing::Test {
 protected:
  Context make() { return create_fake_context({}, {{"net", two_by_two()}}).value(); }
  Tensor tensor(DataType type, const Shape& shape) {
    return context_.create_tensor({type, shape, true, true}).value();
  }

  Context context_ = make();
  Graph graph_ = context_.load_graph("net").value();
  NamedTensors inputs_{{"a", tensor(DataType::kFloat32, {2, 5})},
                       {"b", tensor(DataType::kUint8, {3})}};
  NamedTensors outputs_{{"c", tensor(DataType::kFloat32, {2, 5})},
                        {"d", tensor(DataType::kInt64, {})}};
};

TEST_F(WebnnErrors, TheFixtureItselfIsRight) {
  const auto completion = context_.dispatch(graph_, inputs_, outputs_);
  ASSERT_TRUE(completion.ok()) << completion.error().to_string();
  EXPECT_TRUE(completion->wait().ok());
}

TEST_F(WebnnErrors, CreateTensor) {
  const auto create = [&](const Shape& shape) {
    return context_.create_tensor({DataType::kFloat32, shape, true, true});
  };
  expect_invalid(create({2, 0}), "dimension of 0");
  expect_invalid(create({-1, 2}), "dimension of -1");
  expect_invalid(create({1 << 20, 1 << 10}), "larger than 2147483648 bytes");
  // A product that overflows 64 bits.
  expect_invalid(create({std::int64_t{1} << 40, std::int64_t{1} << 40}), "larger than");
}

TEST_F(WebnnErrors, CreatedTensorsAreAlignedZerosAsDescribed) {
  for (const DataTypeInfo& row : kDataTypes) {
    const Tensor made = context_.create_tensor({row.type, {3, 5}, true, false}).value();
    EXPECT_EQ(made.data_type(), row.type);
    EXPECT_EQ(made.shape(), (Shape{3, 5}));
    EXPECT_EQ(made.byte_size(), 15 * row.size);
    EXPECT_TRUE(made.readable());
    EXPECT_FALSE(made.writable());
    ASSERT_TRUE(context_
                    .visit_tensor(made,
                                  [](std::span<const std::byte> bytes) {
                                    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(bytes.data()) % 64,
                                              0u);
                                    for (const std::byte b : bytes) EXPECT_EQ(b, std::byte{0});
                                  })
                    .ok());
  }
  // A scalar has one element.
  EXPECT_EQ(tensor(DataType::kInt64, {}).byte_size(), 8u);
}

TEST_F(WebnnErrors, WriteAndReadCheckUsageAndSize) {
  std::vector<std::byte> bytes(4);
  const Tensor plain = context_.create_tensor({DataType::kInt32, {1}}).value();
  expect_invalid(context_.write_tensor(plain, bytes), "not writable");
  expect_invalid(context_.read_tensor(plain, bytes), "not readable");
  expect_invalid(context_.visit_tensor(plain, [](auto) { FAIL(); }), "not readable");
  const Tensor both = make_int(context_);
  bytes.resize(5);
  expect_invalid(context_.write_tensor(both, bytes), "5 bytes");
  expect_invalid(context_.read_tensor(both, bytes), "5 bytes");
  bytes.resize(3);
  expect_invalid(context_.write_tensor(both, bytes), "3 bytes");
  expect_invalid(context_.read_tensor(both, bytes), "3 bytes");
}

TEST_F(WebnnErrors, EmptyHandles) {
  std::vector<std::byte> bytes(4);
  expect_invalid(context_.write_tensor(Tensor(), bytes), "empty");
  expect_invalid(context_.read_tensor(Tensor(), bytes), "empty");
  expect_invalid(context_.write_tensor(Tensor(), VideoFrameImport{}), "empty");
  expect_invalid(context_.dispatch(Graph(), inputs_, outputs_), "empty");
  expect_invalid(context_.infer_output_shapes(Graph(), {}), "empty");
  inputs_["a"] = Tensor();
  expect_invalid(context_.dispatch(graph_, inputs_, outputs_), "input 'a'");
  Context none;
  expect_invalid(none.create_tensor({DataType::kInt32, {1}}), "context");
  expect_invalid(none.load_graph("net"), "context");
  expect_invalid(none.write_tensor(Tensor(), bytes), "context");
  expect_invalid(none.write_tensor(Tensor(), VideoFrameImport{}), "context");
  expect_invalid(none.read_tensor(Tensor(), bytes), "context");
  expect_invalid(none.dispatch(graph_, {}, {}), "context");
  expect_invalid(none.infer_output_shapes(graph_, {}), "context");
  Tensor().destroy();
  expect_invalid(Completion().wait(), "no dispatch");
  EXPECT_TRUE(Completion().done());
}

TEST_F(WebnnErrors, ObjectsOfAnotherContext) {
  Context other = make();
  std::vector<std::byte> bytes(20 * 2);
  const Tensor foreign = other.create_tensor({DataType::kFloat32, {2, 5}, true, true}).value();
  expect_invalid(context_.write_tensor(foreign, bytes), "another context");
  expect_invalid(context_.read_tensor(foreign, bytes), "another context");
  expect_invalid(other.dispatch(graph_, inputs_, outputs_), "another context");
  expect_invalid(other.infer_output_shapes(graph_, {}), "another context");
  inputs_["a"] = foreign;
  expect_invalid(context_.dispatch(graph_, inputs_, outputs_), "another context");
}

TEST_F(WebnnErrors, DispatchNeedsExactlyTheGraphsNames) {
  auto inputs = inputs_;
  inputs.erase("b");
  expect_invalid(context_.dispatch(graph_, inputs, outputs_), "input 'b': no tensor given");
  inputs = inputs_;
  inputs["z"] = tensor(DataType::kUint8, {3});
  expect_invalid(context_.dispatch(graph_, inputs, outputs_), "its inputs are 'a', 'b'");
  auto outputs = outputs_;
  outputs.erase("d");
  expect_invalid(context_.dispatch(graph_, inputs_, outputs), "output 'd': no tensor given");
  outputs = outputs_;
  outputs["a"] = tensor(DataType::kUint8, {3});
  expect_invalid(context_.dispatch(graph_, inputs_, outputs), "its outputs are 'c', 'd'");
}

TEST_F(WebnnErrors, DispatchChecksTypesAndShapes) {
  for (const Shape& shape : {Shape{2}, Shape{3, 5}, Shape{2, 5, 1}, Shape{}}) {
    auto inputs = inputs_;
    inputs["a"] = tensor(DataType::kFloat32, shape);
    expect_invalid(context_.dispatch(graph_, inputs, outputs_), "float32[2,?]");
    auto outputs = outputs_;
    outputs["c"] = tensor(DataType::kFloat32, shape);
    expect_invalid(context_.dispatch(graph_, inputs_, outputs), "float32[2,?]");
  }
  auto inputs = inputs_;
  inputs["b"] = tensor(DataType::kInt8, {3});
  expect_invalid(context_.dispatch(graph_, inputs, outputs_), "int8[3]; the graph needs uint8[3]");
}

TEST_F(WebnnErrors, DispatchRefusesATensorTwice) {
  outputs_["c"] = inputs_["a"];
  expect_invalid(context_.dispatch(graph_, inputs_, outputs_), "two operands");
}

TEST_F(WebnnErrors, DestroyedTensors) {
  Tensor copy = inputs_["a"];
  copy.destroy();
  copy.destroy();
  std::vector<std::byte> bytes(40);
  expect_invalid(context_.write_tensor(inputs_["a"], bytes), "destroyed");
  expect_invalid(context_.read_tensor(inputs_["a"], bytes), "destroyed");
  expect_invalid(context_.visit_tensor(inputs_["a"], [](auto) { FAIL(); }), "destroyed");
  expect_invalid(context_.dispatch(graph_, inputs_, outputs_), "input 'a'");
  expect_invalid(context_.write_tensor(inputs_["a"], VideoFrameImport{}), "video frame");
  EXPECT_EQ(copy.impl()->memory.data(), nullptr);
  EXPECT_EQ(copy.shape(), (Shape{2, 5}));  // the description stays
}

TEST_F(WebnnErrors, InferOutputShapes) {
  expect_invalid(context_.infer_output_shapes(graph_, {{"a", {2, 5}}}), "input 'b'");
  expect_invalid(context_.infer_output_shapes(graph_, {{"a", {3, 5}}, {"b", {3}}}), "[3,5]");
  expect_invalid(context_.infer_output_shapes(graph_, {{"a", {2, -1}}, {"b", {3}}}), "[2,?]");
  expect_invalid(context_.infer_output_shapes(graph_, {{"a", {2, 0}}, {"b", {3}}}), "[2,0]");
  expect_invalid(context_.infer_output_shapes(graph_, {{"a", {2, 5}}, {"b", {3}}, {"z", {3}}}),
                 "'z'");
}

TEST(ContextOptions, Validate) {
  const auto with = [](int threads, int streams, std::vector<int> cores) {
    ContextOptions options;
    options.threads = threads;
    options.streams = streams;
    options.cores = std::move(cores);
    return validate(options);
  };
  EXPECT_TRUE(with(0, 1, {}).ok());
  EXPECT_TRUE(with(2, 2, {1, 0}).ok());
  EXPECT_TRUE(with(0, 4, {}).ok());
  expect_invalid(with(-1, 1, {}), "threads: -1");
  expect_invalid(with(1025, 1, {}), "threads: 1025");
  expect_invalid(with(2, 0, {}), "streams: 0");
  expect_invalid(with(2, 3, {}), "streams: 3");
  expect_invalid(with(2, 1, {0, 0}), "twice");
  expect_invalid(with(1, 1, {-1}), "-1 is not a core");
  expect_invalid(with(3, 1, {0, 1}), "2 for 3 threads");
}

TEST(Names, RoundTrip) {
  for (const DeviceTypeInfo& row : kDeviceTypes) {
    EXPECT_EQ(device_type_from_name(to_string(row.type)), row.type);
  }
  for (const PrecisionInfo& row : kPrecisions) {
    EXPECT_EQ(precision_from_name(to_string(row.precision)), row.precision);
  }
  EXPECT_EQ(device_type_from_name("tpu"), std::nullopt);
  EXPECT_EQ(precision_from_name("F32"), std::nullopt);
}

class WriteFrame : public ::testing::Test {
 protected:
  // 4x2 pixels of R = 10 x + y, G = 100, B = 200.
  SharedFrame make_frame() {
    SharedFrame frame = allocate_frame(PixelFormat::kRgb24, {4, 2}).value();
    std::uint8_t* pixels = mutable_plane(frame, 0);
    for (int y = 0; y < 2; ++y) {
      for (int x = 0; x < 4; ++x) {
        std::uint8_t* pixel = pixels + y * frame.view().planes[0].stride + 3 * x;
        pixel[0] = static_cast<std::uint8_t>(10 * x + y);
        pixel[1] = 100;
        pixel[2] = 200;
      }
    }
    return frame;
  }
  Tensor tensor(DataType type, const Shape& shape, bool writable = true) {
    return context_.create_tensor({type, shape, true, writable}).value();
  }

  Context context_ = create_fake_context({}, {}).value();
  SharedFrame frame_ = make_frame();
  VideoFrameImport source_{frame_.view(), Layout::kNchw, {}};
};

TEST_F(WriteFrame, DrawsStraightIntoTheTensorInEitherLayout) {
  const Tensor planar = tensor(DataType::kFloat32, {1, 3, 2, 4});
  source_.options.mean = {10, 10, 10};
  source_.options.std = {2, 2, 2};
  const auto map = context_.write_tensor(planar, source_);
  ASSERT_TRUE(map.ok()) << map.error().to_string();
  EXPECT_EQ((*map)({1.5, 0.5}), (Point{1.5, 0.5}));
  std::vector<float> values(24);
  ASSERT_TRUE(context_.read_tensor(planar, std::as_writable_bytes(std::span(values))).ok());
  EXPECT_NEAR(values[0 * 8 + 1 * 4 + 3], (31 - 10) / 2.0, 0.02);
  EXPECT_NEAR(values[2 * 8 + 1 * 4 + 3], (200 - 10) / 2.0, 0.02);

  const Tensor interleaved = tensor(DataType::kUint8, {1, 2, 4, 3});
  source_.layout = Layout::kNhwc;
  source_.options = {};
  ASSERT_TRUE(context_.write_tensor(interleaved, source_).ok());
  std::vector<std::uint8_t> pixels(24);
  ASSERT_TRUE(context_.read_tensor(interleaved, std::as_writable_bytes(std::span(pixels))).ok());
  EXPECT_EQ(pixels[(1 * 4 + 2) * 3 + 0], 21);
  EXPECT_EQ(pixels[(1 * 4 + 2) * 3 + 1], 100);
  EXPECT_EQ(pixels[(1 * 4 + 2) * 3 + 2], 200);
}

TEST_F(WriteFrame, RefusesTensorsThatHoldNoImage) {
  const auto write = [&](const Shape& shape, bool writable = true) {
    return context_.write_tensor(tensor(DataType::kFloat32, shape, writable), source_);
  };
  expect_invalid(write({1, 3, 2, 4}, false), "not writable");
  expect_invalid(write({3, 2, 4}), "[n,3,h,w]");
  expect_invalid(write({1, 2, 2, 4}), "[n,3,h,w]");
  expect_invalid(write({1, 2, 4, 3}), "[n,3,h,w]");
  source_.layout = Layout::kNhwc;
  expect_invalid(write({1, 3, 4, 2}), "[n,h,w,3]");
}

TEST_F(WriteFrame, AFourthChannelHoldsAlpha) {
  source_.options.alpha = 7;
  source_.options.mean = {10, 10, 10};
  const Tensor planar = tensor(DataType::kFloat32, {1, 4, 2, 4});
  ASSERT_TRUE(context_.write_tensor(planar, source_).ok());
  std::vector<float> values(32);
  ASSERT_TRUE(context_.read_tensor(planar, std::as_writable_bytes(std::span(values))).ok());
  EXPECT_NEAR(values[1 * 8], 90, 0.02);
  for (std::size_t i = 24; i < 32; ++i) EXPECT_EQ(values[i], 7);

  source_.layout = Layout::kNhwc;
  source_.options = {};
  const Tensor interleaved = tensor(DataType::kUint8, {1, 2, 4, 4});
  ASSERT_TRUE(context_.write_tensor(interleaved, source_).ok());
  std::vector<std::uint8_t> pixels(32);
  ASSERT_TRUE(context_.read_tensor(interleaved, std::as_writable_bytes(std::span(pixels))).ok());
  EXPECT_EQ(pixels[(1 * 4 + 2) * 4 + 0], 21);
  EXPECT_EQ(pixels[(1 * 4 + 2) * 4 + 2], 200);
  EXPECT_EQ(pixels[(1 * 4 + 2) * 4 + 3], 255);
}

TEST_F(WriteFrame, PassesOnWhatImportFrameRefuses) {
  const Tensor target = tensor(DataType::kFloat32, {1, 3, 2, 4});
  source_.options.std[1] = 0;
  expect_invalid(context_.write_tensor(target, source_), "std");
  source_.options.std[1] = 1;
  source_.frame.storage = FrameStorage::kDeviceHandle;
  expect_error(context_.write_tensor(target, source_), ErrorCode::kNotSupported, "");
  std::vector<float> values(24, 1.0f);
  ASSERT_TRUE(context_.read_tensor(target, std::as_writable_bytes(std::span(values))).ok());
  EXPECT_THAT(values, ::testing::Each(0.0f));
}

}  // namespace
}  // namespace sparing

// The OpenVINO backend through the public interface, on the models of testdata/make_models.py.
#include "sparing/backends/openvino.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <thread>

namespace sparing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

const fs::path kData = SPARING_SOURCE_DIR "/src/sparing/backends/testdata";

ContextOptions one_thread(Precision precision = Precision::kFloat32) {
  ContextOptions options;
  options.threads = 1;
  options.precision = precision;
  return options;
}

template <class T>
struct TypeOf;
template <>
struct TypeOf<float> {
  static constexpr DataType kType = DataType::kFloat32;
};
template <>
struct TypeOf<std::int64_t> {
  static constexpr DataType kType = DataType::kInt64;
};
template <>
struct TypeOf<std::int32_t> {
  static constexpr DataType kType = DataType::kInt32;
};
template <>
struct TypeOf<std::uint8_t> {
  static constexpr DataType kType = DataType::kUint8;
};
template <>
struct TypeOf<std::uint16_t> {
  static constexpr DataType kType = DataType::kFloat16;  // its bits
};

// A context with shorthands that fail the test on any error.
class Engine {
 public:
  explicit Engine(const ContextOptions& options = one_thread())
      : context(create_openvino_context(options).value()) {}

  Graph load(const std::string& name, const std::map<std::string, Shape>& fixed = {}) {
    auto graph = context.load_graph(kData / name, fixed);
    EXPECT_TRUE(graph.ok()) << graph.error().to_string();
    return graph.value();
  }
  Error load_error(const fs::path& file, const std::map<std::string, Shape>& fixed = {}) {
    auto graph = context.load_graph(file.is_absolute() ? file : kData / file, fixed);
    EXPECT_FALSE(graph.ok()) << file;
    return graph.ok() ? Error{} : graph.error();
  }
  template <class T>
  Tensor make(const Shape& shape, const std::vector<T>& values = {}) {
    const Tensor tensor = context.create_tensor({TypeOf<T>::kType, shape, true, true}).value();
    if (!values.empty()) {
      const Status status = context.write_tensor(tensor, std::as_bytes(std::span(values)));
      EXPECT_TRUE(status.ok()) << status.error().to_string();
    }
    return tensor;
  }
  template <class T>
  std::vector<T> read(const Tensor& tensor) {
    std::vector<T> values(tensor.byte_size() / sizeof(T));
    const Status status = context.read_tensor(tensor, std::as_writable_bytes(std::span(values)));
    EXPECT_TRUE(status.ok()) << status.error().to_string();
    return values;
  }
  Status run(const Graph& graph, const NamedTensors& inputs, const NamedTensors& outputs) {
    auto completion = context.dispatch(graph, inputs, outputs);
    if (!completion.ok()) return completion.error();
    return completion->wait();
  }

  Context context;
};

Shape shape_of(const std::vector<GraphOperand>& operands, std::string_view name) {
  for (const GraphOperand& operand : operands) {
    if (operand.name == name) return operand.descriptor.shape;
  }
  ADD_FAILURE() << "no operand " << name;
  return {};
}

TEST(OpenVino, TwoInputsTwoOutputs) {
  Engine engine;
  const Graph graph = engine.load("add.onnx");
  EXPECT_EQ(shape_of(graph.inputs(), "a"), (Shape{2, 3}));
  EXPECT_EQ(shape_of(graph.inputs(), "b"), (Shape{2, 3}));
  const Tensor a = engine.make<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor b = engine.make<float>({2, 3}, {10, 20, 30, 40, 50, 60});
  const Tensor sum = engine.make<float>({2, 3});
  const Tensor product = engine.make<float>({2, 3});
  ASSERT_TRUE(engine.run(graph, {{"a", a}, {"b", b}}, {{"sum", sum}, {"product", product}}).ok());
  EXPECT_THAT(engine.read<float>(sum), ElementsAre(11, 22, 33, 44, 55, 66));
  EXPECT_THAT(engine.read<float>(product), ElementsAre(10, 40, 90, 160, 250, 360));
}

TEST(OpenVino, ConvolutionFromOnnxAndFromIr) {
  for (const char* name : {"conv.onnx", "conv_ir.xml"}) {
    Engine engine;
    const Graph graph = engine.load(name);
    const Tensor image = engine.make<float>({1, 1, 3, 4}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
    const Tensor map = engine.make<float>({1, 1, 3, 4});
    ASSERT_TRUE(engine.run(graph, {{"image", image}}, {{"map", map}}).ok());
    // Sums of the 3x3 neighbours that exist, plus a half.
    EXPECT_THAT(engine.read<float>(map),
                ElementsAre(14.5, 24.5, 30.5, 22.5, 33.5, 54.5, 63.5, 45.5, 30.5, 48.5, 54.5, 38.5))
        << name;
  }
}

TEST(OpenVino, IntegerAndHalfTypes) {
  Engine engine;
  const Graph argmax = engine.load("argmax.onnx");
  const Tensor scores = engine.make<float>({2, 3}, {1, 5, 2, 9, 0, 3});
  const Tensor best = engine.make<std::int64_t>({2});
  ASSERT_TRUE(engine.run(argmax, {{"scores", scores}}, {{"best", best}}).ok());
  EXPECT_THAT(engine.read<std::int64_t>(best), ElementsAre(1, 0));

  const Graph types = engine.load("types.onnx");
  const Tensor u8 = engine.make<std::uint8_t>({4}, {0, 1, 128, 255});
  const Tensor i32 = engine.make<std::int32_t>({4}, {1, -2, 100000, 1});
  const Tensor total = engine.make<std::int32_t>({4});
  const Tensor half = engine.make<std::uint16_t>({4});
  ASSERT_TRUE(
      engine.run(types, {{"u8", u8}, {"i32", i32}}, {{"total", total}, {"half", half}}).ok());
  EXPECT_THAT(engine.read<std::int32_t>(total), ElementsAre(1, -1, 100128, 256));
  const auto bits = engine.read<std::uint16_t>(half);
  EXPECT_EQ(bits[0], 0x3C00);  // 1
  EXPECT_EQ(bits[1], 0xBC00);  // -1
  EXPECT_EQ(bits[3], 0x5C00);  // 256
}

TEST(OpenVino, ScalarInput) {
  Engine engine;
  const Graph graph = engine.load("scalar.onnx");
  EXPECT_EQ(shape_of(graph.inputs(), "factor"), Shape{});
  const Tensor x = engine.make<float>({2}, {2, 3});
  const Tensor factor = engine.make<float>({}, {10});
  const Tensor y = engine.make<float>({2});
  ASSERT_TRUE(engine.run(graph, {{"x", x}, {"factor", factor}}, {{"y", y}}).ok());
  EXPECT_THAT(engine.read<float>(y), ElementsAre(20, 30));
}

// 1 + 2^-10 times 1: float32 and float16 hold it, bfloat16 rounds it to 1.
TEST(OpenVino, PrecisionIsWhatWasAskedFor) {
  const auto devices = openvino_devices().value();
  const auto cpu = std::find_if(devices.begin(), devices.end(),
                                [](const DeviceInfo& device) { return device.name == "CPU"; });
  ASSERT_NE(cpu, devices.end());
  for (const PrecisionInfo& row : kPrecisions) {
    const auto context = create_openvino_context(one_thread(row.precision));
    if (std::find(cpu->precisions.begin(), cpu->precisions.end(), row.precision) ==
        cpu->precisions.end()) {
      ASSERT_FALSE(context.ok()) << row.name;
      EXPECT_EQ(context.error().code, ErrorCode::kNotSupported);
      EXPECT_THAT(context.error().to_string(),
                  AllOf(HasSubstr(std::string(row.name)), HasSubstr("--precision f32")));
      continue;
    }
    Engine engine(one_thread(row.precision));
    const Graph graph = engine.load("rounding.onnx");
    const Tensor image =
        engine.make<float>({1, 16, 8, 8}, std::vector<float>(std::size_t{16} * 8 * 8, 1.0f));
    const Tensor map = engine.make<float>({1, 16, 8, 8});
    ASSERT_TRUE(engine.run(graph, {{"image", image}}, {{"map", map}}).ok());
    const bool rounds = row.precision == Precision::kBfloat16;
    EXPECT_THAT(engine.read<float>(map), Each(rounds ? 1.0f : 1.0009765625f)) << row.name;
  }
}

TEST(OpenVino, DynamicShapes) {
  Engine engine;
  const Graph graph = engine.load("dynamic.onnx");
  EXPECT_EQ(shape_of(graph.inputs(), "image"), (Shape{-1, 3, -1, -1}));
  EXPECT_EQ(shape_of(graph.outputs(), "pooled"), (Shape{-1, 3, -1, -1}));
  for (const Shape& shape : {Shape{1, 3, 4, 6}, Shape{2, 3, 8, 2}, Shape{1, 3, 4, 6}}) {
    const auto shapes = engine.context.infer_output_shapes(graph, {{"image", shape}});
    ASSERT_TRUE(shapes.ok()) << shapes.error().to_string();
    const Shape expected{shape[0], 3, shape[2] / 2, shape[3] / 2};
    ASSERT_EQ(shapes->at("pooled"), expected);
    std::vector<float> values(static_cast<std::size_t>(element_count(shape).value()));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
    const Tensor image = engine.make<float>(shape, values);
    const Tensor pooled = engine.make<float>(expected);
    ASSERT_TRUE(engine.run(graph, {{"image", image}}, {{"pooled", pooled}}).ok());
    const auto result = engine.read<float>(pooled);
    EXPECT_EQ(result.front(), static_cast<float>(shape[3] + 1));
    EXPECT_EQ(result.back(), static_cast<float>(values.size() - 1));
  }
}

TEST(OpenVino, OutputTensorsOfAWrongSize) {
  Engine engine;
  const Graph graph = engine.load("dynamic.onnx");
  const Tensor image = engine.make<float>({1, 3, 8, 8});
  for (const std::int64_t size : {2, 6}) {
    const Tensor pooled = engine.make<float>({1, 3, size, size});
    const Status status = engine.run(graph, {{"image", image}}, {{"pooled", pooled}});
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(status.error().to_string(), AllOf(HasSubstr("'pooled'"), HasSubstr("[1,3,4,4]"),
                                                  HasSubstr(to_string_shape(pooled.shape()))));
    std::vector<float> values(static_cast<std::size_t>(3 * size * size));
    EXPECT_FALSE(
        engine.context.read_tensor(pooled, std::as_writable_bytes(std::span(values))).ok());
  }
  // The graph still runs.
  const Tensor pooled = engine.make<float>({1, 3, 4, 4});
  EXPECT_TRUE(engine.run(graph, {{"image", image}}, {{"pooled", pooled}}).ok());
}

TEST(OpenVino, FixedShapes) {
  Engine engine;
  const Graph graph = engine.load("dynamic.onnx", {{"image", {1, 3, 4, 8}}});
  EXPECT_EQ(shape_of(graph.inputs(), "image"), (Shape{1, 3, 4, 8}));
  EXPECT_EQ(shape_of(graph.outputs(), "pooled"), (Shape{1, 3, 2, 4}));
  EXPECT_EQ(engine.context.infer_output_shapes(graph, {{"image", {1, 3, 4, 8}}})->at("pooled"),
            (Shape{1, 3, 2, 4}));
  EXPECT_FALSE(engine.context.infer_output_shapes(graph, {{"image", {1, 3, 4, 6}}}).ok());
}

TEST(OpenVino, ShapesThatDoNotFitAreModelErrors) {
  Engine engine;
  for (const auto& [name, shape] :
       std::map<std::string, Shape>{{"image", {1, 4, 8, 8}}, {"imago", {1, 3, 8, 8}}}) {
    const Error error = engine.load_error("dynamic.onnx", {{name, shape}});
    EXPECT_EQ(error.code, ErrorCode::kModel);
    EXPECT_THAT(error.to_string(), AllOf(HasSubstr("dynamic.onnx"), HasSubstr(name)));
  }
  // Only the graph itself knows that a height of 5 cannot be.
  const Error error = engine.load_error("picky.onnx", {{"image", {1, 1, 5, 2}}});
  EXPECT_EQ(error.code, ErrorCode::kModel);
  EXPECT_THAT(error.to_string(), AllOf(HasSubstr("picky.onnx"), HasSubstr("[1,1,5,2]")));

  const Graph graph = engine.load("picky.onnx");
  EXPECT_EQ(engine.context.infer_output_shapes(graph, {{"image", {1, 1, 5, 2}}}).error().code,
            ErrorCode::kModel);
  const Status status = engine.run(graph, {{"image", engine.make<float>({1, 1, 5, 2})}},
                                   {{"y", engine.make<float>({1, 1, 4, 2})}});
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kModel);
  EXPECT_THAT(status.error().to_string(), HasSubstr("image[1,1,5,2]"));
}

TEST(OpenVino, ShapesThatDependOnValues) {
  Engine engine;
  const Graph graph = engine.load("nonzero.onnx");
  const auto shapes = engine.context.infer_output_shapes(graph, {{"x", {4}}});
  ASSERT_FALSE(shapes.ok());
  EXPECT_EQ(shapes.error().code, ErrorCode::kNotSupported);
  EXPECT_THAT(shapes.error().to_string(), HasSubstr("'where'"));
  const Tensor x = engine.make<float>({4}, {0, 3, 0, 5});
  const Tensor where = engine.make<std::int64_t>({1, 2});
  ASSERT_TRUE(engine.run(graph, {{"x", x}}, {{"where", where}}).ok());
  EXPECT_THAT(engine.read<std::int64_t>(where), ElementsAre(1, 3));
  const Tensor too_many = engine.make<std::int64_t>({1, 3});
  EXPECT_EQ(engine.run(graph, {{"x", x}}, {{"where", too_many}}).error().code,
            ErrorCode::kInvalidArgument);
}

struct BadModel {
  const char* file;
  const char* part;  // of the message
};
constexpr BadModel kBadModels[] = {
    {"missing.onnx", "no such file"},         {"truncated.onnx", "whole ONNX model"},
    {"text.onnx", "not an ONNX model"},       {"unsupported.onnx", "org.example.Frobnicate"},
    {"boolean.onnx", "'more' holds boolean"}, {"make_models.py", "neither .onnx nor .xml"},
};

TEST(OpenVino, BadModelsAreNamedAndNothingIsPrinted) {
  Engine engine;
  for (const BadModel& bad : kBadModels) {
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    const Error error = engine.load_error(bad.file);
    EXPECT_EQ(::testing::internal::GetCapturedStdout(), "") << bad.file;
    EXPECT_EQ(::testing::internal::GetCapturedStderr(), "") << bad.file;
    EXPECT_EQ(error.code, ErrorCode::kModel) << bad.file;
    EXPECT_THAT(error.to_string(),
                AllOf(HasSubstr(bad.file), HasSubstr(bad.part), Not(HasSubstr(".cpp:"))));
    EXPECT_NE(error.fix, "") << bad.file;
  }
}

// A folder of this test's own, removed at its end.
class OpenVinoFiles : public ::testing::Test {
 protected:
  OpenVinoFiles() {
    std::string pattern = (fs::temp_directory_path() / "sparing-test-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~OpenVinoFiles() override { fs::remove_all(folder_); }

  fs::path folder_;
};

TEST_F(OpenVinoFiles, MoreBadModels) {
  Engine engine;
  std::ofstream(folder_ / "empty.onnx");
  std::ofstream(folder_ / "broken.xml") << "<net name=";
  fs::create_directory(folder_ / "folder.onnx");
  fs::copy_file(kData / "conv_ir.xml", folder_ / "alone.xml");  // without its .bin
  for (const char* name : {"empty.onnx", "broken.xml", "folder.onnx", "alone.xml"}) {
    ::testing::internal::CaptureStderr();
    const Error error = engine.load_error(folder_ / name);
    EXPECT_EQ(::testing::internal::GetCapturedStderr(), "") << name;
    EXPECT_EQ(error.code, ErrorCode::kModel) << name;
    EXPECT_THAT(error.to_string(), AllOf(HasSubstr(name), Not(HasSubstr(".cpp:"))));
  }
}

// Any prefix of a model, and any single damaged byte, must give a graph or an error, never a crash.
TEST_F(OpenVinoFiles, DamagedModelsNeverCrash) {
  Engine engine;
  std::ifstream file(kData / "conv.onnx", std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(file)), {});
  const fs::path damaged = folder_ / "damaged.onnx";
  const auto load = [&](const std::string& bytes) {
    std::ofstream(damaged, std::ios::binary) << bytes;
    const auto graph = engine.context.load_graph(damaged);
    if (!graph.ok()) {
      EXPECT_THAT(graph.error().thing, HasSubstr("damaged.onnx"));
    }
  };
  for (std::size_t i = 0; i < whole.size(); i += 3) {
    load(whole.substr(0, i));
    std::string changed = whole;
    changed[i] = static_cast<char>(changed[i] ^ 0xFF);
    load(changed);
  }
}

TEST_F(OpenVinoFiles, CacheIsUsedKeptApartAndNotNeeded) {
  const auto run = [&](const ContextOptions& options) {
    Engine engine(options);
    const Graph graph = engine.load("rounding.onnx");
    const Tensor image =
        engine.make<float>({1, 16, 8, 8}, std::vector<float>(std::size_t{16} * 8 * 8, 1.0f));
    const Tensor map = engine.make<float>({1, 16, 8, 8});
    EXPECT_TRUE(engine.run(graph, {{"image", image}}, {{"map", map}}).ok());
    return engine.read<float>(map).front();
  };
  ContextOptions options = one_thread();
  options.cache_dir = folder_ / "new" / "cache";
  EXPECT_EQ(run(options), 1.0009765625f);
  ASSERT_FALSE(fs::is_empty(options.cache_dir));
  EXPECT_EQ(run(options), 1.0009765625f);
  // A graph compiled in another precision is another one.
  ContextOptions rounding = options;
  rounding.precision = Precision::kBfloat16;
  if (create_openvino_context(rounding).ok()) {
    EXPECT_EQ(run(rounding), 1.0f);
    EXPECT_EQ(run(options), 1.0009765625f);
  }
  // Damaged entries are compiled again.
  for (const auto& entry : fs::directory_iterator(options.cache_dir)) {
    if (!entry.is_regular_file()) continue;
    fs::resize_file(entry.path(), fs::file_size(entry.path()) / 2);
  }
  EXPECT_EQ(run(options), 1.0009765625f);
  // No folder can be made below a file: no cache, and options() says so.
  std::ofstream(folder_ / "file");
  options.cache_dir = folder_ / "file" / "cache";
  EXPECT_EQ(create_openvino_context(options)->options().cache_dir, fs::path());
  EXPECT_EQ(run(options), 1.0009765625f);
}

TEST(OpenVino, DispatchesOfSeveralStreamsAndThreads) {
  ContextOptions options;
  options.threads = 2;
  options.streams = 2;
  Engine engine(options);
  const Graph graph = engine.load("dynamic.onnx");
  const auto work = [&](int seed) {
    for (int round = 0; round < 50; ++round) {
      const std::int64_t size = 4 + 2 * ((seed + round) % 3);
      const auto count = static_cast<std::size_t>(3 * size * size);
      const float value = static_cast<float>(seed * 1000 + round);
      const Tensor image = engine.make<float>({1, 3, size, size}, std::vector<float>(count, value));
      const Tensor pooled = engine.make<float>({1, 3, size / 2, size / 2});
      const auto completion =
          engine.context.dispatch(graph, {{"image", image}}, {{"pooled", pooled}});
      ASSERT_TRUE(completion.ok());
      ASSERT_THAT(engine.read<float>(pooled), Each(value));
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(work, i);
  for (std::thread& thread : threads) thread.join();
}

TEST(OpenVino, HandlesMayGoWhileADispatchRuns) {
  Engine engine;
  const Tensor map = engine.make<float>({1, 16, 8, 8});
  Completion completion;
  {
    const Graph graph = engine.load("rounding.onnx");
    const Tensor image =
        engine.make<float>({1, 16, 8, 8}, std::vector<float>(std::size_t{16} * 8 * 8, 1.0f));
    completion = engine.context.dispatch(graph, {{"image", image}}, {{"map", map}}).value();
  }
  EXPECT_TRUE(completion.wait().ok());
  EXPECT_GT(completion.inference_seconds(), 0);
  EXPECT_THAT(engine.read<float>(map), Each(1.0009765625f));
}

TEST(OpenVino, OptionsInEffect) {
  const Context context = create_openvino_context({}).value();
  EXPECT_GE(context.options().threads, 1);
  EXPECT_EQ(context.backend_name(), "openvino " + openvino_version());
  EXPECT_THAT(openvino_version(), ::testing::MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+"));
  ContextOptions options;
  options.streams = 0;
  EXPECT_EQ(create_openvino_context(options).error().code, ErrorCode::kInvalidArgument);
  options = one_thread();
  options.power_preference = PowerPreference::kLowPower;
  Engine low_power(options);
  EXPECT_TRUE(low_power.load("conv.onnx"));
}

TEST(OpenVino, AbsentDevicesAreNamedWithThosePresent) {
  const auto devices = openvino_devices().value();
  ASSERT_FALSE(devices.empty());
  for (const DeviceInfo& device : devices) {
    EXPECT_NE(device.full_name, "") << device.name;
    EXPECT_FALSE(device.precisions.empty()) << device.name;
  }
  for (const DeviceType type : {DeviceType::kGpu, DeviceType::kNpu}) {
    const std::string name = type == DeviceType::kGpu ? "GPU" : "NPU";
    const bool present = std::any_of(devices.begin(), devices.end(), [&](const auto& device) {
      return device.name.rfind(name, 0) == 0;
    });
    if (present) continue;
    ContextOptions options;
    options.device_type = type;
    const auto context = create_openvino_context(options);
    ASSERT_FALSE(context.ok());
    EXPECT_EQ(context.error().code, ErrorCode::kNotSupported);
    EXPECT_THAT(context.error().to_string(), HasSubstr("cpu"));
  }
}

}  // namespace
}  // namespace sparing

// What the interface does not show: whose memory the engine uses, and its compile settings.
#include "sparing/backends/openvino_graph.h"

#include <dirent.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "sparing/backends/openvino.h"
#include "sparing/backends/openvino_device.h"
#include "sparing/base/aligned_buffer.h"

namespace sparing::openvino {
namespace {

const std::filesystem::path kData = SPARING_SOURCE_DIR "/src/sparing/backends/testdata";

class Memory : public ::testing::Test {
 protected:
  std::unique_ptr<OpenVinoGraph> load(const char* name, const webnn::ShapeMap& fixed = {}) {
    ContextOptions options;
    options.threads = 1;
    return OpenVinoGraph::load(core_, kData / name, fixed,
                               {"CPU", compile_properties(options, 1), 1, {}})
        .value();
  }
  webnn::Binding bind(DataType type, const Shape& shape) {
    const auto count = static_cast<std::size_t>(element_count(shape).value());
    buffers_.push_back(std::make_unique<AlignedBuffer>(count * info(type).size));
    return {type, shape, buffers_.back()->span()};
  }
  static std::span<float> floats(const webnn::Binding& binding) {
    return {reinterpret_cast<float*>(binding.bytes.data()), binding.bytes.size() / 4};
  }

  ov::Core core_;
  std::vector<std::unique_ptr<AlignedBuffer>> buffers_;
};

TEST_F(Memory, StaticOutputsAreWrittenInPlace) {
  const auto graph = load("conv.onnx");
  for (int round = 0; round < 3; ++round) {
    const auto image = bind(DataType::kFloat32, {1, 1, 3, 4});
    const auto map = bind(DataType::kFloat32, {1, 1, 3, 4});
    floats(image)[5] = 1;
    ASSERT_TRUE(graph->run({&image, 1}, {&map, 1}).status.ok());
    EXPECT_EQ(floats(map)[0], 1.5f);
  }
  EXPECT_EQ(graph->copied_outputs(), 0u);
}

TEST_F(Memory, DynamicOutputsAreWrittenInPlace) {
  const auto graph = load("dynamic.onnx");
  for (const std::int64_t size : {4, 8, 6, 8}) {
    const auto image = bind(DataType::kFloat32, {1, 3, size, size});
    const auto pooled = bind(DataType::kFloat32, {1, 3, size / 2, size / 2});
    floats(image)[1] = 7;
    ASSERT_TRUE(graph->run({&image, 1}, {&pooled, 1}).status.ok());
    EXPECT_EQ(floats(pooled)[0], 7);
  }
  EXPECT_EQ(graph->copied_outputs(), 0u);
}

// The user's memory may be gone by the time of the next run.
TEST_F(Memory, EarlierTensorsAreNotTouchedAgain) {
  for (const char* name : {"conv.onnx", "dynamic.onnx"}) {
    const auto graph = load(name);
    const bool dynamic = graph->inputs()[0].descriptor.shape[0] < 0;
    const Shape shape = dynamic ? Shape{1, 3, 4, 4} : Shape{1, 1, 3, 4};
    const Shape out = dynamic ? Shape{1, 3, 2, 2} : shape;
    for (int round = 0; round < 3; ++round) {
      const auto x = bind(DataType::kFloat32, shape);
      const auto y = bind(DataType::kFloat32, out);
      ASSERT_TRUE(graph->run({&x, 1}, {&y, 1}).status.ok());
      buffers_.clear();  // a use after this is for AddressSanitizer to find
    }
  }
}

TEST_F(Memory, OutputsThatAreInputsOrConstantsStillArrive) {
  const auto graph = load("identity.onnx");
  const auto x = bind(DataType::kFloat32, {2, 2});
  const std::array outputs{bind(DataType::kFloat32, {2, 2}), bind(DataType::kFloat32, {3})};
  floats(x)[3] = 4;
  ASSERT_EQ(graph->outputs()[0].name, "same");
  ASSERT_TRUE(graph->run({&x, 1}, outputs).status.ok());
  EXPECT_EQ(floats(outputs[0])[3], 4);
  EXPECT_EQ(floats(outputs[1])[0], 7);
  EXPECT_EQ(floats(outputs[1])[2], 9);
}

TEST_F(Memory, TimeIsMeasured) {
  const auto graph = load("conv.onnx");
  const auto image = bind(DataType::kFloat32, {1, 1, 3, 4});
  const auto map = bind(DataType::kFloat32, {1, 1, 3, 4});
  EXPECT_GT(graph->run({&image, 1}, {&map, 1}).seconds, 0);
}

// Without a check the engine silently takes bfloat16 where a CPU has no float16.
TEST_F(Memory, APrecisionThatTheEngineChangesIsRefused) {
  const auto precisions = native_precisions(core_, "CPU");
  if (std::find(precisions.begin(), precisions.end(), Precision::kFloat16) != precisions.end()) {
    GTEST_SKIP() << "this CPU has float16";
  }
  ContextOptions options;
  options.threads = 1;
  options.precision = Precision::kFloat16;
  const auto graph = OpenVinoGraph::load(core_, kData / "conv.onnx", {},
                                         {"CPU", compile_properties(options, 1), 1, {}});
  ASSERT_FALSE(graph.ok());
  EXPECT_EQ(graph.error().code, ErrorCode::kNotSupported);
}

TEST(ElementTypes, RoundTrip) {
  for (const DataTypeInfo& row : kDataTypes) {
    EXPECT_EQ(data_type(element_type(row.type)), row.type);
    EXPECT_EQ(element_type(row.type).size(), row.size);
  }
  EXPECT_EQ(data_type(ov::element::boolean), std::nullopt);
}

// Threads of this process that may run on `core` alone.
int threads_on(int core) {
  int count = 0;
  DIR* tasks = opendir("/proc/self/task");
  while (const dirent* entry = readdir(tasks)) {
    std::ifstream status(std::string("/proc/self/task/") + entry->d_name + "/status");
    std::string line;
    while (std::getline(status, line)) {
      if (line == "Cpus_allowed_list:\t" + std::to_string(core)) ++count;
    }
  }
  closedir(tasks);
  return count;
}

TEST(Pinning, StreamsRunOnTheirCoresAndAreFreedAgain) {
  cpu_set_t allowed;
  ASSERT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
  if (CPU_COUNT(&allowed) < 2) GTEST_SKIP() << "needs two cores";
  int core = 0;
  while (!CPU_ISSET(core, &allowed)) ++core;
  ContextOptions options;
  options.threads = 1;
  options.cores = {core};
  const int before = threads_on(core);
  {
    Context context = create_openvino_context(options).value();
    const Graph graph = context.load_graph(kData / "conv.onnx").value();
    const Tensor x = context.create_tensor({DataType::kFloat32, {1, 1, 3, 4}}).value();
    const Tensor y = context.create_tensor({DataType::kFloat32, {1, 1, 3, 4}}).value();
    for (int i = 0; i < 2; ++i) {
      ASSERT_TRUE(context.dispatch(graph, {{"image", x}}, {{"map", y}})->wait().ok());
    }
    EXPECT_EQ(threads_on(core), before + 1);
  }
  EXPECT_EQ(threads_on(core), before);
}

TEST(Pinning, RefusesWhatItCannotDo) {
  cpu_set_t allowed;
  ASSERT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
  ContextOptions options;
  options.threads = 1;
  options.cores = {CPU_SETSIZE - 1};
  EXPECT_EQ(create_openvino_context(options).error().code, ErrorCode::kInvalidArgument);
  options.threads = 0;
  options.cores.clear();
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &allowed)) options.cores.push_back(core);
  }
  // All cores: nothing to pin, whatever the threads.
  const auto context = create_openvino_context(options);
  ASSERT_TRUE(context.ok()) << context.error().to_string();
  EXPECT_EQ(context->options().threads, static_cast<int>(options.cores.size()));
  if (options.cores.size() < 3) return;
  options.cores.resize(2);
  EXPECT_EQ(create_openvino_context(options).error().code, ErrorCode::kNotSupported);
}

}  // namespace
}  // namespace sparing::openvino

// Contexts, tensors and graphs in WebNN's terms (https://www.w3.org/TR/webnn/), with the
// explainer's writeTensor(tensor, videoFrame). Names, argument meanings and error conditions follow
// WebNN where it has them; differences are marked "extension".
//
// All handles are cheap to copy and share their object. A context, its graphs and its tensors may
// be used from several threads; operations on one tensor are ordered as they were called: a
// dispatch that uses a tensor runs after earlier writes to it, and a later write or read of the
// tensor waits for the dispatch.
#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sparing/base/options.h"
#include "sparing/base/result.h"
#include "sparing/base/tensor_view.h"
#include "sparing/kernels/import.h"

namespace sparing {

enum class DeviceType { kCpu, kGpu, kNpu };
enum class PowerPreference { kDefault, kHighPerformance, kLowPower };
// Extension: arithmetic of the graph; always explicit, never the engine's own default.
enum class Precision { kFloat32, kBfloat16, kFloat16 };

struct DeviceTypeInfo {
  DeviceType type;
  std::string_view name;
};
struct PrecisionInfo {
  Precision precision;
  std::string_view name;
};

// In the order of the enums.
inline constexpr std::array<DeviceTypeInfo, 3> kDeviceTypes{{
    {DeviceType::kCpu, "cpu"},
    {DeviceType::kGpu, "gpu"},
    {DeviceType::kNpu, "npu"},
}};
inline constexpr std::array<PrecisionInfo, 3> kPrecisions{{
    {Precision::kFloat32, "f32"},
    {Precision::kBfloat16, "bf16"},
    {Precision::kFloat16, "f16"},
}};

constexpr const DeviceTypeInfo& info(DeviceType type) {
  return kDeviceTypes[static_cast<std::size_t>(type)];
}
constexpr const PrecisionInfo& info(Precision precision) {
  return kPrecisions[static_cast<std::size_t>(precision)];
}
std::string_view to_string(DeviceType type);
std::string_view to_string(Precision precision);
std::optional<DeviceType> device_type_from_name(std::string_view name);
std::optional<Precision> precision_from_name(std::string_view name);

struct ContextOptions {
  DeviceType device_type = DeviceType::kCpu;
  PowerPreference power_preference = PowerPreference::kDefault;
  // Extensions.
  Precision precision = Precision::kFloat32;
  int threads = 0;  // inference threads in all; 0: as many as there are cores
  // Dispatches that run at the same time, each on threads / streams threads; what is dispatched
  // beyond them waits in order. As many streams as threads give the most throughput, one stream the
  // shortest time from dispatch to result.
  int streams = 1;
  // Pin inference to these cores, one for each thread; empty: no pinning. OpenVINO can do so with
  // one thread a stream, or with all cores of the process; it refuses the rest with kNotSupported.
  std::vector<int> cores;
  std::filesystem::path cache_dir;  // compiled graphs are kept here; empty: no cache
};
// kInvalidArgument: threads not in 0..1024, streams not in 1..threads, a core that is negative or
// named twice, fewer cores than threads. Backends check the rest when they create a context.
Status validate(const ContextOptions& options);

// WebNN's MLOperandDescriptor. In a graph's description a dimension of -1 is dynamic (extension);
// a tensor's dimensions are all positive. An empty shape is a scalar.
struct OperandDescriptor {
  DataType data_type = DataType::kFloat32;
  Shape shape;
};

struct TensorDescriptor {
  DataType data_type = DataType::kFloat32;
  Shape shape;
  bool readable = false;  // read_tensor is allowed
  bool writable = false;  // write_tensor is allowed
};

// The explainer's MLVideoFrame: frame and layout, visible rectangle, mean and std (in options).
// mean and std are required there and default to 0 and 1 here.
struct VideoFrameImport {
  VideoFrame frame;
  Layout layout = Layout::kNchw;
  ImportOptions options;
};

namespace webnn {
class TensorImpl;
class GraphImpl;
class ContextImpl;
}  // namespace webnn

// MLTensor. Its memory is 64-byte aligned and is handed to the engine without a copy.
class Tensor {
 public:
  Tensor() = default;
  explicit Tensor(std::shared_ptr<webnn::TensorImpl> impl) : impl_(std::move(impl)) {}
  explicit operator bool() const { return impl_ != nullptr; }
  DataType data_type() const;
  const Shape& shape() const;
  bool readable() const;
  bool writable() const;
  std::size_t byte_size() const;
  // Releases the memory once queued work is done; later use of any copy is an error. Does not wait.
  void destroy();
  const std::shared_ptr<webnn::TensorImpl>& impl() const { return impl_; }

 private:
  std::shared_ptr<webnn::TensorImpl> impl_;
};

struct GraphOperand {
  std::string name;
  OperandDescriptor descriptor;
};

// MLGraph: compiled, immutable.
class Graph {
 public:
  Graph() = default;
  explicit Graph(std::shared_ptr<webnn::GraphImpl> impl) : impl_(std::move(impl)) {}
  explicit operator bool() const { return impl_ != nullptr; }
  const std::vector<GraphOperand>& inputs() const;
  const std::vector<GraphOperand>& outputs() const;
  const std::shared_ptr<webnn::GraphImpl>& impl() const { return impl_; }

 private:
  std::shared_ptr<webnn::GraphImpl> impl_;
};

using NamedTensors = std::map<std::string, Tensor, std::less<>>;

// The pending result of a dispatch. Outlives the context, which lets its dispatches end.
class Completion {
 public:
  Completion() = default;
  struct State;
  explicit Completion(std::shared_ptr<State> state) : state_(std::move(state)) {}
  bool done() const;
  // Blocks until the dispatch has ended; its error, if it failed. May be called repeatedly.
  Status wait() const;
  // Time the engine spent on it, from start to end, in seconds; 0 before it is done. Runs on
  // several streams overlap: the engine is busy for the sum of these times divided by the streams.
  double inference_seconds() const;

 private:
  std::shared_ptr<State> state_;
};

// MLContext. Made by a backend (sparing/backends/...).
class Context {
 public:
  Context() = default;
  explicit Context(std::shared_ptr<webnn::ContextImpl> impl) : impl_(std::move(impl)) {}
  explicit operator bool() const { return impl_ != nullptr; }
  // As they are in effect: `threads` resolved, `cache_dir` empty when it cannot be used.
  const ContextOptions& options() const;
  std::string backend_name() const;  // "openvino 2026.4.1"

  // The tensor holds zeros. kInvalidArgument: a dimension < 1, more than 2^31 bytes.
  Result<Tensor> create_tensor(const TensorDescriptor& descriptor);

  // Extension in place of MLGraphBuilder: reads an ONNX or OpenVINO IR file and compiles it.
  // `fixed_input_shapes` replaces dynamic dimensions by name of input; others stay dynamic.
  // kModel: missing, not a model, an operator the backend lacks, a shape that does not fit.
  Result<Graph> load_graph(const std::filesystem::path& model_file,
                           const std::map<std::string, Shape>& fixed_input_shapes = {});

  // Copies bytes in. kInvalidArgument: not writable, or bytes.size() != byte_size().
  Status write_tensor(const Tensor& tensor, std::span<const std::byte> bytes);

  // The explainer's overload: draws the frame into the tensor, and returns the map from tensor to
  // frame (display) coordinates. The frame may be released when the call returns. Error conditions
  // as import_frame, and: not writable, or not a 4-D tensor of 1, 3 or 4 channels in `layout`.
  Result<Affine> write_tensor(const Tensor& tensor, const VideoFrameImport& source);

  // Queues one run of the graph and returns at once. Tensors are named as graph.inputs() and
  // graph.outputs() are; all inputs and outputs must be given, each tensor once.
  // kInvalidArgument: a missing, unknown or twice used name or tensor; a data type or shape that
  // does not fit; more than 1024 unfinished operations in the context. An output's concrete shape
  // that does not follow from the inputs' is reported by the completion. When a dispatch fails, so
  // does every later one that takes its outputs as inputs before they are written again.
  Result<Completion> dispatch(const Graph& graph, const NamedTensors& inputs,
                              const NamedTensors& outputs);

  // Output shapes for the given input shapes, for creating output tensors of a dynamic graph.
  Result<std::map<std::string, Shape>> infer_output_shapes(
      const Graph& graph, const std::map<std::string, Shape>& input_shapes);

  // Waits for queued work on the tensor and copies it out. kInvalidArgument: not readable, or
  // bytes.size() != byte_size(). An earlier dispatch into the tensor that failed gives its error.
  Status read_tensor(const Tensor& tensor, std::span<std::byte> bytes);

  // Extension, without a copy: waits for queued work on the tensor and calls `visit` with its
  // bytes, which are valid during the call only. Writes of the tensor, and dispatches into it, wait
  // until `visit` returns; a call made inside `visit` that would wait for that gives
  // kInvalidArgument.
  Status visit_tensor(const Tensor& tensor,
                      const std::function<void(std::span<const std::byte>)>& visit);

 private:
  std::shared_ptr<webnn::ContextImpl> impl_;
};

}  // namespace sparing

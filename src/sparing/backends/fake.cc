#include "sparing/backends/fake.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "sparing/base/clock.h"
#include "sparing/base/thread_pool.h"
#include "sparing/webnn/backend.h"

namespace sparing {
namespace {

using webnn::Binding;
using webnn::RunResult;
using webnn::ShapeMap;

class FakeBackendGraph : public webnn::BackendGraph {
 public:
  explicit FakeBackendGraph(FakeGraph graph) : graph_(std::move(graph)) {}

  const std::vector<GraphOperand>& inputs() const override { return graph_.inputs; }
  const std::vector<GraphOperand>& outputs() const override { return graph_.outputs; }

  Result<ShapeMap> infer_output_shapes(const ShapeMap& input_shapes) override {
    if (graph_.infer_shapes) return graph_.infer_shapes(input_shapes);
    ShapeMap shapes;
    for (const auto& [name, descriptor] : graph_.outputs) {
      if (std::any_of(descriptor.shape.begin(), descriptor.shape.end(),
                      [](auto d) { return d < 0; })) {
        return Error{ErrorCode::kNotSupported, "output '" + name + "'",
                     "its shape is known only after a run", "give the fake graph infer_shapes"};
      }
      shapes[name] = descriptor.shape;
    }
    return shapes;
  }

  RunResult run(std::span<const Binding> inputs, std::span<const Binding> outputs) override {
    RunResult result;
    const auto start = Clock::now();
    result.status = run_checked(inputs, outputs);
    result.seconds = seconds_since(start);
    return result;
  }

 private:
  Status run_checked(std::span<const Binding> inputs, std::span<const Binding> outputs) {
    if (graph_.infer_shapes) SPARING_RETURN_IF_ERROR(check_output_shapes(inputs, outputs));
    if (!graph_.run) return {};
    return graph_.run(name_tensors(graph_.inputs, inputs), name_tensors(graph_.outputs, outputs));
  }

  Status check_output_shapes(std::span<const Binding> inputs, std::span<const Binding> outputs) {
    ShapeMap input_shapes;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      input_shapes[graph_.inputs[i].name] = inputs[i].shape;
    }
    const ShapeMap shapes = graph_.infer_shapes(input_shapes);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const std::string& name = graph_.outputs[i].name;
      const auto shape = shapes.find(name);
      if (shape == shapes.end() || shape->second == outputs[i].shape) continue;
      return Error{ErrorCode::kInvalidArgument, "tensor for output '" + name + "'",
                   "its shape is " + to_string_shape(outputs[i].shape),
                   "these inputs give " + to_string_shape(shape->second)};
    }
    return {};
  }

  static std::map<std::string, FakeTensor> name_tensors(const std::vector<GraphOperand>& operands,
                                                        std::span<const Binding> bindings) {
    std::map<std::string, FakeTensor> tensors;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      tensors[operands[i].name] = {bindings[i].data_type, bindings[i].shape, bindings[i].bytes};
    }
    return tensors;
  }

  FakeGraph graph_;
};

class FakeBackend : public webnn::Backend {
 public:
  FakeBackend(int streams, std::map<std::string, FakeGraph> graphs)
      : streams_(streams), graphs_(std::move(graphs)) {}

  std::string name() const override { return "fake"; }
  int max_in_flight() const override { return streams_; }

  Result<std::unique_ptr<webnn::BackendGraph>> load_graph(const std::filesystem::path& model_file,
                                                          const ShapeMap& fixed) override {
    const std::string thing = "model '" + model_file.string() + "'";
    const auto found = graphs_.find(model_file.stem().string());
    if (found == graphs_.end()) {
      return Error{ErrorCode::kModel, thing, "no such fake graph",
                   "add it to create_fake_context's graphs"};
    }
    FakeGraph graph = found->second;
    SPARING_RETURN_IF_ERROR(webnn::check_fixed_shapes(thing, graph.inputs, fixed));
    fix_shapes(graph, fixed);
    return std::unique_ptr<webnn::BackendGraph>(
        std::make_unique<FakeBackendGraph>(std::move(graph)));
  }

 private:
  // As an engine would: with all inputs fixed, the outputs are known too.
  static void fix_shapes(FakeGraph& graph, const ShapeMap& fixed) {
    ShapeMap input_shapes;
    bool all_static = true;
    for (GraphOperand& input : graph.inputs) {
      const auto shape = fixed.find(input.name);
      if (shape != fixed.end()) input.descriptor.shape = shape->second;
      for (const auto dimension : input.descriptor.shape) all_static &= dimension > 0;
      input_shapes[input.name] = input.descriptor.shape;
    }
    if (!all_static || !graph.infer_shapes) return;
    const ShapeMap output_shapes = graph.infer_shapes(input_shapes);
    for (GraphOperand& output : graph.outputs) {
      const auto shape = output_shapes.find(output.name);
      if (shape != output_shapes.end()) output.descriptor.shape = shape->second;
    }
  }

  const int streams_;
  const std::map<std::string, FakeGraph> graphs_;
};

}  // namespace

Result<Context> create_fake_context(const ContextOptions& options,
                                    std::map<std::string, FakeGraph> graphs) {
  SPARING_RETURN_IF_ERROR(validate(options));
  ContextOptions in_effect = options;
  if (in_effect.threads == 0) in_effect.threads = std::max(available_cores(), options.streams);
  return webnn::make_context(in_effect,
                             std::make_unique<FakeBackend>(options.streams, std::move(graphs)));
}

}  // namespace sparing

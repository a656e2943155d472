// What a backend implements. Everything that does not depend on the engine (validation, ordering,
// queueing, errors that travel with tensors) is done once, above this interface.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sparing/base/result.h"
#include "sparing/base/tensor_view.h"
#include "sparing/webnn/webnn.h"

namespace sparing::webnn {

using ShapeMap = std::map<std::string, Shape>;

// Memory of one operand during a run: dense, 64-byte aligned, in exclusive use for outputs.
struct Binding {
  DataType data_type = DataType::kFloat32;
  Shape shape;
  std::span<std::byte> bytes;
};

struct RunResult {
  Status status;
  double seconds = 0;  // the engine's time, from start to end
};

class BackendGraph {
 public:
  virtual ~BackendGraph() = default;

  virtual const std::vector<GraphOperand>& inputs() const = 0;
  virtual const std::vector<GraphOperand>& outputs() const = 0;

  // `input_shapes` names every input, with shapes that fit the descriptors. Thread-safe.
  virtual Result<ShapeMap> infer_output_shapes(const ShapeMap& input_shapes) = 0;

  // Runs the graph and returns when the outputs are written. Bindings are in the order of inputs()
  // and outputs(); types and shapes fit the descriptors, and where those are dynamic the backend
  // checks that the results have the outputs' shapes. Called from several threads, at most
  // Backend::max_in_flight() at once.
  virtual RunResult run(std::span<const Binding> inputs, std::span<const Binding> outputs) = 0;
};

class Backend {
 public:
  virtual ~Backend() = default;

  virtual std::string name() const = 0;

  // Runs that are worth starting at once; a constant. What is dispatched beyond it waits in order.
  virtual int max_in_flight() const = 0;

  virtual Result<std::unique_ptr<BackendGraph>> load_graph(const std::filesystem::path& model_file,
                                                           const ShapeMap& fixed_input_shapes) = 0;
};

// `options` as they are in effect (threads resolved, ...), already valid.
Context make_context(const ContextOptions& options, std::unique_ptr<Backend> backend);

// True when `shape` has the rank of `pattern` and its dimensions, where those are not -1.
bool shape_fits(const Shape& shape, const Shape& pattern);

// kModel: a name that `inputs` lacks, or a shape that does not fit the input's. `model` names the
// model in the error.
Status check_fixed_shapes(const std::string& model, const std::vector<GraphOperand>& inputs,
                          const ShapeMap& fixed_input_shapes);

// "'a', 'b'"
std::string list_names(const std::vector<GraphOperand>& operands);

}  // namespace sparing::webnn

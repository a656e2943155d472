// A backend for tests: no engine, graphs are functions. Tensors, ordering and errors are those of
// every other backend; any device type and precision is accepted.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "sparing/base/result.h"
#include "sparing/webnn/webnn.h"

namespace sparing {

// A tensor as a fake graph's function sees it.
struct FakeTensor {
  DataType data_type = DataType::kFloat32;
  Shape shape;
  std::span<std::byte> bytes;  // an input's must only be read
};

// `load_graph` of a fake context looks the file's stem up here instead of reading it.
struct FakeGraph {
  std::vector<GraphOperand> inputs;
  std::vector<GraphOperand> outputs;
  // Output shapes by name for the given input shapes; what it leaves out is not checked. May be
  // empty when all outputs are static. Called from any thread.
  std::function<std::map<std::string, Shape>(const std::map<std::string, Shape>&)> infer_shapes;
  // One inference, by names of operands; empty: outputs stay as they are. Called on threads of the
  // context, `ContextOptions::streams` at once at most.
  std::function<Status(const std::map<std::string, FakeTensor>& inputs,
                       const std::map<std::string, FakeTensor>& outputs)>
      run;
};

Result<Context> create_fake_context(const ContextOptions& options,
                                    std::map<std::string, FakeGraph> graphs);

}  // namespace sparing

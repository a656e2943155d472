// A backend for tests: no engine, graphs are functions.
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
  DataType data_type;
  Shape shape;
  std::span<std::byte> bytes;
};

// `load_graph` of a fake context looks the file's stem up here instead of reading it.
struct FakeGraph {
  std::vector<GraphOperand> inputs;
  std::vector<GraphOperand> outputs;
  std::function<std::map<std::string, Shape>(const std::map<std::string, Shape>&)> infer_shapes;
  std::function<Status(const std::map<std::string, FakeTensor>& inputs,
                       const std::map<std::string, FakeTensor>& outputs)>
      run;
};

Result<Context> create_fake_context(const ContextOptions& options,
                                    std::map<std::string, FakeGraph> graphs);

}  // namespace sparing

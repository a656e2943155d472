// What exporters compute with constants: the sizes of a Resize from the Shape of another tensor, a
// weight that is reshaped or widened.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "sparing/base/result.h"
#include "sparing/train/onnx_graph.h"

namespace sparing::train {

// The operators that fold_constant() knows, as ONNX spells them.
std::span<const std::string_view> constant_operators();
bool is_constant_operator(std::string_view op);

// The output of a node all of whose inputs are constants (null: left out). kModel, naming the node:
// an unknown operator, inputs that do not fit.
Result<OnnxTensor> fold_constant(const OnnxNode& node, std::span<const OnnxTensor* const> inputs);

}  // namespace sparing::train

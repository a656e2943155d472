// An ONNX file as plain values: what the trainer needs of it, checked, without protobuf's types.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sparing/base/result.h"
#include "sparing/base/tensor_view.h"

namespace sparing::train {

// A constant. Numbers of every floating-point type are widened to float32, whole ones to 64 bits.
struct OnnxTensor {
  Shape shape;
  bool is_float = true;
  std::vector<float> floats;       // if is_float
  std::vector<std::int64_t> ints;  // if not

  std::size_t size() const { return is_float ? floats.size() : ints.size(); }
  // Element i as either type. Precondition: i < size().
  double at(std::size_t i) const {
    return is_float ? static_cast<double>(floats[i]) : static_cast<double>(ints[i]);
  }
};

struct OnnxAttribute {
  std::vector<std::int64_t> ints;  // of INT (one) and INTS
  std::vector<float> floats;       // of FLOAT (one) and FLOATS
  std::string text;                // of STRING
  OnnxTensor tensor;               // of TENSOR
  bool has_tensor = false;
};

struct OnnxNode {
  std::string name;                 // the node's own, else that of its first output
  std::string op;                   // "Conv"; "domain::Op" outside ONNX's own domain
  std::vector<std::string> inputs;  // an empty name: left out
  std::vector<std::string> outputs;
  std::map<std::string, OnnxAttribute, std::less<>> attributes;

  bool has(std::string_view attribute) const { return attributes.contains(attribute); }
  std::int64_t integer(std::string_view attribute, std::int64_t otherwise) const;
  float number(std::string_view attribute, float otherwise) const;
  std::string text(std::string_view attribute, std::string_view otherwise) const;
  // Empty if there is no such attribute.
  std::vector<std::int64_t> integers(std::string_view attribute) const;
};

struct OnnxGraph {
  std::string name;  // for errors: "model 'aux.onnx'"
  std::int64_t opset = 0;
  std::string input;
  Shape input_shape;  // [N,C,H,W]; -1: dynamic
  std::string output;
  std::vector<OnnxNode> nodes;  // as the file has them: what is read was written before
  std::map<std::string, OnnxTensor, std::less<>> constants;  // initializers
};

// Any one of the graph's outputs that is not the first is ignored. kModel: not an ONNX file,
// damaged, weights outside the file, more than one input, an input that is no picture, types other
// than float32, float16, bfloat16, float64, int32, int64.
Result<OnnxGraph> read_onnx(std::span<const std::byte> bytes, std::string_view name);

}  // namespace sparing::train

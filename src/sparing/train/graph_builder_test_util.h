// Writes ONNX graphs for tests, node by node. The tensors a node "x" has for itself are called
// "x.weight", "x.bias", "x.scale" and so on: as Trainer::weights() names them.
#pragma once

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <onnx/onnx_pb.h>

#include "sparing/base/tensor_view.h"

namespace sparing::train {

// Numbers in (-1, 1) that look random and are the same everywhere.
class Noise {
 public:
  explicit Noise(std::uint32_t seed) : state_(seed * 2654435761u + 1) {}
  float next() {
    state_ = state_ * 1664525u + 1013904223u;
    return static_cast<float>(static_cast<std::int32_t>(state_ >> 8) - (1 << 23)) / (1 << 23);
  }
  std::vector<float> values(std::size_t count, float scale = 1, float offset = 0) {
    std::vector<float> result(count);
    for (float& value : result) value = offset + scale * next();
    return result;
  }

 private:
  std::uint32_t state_;
};

class GraphBuilder {
 public:
  using Ints = std::vector<std::int64_t>;

  explicit GraphBuilder(Shape input = {1, 4, 9, 7}, std::int64_t opset = 17, std::uint32_t seed = 1)
      : noise_(seed) {
    model_.set_ir_version(8);
    auto* version = model_.add_opset_import();
    version->set_version(opset);
    auto* value = graph().add_input();
    value->set_name("image");
    auto* type = value->mutable_type()->mutable_tensor_type();
    type->set_elem_type(onnx::TensorProto::FLOAT);
    for (const std::int64_t size : input) {
      auto* dimension = type->mutable_shape()->add_dim();
      if (size > 0) {
        dimension->set_dim_value(size);
      } else {
        dimension->set_dim_param("any");
      }
    }
  }

  onnx::GraphProto& graph() { return *model_.mutable_graph(); }
  onnx::ModelProto& model() { return model_; }

  std::string tensor(const std::string& name, const Shape& shape, std::vector<float> values) {
    auto* proto = graph().add_initializer();
    proto->set_name(name);
    proto->set_data_type(onnx::TensorProto::FLOAT);
    for (const std::int64_t size : shape) proto->add_dims(size);
    for (const float value : values) proto->add_float_data(value);
    return name;
  }
  std::string random(const std::string& name, const Shape& shape, float scale = 1,
                     float offset = 0) {
    const auto count = static_cast<std::size_t>(element_count(shape).value_or(0));
    return tensor(name, shape, noise_.values(count, scale, offset));
  }
  std::string integers(const std::string& name, const Ints& values) {
    auto* proto = graph().add_initializer();
    proto->set_name(name);
    proto->set_data_type(onnx::TensorProto::INT64);
    proto->add_dims(static_cast<std::int64_t>(values.size()));
    for (const std::int64_t value : values) proto->add_int64_data(value);
    return name;
  }

  // A node called `name`, whose output has the same name.
  std::string node(const std::string& op, const std::string& name,
                   const std::vector<std::string>& inputs) {
    auto* proto = graph().add_node();
    proto->set_op_type(op);
    proto->set_name(name);
    for (const std::string& input : inputs) proto->add_input(input);
    proto->add_output(name);
    return name;
  }
  // Attributes of the node added last.
  GraphBuilder& with(const std::string& name, std::int64_t value) {
    auto* attribute = add_attribute(name, onnx::AttributeProto::INT);
    attribute->set_i(value);
    return *this;
  }
  GraphBuilder& with(const std::string& name, float value) {
    auto* attribute = add_attribute(name, onnx::AttributeProto::FLOAT);
    attribute->set_f(value);
    return *this;
  }
  GraphBuilder& with(const std::string& name, const Ints& values) {
    auto* attribute = add_attribute(name, onnx::AttributeProto::INTS);
    for (const std::int64_t value : values) attribute->add_ints(value);
    return *this;
  }
  GraphBuilder& with(const std::string& name, const char* text) {
    auto* attribute = add_attribute(name, onnx::AttributeProto::STRING);
    attribute->set_s(text);
    return *this;
  }

  // Weights of a size that keeps outputs near 1.
  std::string conv(const std::string& name, const std::string& input, const Shape& weight,
                   bool bias = true, const char* op = "Conv") {
    const auto fan_in = static_cast<float>(weight[1] * weight[2] * weight[3]);
    std::vector<std::string> inputs{input,
                                    random(name + ".weight", weight, 1.7f / std::sqrt(fan_in))};
    if (bias) inputs.push_back(random(name + ".bias", {bias_size(weight, op)}, 0.3f));
    node(op, name, inputs);
    with("kernel_shape", Ints{weight[2], weight[3]});
    return name;
  }
  std::string same_conv(const std::string& name, const std::string& input, const Shape& weight) {
    conv(name, input, weight);
    with("pads", Ints{weight[2] / 2, weight[3] / 2, weight[2] / 2, weight[3] / 2});
    return name;
  }
  // Parameters named after `owner`: the convolution that it is folded into, or itself.
  std::string norm(const std::string& name, const std::string& input, std::int64_t channels,
                   const std::string& owner) {
    node("BatchNormalization", name,
         {input, random(owner + ".scale", {channels}, 0.5f, 1.0f),
          random(owner + ".shift", {channels}, 0.5f), random(owner + ".mean", {channels}, 0.3f),
          random(owner + ".variance", {channels}, 0.4f, 1.0f)});
    with("epsilon", 1e-3f);
    return name;
  }

  // The file, with `output` as the graph's output.
  std::string bytes(const std::string& output) {
    graph().clear_output();
    graph().add_output()->set_name(output);
    return model_.SerializeAsString();
  }

 private:
  static std::int64_t bias_size(const Shape& weight, std::string_view op) {
    return op == "Conv" ? weight[0] : weight[1];  // of a ConvTranspose without groups
  }
  onnx::AttributeProto* add_attribute(const std::string& name,
                                      onnx::AttributeProto::AttributeType type) {
    auto* attribute = graph().mutable_node(graph().node_size() - 1)->add_attribute();
    attribute->set_name(name);
    attribute->set_type(type);
    return attribute;
  }

  onnx::ModelProto model_;
  Noise noise_;
};

inline std::span<const std::byte> as_bytes(const std::string& text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

}  // namespace sparing::train

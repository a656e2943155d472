#include "sparing/train/onnx_graph.h"

#include <bit>
#include <cstring>
#include <optional>
#include <set>
#include <utility>

#include <onnx/onnx_pb.h>

namespace sparing::train {
namespace {

constexpr std::int64_t kMaxElements = std::int64_t{1} << 28;  // of one constant
constexpr std::size_t kMaxFile = std::size_t{1} << 30;

class Reader {
 public:
  explicit Reader(std::string_view name) { graph_.name = "model '" + std::string(name) + "'"; }

  Result<OnnxGraph> read(std::span<const std::byte> bytes) {
    onnx::ModelProto model;
    if (bytes.size() > kMaxFile) return error("larger than 1 GB", "give a smaller network");
    if (bytes.empty() || !model.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) ||
        !model.has_graph()) {
      return error("not an ONNX file, or a damaged one", "export the network again");
    }
    for (const auto& opset : model.opset_import()) {
      if (opset.domain().empty() || opset.domain() == "ai.onnx") graph_.opset = opset.version();
    }
    if (graph_.opset < 7) {
      return error("operator set " + std::to_string(graph_.opset), "export it with 11 or later");
    }
    for (const onnx::TensorProto& tensor : model.graph().initializer()) {
      SPARING_ASSIGN_OR_RETURN(OnnxTensor constant,
                               read_tensor(tensor, "initializer '" + tensor.name() + "'"));
      graph_.constants[tensor.name()] = std::move(constant);
    }
    if (model.graph().sparse_initializer_size() > 0) {
      return error("sparse initializers", "export it with dense ones");
    }
    SPARING_RETURN_IF_ERROR(read_nodes(model.graph()));
    SPARING_RETURN_IF_ERROR(read_ends(model.graph()));
    return std::move(graph_);
  }

 private:
  Error error(std::string problem, std::string fix) const {
    return Error{ErrorCode::kModel, graph_.name, std::move(problem), std::move(fix)};
  }

  static float from_half(std::uint16_t half) {
    const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000u) << 16;
    const std::uint32_t exponent = (half >> 10) & 31u;
    const std::uint32_t fraction = half & 1023u;
    if (exponent == 0) {
      const float value = static_cast<float>(fraction) * 0x1p-24f;
      return sign != 0 ? -value : value;
    }
    const std::uint32_t wide = exponent == 31 ? 255u : exponent + 112u;
    return std::bit_cast<float>(sign | (wide << 23) | (fraction << 13));
  }

  // Elements of raw_data, of type T in the file.
  template <class T>
  static std::vector<T> raw_elements(const std::string& raw) {
    std::vector<T> values(raw.size() / sizeof(T));
    if (!values.empty()) std::memcpy(values.data(), raw.data(), values.size() * sizeof(T));
    return values;
  }

  // The elements of raw_data, or of the field that the type otherwise lies in.
  template <class T, class Field, class Convert, class Out>
  static void convert(const onnx::TensorProto& tensor, const Field& field, Convert convert_one,
                      std::vector<Out>& out) {
    if (tensor.has_raw_data()) {
      for (const T value : raw_elements<T>(tensor.raw_data())) out.push_back(convert_one(value));
    } else {
      for (const auto value : field) out.push_back(convert_one(static_cast<T>(value)));
    }
  }

  Result<OnnxTensor> read_tensor(const onnx::TensorProto& tensor, const std::string& what) const {
    OnnxTensor result;
    result.shape.assign(tensor.dims().begin(), tensor.dims().end());
    const std::optional<std::int64_t> count = element_count(result.shape);
    if (!count || *count > kMaxElements) {
      return error(what + " has the shape " + to_string_shape(result.shape), "check the file");
    }
    if (tensor.data_location() == onnx::TensorProto::EXTERNAL || tensor.external_data_size() > 0) {
      return error(what + " lies in another file", "export the weights into the file itself");
    }
    const auto same = [](auto value) { return value; };
    const auto narrow = [](auto value) { return static_cast<float>(value); };
    const auto half = [](std::uint16_t value) { return from_half(value); };
    const auto brain = [](std::uint16_t value) {
      return std::bit_cast<float>(static_cast<std::uint32_t>(value) << 16);
    };
    const auto widen = [](auto value) { return static_cast<std::int64_t>(value); };
    std::vector<float>& floats = result.floats;
    std::vector<std::int64_t>& ints = result.ints;
    switch (tensor.data_type()) {
      case onnx::TensorProto::FLOAT:
        convert<float>(tensor, tensor.float_data(), same, floats);
        break;
      case onnx::TensorProto::DOUBLE:
        convert<double>(tensor, tensor.double_data(), narrow, floats);
        break;
      case onnx::TensorProto::FLOAT16:
        convert<std::uint16_t>(tensor, tensor.int32_data(), half, floats);
        break;
      case onnx::TensorProto::BFLOAT16:
        convert<std::uint16_t>(tensor, tensor.int32_data(), brain, floats);
        break;
      case onnx::TensorProto::INT64:
        convert<std::int64_t>(tensor, tensor.int64_data(), same, ints);
        break;
      case onnx::TensorProto::INT32:
        convert<std::int32_t>(tensor, tensor.int32_data(), widen, ints);
        break;
      default:
        return error(what + " has the data type " + std::to_string(tensor.data_type()),
                     "export the network in float32 or float16, not quantised");
    }
    result.is_float = tensor.data_type() != onnx::TensorProto::INT64 &&
                      tensor.data_type() != onnx::TensorProto::INT32;
    if (result.size() != static_cast<std::size_t>(*count)) {
      return error(what + " has " + std::to_string(result.size()) + " elements for the shape " +
                       to_string_shape(result.shape),
                   "check the file");
    }
    return result;
  }

  Result<OnnxAttribute> read_attribute(const onnx::AttributeProto& proto,
                                       const std::string& node) const {
    OnnxAttribute attribute;
    attribute.ints.assign(proto.ints().begin(), proto.ints().end());
    attribute.floats.assign(proto.floats().begin(), proto.floats().end());
    if (proto.has_i()) attribute.ints.insert(attribute.ints.begin(), proto.i());
    if (proto.has_f()) attribute.floats.insert(attribute.floats.begin(), proto.f());
    attribute.text = proto.s();
    if (proto.has_t()) {
      SPARING_ASSIGN_OR_RETURN(attribute.tensor, read_tensor(proto.t(), "node '" + node + "'"));
      attribute.has_tensor = true;
    }
    return attribute;
  }

  Status read_nodes(const onnx::GraphProto& graph) {
    for (const onnx::NodeProto& proto : graph.node()) {
      OnnxNode node;
      node.op = proto.op_type();
      if (!proto.domain().empty() && proto.domain() != "ai.onnx") {
        node.op = proto.domain() + "::" + node.op;
      }
      node.inputs.assign(proto.input().begin(), proto.input().end());
      node.outputs.assign(proto.output().begin(), proto.output().end());
      node.name = proto.name();
      if (node.name.empty() && !node.outputs.empty()) node.name = node.outputs[0];
      for (const onnx::AttributeProto& attribute : proto.attribute()) {
        SPARING_ASSIGN_OR_RETURN(OnnxAttribute value, read_attribute(attribute, node.name));
        node.attributes[attribute.name()] = std::move(value);
      }
      graph_.nodes.push_back(std::move(node));
    }
    return {};
  }

  Status read_ends(const onnx::GraphProto& graph) {
    const onnx::ValueInfoProto* input = nullptr;
    for (const onnx::ValueInfoProto& value : graph.input()) {
      // Before version 4 of the format, initializers were inputs too.
      if (graph_.constants.contains(value.name())) continue;
      if (input != nullptr) {
        return error("two inputs, '" + input->name() + "' and '" + value.name() + "'",
                     "give a network with one picture as input");
      }
      input = &value;
    }
    if (input == nullptr) return error("no input", "give a network with one picture as input");
    if (graph.output_size() == 0) return error("no output", "give a network with one output");
    graph_.input = input->name();
    graph_.output = graph.output(0).name();
    const onnx::TypeProto& type = input->type();
    const auto element = type.tensor_type().elem_type();
    if (element != onnx::TensorProto::FLOAT && element != onnx::TensorProto::FLOAT16) {
      return error("input '" + graph_.input + "' has the data type " + std::to_string(element),
                   "give a network with a float32 input");
    }
    for (const auto& dimension : type.tensor_type().shape().dim()) {
      const bool known = dimension.has_dim_value() && dimension.dim_value() > 0;
      graph_.input_shape.push_back(known ? dimension.dim_value() : -1);
    }
    if (graph_.input_shape.size() != 4) {
      return error(
          "input '" + graph_.input + "' has the shape " + to_string_shape(graph_.input_shape),
          "give a network with an input [N,C,H,W]");
    }
    return {};
  }

  OnnxGraph graph_;
};

}  // namespace

std::int64_t OnnxNode::integer(std::string_view attribute, std::int64_t otherwise) const {
  const auto found = attributes.find(attribute);
  return found == attributes.end() || found->second.ints.empty() ? otherwise
                                                                 : found->second.ints[0];
}

float OnnxNode::number(std::string_view attribute, float otherwise) const {
  const auto found = attributes.find(attribute);
  return found == attributes.end() || found->second.floats.empty() ? otherwise
                                                                   : found->second.floats[0];
}

std::string OnnxNode::text(std::string_view attribute, std::string_view otherwise) const {
  const auto found = attributes.find(attribute);
  return found == attributes.end() ? std::string(otherwise) : found->second.text;
}

std::vector<std::int64_t> OnnxNode::integers(std::string_view attribute) const {
  const auto found = attributes.find(attribute);
  return found == attributes.end() ? std::vector<std::int64_t>{} : found->second.ints;
}

Result<OnnxGraph> read_onnx(std::span<const std::byte> bytes, std::string_view name) {
  return Reader(name).read(bytes);
}

}  // namespace sparing::train

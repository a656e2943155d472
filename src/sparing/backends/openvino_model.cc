#include "sparing/backends/openvino_model.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <map>
#include <openvino/frontend/manager.hpp>
#include <system_error>
#include <utility>

#include "sparing/backends/openvino_error.h"
#include "sparing/base/check.h"

namespace sparing::openvino {
namespace {

namespace fs = std::filesystem;

struct TypeRow {
  DataType type;
  ov::element::Type_t engine;
};
// In the order of DataType.
constexpr std::array<TypeRow, kDataTypes.size()> kTypes{{
    {DataType::kFloat32, ov::element::f32},
    {DataType::kFloat16, ov::element::f16},
    {DataType::kBfloat16, ov::element::bf16},
    {DataType::kUint8, ov::element::u8},
    {DataType::kInt8, ov::element::i8},
    {DataType::kInt32, ov::element::i32},
    {DataType::kInt64, ov::element::i64},
}};

struct FormatRow {
  const char* extension;
  const char* frontend;  // the engine's reader
  const char* name;
};
constexpr std::array<FormatRow, 2> kFormats{{
    {".onnx", "onnx", "ONNX"},
    {".xml", "ir", "OpenVINO IR"},
}};

const FormatRow* find_format(const fs::path& file) {
  std::string extension = file.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const FormatRow& row : kFormats) {
    if (extension == row.extension) return &row;
  }
  return nullptr;
}

Error model_error(const std::string& thing, std::string problem, std::string fix) {
  return {ErrorCode::kModel, thing, std::move(problem), std::move(fix)};
}

Status check_file(const fs::path& file) {
  const std::string thing = model_thing(file);
  std::error_code error;
  const fs::file_status status = fs::status(file, error);
  if (!fs::exists(status)) return model_error(thing, "no such file", "check the path");
  if (!fs::is_regular_file(status)) return model_error(thing, "not a file", "name a model file");
  if (find_format(file) == nullptr) {
    return model_error(thing, "its extension is neither .onnx nor .xml",
                       "give an ONNX or an OpenVINO IR model");
  }
  if (!std::ifstream(file)) {
    return model_error(thing, "it cannot be read", "check its permissions");
  }
  return {};
}

// Asked of the one reader that the extension names: the engine itself would try all it has, and
// some of them print.
bool looks_like(const FormatRow& format, const fs::path& file) {
  ov::frontend::FrontEndManager manager;
  const auto reader = manager.load_by_framework(format.frontend);
  return reader && reader->supported(file.string());
}

// An engine tensor can have several names; the node has the one that the file gives to the input
// or output ("y/sink_port_0" for an output of ONNX).
template <class Port>
std::string operand_name(const Port& port) {
  const auto& names = port.get_names();
  std::string own = port.get_node()->get_friendly_name();
  own = own.substr(0, own.find("/sink_port_"));
  if (names.empty() || names.count(own) > 0) return own;
  return *std::min_element(names.begin(), names.end());
}

template <class Port>
Result<GraphOperand> describe(const std::string& thing, const Port& port) {
  const std::string name = operand_name(port);
  const auto type = data_type(port.get_element_type());
  if (!type) {
    return model_error(
        thing,
        "'" + name + "' holds " + port.get_element_type().get_type_name() +
            ", which tensors do not have",
        "add a Cast to one of float32, float16, bfloat16, uint8, int8, int32, int64");
  }
  return GraphOperand{name, {*type, to_shape(port.get_partial_shape())}};
}

Status fix_shapes(const std::string& thing, ov::Model& model, const webnn::ShapeMap& fixed) {
  SPARING_ASSIGN_OR_RETURN(const Operands operands, describe_operands(thing, model));
  SPARING_RETURN_IF_ERROR(webnn::check_fixed_shapes(thing, operands.inputs, fixed));
  if (fixed.empty()) return {};
  std::map<ov::Output<ov::Node>, ov::PartialShape> shapes;
  std::string text;
  for (std::size_t i = 0; i < operands.inputs.size(); ++i) {
    const auto found = fixed.find(operands.inputs[i].name);
    if (found == fixed.end()) continue;
    shapes[model.input(i)] = to_engine_shape(found->second);
    text += (text.empty() ? "" : ", ") + found->first + to_string_shape(found->second);
  }
  try {
    model.reshape(shapes);
  } catch (const std::exception& e) {
    return engine_error(ErrorCode::kModel, thing + " with " + text, e,
                        "give input shapes that the model can take");
  }
  return {};
}

}  // namespace

std::optional<DataType> data_type(const ov::element::Type& type) {
  for (const TypeRow& row : kTypes) {
    if (type == row.engine) return row.type;
  }
  return std::nullopt;
}

ov::element::Type element_type(DataType type) {
  return kTypes[static_cast<std::size_t>(type)].engine;
}

Shape to_shape(const ov::PartialShape& shape) {
  // A tensor of unknown rank would fit nothing; such graphs are refused where operands are read.
  SPARING_CHECK(shape.rank().is_static());
  Shape result;
  for (const ov::Dimension& dimension : shape) {
    result.push_back(dimension.is_static() ? dimension.get_length() : -1);
  }
  return result;
}

ov::Shape to_engine_shape(const Shape& shape) {
  ov::Shape result;
  for (const std::int64_t dimension : shape) {
    SPARING_CHECK(dimension >= 0);
    result.push_back(static_cast<std::size_t>(dimension));
  }
  return result;
}

std::string model_thing(const fs::path& file) { return "model '" + file.string() + "'"; }

Result<Operands> describe_operands(const std::string& thing, const ov::Model& model) {
  Operands operands;
  for (const bool input : {true, false}) {
    const auto ports = input ? model.inputs() : model.outputs();
    for (const auto& port : ports) {
      if (port.get_partial_shape().rank().is_dynamic()) {
        return model_error(thing, "'" + operand_name(port) + "' has no fixed number of dimensions",
                           "export the model with one");
      }
      SPARING_ASSIGN_OR_RETURN(auto operand, describe(thing, port));
      (input ? operands.inputs : operands.outputs).push_back(std::move(operand));
    }
  }
  return operands;
}

Result<std::shared_ptr<ov::Model>> read_model(ov::Core& core, const fs::path& file,
                                              const webnn::ShapeMap& fixed_input_shapes) {
  const std::string thing = model_thing(file);
  SPARING_RETURN_IF_ERROR(check_file(file));
  const FormatRow& format = *find_format(file);
  const std::string kind = std::string(format.name) + " model";
  std::shared_ptr<ov::Model> model;
  try {
    if (!looks_like(format, file)) {
      return model_error(thing, "not an " + kind, "give a file that is one");
    }
    model = core.read_model(file.string());
  } catch (const std::exception& e) {
    const std::string message = readable_message(e.what());
    const bool lacks_operator = message.find("No conversion rule") != std::string::npos;
    return model_error(thing, message,
                       lacks_operator ? "export it without these operators"
                                      : "check that the file is a whole " + kind);
  }
  SPARING_RETURN_IF_ERROR(fix_shapes(thing, *model, fixed_input_shapes));
  return model;
}

}  // namespace sparing::openvino

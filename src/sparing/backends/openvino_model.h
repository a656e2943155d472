// Reading a model file, and its inputs and outputs in our terms.
#pragma once

#include <filesystem>
#include <memory>
#include <openvino/openvino.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sparing/base/result.h"
#include "sparing/webnn/backend.h"

namespace sparing::openvino {

std::optional<DataType> data_type(const ov::element::Type& type);
ov::element::Type element_type(DataType type);

Shape to_shape(const ov::PartialShape& shape);  // -1 where dynamic
ov::Shape to_engine_shape(const Shape& shape);  // Precondition: no dimension is negative

struct Operands {
  std::vector<GraphOperand> inputs;
  std::vector<GraphOperand> outputs;
};

// Names are those of the file. kModel: an operand's element type is none of ours.
Result<Operands> describe_operands(const std::string& thing, const ov::Model& model);

// "model 'a.onnx'", as errors name it.
std::string model_thing(const std::filesystem::path& file);

// Reads an .onnx or .xml file and sets the given input shapes. kModel as Context::load_graph.
Result<std::shared_ptr<ov::Model>> read_model(ov::Core& core, const std::filesystem::path& file,
                                              const webnn::ShapeMap& fixed_input_shapes);

}  // namespace sparing::openvino

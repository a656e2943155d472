// The error conditions of the interface, none of which depends on the engine.
#include <algorithm>
#include <limits>
#include <set>

#include "sparing/webnn/impl.h"

namespace sparing {
namespace {

constexpr std::int64_t kMaxTensorBytes = std::int64_t{1} << 31;
constexpr int kMaxThreads = 1024;

Error invalid(std::string thing, std::string problem, std::string fix) {
  return {ErrorCode::kInvalidArgument, std::move(thing), std::move(problem), std::move(fix)};
}

}  // namespace

Status validate(const ContextOptions& options) {
  if (options.threads < 0 || options.threads > kMaxThreads) {
    return invalid("threads", std::to_string(options.threads) + " is out of range",
                   "give 0 (as many as cores) to " + std::to_string(kMaxThreads));
  }
  const int most = options.threads > 0 ? options.threads : kMaxThreads;
  if (options.streams < 1 || options.streams > most) {
    return invalid("streams", std::to_string(options.streams) + " is out of range",
                   "give 1 to " + std::to_string(most) + ", at most as many as threads");
  }
  const std::set<int> cores(options.cores.begin(), options.cores.end());
  if (!cores.empty() && *cores.begin() < 0) {
    return invalid("cores", std::to_string(*cores.begin()) + " is not a core",
                   "number them from 0");
  }
  if (cores.size() != options.cores.size()) {
    return invalid("cores", "a core is named twice", "name each once");
  }
  if (!cores.empty() && options.threads > static_cast<int>(cores.size())) {
    return invalid(
        "cores",
        std::to_string(cores.size()) + " for " + std::to_string(options.threads) + " threads",
        "name a core for each thread");
  }
  return {};
}

namespace webnn {
namespace {

std::string describe(DataType type, const Shape& shape) {
  return std::string(info(type).name) + to_string_shape(shape);
}

std::string operand_thing(const char* direction, const std::string& name) {
  return std::string(direction) + " '" + name + "'";
}

bool has_name(const std::vector<GraphOperand>& operands, const std::string& name) {
  return std::any_of(operands.begin(), operands.end(),
                     [&](const GraphOperand& operand) { return operand.name == name; });
}

// The first key of `map` that is no operand, as an error.
template <class Map>
Status check_names_known(const char* direction, const std::vector<GraphOperand>& operands,
                         const Map& map) {
  for (const auto& [name, unused] : map) {
    if (has_name(operands, name)) continue;
    return invalid(operand_thing(direction, name),
                   "the graph has no such " + std::string(direction),
                   "its " + std::string(direction) + "s are " + list_names(operands));
  }
  return {};
}

}  // namespace

std::string list_names(const std::vector<GraphOperand>& operands) {
  std::string text;
  for (const GraphOperand& operand : operands) {
    text += (text.empty() ? "'" : ", '") + operand.name + "'";
  }
  return text.empty() ? "none" : text;
}

bool shape_fits(const Shape& shape, const Shape& pattern) {
  return std::equal(
      shape.begin(), shape.end(), pattern.begin(), pattern.end(),
      [](std::int64_t size, std::int64_t wanted) { return wanted < 0 || size == wanted; });
}

Result<std::size_t> check_tensor_descriptor(const TensorDescriptor& descriptor) {
  const std::string thing = "tensor " + describe(descriptor.data_type, descriptor.shape);
  for (const std::int64_t dimension : descriptor.shape) {
    if (dimension < 1) {
      return invalid(thing, "a dimension of " + std::to_string(dimension),
                     "give dimensions of 1 or more");
    }
  }
  const auto count = element_count(descriptor.shape);
  const auto size = static_cast<std::int64_t>(info(descriptor.data_type).size);
  if (!count || *count > kMaxTensorBytes / size) {
    return invalid(thing, "larger than " + std::to_string(kMaxTensorBytes) + " bytes",
                   "use a smaller shape");
  }
  return static_cast<std::size_t>(*count * size);
}

Result<std::shared_ptr<TensorImpl>> check_tensor(const Tensor& tensor,
                                                 const std::shared_ptr<Scheduler>& scheduler) {
  if (!tensor) return invalid("tensor", "it is empty", "make it with create_tensor");
  if (tensor.impl()->scheduler != scheduler) {
    return invalid("tensor", "it belongs to another context", "use the context that created it");
  }
  return tensor.impl();
}

Result<OrderedTensors> match_operands(const char* direction,
                                      const std::vector<GraphOperand>& operands,
                                      const NamedTensors& tensors,
                                      const std::shared_ptr<Scheduler>& scheduler) {
  SPARING_RETURN_IF_ERROR(check_names_known(direction, operands, tensors));
  OrderedTensors ordered;
  for (const GraphOperand& operand : operands) {
    const std::string thing = operand_thing(direction, operand.name);
    const auto found = tensors.find(operand.name);
    if (found == tensors.end()) {
      return invalid(thing, "no tensor given", "give one for each " + std::string(direction));
    }
    auto checked = check_tensor(found->second, scheduler);
    if (!checked.ok()) {
      Error error = std::move(checked).error();
      error.thing += " for " + thing;
      return error;
    }
    const std::shared_ptr<TensorImpl>& tensor = *checked;
    if (scheduler->is_destroyed(*tensor)) {
      return invalid("tensor for " + thing, "it has been destroyed", "create a new one");
    }
    const TensorDescriptor& given = tensor->descriptor;
    const OperandDescriptor& wanted = operand.descriptor;
    if (given.data_type != wanted.data_type || !shape_fits(given.shape, wanted.shape)) {
      return invalid("tensor for " + thing, "it is " + describe(given.data_type, given.shape),
                     "the graph needs " + describe(wanted.data_type, wanted.shape));
    }
    ordered.push_back(tensor);
  }
  return ordered;
}

Status check_distinct(const OrderedTensors& inputs, const OrderedTensors& outputs) {
  std::set<const TensorImpl*> seen;
  for (const OrderedTensors* tensors : {&inputs, &outputs}) {
    for (const auto& tensor : *tensors) {
      if (seen.insert(tensor.get()).second) continue;
      return invalid("dispatch", "a tensor is given for two operands", "give each its own tensor");
    }
  }
  return {};
}

Status check_input_shapes(const std::vector<GraphOperand>& inputs, const ShapeMap& shapes) {
  SPARING_RETURN_IF_ERROR(check_names_known("input", inputs, shapes));
  for (const auto& [name, descriptor] : inputs) {
    const std::string thing = operand_thing("input", name);
    const auto found = shapes.find(name);
    if (found == shapes.end()) return invalid(thing, "no shape given", "give one for each input");
    const Shape& shape = found->second;
    const bool positive = std::all_of(shape.begin(), shape.end(), [](auto d) { return d > 0; });
    if (!positive || !shape_fits(shape, descriptor.shape)) {
      return invalid(thing, "shape " + to_string_shape(shape) + " does not fit",
                     "the graph needs " + to_string_shape(descriptor.shape));
    }
  }
  return {};
}

Status check_fixed_shapes(const std::string& model, const std::vector<GraphOperand>& inputs,
                          const ShapeMap& fixed_input_shapes) {
  for (const auto& [name, shape] : fixed_input_shapes) {
    const auto input =
        std::find_if(inputs.begin(), inputs.end(), [&name = name](const GraphOperand& one) {
          return one.name == name;  // clang 14 needs the capture named
        });
    if (input == inputs.end()) {
      return Error{ErrorCode::kModel, model, "it has no input '" + name + "'",
                   "its inputs are " + list_names(inputs)};
    }
    const bool sane = std::all_of(shape.begin(), shape.end(), [](auto d) { return d > 0; });
    if (!sane || !shape_fits(shape, input->descriptor.shape)) {
      return Error{ErrorCode::kModel, model,
                   "shape " + to_string_shape(shape) + " does not fit input '" + name + "'",
                   "it takes " + to_string_shape(input->descriptor.shape)};
    }
  }
  return {};
}

}  // namespace webnn
}  // namespace sparing

#include "sparing/backends/openvino_graph.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "sparing/backends/openvino_error.h"
#include "sparing/base/check.h"

namespace sparing::openvino {
namespace {

using webnn::Binding;
using webnn::RunResult;
using webnn::ShapeMap;

// Sizes that a user of dynamic shapes comes back to; forgetting all is cheap.
constexpr std::size_t kMaxRememberedShapes = 64;

bool is_static(const std::vector<GraphOperand>& operands) {
  return std::all_of(operands.begin(), operands.end(), [](const GraphOperand& operand) {
    const Shape& shape = operand.descriptor.shape;
    return std::all_of(shape.begin(), shape.end(), [](auto d) { return d >= 0; });
  });
}

// A view of our memory: the engine reads and writes it in place.
ov::Tensor wrap(const Binding& binding) {
  return {element_type(binding.data_type), to_engine_shape(binding.shape), binding.bytes.data()};
}

ov::CompiledModel compile(ov::Core& core, const std::shared_ptr<ov::Model>& model,
                          const CompileSettings& settings) {
  if (settings.properties.count(ov::cache_dir.name()) == 0) {
    return core.compile_model(model, settings.device, settings.properties);
  }
  try {
    return core.compile_model(model, settings.device, settings.properties);
  } catch (const std::exception&) {
    // A cache that is damaged or cannot be written must not keep the model from running; if the
    // model itself is at fault, this throws again.
    ov::AnyMap without_cache = settings.properties;
    without_cache.erase(ov::cache_dir.name());
    return core.compile_model(model, settings.device, without_cache);
  }
}

Status check_precision(const std::string& thing, const ov::CompiledModel& compiled,
                       const CompileSettings& settings) {
  const auto asked = settings.properties.find(ov::hint::inference_precision.name());
  if (asked == settings.properties.end()) return {};
  const auto wanted = asked->second.as<ov::element::Type>();
  const auto got = compiled.get_property(ov::hint::inference_precision);
  if (got == wanted) return {};
  return Error{ErrorCode::kNotSupported, thing,
               settings.device + " would compute in " + got.get_type_name() + " instead of " +
                   wanted.get_type_name(),
               "use --precision " + got.get_type_name()};
}

}  // namespace

Result<std::unique_ptr<OpenVinoGraph>> OpenVinoGraph::load(ov::Core& core,
                                                           const std::filesystem::path& file,
                                                           const ShapeMap& fixed_input_shapes,
                                                           const CompileSettings& settings) {
  const std::string thing = model_thing(file);
  SPARING_ASSIGN_OR_RETURN(const auto model, read_model(core, file, fixed_input_shapes));
  SPARING_ASSIGN_OR_RETURN(Operands operands, describe_operands(thing, *model));
  try {
    ov::CompiledModel compiled = compile(core, model, settings);
    SPARING_RETURN_IF_ERROR(check_precision(thing, compiled, settings));
    std::unique_ptr<OpenVinoGraph> graph(
        new OpenVinoGraph(thing, std::move(operands), std::move(compiled), settings));
    if (!is_static(graph->inputs()) || !is_static(graph->outputs())) graph->model_ = model;
    return graph;
  } catch (const std::exception& e) {
    return engine_error(ErrorCode::kModel, thing, e,
                        "use a model that " + settings.device + " can run");
  }
}

OpenVinoGraph::OpenVinoGraph(std::string thing, Operands operands, ov::CompiledModel compiled,
                             const CompileSettings& settings)
    : thing_(std::move(thing)),
      operands_(std::move(operands)),
      compiled_(std::move(compiled)),
      pins_(settings.cores) {
  for (int i = 0; i < settings.requests; ++i) {
    slots_.push_back(std::make_unique<Slot>());
    Slot* slot = slots_.back().get();
    slot->request = compiled_.create_infer_request();
    // Raw pointers: the request lives in the slot, and no run outlives the graph.
    slot->request.set_callback([slot, pins = &pins_](std::exception_ptr) {
      slot->end = Clock::now();
      pins->pin_this_thread();
    });
    free_slots_.push_back(slot);
  }
}

OpenVinoGraph::Slot& OpenVinoGraph::take_slot() {
  std::lock_guard lock(slots_mutex_);
  SPARING_CHECK(!free_slots_.empty());  // the context starts no more runs than there are slots
  Slot* slot = free_slots_.back();
  free_slots_.pop_back();
  return *slot;
}

void OpenVinoGraph::give_back(Slot& slot) {
  std::lock_guard lock(slots_mutex_);
  free_slots_.push_back(&slot);
}

RunResult OpenVinoGraph::run(std::span<const Binding> inputs, std::span<const Binding> outputs) {
  Slot& slot = take_slot();
  RunResult result;
  try {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      slot.request.set_input_tensor(i, wrap(inputs[i]));
    }
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      slot.request.set_output_tensor(i, wrap(outputs[i]));
    }
    const auto start = Clock::now();
    slot.request.start_async();
    slot.request.wait();
    result.seconds = std::chrono::duration<double>(slot.end - start).count();
    result.status = collect_outputs(slot, outputs);
  } catch (const std::exception& e) {
    result.status = explain_failure(inputs, outputs, e);
  }
  give_back(slot);
  return result;
}

Error OpenVinoGraph::wrong_output_shape(std::size_t index, const Shape& given,
                                        const Shape& right) const {
  return {ErrorCode::kInvalidArgument, "tensor for output '" + outputs()[index].name + "'",
          "its shape is " + to_string_shape(given), "these inputs give " + to_string_shape(right)};
}

Status OpenVinoGraph::collect_outputs(Slot& slot, std::span<const Binding> outputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const ov::Tensor made = slot.request.get_output_tensor(i);
    const Shape shape(made.get_shape().begin(), made.get_shape().end());
    if (shape != outputs[i].shape) return wrong_output_shape(i, outputs[i].shape, shape);
    if (made.data() == outputs[i].bytes.data()) continue;
    SPARING_CHECK(made.get_byte_size() == outputs[i].bytes.size());
    std::memcpy(outputs[i].bytes.data(), made.data(), made.get_byte_size());
    ++copied_outputs_;
  }
  return {};
}

// The engine's message for an output that does not fit speaks of its own memory, not of ours.
Status OpenVinoGraph::explain_failure(std::span<const Binding> inputs,
                                      std::span<const Binding> outputs,
                                      const std::exception& exception) {
  ShapeMap input_shapes;
  std::string text;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::string& name = this->inputs()[i].name;
    input_shapes[name] = inputs[i].shape;
    text += (text.empty() ? "" : ", ") + name + to_string_shape(inputs[i].shape);
  }
  if (const auto shapes = infer_output_shapes(input_shapes); shapes.ok()) {
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const auto right = shapes->find(this->outputs()[i].name);
      if (right == shapes->end() || right->second == outputs[i].shape) continue;
      return wrong_output_shape(i, outputs[i].shape, right->second);
    }
  }
  return engine_error(ErrorCode::kModel, thing_ + " with " + text, exception,
                      "give inputs that the model can take");
}

Result<ShapeMap> OpenVinoGraph::infer_output_shapes(const ShapeMap& input_shapes) {
  ShapeMap result;
  if (!model_) {
    for (const auto& [name, descriptor] : outputs()) result[name] = descriptor.shape;
    return result;
  }
  std::lock_guard lock(shapes_mutex_);
  if (const auto known = shapes_.find(input_shapes); known != shapes_.end()) return known->second;
  try {
    // Not Model::reshape(), which also searches for patterns to rewrite, and takes several times as
    // long. All inputs are set every time, so that it does not matter what an error left.
    for (std::size_t i = 0; i < inputs().size(); ++i) {
      model_->get_parameters().at(i)->set_partial_shape(
          to_engine_shape(input_shapes.at(inputs()[i].name)));
    }
    model_->validate_nodes_and_infer_types();
    for (std::size_t i = 0; i < outputs().size(); ++i) {
      const Shape shape = to_shape(model_->output(i).get_partial_shape());
      if (std::any_of(shape.begin(), shape.end(), [](auto d) { return d < 0; })) {
        return Error{ErrorCode::kNotSupported, thing_ + ", output '" + outputs()[i].name + "'",
                     "its shape " + to_string_shape(shape) + " depends on the inputs' values",
                     "use a model whose output shapes follow from its input shapes"};
      }
      result[outputs()[i].name] = shape;
    }
  } catch (const std::exception& e) {
    return engine_error(ErrorCode::kModel, thing_, e, "give input shapes that the model can take");
  }
  if (shapes_.size() >= kMaxRememberedShapes) shapes_.clear();
  shapes_[input_shapes] = result;
  return result;
}

}  // namespace sparing::openvino

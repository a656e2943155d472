#include "sparing/pipeline/frame_network.h"

#include <cstring>

#include "sparing/models/registry.h"
#include "sparing/pipeline/detector.h"

namespace sparing {
namespace {

template <class T>
void append_as_float(std::span<const std::byte> bytes, std::vector<float>& out) {
  const std::size_t count = bytes.size() / sizeof(T);
  out.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
    out[i] = static_cast<float>(value);
  }
}

// float32 outputs are read in place; class indices in integer outputs are converted.
Result<std::span<const float>> as_floats(const Tensor& tensor, std::span<const std::byte> bytes,
                                         std::vector<float>& storage) {
  switch (tensor.data_type()) {
    case DataType::kFloat32:
      return std::span<const float>(reinterpret_cast<const float*>(bytes.data()),
                                    bytes.size() / sizeof(float));
    case DataType::kInt32: append_as_float<std::int32_t>(bytes, storage); break;
    case DataType::kInt64: append_as_float<std::int64_t>(bytes, storage); break;
    case DataType::kUint8: append_as_float<std::uint8_t>(bytes, storage); break;
    case DataType::kInt8: append_as_float<std::int8_t>(bytes, storage); break;
    default:
      return Error{ErrorCode::kModel, "the model's outputs",
                   "type " + std::string(info(tensor.data_type()).name) + " cannot be decoded",
                   "export the model with float32 outputs"};
  }
  return std::span<const float>(storage);
}

// Visits all tensors at once: visit_tensor lends its bytes during its own call only.
Status visit_all(Context& context, NamedTensors::const_iterator it,
                 NamedTensors::const_iterator end, std::vector<HeadTensor>& views,
                 const std::function<Status()>& visit) {
  if (it == end) return visit();
  Status inner;
  std::vector<float> storage;
  const Status outer = context.visit_tensor(it->second, [&](std::span<const std::byte> bytes) {
    auto floats = as_floats(it->second, bytes, storage);
    if (!floats.ok()) {
      inner = std::move(floats).error();
      return;
    }
    views.push_back({it->first, it->second.shape(), *floats});
    inner = visit_all(context, std::next(it), end, views, visit);
  });
  return outer.ok() ? inner : outer;
}

// A graph with fixed height and width takes that size only.
void note_fixed_size(const GraphOperand& operand, ModelInput& input) {
  const bool nchw = input.layout == Layout::kNchw;
  const std::int64_t height = operand.descriptor.shape[nchw ? 2 : 1];
  const std::int64_t width = operand.descriptor.shape[nchw ? 3 : 2];
  if (height <= 0 || width <= 0) return;
  input.default_size = {static_cast<int>(width), static_cast<int>(height)};
  input.fixed_size = true;
}

}  // namespace

Status FrameNetwork::load(Context in, const Model& model, const std::string& size) {
  context = std::move(in);
  manifest = model.manifest;
  SPARING_ASSIGN_OR_RETURN(graph, context.load_graph(model.file));
  SPARING_RETURN_IF_ERROR(check_graph(manifest, graph));
  const GraphOperand& input = graph.inputs()[0];
  input_name = input.name;
  note_fixed_size(input, manifest.input);
  if (size.empty()) return {};
  SPARING_ASSIGN_OR_RETURN(requested_size, parse_size(size));
  // Any frame size shows whether the model takes the requested one.
  auto taken = sparing::input_size(manifest.input, requested_size, requested_size);
  return taken.ok() ? Status() : Status(std::move(taken).error());
}

Shape FrameNetwork::input_shape(Size size) const {
  return manifest.input.layout == Layout::kNchw ? Shape{1, 3, size.height, size.width}
                                                : Shape{1, size.height, size.width, 3};
}

Status FrameNetwork::prepare(FrameSlot& slot, Size size) {
  if (slot.input && slot.input_size == size) return {};
  const Shape shape = input_shape(size);
  auto [known, is_new] = output_shapes.try_emplace({size.width, size.height});
  if (is_new) {
    auto shapes = context.infer_output_shapes(graph, {{input_name, shape}});
    if (!shapes.ok()) {
      output_shapes.erase(known);
      return std::move(shapes).error();
    }
    known->second = std::move(*shapes);
  }
  FrameSlot fresh;
  fresh.input_size = size;
  SPARING_ASSIGN_OR_RETURN(fresh.input, context.create_tensor({DataType::kFloat32, shape,
                                                               /*readable=*/true,
                                                               /*writable=*/true}));
  for (const GraphOperand& output : graph.outputs()) {
    SPARING_ASSIGN_OR_RETURN(
        fresh.outputs[output.name],
        context.create_tensor({output.descriptor.data_type, known->second.at(output.name),
                               /*readable=*/true, /*writable=*/false}));
  }
  slot = std::move(fresh);
  return {};
}

VideoFrameImport FrameNetwork::import_settings(const VideoFrame& frame) const {
  VideoFrameImport source;
  source.frame = frame;
  source.layout = manifest.input.layout;
  source.options.mean = manifest.input.mean;
  source.options.std = manifest.input.std;
  source.options.order = manifest.input.order;
  return source;
}

Result<Affine> FrameNetwork::import(const VideoFrame& frame, FrameSlot& slot, Filter filter) {
  SPARING_RETURN_IF_ERROR(validate(frame));
  SPARING_ASSIGN_OR_RETURN(
      const Size size, sparing::input_size(manifest.input, display_size(frame), requested_size));
  SPARING_RETURN_IF_ERROR(prepare(slot, size));
  VideoFrameImport source = import_settings(frame);
  source.options.fit = manifest.input.fit;
  source.options.pad = manifest.input.pad;
  source.options.anchor = manifest.input.anchor;
  source.options.filter = filter;
  return context.write_tensor(slot.input, source);
}

Result<Completion> FrameNetwork::dispatch(const FrameSlot& slot) {
  return context.dispatch(graph, {{input_name, slot.input}}, slot.outputs);
}

Status FrameNetwork::visit(const FrameSlot& slot,
                           const std::function<Status(std::span<const HeadTensor>)>& read) {
  std::vector<HeadTensor> views;
  return visit_all(context, slot.outputs.begin(), slot.outputs.end(), views,
                   [&] { return read(views); });
}

}  // namespace sparing

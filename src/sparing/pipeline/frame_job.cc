#include "sparing/pipeline/frame_job.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

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

}  // namespace

Shape Detector::Impl::input_shape(Size size) const {
  return manifest.input.layout == Layout::kNchw ? Shape{1, 3, size.height, size.width}
                                                : Shape{1, size.height, size.width, 3};
}

Status Detector::Impl::prepare(FrameSlot& slot, Size size) {
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

VideoFrameImport Detector::Impl::import_settings(const VideoFrame& frame) const {
  VideoFrameImport source;
  source.frame = frame;
  source.layout = manifest.input.layout;
  source.options.mean = manifest.input.mean;
  source.options.std = manifest.input.std;
  source.options.order = manifest.input.order;
  return source;
}

Result<Affine> Detector::Impl::import(const VideoFrame& frame, FrameSlot& slot) {
  SPARING_RETURN_IF_ERROR(validate(frame));
  SPARING_ASSIGN_OR_RETURN(
      const Size size, sparing::input_size(manifest.input, display_size(frame), requested_size));
  SPARING_RETURN_IF_ERROR(prepare(slot, size));
  VideoFrameImport source = import_settings(frame);
  source.options.fit = manifest.input.fit;
  source.options.pad = manifest.input.pad;
  source.options.anchor = manifest.input.anchor;
  return context.write_tensor(slot.input, source);
}

Result<Completion> Detector::Impl::dispatch(const FrameSlot& slot) {
  return context.dispatch(graph, {{input_name, slot.input}}, slot.outputs);
}

std::vector<DropCount> drop_counts(const DetectionCounts& counts) {
  std::vector<DropCount> drops;
  const auto count = [&](const char* reason, std::int64_t n) {
    if (n > 0) drops.push_back({reason, n});
  };
  count("not finite", counts.not_finite);
  count("negative width or height", counts.inside_out);
  count("class without a label", counts.unknown_class);
  count("outside the frame", counts.outside_frame);
  return drops;
}

// Best first, without the lesser of overlapping boxes where the model wants that.
void Detector::Impl::keep_best(std::vector<Detection>& detections, int most,
                               DetectionCounts& counts) const {
  if (manifest.nms == NmsMode::kNone) {
    std::stable_sort(detections.begin(), detections.end(),
                     [](const Detection& a, const Detection& b) { return a.score > b.score; });
  } else {
    NmsOptions one_more = nms;  // shows whether the limit cuts anything
    one_more.max_detections = most + 1;
    non_maximum_suppression(detections, one_more);
  }
  if (detections.size() <= static_cast<std::size_t>(most)) return;
  ++counts.full_frames;
  detections.resize(static_cast<std::size_t>(most));
}

Result<std::vector<Detection>> Detector::Impl::read(const FrameSlot& slot, const Affine& to_display,
                                                    Size display, DetectionCounts& counts,
                                                    int pictures) {
  DecodeOptions decode_options;
  decode_options.input_size = slot.input_size;
  decode_options.score_threshold = score_threshold;
  DecodeResult decoded;
  std::vector<HeadTensor> views;
  SPARING_RETURN_IF_ERROR(
      visit_all(context, slot.outputs.begin(), slot.outputs.end(), views, [&]() -> Status {
        SPARING_ASSIGN_OR_RETURN(decoded, decode(manifest.head, views, decode_options));
        return {};
      }));
  counts.not_finite += decoded.dropped_not_finite;
  counts.inside_out += decoded.dropped_inside_out;
  counts.unknown_class += decoded.dropped_unknown_class;

  std::vector<Detection>& detections = decoded.detections;
  if (!class_wanted.empty()) {
    std::erase_if(detections, [&](const Detection& d) {
      const auto id = static_cast<std::size_t>(d.class_id);
      return id >= class_wanted.size() || !class_wanted[id];
    });
  }
  keep_best(detections, nms.max_detections * std::max(pictures, 1), counts);
  std::erase_if(detections, [&](Detection& d) {
    d.box = clip(map_box(to_display, d.box), display.width, display.height);
    const bool gone = d.box.area() <= 0;
    counts.outside_frame += gone ? 1 : 0;
    return gone;
  });
  return std::move(detections);
}

}  // namespace sparing

#include "sparing/streams/latency_meter.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <utility>

#include "sparing/pipeline/frame_job.h"

namespace sparing {
namespace {

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Noise of the size of normalised pixels: zeros could be cheaper than pictures.
Status fill_with_noise(Context& context, const Tensor& tensor) {
  std::vector<float> values(tensor.byte_size() / sizeof(float));
  std::minstd_rand random(1);
  for (float& value : values) value = static_cast<float>(random() % 4096) / 1024.0f - 2.0f;
  return context.write_tensor(tensor, std::as_bytes(std::span(values)));
}

}  // namespace

Result<LatencyMeter> LatencyMeter::create(Context context, const Model& model) {
  LatencyMeter meter;
  meter.context_ = std::move(context);
  meter.layout_ = model.manifest.input.layout;
  SPARING_ASSIGN_OR_RETURN(meter.graph_, meter.context_.load_graph(model.file));
  SPARING_RETURN_IF_ERROR(check_graph(model.manifest, meter.graph_));
  return meter;
}

Result<LatencyMeter> LatencyMeter::create(const Detector& detector) {
  const Detector::Impl& impl = detector.impl();
  LatencyMeter meter;
  meter.context_ = impl.context;
  meter.layout_ = impl.manifest.input.layout;
  meter.graph_ = impl.graph;
  return meter;
}

Result<LatencyMeter::Tensors> LatencyMeter::make_tensors(Size size) {
  const GraphOperand& input = graph_.inputs()[0];
  const Shape shape = layout_ == Layout::kNchw ? Shape{1, 3, size.height, size.width}
                                               : Shape{1, size.height, size.width, 3};
  Tensors tensors;
  SPARING_ASSIGN_OR_RETURN(
      const Tensor tensor,
      context_.create_tensor({input.descriptor.data_type, shape, false, /*writable=*/true}));
  SPARING_RETURN_IF_ERROR(fill_with_noise(context_, tensor));
  tensors.inputs.emplace(input.name, tensor);
  SPARING_ASSIGN_OR_RETURN(const auto shapes,
                           context_.infer_output_shapes(graph_, {{input.name, shape}}));
  for (const GraphOperand& output : graph_.outputs()) {
    SPARING_ASSIGN_OR_RETURN(
        Tensor out, context_.create_tensor({output.descriptor.data_type, shapes.at(output.name),
                                            /*readable=*/true, false}));
    tensors.outputs.emplace(output.name, std::move(out));
  }
  return tensors;
}

Status LatencyMeter::measure(Size size, int warm, int runs) {
  std::vector<Tensors> streams(static_cast<std::size_t>(context_.options().streams));
  for (Tensors& tensors : streams) {
    SPARING_ASSIGN_OR_RETURN(tensors, make_tensors(size));
  }
  std::vector<double> seconds;
  for (int i = 0; i < warm + runs; ++i) {
    std::vector<Completion> completions;
    for (const Tensors& tensors : streams) {
      SPARING_ASSIGN_OR_RETURN(completions.emplace_back(),
                               context_.dispatch(graph_, tensors.inputs, tensors.outputs));
    }
    for (const Completion& completion : completions) {
      SPARING_RETURN_IF_ERROR(completion.wait());
      if (i >= warm) seconds.push_back(completion.inference_seconds());
    }
  }
  auto found = std::find_if(samples_.begin(), samples_.end(),
                            [&](const Samples& samples) { return samples.size == size; });
  if (found == samples_.end()) found = samples_.insert(found, {size, {}});
  found->seconds.insert(found->seconds.end(), seconds.begin(), seconds.end());
  return {};
}

std::vector<ShapeLatency> LatencyMeter::results() const {
  std::vector<ShapeLatency> results;
  for (const Samples& samples : samples_) {
    results.push_back({samples.size, median(samples.seconds),
                       *std::min_element(samples.seconds.begin(), samples.seconds.end())});
  }
  return results;
}

Status measure_all(LatencyMeter& meter, const std::vector<Size>& sizes, int runs,
                   const std::stop_token& stop) {
  for (int round = 0; round <= runs; ++round) {
    for (const Size& size : sizes) {
      if (stop.stop_requested()) {
        return Error{ErrorCode::kInterrupted, "measurement", "stopped", "run it again"};
      }
      const bool first = round == 0;
      SPARING_RETURN_IF_ERROR(meter.measure(size, first ? 1 : 0, first ? 0 : 1));
    }
  }
  return {};
}

std::string processor_name(const ContextOptions& options) {
  std::string name = std::string(to_string(options.device_type)) + ":" +
                     std::string(to_string(options.precision)) + ":" +
                     std::to_string(options.threads);
  if (options.streams > 1) name += ":" + std::to_string(options.streams);
  return name;
}

Result<LatencyProfile> make_profile(const ModelManifest& manifest, const LatencyMeter& meter,
                                    const std::string& processor) {
  ProfiledProcessor profiled;
  profiled.model = manifest.name;
  profiled.processor = processor;
  std::vector<LatencyPoint> points;
  Size largest;
  for (const ShapeLatency& row : meter.results()) {
    points.push_back({row.size.width, row.size.height, row.seconds * 1e3});
    const auto area = [](Size size) { return std::int64_t{size.width} * size.height; };
    if (area(row.size) > area(largest)) largest = row.size;
  }
  const ModelInput& input = manifest.input;
  if (meter.context().options().device_type == DeviceType::kCpu && !input.fixed_size) {
    const int limit = input.max_size / input.multiple_of * input.multiple_of;
    largest = {limit, limit};
  }
  profiled.largest_width = largest.width;
  profiled.largest_height = largest.height;
  return LatencyProfile::create(std::move(profiled), std::move(points));
}

}  // namespace sparing

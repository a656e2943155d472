// OpenVINO's PrePostProcessor: a compiled model that is preprocessing and nothing else.
#include <openvino/core/preprocess/pre_post_process.hpp>
#include <openvino/openvino.hpp>

#include "import_contestant.h"

namespace sparing::bench {
namespace {

ov::element::Type element_type(DataType type) {
  switch (type) {
    case DataType::kFloat16: return ov::element::f16;
    case DataType::kUint8: return ov::element::u8;
    default: return ov::element::f32;
  }
}

ov::Shape tensor_shape(const ImportJob& job) {
  const auto height = static_cast<std::size_t>(job.output.height);
  const auto width = static_cast<std::size_t>(job.output.width);
  return job.layout == Layout::kNchw ? ov::Shape{1, 3, height, width}
                                     : ov::Shape{1, height, width, 3};
}

std::shared_ptr<ov::Model> build_model(const ImportJob& job) {
  auto input = std::make_shared<ov::op::v0::Parameter>(element_type(job.type), tensor_shape(job));
  auto model = std::make_shared<ov::Model>(
      ov::ResultVector{std::make_shared<ov::op::v0::Result>(input)}, ov::ParameterVector{input});
  ov::preprocess::PrePostProcessor processor(model);
  auto& info = processor.input();
  auto& tensor = info.tensor();
  tensor.set_element_type(ov::element::u8)
      .set_spatial_static_shape(static_cast<std::size_t>(job.source.height),
                                static_cast<std::size_t>(job.source.width));
  if (job.format == PixelFormat::kNv12) {
    tensor.set_color_format(ov::preprocess::ColorFormat::NV12_TWO_PLANES, {"y", "uv"});
  } else {
    tensor.set_layout("NHWC").set_color_format(ov::preprocess::ColorFormat::RGBX);
  }
  auto& steps = info.preprocess();
  steps.convert_color(ov::preprocess::ColorFormat::RGB);
  // Planes before resizing make f16 a fifth faster, and f32 slower.
  if (job.type == DataType::kFloat16) steps.convert_layout("NCHW");
  steps.resize(ov::preprocess::ResizeAlgorithm::RESIZE_LINEAR);
  if (job.type != DataType::kUint8) {
    const ImportOptions options = import_options(job, {});
    steps.convert_element_type(ov::element::f32)
        .mean({options.mean.begin(), options.mean.end()})
        .scale({options.std.begin(), options.std.end()});
    if (job.type == DataType::kFloat16) steps.convert_element_type(ov::element::f16);
  }
  info.model().set_layout(job.layout == Layout::kNchw ? "NCHW" : "NHWC");
  return processor.build();
}

// A plane without padding as the tensor that the model wants.
ov::Tensor plane_tensor(const Plane& plane, int height, int width, std::size_t channels) {
  const ov::Shape shape{1, static_cast<std::size_t>(height), static_cast<std::size_t>(width),
                        channels};
  return ov::Tensor(ov::element::u8, shape, const_cast<std::uint8_t*>(plane.data));
}

class OpenVinoRunner : public Runner {
 public:
  OpenVinoRunner(const ImportJob& job, int threads) : job_(job) {
    ov::CompiledModel model =
        core_.compile_model(build_model(job), "CPU", ov::inference_num_threads(threads),
                            ov::num_streams(1), ov::hint::inference_precision(ov::element::f32));
    request_ = model.create_infer_request();
  }

  Status run(const Shot& shot, const TensorView& tensor) override {
    const VideoFrame& frame = shot.frame;
    const int width = job_.source.width;
    const int height = job_.source.height;
    if (job_.format == PixelFormat::kNv12) {
      request_.set_input_tensor(0, plane_tensor(frame.planes[0], height, width, 1));
      request_.set_input_tensor(1, plane_tensor(frame.planes[1], height / 2, width / 2, 2));
    } else {
      request_.set_input_tensor(0, plane_tensor(frame.planes[0], height, width, 4));
    }
    request_.set_output_tensor(
        ov::Tensor(element_type(job_.type), tensor_shape(job_), tensor.data));
    request_.infer();
    return {};
  }

 private:
  const ImportJob& job_;
  ov::Core core_;
  ov::InferRequest request_;
};

}  // namespace

Result<std::unique_ptr<Runner>> make_openvino(const ImportJob& job, int threads) {
  if (job.part != Part::kWhole) return cannot("openvino", "its crop is fixed when compiled");
  if (job.filter == Filter::kArea) return cannot("openvino", "it has no area filter");
  return std::unique_ptr<Runner>(std::make_unique<OpenVinoRunner>(job, threads));
}

}  // namespace sparing::bench

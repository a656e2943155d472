// Maximum and average under a window, on oneDNN.
#include "sparing/train/kernels.h"
#include "sparing/train/layer.h"
#include "sparing/train/parallel.h"
#include "sparing/train/primitive_job.h"

namespace sparing::train {
namespace {

using dnnl::memory;

class PoolLayer final : public Layer {
 public:
  explicit PoolLayer(const LayerSetup& setup)
      : Layer(setup), forward_(setup.machine.engine), backward_(setup.machine.engine) {
    const Value& in = setup.input(0);
    const Value& out = setup.output();
    const Window& w = op().window;
    const auto algorithm = op().maximum          ? dnnl::algorithm::pooling_max
                           : op().counts_padding ? dnnl::algorithm::pooling_avg_include_padding
                                                 : dnnl::algorithm::pooling_avg_exclude_padding;
    const memory::dim batch = setup.machine.batch;
    in_desc_ = memory::desc({batch, in.channels, in.height, in.width}, memory::data_type::f32,
                            memory::format_tag::nhwc);
    out_desc_ = memory::desc({batch, out.channels, out.height, out.width}, memory::data_type::f32,
                             memory::format_tag::nhwc);
    const memory::dims strides{w.stride_h, w.stride_w}, kernel{w.kernel_h, w.kernel_w};
    const memory::dims dilation{w.dilation_h - 1, w.dilation_w - 1};
    const memory::dims before{w.top, w.left};
    const auto end = [](int size, int extent, int stride, int in_size, int pad) {
      return (size - 1) * stride + extent - in_size - pad;
    };
    const memory::dims after{
        end(out.height, (w.kernel_h - 1) * w.dilation_h + 1, w.stride_h, in.height, w.top),
        end(out.width, (w.kernel_w - 1) * w.dilation_w + 1, w.stride_w, in.width, w.left)};
    const dnnl::engine& engine = setup.machine.engine;
    const dnnl::primitive_attr attr = scratchpad_attr();
    const dnnl::pooling_forward::primitive_desc forward(
        engine,
        setup.backward ? dnnl::prop_kind::forward_training : dnnl::prop_kind::forward_inference,
        algorithm, in_desc_, out_desc_, strides, kernel, dilation, before, after, attr);
    forward_.set(forward, dnnl::pooling_forward(forward));
    forward_.input(DNNL_ARG_SRC, in_desc_, forward.src_desc());
    forward_.output(DNNL_ARG_DST, out_desc_, forward.dst_desc());
    if (!setup.backward) return;
    workspace_ = forward.workspace_desc();
    has_workspace_ = op().maximum && workspace_.get_size() > 0;
    const dnnl::pooling_backward::primitive_desc backward(engine, algorithm, in_desc_, out_desc_,
                                                          strides, kernel, dilation, before, after,
                                                          forward, attr);
    backward_.set(backward, dnnl::pooling_backward(backward));
    backward_.output(DNNL_ARG_DIFF_SRC, in_desc_, backward.diff_src_desc());
    backward_.input(DNNL_ARG_DIFF_DST, out_desc_, backward.diff_dst_desc());
    if (!has_workspace_) return;
    forward_.output(DNNL_ARG_WORKSPACE, workspace_, workspace_);
    backward_.input(DNNL_ARG_WORKSPACE, workspace_, workspace_);
  }

  LayerNeeds needs() const override {
    LayerNeeds needs;
    needs.forward_scratch = forward_.scratch_bytes();
    if (!setup_.backward) return needs;
    if (has_workspace_) needs.kept = workspace_.get_size();
    needs.backward_scratch = backward_.scratch_bytes();
    if (setup_.accumulate[0]) needs.backward_scratch += align_up(in_desc_.get_size());
    return needs;
  }

  void bind(const LayerMemory& memory) override {
    Layer::bind(memory);
    float* input = const_cast<float*>(memory.inputs[0]);  // oneDNN only reads it
    forward_.bind(
        {{DNNL_ARG_SRC, input}, {DNNL_ARG_DST, memory.output}, {DNNL_ARG_WORKSPACE, memory.kept}},
        memory.forward_scratch);
    if (!setup_.backward) return;
    std::byte* scratch = memory.backward_scratch;
    gradient_ = memory.input_gradients[0];
    if (setup_.accumulate[0]) {
      gradient_ = reinterpret_cast<float*>(scratch);
      scratch += align_up(in_desc_.get_size());
    }
    backward_.bind({{DNNL_ARG_DIFF_SRC, gradient_},
                    {DNNL_ARG_DIFF_DST, memory.output_gradient},
                    {DNNL_ARG_WORKSPACE, memory.kept}},
                   scratch);
  }

  void forward(bool) override { forward_.run(machine().stream); }

  void backward() override {
    backward_.run(machine().stream);
    if (!setup_.accumulate[0]) return;
    parallel_for(threads(), setup_.input(0).elements() * images(), 8192,
                 [&](std::size_t begin, std::size_t end) {
                   kernels().accumulate(memory_.input_gradients[0] + begin, gradient_ + begin,
                                        end - begin);
                 });
  }

 private:
  memory::desc in_desc_, out_desc_, workspace_;
  bool has_workspace_ = false;
  PrimitiveJob forward_, backward_;
  float* gradient_ = nullptr;
};

}  // namespace

std::unique_ptr<Layer> make_pool_layer(const LayerSetup& setup) {
  return std::make_unique<PoolLayer>(setup);
}

}  // namespace sparing::train

// Convolutions, also transposed, on oneDNN. A frozen batch norm behind is part of the weights:
//   y = s (w * x + b - mean) + shift,  s = scale / sqrt(variance + epsilon)
// With G and g the gradients for the weights s w and the offset of y that oneDNN computes with, the
// parameters have
//   dw = s G,  db = s g,  dshift = g,  ds = <w, G> + (b - mean) g,  dscale = ds / sqrt(...)
// because the sum of dy times the convolution's own output is <w, G>. So nothing of the batch norm
// is computed on pictures, forward or backward.
#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string_view>
#include <utility>

#include "sparing/train/depthwise.h"
#include "sparing/train/kernels.h"
#include "sparing/train/layer.h"
#include "sparing/train/parallel.h"
#include "sparing/train/primitive_job.h"

namespace sparing::train {
namespace {

using dnnl::memory;
using Tag = memory::format_tag;
using Type = memory::data_type;

// An activation as oneDNN's post-operation; the identity is none.
void append(dnnl::post_ops& ops, const Activation& activation) {
  if (activation.is_identity()) return;
  if (activation.kind == ActivationKind::kLeaky) {
    ops.append_eltwise(dnnl::algorithm::eltwise_relu, activation.slope, 0);
  } else if (activation.low == 0 && !std::isfinite(activation.high)) {
    ops.append_eltwise(dnnl::algorithm::eltwise_relu, 0, 0);
  } else {
    ops.append_eltwise(dnnl::algorithm::eltwise_clip_v2,
                       std::max(activation.low, std::numeric_limits<float>::lowest()),
                       std::min(activation.high, std::numeric_limits<float>::max()));
  }
}

// Plain loops stand for cases that a format has no code of its own for; they are a hundred times
// slower.
bool is_slow(const char* implementation) {
  return std::string_view(implementation).starts_with("ref");
}

// Shapes and paddings as oneDNN takes them.
struct Geometry {
  memory::dims source, target, weights, bias, strides, dilations, before, after;
  Tag plain = Tag::oihw;

  Geometry(const LayerSetup& setup) {  // NOLINT: one line at its only caller
    const Op& op = setup.op;
    const Value& in = setup.input(0);
    const Value& out = setup.output();
    const Window& w = op.window;
    const memory::dim images = setup.machine.batch;
    source = {images, in.channels, in.height, in.width};
    target = {images, out.channels, out.height, out.width};
    weights = {out.channels / op.groups, in.channels / op.groups, w.kernel_h, w.kernel_w};
    if (op.groups > 1) weights.insert(weights.begin(), op.groups);
    bias = {out.channels};
    strides = {w.stride_h, w.stride_w};
    dilations = {w.dilation_h - 1, w.dilation_w - 1};
    before = {w.top, w.left};
    after = {w.bottom, w.right};
    if (!op.transposed) {
      // What the last window leaves over counts as negative padding.
      const auto end = [](int size, int kernel, int dilation, int stride, int in_size, int pad) {
        return (size - 1) * stride + (kernel - 1) * dilation + 1 - in_size - pad;
      };
      after = {end(out.height, w.kernel_h, w.dilation_h, w.stride_h, in.height, w.top),
               end(out.width, w.kernel_w, w.dilation_w, w.stride_w, in.width, w.left)};
      plain = op.groups > 1 ? Tag::goihw : Tag::oihw;
    } else {
      plain = op.groups > 1 ? Tag::giohw : Tag::iohw;
    }
  }
};

// The convolution and the transposed one, which oneDNN has as two families of one form.
struct Plain {
  using Forward = dnnl::convolution_forward;
  using BackwardData = dnnl::convolution_backward_data;
  using BackwardWeights = dnnl::convolution_backward_weights;
  static constexpr auto kAlgorithm = dnnl::algorithm::convolution_direct;
};
struct Transposed {
  using Forward = dnnl::deconvolution_forward;
  using BackwardData = dnnl::deconvolution_backward_data;
  using BackwardWeights = dnnl::deconvolution_backward_weights;
  static constexpr auto kAlgorithm = dnnl::algorithm::deconvolution_direct;
};

// Calls use(offset, count, channel) for each run of weights, in ONNX's layout, that belong to one
// output channel.
template <class Use>
void for_each_run(const Op& op, int out_channels, std::size_t weights, const Use& use) {
  const auto outputs = static_cast<std::size_t>(out_channels);
  const auto kernel =
      static_cast<std::size_t>(op.window.kernel_h) * static_cast<std::size_t>(op.window.kernel_w);
  if (!op.transposed) {
    const std::size_t run = weights / outputs;
    for (std::size_t o = 0; o < outputs; ++o) use(o * run, run, o);
    return;
  }
  const auto groups = static_cast<std::size_t>(op.groups);
  const std::size_t per_group = outputs / groups;
  const std::size_t inputs = weights / kernel / per_group;  // of all groups
  for (std::size_t i = 0; i < inputs; ++i) {
    for (std::size_t o = 0; o < per_group; ++o) {
      const std::size_t channel = i / (inputs / groups) * per_group + o;
      use((i * per_group + o) * kernel, kernel, channel);
    }
  }
}

template <class Family>
class ConvLayer final : public Layer {
 public:
  explicit ConvLayer(const LayerSetup& setup)
      : Layer(setup),
        geometry_(setup),
        engine_(setup.machine.engine),
        bf16_(setup.machine.bf16),
        in_desc_(geometry_.source, Type::f32, Tag::nhwc),
        out_desc_(geometry_.target, Type::f32, Tag::nhwc),
        plain_desc_(geometry_.weights, Type::f32, geometry_.plain),
        bias_desc_(geometry_.bias, Type::f32, Tag::x),
        forward_(engine_),
        back_data_(engine_),
        back_weights_(engine_) {
    for (const int index : parameters_of(op())) {
      wants_weights_ |= setup.backward && setup.parameters.is_trained(index);
    }
    wants_input_ = setup.backward && setup.input_gradient[0];
    plain_.resize(setup.parameters.values(op().weight).size());
    offset_.resize(channels());
    scale_.assign(channels(), 1);
    make_forward();
    back_bf16_ = bf16_ && setup.machine.bf16_gradients;
    if (wants_input_ || wants_weights_) make_backward();
    if (own_data_ || own_weights_) {
      if (back_bf16_) {  // ours are float32, and so is then what oneDNN does beside them
        back_bf16_ = false;
        back_data_ = back_weights_ = PrimitiveJob(engine_);
        make_backward();
      }
      own_ = DepthwiseGradients(op(), setup.input(0), setup.output(), images(), threads());
    }
  }

  LayerNeeds needs() const override {
    LayerNeeds needs;
    needs.forward_scratch = forward_.scratch_bytes();
    if (keeps_narrow_source()) {
      needs.kept = narrow_bytes(geometry_.source);
    } else if (bf16_) {
      needs.forward_scratch += narrow_bytes(geometry_.source);
    }
    if (dnnl_weights()) needs.backward_scratch = back_weights_.scratch_bytes();
    if (dnnl_data()) {
      std::size_t bytes = back_data_.scratch_bytes();
      if (setup_.accumulate[0]) bytes += align_up(in_desc_.get_size());
      needs.backward_scratch = std::max(needs.backward_scratch, bytes);
    }
    if (back_bf16_) needs.backward_scratch += narrow_bytes(geometry_.target);
    needs.input_in_backward = wants_weights_ && !keeps_narrow_source();
    needs.output_in_backward = setup_.backward && !op().activation.is_identity();
    return needs;
  }

  void bind(const LayerMemory& memory) override {
    Layer::bind(memory);
    // oneDNN takes no pointers to constants, and does not write to these.
    float* const input = const_cast<float*>(memory.inputs[0]);
    void* source = input;
    std::byte* scratch = memory.forward_scratch;
    if (bf16_) {
      std::byte* narrow = keeps_narrow_source() ? memory.kept : scratch;
      if (!keeps_narrow_source()) scratch += narrow_bytes(geometry_.source);
      narrow_source_ = cast(input, in_desc_, narrow);
      source = narrow;
    }
    forward_.bind({{DNNL_ARG_SRC, source}, {DNNL_ARG_DST, memory.output}}, scratch);
    if (!dnnl_data() && !dnnl_weights()) return;
    scratch = memory.backward_scratch;
    void* gradient = memory.output_gradient;
    if (back_bf16_) {
      narrow_gradient_ = cast(memory.output_gradient, out_desc_, scratch);
      gradient = scratch;
      scratch += narrow_bytes(geometry_.target);
    }
    if (dnnl_weights()) {
      back_weights_.bind(
          {{DNNL_ARG_SRC, keeps_narrow_source() ? source : input}, {DNNL_ARG_DIFF_DST, gradient}},
          scratch);
    }
    if (dnnl_data()) {
      input_gradient_ = memory.input_gradients[0];
      if (setup_.accumulate[0]) {
        input_gradient_ = reinterpret_cast<float*>(scratch);
        scratch += align_up(in_desc_.get_size());
      }
      back_data_.bind({{DNNL_ARG_DIFF_SRC, input_gradient_}, {DNNL_ARG_DIFF_DST, gradient}},
                      scratch);
    }
  }

  void refresh() override {
    const std::span<const float> weight = values(op().weight);
    const Norm& norm = op().norm;
    for (std::size_t c = 0; c < channels(); ++c) {
      const float bias = op().bias == kNone ? 0.0f : values(op().bias)[c];
      if (norm.exists()) {
        scale_[c] = values(norm.scale)[c] * inverse_deviation(c);
        offset_[c] = (bias - values(norm.mean)[c]) * scale_[c] + values(norm.shift)[c];
      } else {
        offset_[c] = bias;
      }
    }
    for_each_run(op(), static_cast<int>(channels()), weight.size(),
                 [&](std::size_t at, std::size_t count, std::size_t c) {
                   for (std::size_t i = at; i < at + count; ++i) plain_[i] = weight[i] * scale_[c];
                 });
    dnnl::stream& stream = machine().stream;
    to_forward_.execute(stream, plain_memory_, forward_weights_);
    if (own_data_) own_.set_weights(plain_.data());
    if (dnnl_data()) {
      to_back_.execute(stream, plain_memory_, back_data_weights_);
    }
  }

  void forward(bool) override {
    if (bf16_) narrow_source_.run(machine().stream);
    forward_.run(machine().stream);
  }

  void backward() override {
    if (!op().activation.is_identity()) {
      parallel_for(threads(), setup_.output().elements() * images(), 8192,
                   [&](std::size_t begin, std::size_t end) {
                     kernels().mask(op().activation, memory_.output + begin,
                                    memory_.output_gradient + begin, end - begin);
                   });
    }
    dnnl::stream& stream = machine().stream;
    if (back_bf16_) narrow_gradient_.run(stream);
    if (own_weights_) {
      own_.weights(memory_.inputs[0], memory_.output_gradient, plain_.data(),
                   offset_gradient_.data());
    } else if (wants_weights_) {
      back_weights_.run(stream);
      from_back_.execute(stream, weight_gradient_, plain_memory_);
    }
    if (wants_weights_) chain_parameters();
    if (own_data_) {
      own_.data(memory_.output_gradient, memory_.input_gradients[0], setup_.accumulate[0]);
    } else if (wants_input_) {
      back_data_.run(stream);
      if (setup_.accumulate[0]) {
        parallel_for(threads(), setup_.input(0).elements() * images(), 8192,
                     [&](std::size_t begin, std::size_t end) {
                       kernels().accumulate(memory_.input_gradients[0] + begin,
                                            input_gradient_ + begin, end - begin);
                     });
      }
    }
  }

  std::size_t weight_bytes() const override {
    std::size_t bytes = plain_.size() * sizeof(float) + forward_weights_.get_desc().get_size();
    if (own_data_) bytes += plain_.size() * sizeof(float);
    if (dnnl_data()) bytes += back_data_weights_.get_desc().get_size();
    if (dnnl_weights()) bytes += weight_gradient_.get_desc().get_size();
    return bytes;
  }

 private:
  // What of the backward pass is oneDNN's.
  bool dnnl_data() const { return wants_input_ && !own_data_; }
  bool dnnl_weights() const { return wants_weights_ && !own_weights_; }

  // One filter a channel, in a form that oneDNN has no depthwise code for.
  bool leaves_to_us(const char* implementation) const {
    const bool depthwise = !op().transposed && op().groups == setup_.input(0).channels &&
                           op().groups == setup_.output().channels && op().groups > 1;
    return depthwise && !std::string_view(implementation).starts_with("jit_dw");
  }

  struct Cast {
    dnnl::reorder primitive;
    memory from, to;
    void run(dnnl::stream& stream) { primitive.execute(stream, from, to); }
  };

  // The step needs the input in bfloat16 alone, which is half of what it would keep otherwise.
  bool keeps_narrow_source() const { return back_bf16_ && wants_weights_; }
  static std::size_t narrow_bytes(const memory::dims& dims) {
    return align_up(memory::desc(dims, Type::bf16, Tag::nhwc).get_size());
  }
  Cast cast(float* from, const memory::desc& desc, std::byte* to) const {
    Cast cast{{},
              memory(desc, engine_, from),
              memory(memory::desc(desc.get_dims(), Type::bf16, Tag::nhwc), engine_, to)};
    cast.primitive = dnnl::reorder(cast.from, cast.to);
    return cast;
  }
  memory::desc narrow_if(bool narrow, const memory::desc& desc) const {
    return narrow ? memory::desc(desc.get_dims(), Type::bf16, Tag::nhwc) : desc;
  }

  std::size_t channels() const { return static_cast<std::size_t>(setup_.output().channels); }
  std::span<const float> values(int parameter) const {
    return std::as_const(setup_.parameters).values(parameter);
  }
  float inverse_deviation(std::size_t c) const {
    return 1.0f / std::sqrt(values(op().norm.variance)[c] + op().norm.epsilon);
  }

  auto forward_descriptor(Type type, Type out, Tag tag, const dnnl::primitive_attr& attr) const {
    const bool trains = wants_input_ || wants_weights_;
    return typename Family::Forward::primitive_desc(
        engine_, trains ? dnnl::prop_kind::forward_training : dnnl::prop_kind::forward_inference,
        Family::kAlgorithm, memory::desc(geometry_.source, type, tag),
        memory::desc(geometry_.weights, type, Tag::any), bias_desc_,
        memory::desc(geometry_.target, out, tag), geometry_.strides, geometry_.dilations,
        geometry_.before, geometry_.after, attr);
  }

  auto fastest_forward(const dnnl::primitive_attr& attr) const {
    const Type type = bf16_ ? Type::bf16 : Type::f32;
    auto descriptor = forward_descriptor(type, Type::f32, Tag::nhwc, attr);
    if (!is_slow(descriptor.impl_info_str())) return descriptor;
    return forward_descriptor(type, Type::f32, Tag::any, attr);
  }

  void make_forward() {
    dnnl::post_ops ops;
    append(ops, op().activation);
    dnnl::primitive_attr attr = scratchpad_attr();
    attr.set_post_ops(ops);
    auto descriptor = fastest_forward(attr);
    if (bf16_ && is_slow(descriptor.impl_info_str())) {
      bf16_ = false;
      descriptor = fastest_forward(attr);
    }
    forward_weights_ = memory(descriptor.weights_desc(), engine_);
    plain_memory_ = memory(plain_desc_, engine_, plain_.data());
    bias_memory_ = memory(bias_desc_, engine_, offset_.data());
    to_forward_ = dnnl::reorder(plain_memory_, forward_weights_);
    forward_.set(descriptor, typename Family::Forward(descriptor));
    forward_.input(DNNL_ARG_SRC, narrow_if(bf16_, in_desc_), descriptor.src_desc());
    forward_.output(DNNL_ARG_DST, out_desc_, descriptor.dst_desc());
    forward_.fixed(DNNL_ARG_WEIGHTS, forward_weights_);
    forward_.fixed(DNNL_ARG_BIAS, bias_memory_);
  }

  template <class Primitive, class Make>
  typename Primitive::primitive_desc fastest(const Make& make) const {
    typename Primitive::primitive_desc descriptor = make(Tag::nhwc);
    return is_slow(descriptor.impl_info_str()) ? make(Tag::any) : descriptor;
  }

  using ForwardDescriptor = typename Family::Forward::primitive_desc;

  void make_backward() {
    const Type type = back_bf16_ ? Type::bf16 : Type::f32;
    const ForwardDescriptor hint = forward_descriptor(type, type, Tag::nhwc, scratchpad_attr());
    if (wants_input_) make_back_data(type, hint);
    if (wants_weights_) make_back_weights(type, hint);
  }

  void make_back_data(Type type, const ForwardDescriptor& hint) {
    const auto descriptor = fastest<typename Family::BackwardData>([&](Tag tag) {
      return typename Family::BackwardData::primitive_desc(
          engine_, Family::kAlgorithm, memory::desc(geometry_.source, Type::f32, tag),
          memory::desc(geometry_.weights, type, Tag::any),
          memory::desc(geometry_.target, type, tag), geometry_.strides, geometry_.dilations,
          geometry_.before, geometry_.after, hint, scratchpad_attr());
    });
    own_data_ = leaves_to_us(descriptor.impl_info_str());
    if (own_data_) return;
    back_data_weights_ = memory(descriptor.weights_desc(), engine_);
    to_back_ = dnnl::reorder(plain_memory_, back_data_weights_);
    back_data_.set(descriptor, typename Family::BackwardData(descriptor));
    back_data_.output(DNNL_ARG_DIFF_SRC, in_desc_, descriptor.diff_src_desc());
    back_data_.input(DNNL_ARG_DIFF_DST, narrow_if(back_bf16_, out_desc_),
                     descriptor.diff_dst_desc());
    back_data_.fixed(DNNL_ARG_WEIGHTS, back_data_weights_);
  }

  void make_back_weights(Type type, const ForwardDescriptor& hint) {
    const auto descriptor = fastest<typename Family::BackwardWeights>([&](Tag tag) {
      return typename Family::BackwardWeights::primitive_desc(
          engine_, Family::kAlgorithm, memory::desc(geometry_.source, type, tag),
          memory::desc(geometry_.weights, Type::f32, Tag::any), bias_desc_,
          memory::desc(geometry_.target, type, tag), geometry_.strides, geometry_.dilations,
          geometry_.before, geometry_.after, hint, scratchpad_attr());
    });
    offset_gradient_.resize(channels());
    own_weights_ = leaves_to_us(descriptor.impl_info_str());
    if (own_weights_) return;
    weight_gradient_ = memory(descriptor.diff_weights_desc(), engine_);
    from_back_ = dnnl::reorder(weight_gradient_, plain_memory_);
    offset_gradient_memory_ = memory(bias_desc_, engine_, offset_gradient_.data());
    back_weights_.set(descriptor, typename Family::BackwardWeights(descriptor));
    back_weights_.input(DNNL_ARG_SRC, narrow_if(back_bf16_, in_desc_), descriptor.src_desc());
    back_weights_.input(DNNL_ARG_DIFF_DST, narrow_if(back_bf16_, out_desc_),
                        descriptor.diff_dst_desc());
    back_weights_.fixed(DNNL_ARG_DIFF_WEIGHTS, weight_gradient_);
    back_weights_.fixed(DNNL_ARG_DIFF_BIAS, offset_gradient_memory_);
  }

  // plain_ holds G, offset_gradient_ g; see the top of the file.
  void chain_parameters() {
    ParameterStore& store = setup_.parameters;
    const Norm& norm = op().norm;
    const std::span<const float> weight = values(op().weight);
    const std::span<float> weight_gradient = store.gradient(op().weight);
    std::vector<double> product(norm.exists() && store.is_trained(norm.scale) ? channels() : 0);
    for_each_run(op(), static_cast<int>(channels()), weight.size(),
                 [&](std::size_t at, std::size_t count, std::size_t c) {
                   if (!product.empty()) {
                     float sum = 0;
                     for (std::size_t i = at; i < at + count; ++i) sum += weight[i] * plain_[i];
                     product[c] += static_cast<double>(sum);
                   }
                   if (weight_gradient.empty()) return;
                   for (std::size_t i = at; i < at + count; ++i) {
                     weight_gradient[i] = plain_[i] * scale_[c];
                   }
                 });
    const auto each = [&](int parameter, const auto& gradient) {
      if (parameter == kNone || !store.is_trained(parameter)) return;
      const std::span<float> out = store.gradient(parameter);
      for (std::size_t c = 0; c < out.size(); ++c) out[c] = gradient(c);
    };
    each(op().bias, [&](std::size_t c) { return offset_gradient_[c] * scale_[c]; });
    each(norm.shift, [&](std::size_t c) { return offset_gradient_[c]; });
    each(norm.scale, [&](std::size_t c) {
      const float bias = op().bias == kNone ? 0.0f : values(op().bias)[c];
      const double centred = static_cast<double>(bias - values(norm.mean)[c]) *
                             static_cast<double>(offset_gradient_[c]);
      return static_cast<float>(product[c] + centred) * inverse_deviation(c);
    });
  }

  Geometry geometry_;
  dnnl::engine engine_;
  bool bf16_;  // forward
  memory::desc in_desc_, out_desc_, plain_desc_, bias_desc_;
  bool back_bf16_ = false;  // backward, too
  bool wants_weights_ = false;
  bool wants_input_ = false;
  bool own_data_ = false;  // own_ takes the place of oneDNN
  bool own_weights_ = false;
  DepthwiseGradients own_;
  Cast narrow_source_, narrow_gradient_;
  PrimitiveJob forward_, back_data_, back_weights_;
  std::vector<float> plain_;   // weights times scale, then the gradient for them; ONNX's layout
  std::vector<float> offset_;  // one a channel, as the following
  std::vector<float> scale_;
  std::vector<float> offset_gradient_;
  memory plain_memory_, bias_memory_, forward_weights_, back_data_weights_, weight_gradient_,
      offset_gradient_memory_;
  dnnl::reorder to_forward_, to_back_, from_back_;
  float* input_gradient_ = nullptr;
};

}  // namespace

std::unique_ptr<Layer> make_conv_layer(const LayerSetup& setup) {
  if (setup.op.transposed) return std::make_unique<ConvLayer<Transposed>>(setup);
  return std::make_unique<ConvLayer<Plain>>(setup);
}

}  // namespace sparing::train

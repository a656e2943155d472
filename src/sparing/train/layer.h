// One operation at work: primitives and pointers, made once.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include <oneapi/dnnl/dnnl.hpp>

#include "sparing/train/net.h"
#include "sparing/train/parameters.h"

namespace sparing::train {

// What all layers of a network share. Outlives them.
struct Machine {
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};
  int batch = 1;
  int threads = 1;
  bool bf16 = false;
  bool bf16_gradients = false;  // only together with bf16
  bool live_norms = false;
  float norm_momentum = 0.1f;
};

struct LayerSetup {
  const Net& net;
  const Op& op;
  Machine& machine;
  ParameterStore& parameters;
  bool backward = false;             // gradients pass the output
  std::vector<bool> input_gradient;  // ... and this input
  std::vector<bool> accumulate;      // to what is there already: not the first to write it

  const Value& input(std::size_t i) const { return net.value(op.inputs[i]); }
  const Value& output() const { return net.output_of(op); }
  std::size_t images() const { return static_cast<std::size_t>(machine.batch); }
};

// Memory that a layer wants, in bytes.
struct LayerNeeds {
  std::size_t kept = 0;  // from forward to backward
  std::size_t forward_scratch = 0;
  std::size_t backward_scratch = 0;
  bool input_in_backward = false;  // the inputs' pictures are read there
  bool output_in_backward = false;
};

// Where everything lies. Pictures are NHWC float32.
struct LayerMemory {
  std::vector<const float*> inputs;
  float* output = nullptr;
  std::vector<float*> input_gradients;  // null where none is wanted
  float* output_gradient = nullptr;     // backward may spoil it
  std::byte* kept = nullptr;
  std::byte* forward_scratch = nullptr;
  std::byte* backward_scratch = nullptr;
};

class Layer {
 public:
  explicit Layer(const LayerSetup& setup) : setup_(setup) {}
  virtual ~Layer() = default;
  Layer(const Layer&) = delete;
  Layer& operator=(const Layer&) = delete;

  virtual LayerNeeds needs() const = 0;
  // Once, before anything else but needs().
  virtual void bind(const LayerMemory& memory) { memory_ = memory; }
  // Parameters have changed: copies in other layouts are made anew.
  virtual void refresh() {}
  virtual void forward(bool keep) = 0;
  // From output_gradient to the gradients of parameters and inputs.
  virtual void backward() = 0;
  // Bytes of copies of the weights.
  virtual std::size_t weight_bytes() const { return 0; }

 protected:
  const Op& op() const { return setup_.op; }
  Machine& machine() { return setup_.machine; }
  int threads() const { return setup_.machine.threads; }
  std::size_t images() const { return setup_.images(); }

  const LayerSetup setup_;
  LayerMemory memory_;
};

// Throws dnnl::error when oneDNN cannot.
std::unique_ptr<Layer> make_layer(const LayerSetup& setup);
// The last of a network: from NHWC to planes of logits, enlarged on the way if `op` is a kResize.
// Its memory's output and output_gradient are planes.
std::unique_ptr<Layer> make_output_layer(const LayerSetup& setup);

// Used by make_layer().
std::unique_ptr<Layer> make_conv_layer(const LayerSetup& setup);
std::unique_ptr<Layer> make_pool_layer(const LayerSetup& setup);
std::unique_ptr<Layer> make_norm_layer(const LayerSetup& setup);
std::unique_ptr<Layer> make_resize_layer(const LayerSetup& setup);

}  // namespace sparing::train

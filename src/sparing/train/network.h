// A network that is ready to run: its layers, and all their memory in one block that is planned
// once.
#pragma once

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <vector>

#include "sparing/base/aligned_buffer.h"
#include "sparing/train/layer.h"
#include "sparing/train/memory_plan.h"
#include "sparing/train/net.h"
#include "sparing/train/parameters.h"
#include "sparing/train/trainer.h"

namespace sparing::train {

// oneDNN has no code for a layer.
struct LayerFailure : std::runtime_error {
  LayerFailure(const Op& op, const char* why)
      : std::runtime_error("node '" + op.name + "' (" + op.type + "): " + why) {}
};

class Network {
 public:
  // Throws LayerFailure, dnnl::error, std::bad_alloc.
  Network(Net net, const TrainerOptions& options, bool bf16);
  Network(const Network&) = delete;  // layers refer to it
  Network& operator=(const Network&) = delete;

  const Net& net() const { return net_; }
  ParameterStore& parameters() { return parameters_; }
  const ParameterStore& parameters() const { return parameters_; }
  const Value& input() const { return net_.value(0); }
  const Value& output() const { return net_.value(net_.output); }

  // NCHW planes.
  float* input_planes() { return reinterpret_cast<float*>(input_.data()); }
  std::byte* input_bytes() { return input_.data(); }
  float* logits() { return reinterpret_cast<float*>(logits_.data()); }
  const float* logits() const { return reinterpret_cast<const float*>(logits_.data()); }
  // For the loss to write before backward().
  float* logits_gradient() { return logits_gradient_; }

  void forward(bool keep);
  void backward();  // of the last forward(true)
  TrainerMemory memory() const;

 private:
  struct Blocks;
  void make_layers();
  void plan(const std::vector<LayerNeeds>& needs);
  void bind(const std::vector<LayerNeeds>& needs, const Blocks& blocks);

  std::size_t last() const { return net_.ops.size() - 1; }
  bool ends_with_resize() const { return net_.ops.back().kind == OpKind::kResize; }
  // Ticks of the plan: the input's conversion, each op, the output, the loss, and back.
  int forward_tick(std::size_t op) const { return static_cast<int>(op) + 1; }
  int output_tick() const { return static_cast<int>(net_.ops.size()) + 1; }
  int loss_tick() const { return output_tick() + 1; }
  int output_back_tick() const { return loss_tick() + 1; }
  int back_tick(std::size_t op) const {
    return output_back_tick() + static_cast<int>(net_.ops.size() - op);
  }

  Net net_;
  Machine machine_;
  ParameterStore parameters_;
  std::vector<std::unique_ptr<Layer>> layers_;  // by op; null for a resize at the end
  std::unique_ptr<Layer> output_;
  std::vector<bool> has_trained_;  // by op: refreshed when parameters change
  std::uint64_t generation_ = 0;   // of the parameters that layers know
  AlignedBuffer input_, logits_, block_;
  float* input_picture_ = nullptr;
  float* logits_gradient_ = nullptr;
  std::size_t kept_bytes_ = 0, unshared_bytes_ = 0;
};

}  // namespace sparing::train

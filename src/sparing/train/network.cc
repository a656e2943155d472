#include "sparing/train/network.h"

#include <algorithm>
#include <new>
#include <utility>

#include "sparing/train/kernels.h"
#include "sparing/train/parallel.h"

namespace sparing::train {
namespace {

AlignedBuffer allocate(std::size_t bytes) {
  AlignedBuffer buffer(bytes);
  if (bytes > 0 && buffer.data() == nullptr) throw std::bad_alloc();
  return buffer;
}

std::vector<bool> gradients_of_inputs(const Net& net, const Op& op) {
  std::vector<bool> wanted;
  for (const int input : op.inputs) {
    wanted.push_back(net.needs_gradient[static_cast<std::size_t>(input)]);
  }
  return wanted;
}

}  // namespace

// Indices of planned blocks; kNone for what does not exist.
struct Network::Blocks {
  std::vector<int> pictures, gradients;                      // by value
  std::vector<int> kept, forward_scratch, backward_scratch;  // by op, the output layer last
  int logits_gradient = kNone;
  std::vector<PlannedBlock> all;

  int add(std::size_t bytes, int first, int last) {
    if (bytes == 0) return kNone;
    all.push_back({bytes, first, last, 0});
    return static_cast<int>(all.size()) - 1;
  }
};

Network::Network(Net net, const TrainerOptions& options, bool bf16)
    : net_(std::move(net)), parameters_(net_, options) {
  const ThreadScope threads(options.threads);
  machine_.batch = options.batch;
  machine_.threads = options.threads;
  machine_.bf16 = bf16;
  machine_.bf16_gradients = bf16 && options.gradients != "f32";
  machine_.live_norms = options.batch_norm == "live";
  machine_.norm_momentum = static_cast<float>(options.batch_norm_momentum);
  const std::size_t images = static_cast<std::size_t>(machine_.batch);
  input_ = allocate(input().elements() * images * sizeof(float));
  logits_ = allocate(output().elements() * images * sizeof(float));
  make_layers();
}

void Network::make_layers() {
  std::vector<bool> written(net_.values.size());  // the value's gradient, going backwards
  const auto accumulates = [&](const std::vector<int>& inputs, const std::vector<bool>& wanted) {
    std::vector<bool> result;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const auto value = static_cast<std::size_t>(inputs[i]);
      result.push_back(wanted[i] && written[value]);
      if (wanted[i]) written[value] = true;
    }
    return result;
  };
  layers_.resize(net_.ops.size());
  std::vector<LayerNeeds> needs(net_.ops.size() + 1);
  {
    const Op& op = net_.ops.back();
    const std::vector<int> inputs = ends_with_resize() ? op.inputs : std::vector<int>{net_.output};
    const bool wanted = net_.needs_gradient[static_cast<std::size_t>(inputs[0])];
    LayerSetup setup{net_, op, machine_, parameters_, wanted, {wanted}, {}};
    setup.accumulate = accumulates(inputs, setup.input_gradient);
    output_ = make_output_layer(setup);
    needs.back() = output_->needs();
  }
  for (std::size_t i = net_.ops.size(); i-- > 0;) {
    const Op& op = net_.ops[i];
    if (i == last() && ends_with_resize()) continue;
    LayerSetup setup{net_,
                     op,
                     machine_,
                     parameters_,
                     net_.needs_gradient[static_cast<std::size_t>(op.output)],
                     gradients_of_inputs(net_, op),
                     {}};
    setup.accumulate = accumulates(op.inputs, setup.input_gradient);
    try {
      layers_[i] = make_layer(setup);
    } catch (const dnnl::error& error) {
      throw LayerFailure(op, error.what());
    }
    needs[i] = layers_[i]->needs();
  }
  for (const Op& op : net_.ops) {
    const std::vector<int> own = parameters_of(op);
    has_trained_.push_back(std::any_of(own.begin(), own.end(),
                                       [&](int index) { return parameters_.is_trained(index); }));
  }
  plan(needs);
}

void Network::plan(const std::vector<LayerNeeds>& needs) {
  const std::size_t images = static_cast<std::size_t>(machine_.batch);
  const std::size_t values = net_.values.size();
  std::vector<int> made(values, 0), last_read(values, 0), gradient_made(values, kNone);
  std::vector<int> gradient_read(values, kNone);
  const auto reads = [&](std::size_t op, const std::vector<int>& inputs, int tick, int back) {
    for (const int input : inputs) {
      const auto value = static_cast<std::size_t>(input);
      last_read[value] = std::max(last_read[value], tick);
      if (needs[op].input_in_backward) last_read[value] = std::max(last_read[value], back);
      if (!net_.needs_gradient[value]) continue;
      if (gradient_made[value] == kNone) gradient_made[value] = back;
      gradient_made[value] = std::min(gradient_made[value], back);
    }
  };
  const std::size_t layers = net_.ops.size();
  const bool resize = ends_with_resize();
  reads(layers, resize ? net_.ops.back().inputs : std::vector<int>{net_.output}, output_tick(),
        output_back_tick());
  for (std::size_t i = 0; i < layers; ++i) {
    const auto value = static_cast<std::size_t>(net_.ops[i].output);
    made[value] = forward_tick(i);
    gradient_read[value] = back_tick(i);
    if (i == last() && resize) continue;
    reads(i, net_.ops[i].inputs, forward_tick(i), back_tick(i));
    if (needs[i].output_in_backward) last_read[value] = std::max(last_read[value], back_tick(i));
  }
  Blocks blocks;
  for (std::size_t v = 0; v < values; ++v) {
    const bool exists = !(resize && static_cast<int>(v) == net_.output);
    const std::size_t bytes = exists ? net_.values[v].elements() * images * sizeof(float) : 0;
    blocks.pictures.push_back(blocks.add(bytes, made[v], std::max(made[v], last_read[v])));
    const bool gradient = exists && net_.needs_gradient[v] && gradient_made[v] != kNone;
    blocks.gradients.push_back(gradient ? blocks.add(bytes, gradient_made[v], gradient_read[v])
                                        : kNone);
  }
  for (std::size_t i = 0; i <= layers; ++i) {
    const int tick = i == layers ? output_tick() : forward_tick(i);
    const int back = i == layers ? output_back_tick() : back_tick(i);
    blocks.kept.push_back(blocks.add(needs[i].kept, tick, back));
    blocks.forward_scratch.push_back(blocks.add(needs[i].forward_scratch, tick, tick));
    blocks.backward_scratch.push_back(blocks.add(needs[i].backward_scratch, back, back));
  }
  const bool learns = std::any_of(net_.needs_gradient.begin(), net_.needs_gradient.end(),
                                  [](bool needed) { return needed; });
  if (learns) {
    blocks.logits_gradient =
        blocks.add(output().elements() * images * sizeof(float), loss_tick(), output_back_tick());
  }
  block_ = allocate(plan_memory(blocks.all));
  for (const PlannedBlock& block : blocks.all) {
    unshared_bytes_ += block.bytes;
    if (block.first < loss_tick() && block.last >= loss_tick()) kept_bytes_ += block.bytes;
  }
  bind(needs, blocks);
}

void Network::bind(const std::vector<LayerNeeds>& needs, const Blocks& blocks) {
  const auto bytes = [&](int index) {
    return index == kNone ? nullptr
                          : block_.data() + blocks.all[static_cast<std::size_t>(index)].offset;
  };
  const auto floats = [&](int index) { return reinterpret_cast<float*>(bytes(index)); };
  const auto picture = [&](int value) {
    return floats(blocks.pictures[static_cast<std::size_t>(value)]);
  };
  const auto gradient = [&](int value) {
    return floats(blocks.gradients[static_cast<std::size_t>(value)]);
  };
  input_picture_ = picture(0);
  logits_gradient_ = floats(blocks.logits_gradient);
  for (std::size_t i = 0; i < needs.size(); ++i) {
    const bool is_output = i == net_.ops.size();
    Layer* layer = is_output ? output_.get() : layers_[i].get();
    if (layer == nullptr) continue;
    const Op& op = is_output ? net_.ops.back() : net_.ops[i];
    LayerMemory memory;
    const bool reads_output = is_output && !ends_with_resize();
    for (const int input : reads_output ? std::vector<int>{net_.output} : op.inputs) {
      memory.inputs.push_back(picture(input));
      memory.input_gradients.push_back(gradient(input));
    }
    memory.output = is_output ? logits() : picture(op.output);
    memory.output_gradient = is_output ? logits_gradient_ : gradient(op.output);
    memory.kept = bytes(blocks.kept[i]);
    memory.forward_scratch = bytes(blocks.forward_scratch[i]);
    memory.backward_scratch = bytes(blocks.backward_scratch[i]);
    layer->bind(memory);
  }
}

void Network::forward(bool keep) {
  const ThreadScope threads(machine_.threads);
  if (generation_ != parameters_.generation()) {
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      if (layers_[i] != nullptr && (generation_ == 0 || has_trained_[i])) layers_[i]->refresh();
    }
    generation_ = parameters_.generation();
  }
  const std::size_t pixels = input().pixels();
  for (std::size_t image = 0; image < static_cast<std::size_t>(machine_.batch); ++image) {
    const std::size_t at = image * input().elements();
    parallel_for(machine_.threads, pixels, 4096, [&](std::size_t begin, std::size_t end) {
      kernels().from_planes(
          input_picture_ + at + begin * static_cast<std::size_t>(input().channels),
          input_planes() + at + begin, pixels, end - begin, input().channels, false);
    });
  }
  for (const auto& layer : layers_) {
    if (layer != nullptr) layer->forward(keep);
  }
  output_->forward(keep);
}

void Network::backward() {
  const ThreadScope threads(machine_.threads);
  output_->backward();
  for (std::size_t i = layers_.size(); i-- > 0;) {
    const auto output = static_cast<std::size_t>(net_.ops[i].output);
    if (layers_[i] != nullptr && net_.needs_gradient[output]) layers_[i]->backward();
  }
}

TrainerMemory Network::memory() const {
  TrainerMemory memory;
  std::size_t copies = 0;
  for (const auto& layer : layers_) copies += layer == nullptr ? 0 : layer->weight_bytes();
  memory.weights = static_cast<std::int64_t>(parameters_.bytes() + copies);
  memory.planned = static_cast<std::int64_t>(block_.size());
  memory.kept = static_cast<std::int64_t>(kept_bytes_);
  memory.unshared = static_cast<std::int64_t>(unshared_bytes_);
  memory.ends = static_cast<std::int64_t>(input_.size() + logits_.size());
  return memory;
}

}  // namespace sparing::train

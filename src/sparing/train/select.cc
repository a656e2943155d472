// Which parameters are trained, and where gradients must therefore pass.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "sparing/train/lower.h"

namespace sparing::train {
namespace {

bool enlarges(const Net& net, const Op& op) {
  if (op.kind == OpKind::kResize)
    return net.output_of(op).pixels() > net.value(op.inputs[0]).pixels();
  return op.kind == OpKind::kConv && op.transposed &&
         net.output_of(op).pixels() > net.value(op.inputs[0]).pixels();
}

// By op: whether it is, or depends on, one for which `root` holds.
template <class Root>
std::vector<bool> reached(const Net& net, Root&& root) {
  std::vector<bool> by_value(net.values.size());
  std::vector<bool> by_op;
  for (std::size_t i = 0; i < net.ops.size(); ++i) {
    const Op& op = net.ops[i];
    const bool is = root(i) || std::any_of(op.inputs.begin(), op.inputs.end(), [&](int input) {
                      return by_value[static_cast<std::size_t>(input)];
                    });
    by_op.push_back(is);
    by_value[static_cast<std::size_t>(op.output)] = is;
  }
  return by_op;
}

std::vector<bool> after_enlargement(const Net& net) {
  return reached(net, [&](std::size_t i) { return enlarges(net, net.ops[i]); });
}

bool has_parameters(const Op& op) { return !parameters_of(op).empty(); }

// The ops with parameters that option `train` names.
std::vector<bool> chosen(const Net& net, const std::string& train) {
  std::vector<bool> result(net.ops.size());
  std::size_t last = net.ops.size();
  bool any = false;
  const std::vector<bool> decoder = after_enlargement(net);
  for (std::size_t i = 0; i < net.ops.size(); ++i) {
    const Op& op = net.ops[i];
    if (!has_parameters(op)) continue;
    last = i;
    result[i] = train == "all" || (train == "decoder" && decoder[i]) ||
                (train == "batch_norm" && op.norm.exists());
    any |= result[i];
  }
  const bool fall_back = train == "last" || (train == "decoder" && !any);
  if (fall_back && last < net.ops.size()) result[last] = true;
  return result;
}

}  // namespace

Status select_trained(Net& net, const TrainerOptions& options) {
  std::vector<bool> trained = chosen(net, options.train);
  if (options.train_layers > 0) {
    int left = options.train_layers;
    for (std::size_t i = net.ops.size(); i-- > 0;) {
      if (trained[i] && left-- <= 0) trained[i] = false;
    }
  }
  if (!options.train_from.empty() && options.train_from != net.value(0).name) {
    const auto found = net.names.find(options.train_from);
    if (found == net.names.end()) {
      return Error{ErrorCode::kInvalidArgument, "--train-from",
                   net.name + " has no node or tensor '" + options.train_from + "'",
                   "give the name of a node of the graph"};
    }
    const std::vector<bool> after =
        reached(net, [&](std::size_t i) { return i == static_cast<std::size_t>(found->second); });
    for (std::size_t i = 0; i < trained.size(); ++i) trained[i] = trained[i] && after[i];
  }
  bool any = false;
  for (std::size_t i = 0; i < net.ops.size(); ++i) {
    for (const int index : parameters_of(net.ops[i])) {
      Parameter& parameter = net.parameter(index);
      const bool of_norm = parameter.part == Part::kScale || parameter.part == Part::kShift;
      parameter.trained =
          trained[i] && !parameter.is_statistic() && (options.train != "batch_norm" || of_norm);
      any |= parameter.trained;
    }
  }
  if (!any && options.train != "none") {
    return Error{ErrorCode::kInvalidArgument, "--train",
                 "'" + options.train + "' leaves " + net.name + " nothing to train",
                 "choose other layers, or none"};
  }
  net.needs_gradient.assign(net.values.size(), false);
  for (const Op& op : net.ops) {
    const std::vector<int> own = parameters_of(op);
    const bool needs =
        std::any_of(own.begin(), own.end(), [&](int i) { return net.parameter(i).trained; }) ||
        std::any_of(op.inputs.begin(), op.inputs.end(),
                    [&](int input) { return net.needs_gradient[static_cast<std::size_t>(input)]; });
    net.needs_gradient[static_cast<std::size_t>(op.output)] = needs;
  }
  return {};
}

std::vector<TrainerLayer> describe_layers(const Net& net) {
  std::vector<TrainerLayer> layers;
  const std::vector<bool> decoder = after_enlargement(net);
  for (std::size_t i = 0; i < net.ops.size(); ++i) {
    const Op& op = net.ops[i];
    if (!has_parameters(op)) continue;
    const Value& out = net.output_of(op);
    TrainerLayer layer;
    layer.name = op.name;
    layer.op = op.type;
    layer.channels = out.channels;
    layer.size = {out.width, out.height};
    layer.after_enlargement = decoder[i];
    for (const int index : parameters_of(op)) {
      const Parameter& parameter = net.parameter(index);
      if (!parameter.is_statistic()) {
        layer.parameters += static_cast<std::int64_t>(parameter.initial.size());
      }
      layer.trained |= parameter.trained;
    }
    if (op.kind == OpKind::kConv) {
      const Value& in = net.value(op.inputs[0]);
      const std::size_t weights = net.parameter(op.weight).initial.size();
      // Every weight meets each pixel of the output once, of a transposed one each of the input.
      layer.macs =
          static_cast<std::int64_t>(weights * (op.transposed ? in.pixels() : out.pixels()));
    }
    layers.push_back(std::move(layer));
  }
  return layers;
}

}  // namespace sparing::train

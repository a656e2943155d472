// From an ONNX graph to the network that the trainer runs: shapes, fusions, what is trained.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "sparing/base/result.h"
#include "sparing/train/net.h"
#include "sparing/train/onnx_graph.h"
#include "sparing/train/trainer.h"

namespace sparing::train {

// Folds batch norms into the convolutions before them unless they are live, and joins activations
// with what they follow. kModel: an operator that is not known (named), shapes that do not fit.
// kInvalidArgument: an input size that the graph does not take. Nothing is trained yet.
Result<Net> lower(OnnxGraph graph, const TrainerOptions& options);

// The operators of lower() on pictures, as ONNX spells them.
std::span<const std::string_view> lowered_operators();

// Marks the trained parameters and where gradients pass. kInvalidArgument: no such `train_from`,
// nothing of that kind to train.
Status select_trained(Net& net, const TrainerOptions& options);

// The layers with parameters, as Trainer::layers() shows them.
std::vector<TrainerLayer> describe_layers(const Net& net);

}  // namespace sparing::train

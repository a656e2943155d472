#include "sparing/train/lower.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <set>
#include <utility>

#include "sparing/train/constants.h"
#include "sparing/train/lowering.h"

namespace sparing::train {
namespace {

constexpr std::int64_t kMaxSide = 16384;
constexpr std::int64_t kMaxChannels = 65536;
constexpr std::int64_t kMaxElements = std::int64_t{1} << 28;  // of one value of one image
constexpr std::int64_t kMaxTotal = std::int64_t{1} << 30;     // of all values of the batch

struct Row {
  std::string_view op;
  Status (Lowering::*lower)(const OnnxNode&);
};

constexpr std::array kRows{
    Row{"Conv", &Lowering::conv},
    Row{"ConvTranspose", &Lowering::conv},
    Row{"BatchNormalization", &Lowering::batch_norm},
    Row{"Relu", &Lowering::activation},
    Row{"Clip", &Lowering::activation},
    Row{"LeakyRelu", &Lowering::activation},
    Row{"PRelu", &Lowering::prelu},
    Row{"HardSwish", &Lowering::activation},
    Row{"HardSigmoid", &Lowering::activation},
    Row{"Sigmoid", &Lowering::activation},
    Row{"Add", &Lowering::binary},
    Row{"Sum", &Lowering::sum},
    Row{"Sub", &Lowering::binary},
    Row{"Mul", &Lowering::binary},
    Row{"Div", &Lowering::binary},
    Row{"Concat", &Lowering::concat},
    Row{"Resize", &Lowering::resize},
    Row{"Upsample", &Lowering::resize},
    Row{"AveragePool", &Lowering::pool},
    Row{"MaxPool", &Lowering::pool},
    Row{"GlobalAveragePool", &Lowering::global_pool},
    Row{"ReduceMean", &Lowering::global_pool},
    Row{"Softmax", &Lowering::softmax},
    Row{"LogSoftmax", &Lowering::softmax},
    Row{"Identity", &Lowering::identity},
    Row{"Dropout", &Lowering::identity},
    Row{"Cast", &Lowering::identity},
    Row{"Pad", &Lowering::pad},
};

constexpr auto kNames = [] {
  std::array<std::string_view, kRows.size()> names{};
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = kRows[i].op;
  return names;
}();

}  // namespace

std::span<const std::string_view> lowered_operators() { return kNames; }

Lowering::Lowering(OnnxGraph graph, const TrainerOptions& options)
    : graph_(std::move(graph)), options_(options) {
  net_.name = graph_.name;
}

Error Lowering::error(const OnnxNode& node, std::string problem, std::string fix) const {
  return Error{ErrorCode::kModel, net_.name,
               "node '" + node.name + "' (" + node.op + "): " + std::move(problem), std::move(fix)};
}

Result<Net> Lowering::run() {
  SPARING_RETURN_IF_ERROR(start());
  for (const OnnxNode& node : graph_.nodes) SPARING_RETURN_IF_ERROR(step(node));
  SPARING_RETURN_IF_ERROR(finish());
  return std::move(net_);
}

// What leads to no output, as further heads do and what exporters leave over.
void Lowering::drop_unused_nodes() {
  std::set<std::string, std::less<>> needed{graph_.output};
  std::vector<OnnxNode> kept;
  for (auto node = graph_.nodes.rbegin(); node != graph_.nodes.rend(); ++node) {
    const bool used = std::any_of(node->outputs.begin(), node->outputs.end(),
                                  [&](const std::string& name) { return needed.contains(name); });
    if (!used) continue;
    needed.insert(node->inputs.begin(), node->inputs.end());
    kept.push_back(std::move(*node));
  }
  graph_.nodes.assign(std::make_move_iterator(kept.rbegin()), std::make_move_iterator(kept.rend()));
}

Status Lowering::start() {
  drop_unused_nodes();
  for (const OnnxNode& node : graph_.nodes) {
    for (const std::string& input : node.inputs) ++readers_[input];
  }
  ++readers_[graph_.output];
  const Shape& shape = graph_.input_shape;
  const std::array wanted{std::int64_t{options_.batch}, std::int64_t{-1},
                          std::int64_t{options_.height}, std::int64_t{options_.width}};
  Shape size = shape;
  for (std::size_t i : {0, 2, 3}) {
    // A batch of 1 in the file says no more than that nobody thought of others.
    const bool fixed = shape[i] > 0 && !(i == 0 && shape[i] == 1);
    if (wanted[i] > 0 && (!fixed || wanted[i] == shape[i])) {
      size[i] = wanted[i];
    } else if (wanted[i] > 0) {
      return Error{ErrorCode::kInvalidArgument, net_.name,
                   "its input is " + to_string_shape(shape) + ", not " + std::to_string(wanted[i]) +
                       (i == 0   ? " images"
                        : i == 2 ? " pixels high"
                                 : " pixels wide"),
                   "give the network's own size, or export it with dynamic axes"};
    }
  }
  if (size[1] < 0 || size[2] < 0 || size[3] < 0) {
    return Error{
        ErrorCode::kInvalidArgument, net_.name,
        "its input is " + to_string_shape(shape) + ", of no known size",
        size[1] < 0 ? "export it with a fixed number of channels" : "give a width and a height"};
  }
  if (size[2] > kMaxSide || size[3] > kMaxSide || size[1] > kMaxChannels ||
      size[1] * size[2] * size[3] > kMaxElements) {
    return Error{ErrorCode::kModel, net_.name, "its input is " + to_string_shape(size),
                 "give a smaller one"};
  }
  net_.values.push_back({graph_.input, static_cast<int>(size[1]), static_cast<int>(size[2]),
                         static_cast<int>(size[3])});
  producer_.push_back(kNone);
  pictures_[graph_.input] = Picture{0};
  return {};
}

Status Lowering::step(const OnnxNode& node) {
  if (node.outputs.empty()) return error(node, "no output", "check the file");
  for (const std::string& output : node.outputs) {
    if (!output.empty() && (pictures_.contains(output) || graph_.constants.contains(output))) {
      return error(node, "writes '" + output + "' once more", "check the file");
    }
  }
  bool any_picture = false;
  for (const std::string& input : node.inputs) {
    if (input.empty()) continue;
    const bool known = is_picture(input);
    if (!known && constant(input) == nullptr) {
      return error(node, "reads '" + input + "', which nothing before it makes",
                   "check the file; its nodes must be in order");
    }
    any_picture |= known;
  }
  if (any_picture && node.op == "Shape") {
    const Value& shown = value(pictures_.at(node.inputs[0]).value);
    OnnxTensor shape;
    shape.is_float = false;
    shape.shape = {4};
    shape.ints = {options_.batch, shown.channels, shown.height, shown.width};
    graph_.constants[node.outputs[0]] = std::move(shape);
    return {};
  }
  if (!any_picture) return fold(node);
  const auto row =
      std::find_if(kRows.begin(), kRows.end(), [&](const Row& r) { return r.op == node.op; });
  if (row == kRows.end()) {
    return error(node, "the trainer has no operator " + node.op,
                 "replace it in the network, or train another one");
  }
  if (node.inputs.empty() || !is_picture(node.inputs[0])) {
    // Add and its like take a constant first, too.
    if (row->lower != &Lowering::binary && row->lower != &Lowering::concat) {
      return error(node, "weights that are computed from the picture", "train another network");
    }
  }
  for (const std::string& input : node.inputs) {
    if (is_picture(input) && pictures_.at(input).is_softmax && row->lower != &Lowering::identity) {
      return error(node, "a Softmax that is not the end of the network",
                   "train a network with its Softmax at the end, or none");
    }
  }
  return (this->*row->lower)(node);
}

Status Lowering::fold(const OnnxNode& node) {
  std::vector<const OnnxTensor*> inputs;
  for (const std::string& input : node.inputs) inputs.push_back(constant(input));
  if (!is_constant_operator(node.op)) {
    return error(node, "the trainer has no operator " + node.op + " of constants",
                 "export the network with constants folded");
  }
  Result<OnnxTensor> folded = fold_constant(node, inputs);
  if (!folded.ok()) return error(node, folded.error().problem, folded.error().fix);
  graph_.constants[node.outputs[0]] = *std::move(folded);
  return {};
}

Status Lowering::finish() {
  const auto found = pictures_.find(graph_.output);
  if (found == pictures_.end() || found->second.value == 0) {
    return Error{ErrorCode::kModel, net_.name,
                 "output '" + graph_.output + "' does not come from the picture", "check the file"};
  }
  if (found->second.padded()) {
    return Error{ErrorCode::kModel, net_.name, "a Pad at the end", "leave it out"};
  }
  net_.output = found->second.value;
  const Value& output = net_.value(net_.output);
  if (output.channels > kMaxClasses) {
    return Error{ErrorCode::kModel, net_.name,
                 "output '" + graph_.output + "' has " + std::to_string(output.channels) +
                     " channels, more than " + std::to_string(kMaxClasses) + " classes",
                 "give a network for segmentation"};
  }
  // Only a picture whose size alone is asked for can be left over here.
  std::vector<bool> needed(net_.values.size());
  needed[static_cast<std::size_t>(net_.output)] = true;
  for (auto op = net_.ops.rbegin(); op != net_.ops.rend(); ++op) {
    if (!needed[static_cast<std::size_t>(op->output)]) {
      return Error{ErrorCode::kModel, net_.name,
                   "node '" + op->name + "' (" + op->type + ") leads to no output",
                   "export the network with one output"};
    }
    for (const int input : op->inputs) needed[static_cast<std::size_t>(input)] = true;
  }
  std::int64_t total = 0;
  for (const Value& value : net_.values) {
    total += static_cast<std::int64_t>(value.elements()) * options_.batch;
    if (total > kMaxTotal) {
      return Error{ErrorCode::kModel, net_.name, "its pictures take more than 4 GB",
                   "give a smaller input"};
    }
  }
  return {};
}

const OnnxTensor* Lowering::constant(std::string_view tensor) const {
  const auto found = graph_.constants.find(tensor);
  return tensor.empty() || found == graph_.constants.end() ? nullptr : &found->second;
}

const OnnxTensor* Lowering::constant_input(const OnnxNode& node, std::size_t index) const {
  return index < node.inputs.size() ? constant(node.inputs[index]) : nullptr;
}

Result<Lowering::Picture> Lowering::padded_input(const OnnxNode& node, std::size_t index) const {
  const auto found =
      index < node.inputs.size() ? pictures_.find(node.inputs[index]) : pictures_.end();
  if (found == pictures_.end()) {
    return error(node, "input " + std::to_string(index) + " is no picture", "check the file");
  }
  return found->second;
}

Result<int> Lowering::picture_input(const OnnxNode& node, std::size_t index) const {
  SPARING_ASSIGN_OR_RETURN(const Picture picture, padded_input(node, index));
  if (picture.padded()) {
    return error(node, "follows a Pad, which only convolutions and average pooling take over",
                 "train another network");
  }
  return picture.value;
}

Result<std::vector<float>> Lowering::numbers(const OnnxNode& node, std::size_t index,
                                             std::size_t count) const {
  const OnnxTensor* tensor = constant_input(node, index);
  const std::string what = "input " + std::to_string(index);
  if (tensor == nullptr || !tensor->is_float) {
    return error(node, what + " is no constant of numbers", "train another network");
  }
  if (tensor->size() != count) {
    return error(node,
                 what + " has the shape " + to_string_shape(tensor->shape) + ", not " +
                     std::to_string(count) + " elements",
                 "check the file");
  }
  for (const float number : tensor->floats) {
    if (!std::isfinite(number))
      return error(node, what + " has a NaN or infinity", "check the file");
  }
  return tensor->floats;
}

Status Lowering::add(const OnnxNode& node, Op op, int channels, std::int64_t height,
                     std::int64_t width) {
  if (height < 1 || width < 1 || height > kMaxSide || width > kMaxSide || channels < 1 ||
      channels > kMaxChannels || height * width * channels > kMaxElements) {
    return error(node,
                 "makes a picture of " + std::to_string(width) + "x" + std::to_string(height) +
                     " with " + std::to_string(channels) + " channels",
                 "give another input size, or check the file");
  }
  const int index = static_cast<int>(net_.ops.size());
  const int made = static_cast<int>(net_.values.size());
  op.name = node.name;
  op.type = node.op;
  op.output = made;
  net_.values.push_back(
      {node.outputs[0], channels, static_cast<int>(height), static_cast<int>(width)});
  producer_.push_back(index);
  net_.ops.push_back(std::move(op));
  pictures_[node.outputs[0]] = Picture{made};
  net_.names.emplace(node.outputs[0], index);
  net_.names.emplace(node.name, index);
  return {};
}

void Lowering::fuse(const OnnxNode& node, int index) {
  const int made = op(index).output;
  net_.values[static_cast<std::size_t>(made)].name = node.outputs[0];
  pictures_[node.outputs[0]] = Picture{made};
  net_.names.emplace(node.outputs[0], index);
  net_.names.emplace(node.name, index);
}

std::optional<int> Lowering::fusable(int value) const {
  const int index = producer_[static_cast<std::size_t>(value)];
  if (index == kNone) return std::nullopt;
  const auto readers = readers_.find(net_.value(value).name);
  if (readers == readers_.end() || readers->second != 1) return std::nullopt;
  return index;
}

void Lowering::alias(const OnnxNode& node, const Picture& picture) {
  const std::string& name = value(picture.value).name;
  // Whoever reads the output reads the picture, in the place of this node.
  readers_[name] += readers_[node.outputs[0]] - 1;
  pictures_[node.outputs[0]] = picture;
  const int made_by = producer_[static_cast<std::size_t>(picture.value)];
  if (made_by == kNone) return;
  net_.names.emplace(node.outputs[0], made_by);
  net_.names.emplace(node.name, made_by);
}

int Lowering::add_parameter(const OnnxNode& node, Part part, std::vector<float> values) {
  net_.parameters.push_back({node.name, part, std::move(values), false});
  return static_cast<int>(net_.parameters.size()) - 1;
}

Result<Net> lower(OnnxGraph graph, const TrainerOptions& options) {
  return Lowering(std::move(graph), options).run();
}

}  // namespace sparing::train

// Activations, sums and products, concatenation, resizing: what has no weights of a window.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "sparing/train/lowering.h"

namespace sparing::train {
namespace {

// A constant's numbers for pictures of so many channels: one for all, or one a channel.
std::optional<std::vector<float>> per_channel(const OnnxTensor& tensor, int channels) {
  if (!tensor.is_float) return std::nullopt;
  if (tensor.size() == 1) return tensor.floats;
  Shape shape = tensor.shape;
  while (shape.size() < 4) shape.insert(shape.begin(), 1);
  if (shape != Shape{1, channels, 1, 1}) return std::nullopt;
  return tensor.floats;
}

// Where an output pixel's centre lies among `in` input pixels.
struct Grid {
  std::string mode;
  std::int64_t in = 0;
  std::int64_t out = 0;
  double scale = 1;  // out over in, as the file says it

  double source(std::int64_t i) const {
    const auto x = static_cast<double>(i);
    if (mode == "align_corners") {
      return out == 1 ? 0 : x * static_cast<double>(in - 1) / static_cast<double>(out - 1);
    }
    if (mode == "asymmetric") return x / scale;
    if (mode == "pytorch_half_pixel" && out == 1) return 0;
    return (x + 0.5) / scale - 0.5;
  }
};

Taps linear_taps(const Grid& grid) {
  Taps result;
  for (std::int64_t i = 0; i < grid.out; ++i) {
    const double limit = static_cast<double>(grid.in - 1);
    const double source = std::clamp(grid.source(i), 0.0, limit);
    const double first = std::floor(source);
    Taps::Tap tap;
    tap.first = static_cast<int>(first);
    tap.second = static_cast<int>(std::min(first + 1, limit));
    tap.weight = static_cast<float>(1 - (source - first));
    result.taps.push_back(tap);
  }
  return result;
}

std::optional<Taps> nearest_taps(const Grid& grid, const std::string& rounding) {
  Taps result;
  for (std::int64_t i = 0; i < grid.out; ++i) {
    const double source = grid.source(i);
    double nearest = 0;
    if (rounding == "round_prefer_floor") {
      nearest = std::ceil(source - 0.5);
    } else if (rounding == "round_prefer_ceil") {
      nearest = std::floor(source + 0.5);
    } else if (rounding == "floor") {
      nearest = std::floor(source);
    } else if (rounding == "ceil") {
      nearest = std::ceil(source);
    } else {
      return std::nullopt;
    }
    const int index = static_cast<int>(std::clamp(nearest, 0.0, static_cast<double>(grid.in - 1)));
    result.taps.push_back({index, index, 1});
  }
  return result;
}

}  // namespace

Status Lowering::add_activation(const OnnxNode& node, const Activation& activation, int input) {
  const std::optional<int> before = fusable(input);
  if (before && activation.from_output() && op(*before).activation.is_identity()) {
    const Op& made_by = op(*before);
    const bool clamp = activation.kind == ActivationKind::kClamp;
    if ((made_by.kind == OpKind::kConv && !made_by.transposed) ||
        (clamp && (made_by.kind == OpKind::kAdd || made_by.kind == OpKind::kNorm))) {
      op(*before).activation = activation;
      fuse(node, *before);
      return {};
    }
  }
  Op op;
  op.kind = OpKind::kActivation;
  op.activation = activation;
  op.inputs = {input};
  const Value& from = value(input);
  return add(node, std::move(op), from.channels, from.height, from.width);
}

Status Lowering::activation(const OnnxNode& node) {
  SPARING_ASSIGN_OR_RETURN(const int input, picture_input(node, 0));
  Activation activation;
  if (node.op == "Relu") {
    activation.low = 0;
  } else if (node.op == "Clip") {
    const auto limit = [&](std::size_t index, std::string_view name, float otherwise) {
      const OnnxTensor* given = constant_input(node, index);
      if (given == nullptr || given->size() != 1) return node.number(name, otherwise);
      return static_cast<float>(given->at(0));
    };
    activation.low = limit(1, "min", activation.low);
    activation.high = limit(2, "max", activation.high);
    if (!(activation.low < activation.high)) return error(node, "an empty range", "check the file");
  } else if (node.op == "LeakyRelu") {
    activation.kind = ActivationKind::kLeaky;
    activation.slope = node.number("alpha", 0.01f);
  } else if (node.op == "HardSigmoid" || node.op == "HardSwish") {
    const bool swish = node.op == "HardSwish";
    activation.kind = swish ? ActivationKind::kHardSwish : ActivationKind::kHardSigmoid;
    activation.slope = swish ? 1.0f / 6 : node.number("alpha", 0.2f);
    activation.offset = swish ? 0.5f : node.number("beta", 0.5f);
  } else {
    activation.kind = ActivationKind::kSigmoid;
  }
  if (!std::isfinite(activation.slope) || !std::isfinite(activation.offset)) {
    return error(node, "an attribute that is not finite", "check the file");
  }
  return add_activation(node, activation, input);
}

Status Lowering::prelu(const OnnxNode& node) {
  SPARING_ASSIGN_OR_RETURN(const int input, picture_input(node, 0));
  const OnnxTensor* slope = constant_input(node, 1);
  const Value& from = value(input);
  if (slope == nullptr ||
      (slope->size() != 1 && slope->size() != static_cast<std::size_t>(from.channels))) {
    return error(node, "slopes that are neither one nor one a channel", "check the file");
  }
  SPARING_ASSIGN_OR_RETURN(std::vector<float> slopes, numbers(node, 1, slope->size()));
  Op op;
  op.kind = OpKind::kActivation;
  op.activation.kind = ActivationKind::kPrelu;
  op.activation.parameter = add_parameter(node, Part::kWeight, std::move(slopes));
  op.inputs = {input};
  return add(node, std::move(op), from.channels, from.height, from.width);
}

Status Lowering::constant_operand(const OnnxNode& node, int picture, const OnnxTensor& constant,
                                  bool constant_first) {
  const Value& from = value(picture);
  std::optional<std::vector<float>> numbers = per_channel(constant, from.channels);
  if (!numbers) {
    return error(node, "a constant of the shape " + to_string_shape(constant.shape),
                 "give a network with constants that are one number or one a channel");
  }
  if (constant_first && node.op == "Div") {
    return error(node, "a constant divided by a picture", "train another network");
  }
  for (float& number : *numbers) {
    if (node.op == "Div") number = 1 / number;
    if (node.op == "Sub" && !constant_first) number = -number;
    if (!std::isfinite(number))
      return error(node, "a constant that is not finite", "check the file");
  }
  Op op;
  op.kind = OpKind::kAffine;
  op.inputs = {picture};
  const std::size_t count = numbers->size();
  if (node.op == "Mul" || node.op == "Div") {
    op.scale = *std::move(numbers);
    op.offset.assign(count, 0);
  } else {
    op.scale.assign(count, node.op == "Sub" && constant_first ? -1.0f : 1.0f);
    op.offset = *std::move(numbers);
  }
  return add(node, std::move(op), from.channels, from.height, from.width);
}

Status Lowering::binary(const OnnxNode& node) {
  if (node.inputs.size() != 2) return error(node, "not two inputs", "check the file");
  for (std::size_t i : {0, 1}) {
    if (const OnnxTensor* given = constant_input(node, i); given != nullptr) {
      SPARING_ASSIGN_OR_RETURN(const int picture, picture_input(node, 1 - i));
      return constant_operand(node, picture, *given, i == 0);
    }
  }
  SPARING_ASSIGN_OR_RETURN(int a, picture_input(node, 0));
  SPARING_ASSIGN_OR_RETURN(int b, picture_input(node, 1));
  if (node.op == "Div" || node.op == "Sub") {
    return error(node, "of two pictures", "train another network");
  }
  if (node.op == "Mul") {
    for (const auto& [gate, signal] : {std::pair{a, b}, std::pair{b, a}}) {
      const std::optional<int> before = fusable(gate);
      if (!before || op(*before).kind != OpKind::kActivation) continue;
      Activation& activation = op(*before).activation;
      const bool swish = activation.kind == ActivationKind::kHardSigmoid &&
                         std::fabs(activation.slope - 1.0f / 6) < 1e-6f &&
                         activation.offset == 0.5f && op(*before).inputs[0] == signal;
      if (!swish) continue;
      activation.kind = ActivationKind::kHardSwish;
      fuse(node, *before);
      return {};
    }
  }
  // The second one may be one number a channel.
  if (value(a).pixels() < value(b).pixels()) std::swap(a, b);
  const Value& large = value(a);
  const Value& small = value(b);
  const bool same = large.height == small.height && large.width == small.width;
  if (large.channels != small.channels || (!same && small.pixels() != 1)) {
    const auto shown = [](const Value& v) {
      return "[" + std::to_string(v.channels) + "," + std::to_string(v.height) + "," +
             std::to_string(v.width) + "]";
    };
    return error(node, "of pictures [C,H,W] " + shown(large) + " and " + shown(small),
                 "give pictures of one size, or one number a channel");
  }
  Op op;
  op.kind = node.op == "Mul" ? OpKind::kMultiply : OpKind::kAdd;
  op.inputs = {a, b};
  return add(node, std::move(op), large.channels, large.height, large.width);
}

// Of any number of inputs: one after the other.
Status Lowering::sum(const OnnxNode& node) {
  if (node.inputs.empty()) return error(node, "no input", "check the file");
  if (node.inputs.size() == 1) return identity(node);
  OnnxNode step = node;
  step.op = "Add";
  step.inputs = {node.inputs[0], node.inputs[1]};
  for (std::size_t i = 2; i < node.inputs.size(); ++i) {
    step.outputs = {node.outputs[0] + "#" + std::to_string(i - 1)};
    readers_[step.outputs[0]] = 1;
    SPARING_RETURN_IF_ERROR(binary(step));
    step.inputs = {step.outputs[0], node.inputs[i]};
  }
  step.outputs = node.outputs;
  return binary(step);
}

Status Lowering::concat(const OnnxNode& node) {
  const std::int64_t axis = node.integer("axis", 1);
  if (axis != 1 && axis != -3) {
    return error(node, "along axis " + std::to_string(axis), "train another network");
  }
  Op op;
  op.kind = OpKind::kConcat;
  std::int64_t channels = 0;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    SPARING_ASSIGN_OR_RETURN(const int input, picture_input(node, i));
    const Value& part = value(input);
    const Value& first = value(op.inputs.empty() ? input : op.inputs[0]);
    if (part.height != first.height || part.width != first.width) {
      return error(node,
                   "pictures of different sizes: " + std::to_string(first.width) + "x" +
                       std::to_string(first.height) + " and " + std::to_string(part.width) + "x" +
                       std::to_string(part.height),
                   "give an input size that the network's strides divide");
    }
    channels += part.channels;
    op.inputs.push_back(input);
  }
  const Value& first = value(op.inputs[0]);
  return add(node, std::move(op), static_cast<int>(std::min<std::int64_t>(channels, 1 << 20)),
             first.height, first.width);
}

Status Lowering::resize(const OnnxNode& node) {
  SPARING_ASSIGN_OR_RETURN(const int input, picture_input(node, 0));
  const Value& from = value(input);
  const bool old = node.op == "Upsample" || graph_.opset < 11;
  const std::string mode = node.text("mode", "nearest");
  const OnnxTensor* scales = constant_input(node, old ? 1 : 2);
  const OnnxTensor* sizes = old ? nullptr : constant_input(node, 3);
  OnnxTensor attribute;
  if (const auto found = node.attributes.find("scales"); old && found != node.attributes.end()) {
    attribute.floats = found->second.floats;
    scales = &attribute;
  }
  if (node.integer("antialias", 0) != 0 ||
      node.text("keep_aspect_ratio_policy", "stretch") != "stretch") {
    return error(node, "antialias or keep_aspect_ratio_policy", "train another network");
  }
  const bool by_size = sizes != nullptr && sizes->size() > 0;
  const OnnxTensor* given = by_size ? sizes : scales;
  const std::vector<std::int64_t> axes = node.integers("axes");
  const std::size_t skip = axes == std::vector<std::int64_t>{2, 3} ? 0 : 2;
  if (given == nullptr || given->size() != 2 + skip ||
      (skip == 2 && !axes.empty() && axes != std::vector<std::int64_t>{0, 1, 2, 3})) {
    return error(node, "sizes or scales that are no constants of the 4 axes",
                 "export the network with constants folded");
  }
  if (skip == 2 && (given->at(0) != (by_size ? options_.batch : 1) ||
                    given->at(1) != (by_size ? from.channels : 1))) {
    return error(node, "of images or channels", "train another network");
  }
  Grid grid[2];
  for (std::size_t i : {0, 1}) {
    const double wanted = given->at(skip + i);
    const std::int64_t in = i == 0 ? from.height : from.width;
    if (!(wanted > 0 && wanted < 1e6))
      return error(node, "a size that is not positive", "check the file");
    grid[i].mode = node.text("coordinate_transformation_mode", old ? "asymmetric" : "half_pixel");
    grid[i].in = in;
    grid[i].out =
        static_cast<std::int64_t>(by_size ? wanted : std::floor(static_cast<double>(in) * wanted));
    if (grid[i].out < 1 || grid[i].out > 16384) {
      return error(node, "to " + std::to_string(grid[i].out) + " pixels", "check the file");
    }
    grid[i].scale = by_size ? wanted / static_cast<double>(in) : wanted;
    static constexpr std::string_view kModes[] = {"align_corners", "asymmetric", "half_pixel",
                                                  "pytorch_half_pixel"};
    if (std::find(std::begin(kModes), std::end(kModes), grid[i].mode) == std::end(kModes)) {
      return error(node, "coordinate_transformation_mode " + grid[i].mode,
                   "export it with half_pixel, align_corners or asymmetric");
    }
  }
  Op op;
  op.kind = OpKind::kResize;
  op.inputs = {input};
  if (mode == "linear" || mode == "bilinear") {
    op.rows = linear_taps(grid[0]);
    op.columns = linear_taps(grid[1]);
  } else if (mode == "nearest") {
    const std::string rounding = node.text("nearest_mode", old ? "floor" : "round_prefer_floor");
    std::optional<Taps> rows = nearest_taps(grid[0], rounding);
    std::optional<Taps> columns = nearest_taps(grid[1], rounding);
    if (!rows || !columns) {
      return error(node, "nearest_mode " + rounding, "check the file");
    }
    op.rows = *std::move(rows);
    op.columns = *std::move(columns);
  } else {
    return error(node, "mode " + mode, "export it with linear or nearest");
  }
  return add(node, std::move(op), from.channels, grid[0].out, grid[1].out);
}

// The losses have a softmax of their own, so the network's at its end is left out.
Status Lowering::softmax(const OnnxNode& node) {
  SPARING_ASSIGN_OR_RETURN(Picture picture, padded_input(node, 0));
  const std::int64_t axis = node.integer("axis", graph_.opset < 13 ? 1 : -1);
  const Value& from = value(picture.value);
  const bool classes = axis == 1 || axis == -3;
  // Before version 13 the axis began a flattened rest: the same only for single pixels.
  if (!classes || (graph_.opset < 13 && from.pixels() != 1)) {
    return error(
        node,
        "along axis " + std::to_string(axis) + " of operator set " + std::to_string(graph_.opset),
        "give one along the classes, of operator set 13 or later");
  }
  picture.is_softmax = true;
  alias(node, picture);
  return {};
}

// Of a picture, Cast and Dropout are no more than that.
Status Lowering::identity(const OnnxNode& node) {
  SPARING_ASSIGN_OR_RETURN(const Picture picture, padded_input(node, 0));
  if (node.op == "Cast") {
    const std::int64_t to = node.integer("to", 0);
    if (to != 1 && to != 10 && to != 11 && to != 16) {
      return error(node, "of a picture to whole numbers", "train another network");
    }
  }
  alias(node, picture);
  return {};
}

}  // namespace sparing::train

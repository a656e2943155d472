// Convolutions, batch norms, pooling: what has windows or weights.
#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "sparing/train/lowering.h"

namespace sparing::train {
namespace {

// Larger ones are no kernels, strides or paddings of networks, and their products could overflow.
constexpr std::int64_t kMaxWindow = 4096;

// Output size along one axis.
std::int64_t windowed(std::int64_t size, std::int64_t padding, std::int64_t kernel,
                      std::int64_t dilation, std::int64_t stride) {
  const std::int64_t room = size + padding - (dilation * (kernel - 1) + 1);
  return room < 0 ? 0 : room / stride + 1;
}

}  // namespace

// With `ceil` the padding at the end grows so that the last window is a whole one.
Result<Window> Lowering::window(const OnnxNode& node, const Picture& input, bool ceil) const {
  const auto pair = [&](std::string_view name, int otherwise) {
    std::vector<std::int64_t> values = node.integers(name);
    if (values.empty()) values = {otherwise, otherwise};
    return values;
  };
  std::vector<std::int64_t> kernel = node.integers("kernel_shape");
  const std::vector<std::int64_t> stride = pair("strides", 1);
  const std::vector<std::int64_t> dilation = pair("dilations", 1);
  std::vector<std::int64_t> pads = node.integers("pads");
  if (pads.empty()) pads = {0, 0, 0, 0};
  if (kernel.empty()) {
    const OnnxTensor* weight = constant_input(node, 1);
    if (weight != nullptr && weight->shape.size() == 4) {
      kernel = {weight->shape[2], weight->shape[3]};
    }
  }
  const auto fits = [](const std::vector<std::int64_t>& values, std::size_t count,
                       std::int64_t least) {
    return values.size() == count && std::all_of(values.begin(), values.end(), [&](auto v) {
             return v >= least && v <= kMaxWindow;
           });
  };
  if (!fits(kernel, 2, 1) || !fits(stride, 2, 1) || !fits(dilation, 2, 1) || !fits(pads, 4, 0)) {
    return error(node, "kernel, strides, dilations or pads that are not of a 2-D window",
                 "check the file");
  }
  const Value& shown = value(input.value);
  const std::array sizes{std::int64_t{shown.height} + input.top + input.bottom,
                         std::int64_t{shown.width} + input.left + input.right};
  const std::string automatic = node.text("auto_pad", "NOTSET");
  for (std::size_t i : {0, 1}) {
    if (automatic == "SAME_UPPER" || automatic == "SAME_LOWER") {
      if (node.op == "ConvTranspose") {
        return error(node, "auto_pad " + automatic, "export it with explicit pads");
      }
      const std::int64_t out = (sizes[i] + stride[i] - 1) / stride[i];
      const std::int64_t all = std::max<std::int64_t>(
          0, (out - 1) * stride[i] + dilation[i] * (kernel[i] - 1) + 1 - sizes[i]);
      pads[i] = automatic == "SAME_UPPER" ? all / 2 : all - all / 2;
      pads[i + 2] = all - pads[i];
    } else if (automatic == "VALID") {
      pads[i] = pads[i + 2] = 0;
    }
    if (ceil && kernel[i] * dilation[i] <= sizes[i] + pads[i] + pads[i + 2]) {
      const std::int64_t room =
          sizes[i] + pads[i] + pads[i + 2] - (dilation[i] * (kernel[i] - 1) + 1);
      const std::int64_t last = (room + stride[i] - 1) / stride[i] * stride[i];
      // A window that would begin in the padding is left out, as in PyTorch.
      if (last < sizes[i] + pads[i]) pads[i + 2] += last - room;
    }
  }
  Window result;
  result.kernel_h = static_cast<int>(kernel[0]);
  result.kernel_w = static_cast<int>(kernel[1]);
  result.stride_h = static_cast<int>(stride[0]);
  result.stride_w = static_cast<int>(stride[1]);
  result.dilation_h = static_cast<int>(dilation[0]);
  result.dilation_w = static_cast<int>(dilation[1]);
  result.top = static_cast<int>(pads[0]) + input.top;
  result.left = static_cast<int>(pads[1]) + input.left;
  result.bottom = static_cast<int>(pads[2]) + input.bottom;
  result.right = static_cast<int>(pads[3]) + input.right;
  return result;
}

Status Lowering::conv(const OnnxNode& node) {
  const bool transposed = node.op == "ConvTranspose";
  SPARING_ASSIGN_OR_RETURN(const Picture input, padded_input(node, 0));
  if (transposed && input.padded()) return error(node, "follows a Pad", "train another network");
  const OnnxTensor* weight = constant_input(node, 1);
  if (weight == nullptr) return error(node, "its weights are no constant", "train another network");
  SPARING_ASSIGN_OR_RETURN(const Window window, this->window(node, input, false));
  const Value& from = value(input.value);
  const std::int64_t groups = node.integer("group", 1);
  const Shape& shape = weight->shape;
  const bool fits = shape.size() == 4 && shape[2] == window.kernel_h &&
                    shape[3] == window.kernel_w && groups >= 1 && groups <= from.channels &&
                    from.channels % groups == 0 && shape[0] >= 1 && shape[1] >= 1 &&
                    (transposed ? shape[0] == from.channels
                                : shape[1] == from.channels / groups && shape[0] % groups == 0);
  if (!fits) {
    return error(node,
                 "weights of the shape " + to_string_shape(shape) + " in " +
                     std::to_string(groups) + " groups for " + std::to_string(from.channels) +
                     " channels",
                 "check the file");
  }
  const std::int64_t channels = transposed ? shape[1] * groups : shape[0];
  Op op;
  op.kind = OpKind::kConv;
  op.transposed = transposed;
  op.groups = static_cast<int>(groups);
  op.window = window;
  op.inputs = {input.value};
  std::int64_t height = windowed(from.height, window.top + window.bottom, window.kernel_h,
                                 window.dilation_h, window.stride_h);
  std::int64_t width = windowed(from.width, window.left + window.right, window.kernel_w,
                                window.dilation_w, window.stride_w);
  if (transposed) {
    if (node.has("output_shape")) {
      return error(node, "attribute output_shape", "export it with pads instead");
    }
    std::vector<std::int64_t> more = node.integers("output_padding");
    if (more.empty()) more = {0, 0};
    const bool small = more.size() == 2 && more[0] >= 0 && more[1] >= 0 &&
                       more[0] <= window.bottom && more[1] <= window.right;
    if (!small) {
      return error(node, "attribute output_padding larger than the padding",
                   "train another network");
    }
    op.window.bottom -= static_cast<int>(more[0]);
    op.window.right -= static_cast<int>(more[1]);
    height = std::int64_t{from.height - 1} * window.stride_h +
             std::int64_t{window.dilation_h} * (window.kernel_h - 1) + 1 - op.window.top -
             op.window.bottom;
    width = std::int64_t{from.width - 1} * window.stride_w +
            std::int64_t{window.dilation_w} * (window.kernel_w - 1) + 1 - op.window.left -
            op.window.right;
  }
  SPARING_ASSIGN_OR_RETURN(std::vector<float> weights, numbers(node, 1, weight->size()));
  std::vector<float> bias;
  if (node.inputs.size() > 2 && !node.inputs[2].empty()) {
    SPARING_ASSIGN_OR_RETURN(bias, numbers(node, 2, static_cast<std::size_t>(channels)));
  }
  op.weight = add_parameter(node, Part::kWeight, std::move(weights));
  if (!bias.empty()) op.bias = add_parameter(node, Part::kBias, std::move(bias));
  return add(node, std::move(op), static_cast<int>(std::min<std::int64_t>(channels, 1 << 20)),
             height, width);
}

Status Lowering::batch_norm(const OnnxNode& node) {
  SPARING_ASSIGN_OR_RETURN(const int input, picture_input(node, 0));
  if (node.integer("training_mode", 0) != 0) {
    return error(node, "exported in training mode", "export it for inference");
  }
  const Value& from = value(input);
  const auto channels = static_cast<std::size_t>(from.channels);
  std::array<std::vector<float>, 4> parts;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    SPARING_ASSIGN_OR_RETURN(parts[i], numbers(node, i + 1, channels));
  }
  Norm norm;
  norm.epsilon = node.number("epsilon", 1e-5f);
  const bool sound =
      norm.epsilon >= 0 && norm.epsilon < 1 &&
      std::all_of(
          parts[3].begin(), parts[3].end(),
          [&](float variance) { return variance >= 0 && variance + norm.epsilon > 1e-30f; });
  if (!sound) return error(node, "a variance that is not positive", "check the file");
  const std::optional<int> before = fusable(input);
  const bool folds = options_.batch_norm == "frozen" && before &&
                     op(*before).kind == OpKind::kConv && !op(*before).norm.exists() &&
                     op(*before).activation.is_identity();
  // A folded norm is the convolution's: one layer, under one name.
  OnnxNode owner = node;
  if (folds) owner.name = op(*before).name;
  norm.scale = add_parameter(owner, Part::kScale, std::move(parts[0]));
  norm.shift = add_parameter(owner, Part::kShift, std::move(parts[1]));
  norm.mean = add_parameter(owner, Part::kMean, std::move(parts[2]));
  norm.variance = add_parameter(owner, Part::kVariance, std::move(parts[3]));
  if (folds) {
    op(*before).norm = norm;
    fuse(node, *before);
    return {};
  }
  Op op;
  op.kind = OpKind::kNorm;
  op.norm = norm;
  op.inputs = {input};
  return add(node, std::move(op), from.channels, from.height, from.width);
}

Status Lowering::pool(const OnnxNode& node) {
  SPARING_ASSIGN_OR_RETURN(const Picture input, padded_input(node, 0));
  const bool maximum = node.op == "MaxPool";
  const bool counts = !maximum && node.integer("count_include_pad", 0) != 0;
  const bool ceil = node.integer("ceil_mode", 0) != 0;
  if (input.padded() && !counts) {
    return error(node, "follows a Pad, whose zeros it would not count", "train another network");
  }
  if (maximum && node.outputs.size() > 1 && !node.outputs[1].empty()) {
    return error(node, "an output of indices", "train another network");
  }
  SPARING_ASSIGN_OR_RETURN(const Window plain, window(node, input, false));
  SPARING_ASSIGN_OR_RETURN(const Window window, this->window(node, input, ceil));
  const bool grows = plain.bottom != window.bottom || plain.right != window.right;
  if (counts && grows) {
    return error(node, "ceil_mode together with count_include_pad", "train another network");
  }
  const Value& from = value(input.value);
  // Each window must see a pixel.
  const auto sees = [](int pad_begin, int pad_end, int kernel, int dilation) {
    return dilation > 1 ? pad_begin == 0 && pad_end == 0 : pad_begin < kernel && pad_end < kernel;
  };
  if (!sees(window.top, window.bottom, window.kernel_h, window.dilation_h) ||
      !sees(window.left, window.right, window.kernel_w, window.dilation_w)) {
    return error(node, "padding as large as the kernel, or together with dilation",
                 "train another network");
  }
  Op op;
  op.kind = OpKind::kPool;
  op.maximum = maximum;
  op.counts_padding = counts;
  op.window = window;
  op.inputs = {input.value};
  return add(node, std::move(op), from.channels,
             windowed(from.height, window.top + window.bottom, window.kernel_h, window.dilation_h,
                      window.stride_h),
             windowed(from.width, window.left + window.right, window.kernel_w, window.dilation_w,
                      window.stride_w));
}

Status Lowering::global_pool(const OnnxNode& node) {
  SPARING_ASSIGN_OR_RETURN(const int input, picture_input(node, 0));
  if (node.op == "ReduceMean") {
    std::vector<std::int64_t> axes = node.integers("axes");
    if (const OnnxTensor* given = constant_input(node, 1); given != nullptr && axes.empty()) {
      axes = given->ints;
    }
    for (std::int64_t& axis : axes) axis = axis < 0 ? axis + 4 : axis;
    std::sort(axes.begin(), axes.end());
    if (axes != std::vector<std::int64_t>{2, 3} || node.integer("keepdims", 1) != 1) {
      return error(node, "other axes than height and width, or keepdims 0",
                   "export it with axes 2, 3 and keepdims 1");
    }
  }
  Op op;
  op.kind = OpKind::kGlobalPool;
  op.inputs = {input};
  return add(node, std::move(op), value(input).channels, 1, 1);
}

// Zeros around a picture; whatever reads it makes them part of its own padding.
Status Lowering::pad(const OnnxNode& node) {
  SPARING_ASSIGN_OR_RETURN(Picture picture, padded_input(node, 0));
  std::vector<std::int64_t> pads = node.integers("pads");
  if (const OnnxTensor* given = constant_input(node, 1); given != nullptr && pads.empty()) {
    pads = given->ints;
  }
  const OnnxTensor* number = constant_input(node, 2);
  const bool zero = node.text("mode", "constant") == "constant" && node.number("value", 0) == 0 &&
                    (number == nullptr || (number->size() == 1 && number->at(0) == 0));
  const bool fits =
      pads.size() == 8 && pads[0] == 0 && pads[1] == 0 && pads[4] == 0 && pads[5] == 0 &&
      std::all_of(pads.begin(), pads.end(), [](auto v) { return v >= 0 && v <= kMaxWindow / 4; });
  if (!zero || !fits || (node.inputs.size() > 3 && !node.inputs[3].empty())) {
    return error(node, "padding that is not of zeros around the picture", "train another network");
  }
  picture.top += static_cast<int>(pads[2]);
  picture.left += static_cast<int>(pads[3]);
  picture.bottom += static_cast<int>(pads[6]);
  picture.right += static_cast<int>(pads[7]);
  if (std::max({picture.top, picture.left, picture.bottom, picture.right}) > kMaxWindow) {
    return error(node, "more than " + std::to_string(kMaxWindow) + " pixels", "check the file");
  }
  alias(node, picture);
  return {};
}

}  // namespace sparing::train

#include "sparing/train/constants.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace sparing::train {
namespace {

using Inputs = std::span<const OnnxTensor* const>;

// What is computed is small: shapes and factors. Weights are at most renamed or reshaped.
constexpr std::size_t kMaxComputed = 4096;

Error problem(const OnnxNode& node, std::string what) {
  return Error{ErrorCode::kModel, "node '" + node.name + "' (" + node.op + ")", std::move(what),
               "export the network with constants folded"};
}

OnnxTensor whole_numbers(std::vector<std::int64_t> values) {
  OnnxTensor tensor;
  tensor.is_float = false;
  tensor.shape = {static_cast<std::int64_t>(values.size())};
  tensor.ints = std::move(values);
  return tensor;
}

Result<OnnxTensor> constant(const OnnxNode& node, Inputs) {
  for (const auto& [name, attribute] : node.attributes) {
    if (attribute.has_tensor) return attribute.tensor;
    if (name == "value_int" || name == "value_ints") {
      OnnxTensor tensor = whole_numbers(attribute.ints);
      if (name == "value_int" && !attribute.ints.empty()) tensor.shape.clear();
      return tensor;
    }
    if (name == "value_float" || name == "value_floats") {
      OnnxTensor tensor;
      tensor.floats = attribute.floats;
      tensor.shape = {static_cast<std::int64_t>(attribute.floats.size())};
      if (name == "value_float" && attribute.floats.size() == 1) tensor.shape.clear();
      return tensor;
    }
  }
  return problem(node, "no value that is a number");
}

Result<OnnxTensor> identity(const OnnxNode&, Inputs inputs) { return *inputs[0]; }

// ONNX's numbers of types, as attribute `to` has them.
Result<OnnxTensor> cast(const OnnxNode& node, Inputs inputs) {
  const std::int64_t to = node.integer("to", 0);
  const bool to_float = to == 1 || to == 10 || to == 11 || to == 16;
  if (!to_float && to != 6 && to != 7) return problem(node, "to type " + std::to_string(to));
  OnnxTensor result = *inputs[0];
  if (to_float == result.is_float) return result;
  if (result.size() > kMaxComputed) return problem(node, "of a large constant");
  result.is_float = to_float;
  if (to_float) {
    result.floats.assign(result.ints.begin(), result.ints.end());
    result.ints.clear();
  } else {
    for (const float value : result.floats) {
      if (!(std::fabs(value) < 1e15f)) return problem(node, "of a number that is too large");
      result.ints.push_back(static_cast<std::int64_t>(value));
    }
    result.floats.clear();
  }
  return result;
}

Result<OnnxTensor> floor_of(const OnnxNode& node, Inputs inputs) {
  OnnxTensor result = *inputs[0];
  if (result.size() > kMaxComputed) return problem(node, "of a large constant");
  for (float& value : result.floats) {
    value = node.op == "Ceil" ? std::ceil(value) : std::floor(value);
  }
  return result;
}

// Reshape, Squeeze, Unsqueeze, Flatten: what they do to the shapes that occur (vectors, scalars, a
// weight) is to give one with as many elements, and nothing here depends on more than their number,
// but a weight's shape.
Result<OnnxTensor> reshape(const OnnxNode& node, Inputs inputs) {
  OnnxTensor result = *inputs[0];
  if (node.op == "Reshape") {
    if (inputs.size() < 2 || inputs[1] == nullptr || inputs[1]->is_float) {
      return problem(node, "no shape");
    }
    Shape shape = inputs[1]->ints;
    std::int64_t known = 1;
    for (const std::int64_t dimension : shape) {
      if (dimension == 0 || dimension < -1 || dimension > (std::int64_t{1} << 28)) {
        return problem(node, "to shape " + to_string_shape(shape));
      }
      if (dimension > 0) known *= dimension;
      if (known > (std::int64_t{1} << 30))
        return problem(node, "to shape " + to_string_shape(shape));
    }
    for (std::int64_t& dimension : shape) {
      if (dimension == -1) dimension = static_cast<std::int64_t>(result.size()) / known;
    }
    result.shape = std::move(shape);
  } else {
    std::vector<std::int64_t> axes = node.integers("axes");
    if (axes.empty() && inputs.size() > 1 && inputs[1] != nullptr) axes = inputs[1]->ints;
    if (node.op == "Unsqueeze") {
      std::sort(axes.begin(), axes.end());
      for (std::int64_t axis : axes) {
        const auto rank = static_cast<std::int64_t>(result.shape.size());
        if (axis < 0) axis += rank + 1;
        if (axis < 0 || axis > rank) return problem(node, "axis out of range");
        result.shape.insert(result.shape.begin() + axis, 1);
      }
    } else {
      Shape shape;
      for (std::size_t i = 0; i < result.shape.size(); ++i) {
        const auto rank = static_cast<std::int64_t>(result.shape.size());
        const auto axis = static_cast<std::int64_t>(i);
        const bool named = axes.empty() || std::count(axes.begin(), axes.end(), axis) > 0 ||
                           std::count(axes.begin(), axes.end(), axis - rank) > 0;
        if (!named || result.shape[i] != 1) shape.push_back(result.shape[i]);
      }
      result.shape = std::move(shape);
    }
  }
  const auto count = element_count(result.shape);
  if (!count || *count != static_cast<std::int64_t>(result.size())) {
    return problem(node, "does not keep the number of elements");
  }
  return result;
}

Result<OnnxTensor> gather(const OnnxNode& node, Inputs inputs) {
  if (inputs.size() < 2 || inputs[1] == nullptr || inputs[1]->is_float ||
      inputs[0]->shape.size() != 1 || inputs[1]->shape.size() > 1 || node.integer("axis", 0) != 0 ||
      inputs[1]->size() > kMaxComputed) {
    return problem(node, "of something else than a list");
  }
  OnnxTensor result;
  result.is_float = inputs[0]->is_float;
  result.shape = inputs[1]->shape;
  const auto size = static_cast<std::int64_t>(inputs[0]->size());
  for (std::int64_t index : inputs[1]->ints) {
    if (index < 0) index += size;
    if (index < 0 || index >= size) return problem(node, "index out of range");
    const auto i = static_cast<std::size_t>(index);
    if (result.is_float) {
      result.floats.push_back(inputs[0]->floats[i]);
    } else {
      result.ints.push_back(inputs[0]->ints[i]);
    }
  }
  return result;
}

// Of a list, forwards.
Result<OnnxTensor> slice(const OnnxNode& node, Inputs inputs) {
  const auto list = [&](std::size_t input, std::string_view attribute, std::int64_t otherwise) {
    std::vector<std::int64_t> values = node.integers(attribute);
    if (values.empty() && inputs.size() > input && inputs[input] != nullptr) {
      values = inputs[input]->ints;
    }
    return values.size() == 1 ? values[0] : otherwise;
  };
  if (inputs[0]->shape.size() != 1 || list(3, "axes", 0) != 0 || list(4, "steps", 1) != 1) {
    return problem(node, "of something else than a list");
  }
  const auto size = static_cast<std::int64_t>(inputs[0]->size());
  const auto place = [&](std::int64_t index) {
    return std::clamp<std::int64_t>(index < 0 && index >= -size ? index + size : index, 0, size);
  };
  const std::int64_t begin = place(list(1, "starts", 0));
  const std::int64_t end = std::max(begin, place(list(2, "ends", size)));
  OnnxTensor result;
  result.is_float = inputs[0]->is_float;
  result.shape = {end - begin};
  if (result.is_float) {
    result.floats.assign(inputs[0]->floats.begin() + begin, inputs[0]->floats.begin() + end);
  } else {
    result.ints.assign(inputs[0]->ints.begin() + begin, inputs[0]->ints.begin() + end);
  }
  return result;
}

Result<OnnxTensor> concat(const OnnxNode& node, Inputs inputs) {
  OnnxTensor result;
  result.is_float = inputs[0]->is_float;
  for (const OnnxTensor* input : inputs) {
    if (input == nullptr || input->is_float != result.is_float || input->shape.size() != 1 ||
        result.size() + input->size() > kMaxComputed) {
      return problem(node, "of something else than lists");
    }
    result.floats.insert(result.floats.end(), input->floats.begin(), input->floats.end());
    result.ints.insert(result.ints.end(), input->ints.begin(), input->ints.end());
  }
  result.shape = {static_cast<std::int64_t>(result.size())};
  return result;
}

template <class T>
bool apply(std::string_view op, T a, T b, T& out) {
  if (op == "Div") {
    if (b == 0) return false;
    out = a / b;
  } else if (op == "Mul") {
    out = a * b;
  } else {
    out = op == "Add" ? a + b : a - b;
  }
  return true;
}

Result<OnnxTensor> arithmetic(const OnnxNode& node, Inputs inputs) {
  if (inputs.size() != 2 || inputs[1] == nullptr) return problem(node, "without two inputs");
  const OnnxTensor& a = *inputs[0];
  const OnnxTensor& b = *inputs[1];
  const bool fits = a.is_float == b.is_float && !(a.size() == 0 || b.size() == 0) &&
                    (a.size() == b.size() || a.size() == 1 || b.size() == 1) &&
                    std::max(a.size(), b.size()) <= kMaxComputed;
  if (!fits) return problem(node, "of constants whose shapes differ");
  OnnxTensor result;
  result.is_float = a.is_float;
  result.shape = a.size() >= b.size() ? a.shape : b.shape;
  for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    const std::size_t ia = a.size() == 1 ? 0 : i;
    const std::size_t ib = b.size() == 1 ? 0 : i;
    if (a.is_float) {
      float value = 0;
      if (!apply(node.op, a.floats[ia], b.floats[ib], value)) return problem(node, "by zero");
      result.floats.push_back(value);
    } else {
      // Sizes; what is larger than any is no size, and its product would overflow.
      constexpr std::int64_t kLimit = std::int64_t{1} << 30;
      std::int64_t value = 0;
      if (std::max(a.ints[ia], b.ints[ib]) > kLimit || std::min(a.ints[ia], b.ints[ib]) < -kLimit) {
        return problem(node, "of whole numbers beyond 2^30");
      }
      if (!apply(node.op, a.ints[ia], b.ints[ib], value)) return problem(node, "by zero");
      result.ints.push_back(value);
    }
  }
  return result;
}

struct Row {
  std::string_view op;
  Result<OnnxTensor> (*fold)(const OnnxNode&, Inputs);
};

constexpr std::array kRows{
    Row{"Constant", constant}, Row{"Identity", identity}, Row{"Cast", cast},
    Row{"Floor", floor_of},    Row{"Ceil", floor_of},     Row{"Reshape", reshape},
    Row{"Squeeze", reshape},   Row{"Unsqueeze", reshape}, Row{"Gather", gather},
    Row{"Slice", slice},       Row{"Concat", concat},     Row{"Add", arithmetic},
    Row{"Sub", arithmetic},    Row{"Mul", arithmetic},    Row{"Div", arithmetic},
};

constexpr auto kNames = [] {
  std::array<std::string_view, kRows.size()> names{};
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = kRows[i].op;
  return names;
}();

}  // namespace

std::span<const std::string_view> constant_operators() { return kNames; }

bool is_constant_operator(std::string_view op) {
  return std::find(kNames.begin(), kNames.end(), op) != kNames.end();
}

Result<OnnxTensor> fold_constant(const OnnxNode& node, Inputs inputs) {
  const auto row =
      std::find_if(kRows.begin(), kRows.end(), [&](const Row& r) { return r.op == node.op; });
  if (row == kRows.end()) return problem(node, "of constants alone");
  if (node.op != "Constant" && (inputs.empty() || inputs[0] == nullptr)) {
    return problem(node, "without input");
  }
  return row->fold(node, inputs);
}

}  // namespace sparing::train

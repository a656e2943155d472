// The network as the trainer runs it: a list of operations on pictures of known sizes, and their
// parameters. Made from an ONNX graph by lower().
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sparing/base/geometry.h"

namespace sparing::train {

// A picture with channels, of each image in the batch alike.
struct Value {
  std::string name;  // the graph's tensor
  int channels = 0;
  int height = 0;
  int width = 0;

  std::size_t pixels() const {
    return static_cast<std::size_t>(height) * static_cast<std::size_t>(width);
  }
  std::size_t elements() const { return static_cast<std::size_t>(channels) * pixels(); }
};

// What a parameter is of its layer: the names that Trainer::weights() takes, in this order.
enum class Part { kWeight, kBias, kScale, kShift, kMean, kVariance };
inline constexpr std::array<std::string_view, 6> kPartNames{"weight", "bias", "scale",
                                                            "shift",  "mean", "variance"};

struct Parameter {
  std::string layer;  // name of the node that has it
  Part part = Part::kWeight;
  std::vector<float> initial;
  bool trained = false;

  // Statistics of batch norms: changed by running, not by gradients.
  bool is_statistic() const { return part == Part::kMean || part == Part::kVariance; }
};

inline constexpr int kNone = -1;  // no parameter, no value

// Parameters of a batch norm, each one number a channel.
struct Norm {
  int scale = kNone;
  int shift = kNone;
  int mean = kNone;
  int variance = kNone;
  float epsilon = 1e-5f;
  bool exists() const { return scale != kNone; }
};

enum class ActivationKind { kClamp, kLeaky, kHardSwish, kHardSigmoid, kSigmoid, kPrelu };

// kClamp: min(max(x, low), high), which is ReLU, ReLU6 and Clip. kLeaky: slope below 0.
// kHardSigmoid: clamp(slope * x + offset, 0, 1). kHardSwish: x * hard sigmoid of 1/6 and 1/2.
// kPrelu: the slope is a parameter.
struct Activation {
  ActivationKind kind = ActivationKind::kClamp;
  float low = -std::numeric_limits<float>::infinity();
  float high = std::numeric_limits<float>::infinity();
  float slope = 0;
  float offset = 0;
  int parameter = kNone;  // one number a channel, or one for all

  bool is_identity() const {
    return kind == ActivationKind::kClamp && low == -std::numeric_limits<float>::infinity() &&
           high == std::numeric_limits<float>::infinity();
  }
  // Its gradient follows from its output alone, so that it can be computed in place.
  bool from_output() const {
    return kind == ActivationKind::kClamp || (kind == ActivationKind::kLeaky && slope > 0);
  }
};

// Of convolutions and pooling.
struct Window {
  int kernel_h = 1, kernel_w = 1;
  int stride_h = 1, stride_w = 1;
  int dilation_h = 1, dilation_w = 1;
  int top = 0, left = 0, bottom = 0, right = 0;  // padding
};

// Where each output row (or column) lies between two input rows: first and its share, second.
struct Taps {
  struct Tap {
    int first = 0;
    int second = 0;
    float weight = 1;  // of the first; the second has the rest
  };
  std::vector<Tap> taps;
};

enum class OpKind {
  kConv,    // also transposed; with a folded batch norm and an activation
  kNorm,    // a batch norm by itself: behind no convolution, or with live statistics
  kAffine,  // times and plus constants, one a channel
  kActivation,
  kAdd,
  kMultiply,
  kConcat,
  kResize,
  kPool,        // maximum or average under a window
  kGlobalPool,  // average of all pixels
};

struct Op {
  OpKind kind = OpKind::kConv;
  std::string name;  // the node's
  std::string type;  // as ONNX spells it
  std::vector<int> inputs;
  int output = kNone;

  Activation activation;  // at the end of kConv, kNorm, kAdd; what kActivation is
  // kConv
  bool transposed = false;
  int groups = 1;
  int weight = kNone;
  int bias = kNone;
  // kConv, kPool
  Window window;
  bool maximum = false;         // kPool
  bool counts_padding = false;  // kPool, average
  // kConv (folded), kNorm
  Norm norm;
  // kAffine: one number for all or one a channel
  std::vector<float> scale;
  std::vector<float> offset;
  // kResize
  Taps rows;
  Taps columns;
};

struct Net {
  std::string name;           // for errors: "model 'aux.onnx'"
  std::vector<Value> values;  // the first is the input
  std::vector<Op> ops;        // in an order in which each finds its inputs computed
  std::vector<Parameter> parameters;
  std::map<std::string, int, std::less<>> names;  // of nodes and tensors, also fused ones: their op
  int output = kNone;
  std::vector<bool> needs_gradient;  // by value: something that is trained lies at or below it

  const Value& value(int index) const { return values[static_cast<std::size_t>(index)]; }
  const Value& output_of(const Op& op) const { return value(op.output); }
  Parameter& parameter(int index) { return parameters[static_cast<std::size_t>(index)]; }
  const Parameter& parameter(int index) const {
    return parameters[static_cast<std::size_t>(index)];
  }
};

// All parameters of an operation, those that it has, in the order of Part.
inline std::vector<int> parameters_of(const Op& op) {
  std::vector<int> found;
  for (const int index : {op.weight, op.bias, op.norm.scale, op.norm.shift, op.norm.mean,
                          op.norm.variance, op.activation.parameter}) {
    if (index != kNone) found.push_back(index);
  }
  return found;
}

}  // namespace sparing::train

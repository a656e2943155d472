// lower() at work: what is known of each tensor of the graph, and one function per operator. Split
// from lower.cc, which walks the graph, so that the operators have files of their own.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sparing/base/result.h"
#include "sparing/train/lower.h"
#include "sparing/train/net.h"
#include "sparing/train/onnx_graph.h"

namespace sparing::train {

class Lowering {
 public:
  Lowering(OnnxGraph graph, const TrainerOptions& options);
  Result<Net> run();

  // One per row of the table in lower.cc.
  Status conv(const OnnxNode& node);
  Status batch_norm(const OnnxNode& node);
  Status activation(const OnnxNode& node);
  Status prelu(const OnnxNode& node);
  Status binary(const OnnxNode& node);
  Status sum(const OnnxNode& node);
  Status concat(const OnnxNode& node);
  Status resize(const OnnxNode& node);
  Status pool(const OnnxNode& node);
  Status global_pool(const OnnxNode& node);
  Status softmax(const OnnxNode& node);
  Status identity(const OnnxNode& node);
  Status pad(const OnnxNode& node);

 private:
  // A picture, perhaps with zeros around it that the next operation must take as its own padding.
  struct Picture {
    int value = kNone;
    int top = 0, left = 0, bottom = 0, right = 0;
    bool is_softmax = false;  // may only be the graph's output

    bool padded() const { return top != 0 || left != 0 || bottom != 0 || right != 0; }
  };

  Error error(const OnnxNode& node, std::string problem, std::string fix) const;
  Status start();
  void drop_unused_nodes();
  Status step(const OnnxNode& node);
  Status finish();
  Status fold(const OnnxNode& node);

  bool is_picture(std::string_view tensor) const { return pictures_.contains(tensor); }
  // Null if it is not one, or left out.
  const OnnxTensor* constant(std::string_view tensor) const;
  const OnnxTensor* constant_input(const OnnxNode& node, std::size_t index) const;
  // kModel if it is not one or has padding that the operation cannot take.
  Result<int> picture_input(const OnnxNode& node, std::size_t index) const;
  Result<Picture> padded_input(const OnnxNode& node, std::size_t index) const;
  // `count` numbers, finite. kModel otherwise.
  Result<std::vector<float>> numbers(const OnnxNode& node, std::size_t index,
                                     std::size_t count) const;

  // The picture of the size given becomes the node's output, made by `op`.
  Status add(const OnnxNode& node, Op op, int channels, std::int64_t height, std::int64_t width);
  // The node's work was taken over by the op that makes its input.
  void fuse(const OnnxNode& node, int op);
  // The node's output is a picture that is there already.
  void alias(const OnnxNode& node, const Picture& picture);
  // The op that makes a value if nothing else reads it, so that more can be fused into it.
  std::optional<int> fusable(int value) const;
  int add_parameter(const OnnxNode& node, Part part, std::vector<float> values);
  const Value& value(int index) const { return net_.value(index); }
  Op& op(int index) { return net_.ops[static_cast<std::size_t>(index)]; }

  Result<Window> window(const OnnxNode& node, const Picture& input, bool ceil) const;
  Status constant_operand(const OnnxNode& node, int picture, const OnnxTensor& constant,
                          bool constant_first);
  Status add_activation(const OnnxNode& node, const Activation& activation, int input);

  OnnxGraph graph_;
  const TrainerOptions& options_;
  Net net_;
  std::map<std::string, Picture, std::less<>> pictures_;
  std::map<std::string, int, std::less<>> readers_;  // how many nodes read a tensor
  std::vector<int> producer_;                        // by value: its op, kNone for the input
};

}  // namespace sparing::train

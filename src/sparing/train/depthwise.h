// Gradients of depthwise convolutions that oneDNN has no code of its own for (dilated ones, large
// kernels): there it is 20 times slower than for a plain 3x3.
#pragma once

#include <cstddef>
#include <vector>

#include "sparing/train/net.h"

namespace sparing::train {

// One filter a channel, NHWC. Not thread-safe: it has scratch memory.
class DepthwiseGradients {
 public:
  DepthwiseGradients() = default;
  DepthwiseGradients(const Op& op, const Value& in, const Value& out, std::size_t images,
                     int threads);

  // Weights in ONNX's layout, [channels, 1, kernel_h, kernel_w].
  void set_weights(const float* weights);
  // in_gradient (+)= what out_gradient gives.
  void data(const float* out_gradient, float* in_gradient, bool accumulate) const;
  // The gradients of the weights, in ONNX's layout, and of an offset of each channel.
  void weights(const float* in, const float* out_gradient, float* weights, float* offset);

 private:
  // Calls work(first output column, first input column, columns) for what kernel column kx joins;
  // one call if columns follow each other, one for each if they are strided.
  template <class Work>
  void over_columns(int kx, const Work& work) const;

  Window window_;
  int in_h_ = 0, in_w_ = 0, out_h_ = 0, out_w_ = 0;
  std::size_t channels_ = 0, images_ = 0;
  int threads_ = 1;
  std::vector<float> by_tap_;    // [kernel_h, kernel_w, channels]
  std::vector<double> partial_;  // by thread: the same and one row more, for the offset
};

}  // namespace sparing::train

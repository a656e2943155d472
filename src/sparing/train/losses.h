// Softmax and losses of pixels, on planes of logits; compiled once for each instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sparing::train {

// Per-pixel losses: `classes` planes of logits `stride` apart; gradients likewise.
struct LossJob {
  const float* logits = nullptr;
  float* gradient = nullptr;
  std::size_t stride = 0;
  int classes = 0;
  std::size_t pixels = 0;                // of this job, from the pointers on
  const std::uint8_t* labels = nullptr;  // cross-entropy; null: entropy
  const float* class_weights = nullptr;  // 256, 0 for ignored labels
  const float* pixel_weights = nullptr;  // null: 1
  float share = 1;                       // times the gradient: 1 over the sum of weights
};

struct LossKernels {
  // The sum of weighted losses; writes the gradient.
  double (*loss)(const LossJob& job);
  // Softmax of planes.
  void (*softmax)(const float* logits, float* out, std::size_t stride, int classes,
                  std::size_t pixels);
};

// Those of the best instruction set of this processor.
const LossKernels& losses();

}  // namespace sparing::train

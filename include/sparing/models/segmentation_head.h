// Segmentation head: the raw output of a network to a probability for each label and pixel.
#pragma once

#include <cstdint>
#include <span>

#include "sparing/base/class_map.h"
#include "sparing/base/result.h"
#include "sparing/models/head.h"
#include "sparing/models/manifest.h"

namespace sparing {

enum class SegmentationOutput {
  kProbabilities,  // in [0, 1], of a pixel summing to 1
  kLogits,         // a softmax over them gives the probabilities
};

// Pixels of one image that the network gave no usable answer for. All labels that some channel
// stands for are equally likely there.
struct SegmentationCounts {
  std::int64_t not_finite = 0;     // a NaN or +infinity, or no score above 0
  std::int64_t unknown_class = 0;  // kLabels: not the index of a channel
  friend bool operator==(const SegmentationCounts&, const SegmentationCounts&) = default;
};

// Decodes image `image` of a batch into `out`, which gets spec.classes planes of the output's own
// size; argmax_resized (sparing/kernels/class_map_ops.h) brings them to the frame's. Nothing is
// allocated when out.values has the capacity already.
//
// Shapes: kScores [N,C,h,w] or [N,h,w,C] by spec.layout; kForeground and kLabels [N,1,h,w],
// [N,h,w,1] or [N,h,w]. Probabilities differ from exact ones by at most 1e-5 of them (as softmax of
// sparing/kernels/class_map_ops.h). kLogits: scores that are logits already pass as they are, cut
// to
// [-1e6, 1e6], where each label has one channel; all others are the logarithms of their
// probabilities, of at least 1e-7 (which takes longer). A label map gives 1 to the label that won;
// to all alike where that channel is ignored.
//
// kModel: the output is missing or of another shape, its channels are not those of the labels or
// the class map, or a value is no probability where it should be (spec.activation is kNone and a
// value is outside [-0.01, 1.01]). kInvalidArgument: no such image in the batch. `out` may then
// hold anything. Thread-safe.
Result<SegmentationCounts> decode_segmentation(
    const SegmentationSpec& spec, std::span<const HeadTensor> tensors, int image,
    ProbabilityMap& out, SegmentationOutput as = SegmentationOutput::kProbabilities);

}  // namespace sparing

// Detection heads: raw output tensors to boxes. One ordered table; adding a head is one function
// and one row of kHeads (and its name in the manifest).
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "sparing/base/geometry.h"
#include "sparing/base/result.h"
#include "sparing/base/tensor_view.h"
#include "sparing/models/manifest.h"
#include "sparing/webnn/webnn.h"

namespace sparing {

// One output of a network on the host: float32 (integer outputs are converted), dense.
struct HeadTensor {
  std::string_view name;
  std::span<const std::int64_t> shape;
  std::span<const float> data;
};

struct DecodeOptions {
  Size input_size;            // of the network's input tensor, pixels
  int image = 0;              // index in the batch
  float score_threshold = 0;  // detections below are not produced
};

// The detections of one image, boxes in pixels of the input tensor, before NMS, in a deterministic
// order (that of the outputs). Scores are in [0, 1], boxes finite with x0 <= x1 and y0 <= y1.
struct DecodeResult {
  std::vector<Detection> detections;
  int dropped_not_finite = 0;     // a NaN or infinity in the score or the box
  int dropped_inside_out = 0;     // negative width or height
  int dropped_unknown_class = 0;  // end2end: a class index beyond the labels
};

// kModel: a tensor is missing or its shape does not belong to the head (names expected and found),
// the number of classes is not that of the labels, or a score is not a probability.
// kInvalidArgument: an input size that is not positive, an image index outside the batch.
using DecodeFunction = Result<DecodeResult> (*)(const HeadSpec&, std::span<const HeadTensor>,
                                                const DecodeOptions&);
// A guess from the graph's inputs and outputs (docs/models.md has the rules), without a name;
// nullopt when they do not fit this head.
using MatchFunction = std::optional<ModelManifest> (*)(const Graph& graph);

struct HeadInfo {
  HeadType type;
  std::string_view name;         // in manifests
  std::string_view description;  // expected outputs, for messages and help
  DecodeFunction decode;
  MatchFunction match;
  bool needs_nms;
};

std::span<const HeadInfo> heads();  // in the order of HeadType
const HeadInfo& info(HeadType type);
std::optional<HeadType> head_from_name(std::string_view name);

inline Result<DecodeResult> decode(const HeadSpec& spec, std::span<const HeadTensor> tensors,
                                   const DecodeOptions& options) {
  return info(spec.type).decode(spec, tensors, options);
}

struct NmsOptions {
  float iou_threshold = 0.6f;   // a box with a higher IoU to a better one is dropped
  bool class_agnostic = false;  // boxes of different classes suppress each other too
  int max_detections = 1000;    // best ones kept
};

// Greedy non-maximum suppression in place: best score first, ties by input order; the result is
// sorted by score. Precondition: scores are not NaN. O(N) memory, O(N * kept) time.
void non_maximum_suppression(std::vector<Detection>& detections, const NmsOptions& options);

}  // namespace sparing

// What the heads share, and the functions that the table in head.cc lists.
#pragma once

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sparing/models/head.h"

namespace sparing::heads_internal {

// --- one function pair a head (head_NAME.cc) ---

Result<DecodeResult> decode_nanodet(const HeadSpec&, std::span<const HeadTensor>,
                                    const DecodeOptions&);
Result<DecodeResult> decode_yolox(const HeadSpec&, std::span<const HeadTensor>,
                                  const DecodeOptions&);
Result<DecodeResult> decode_yolov8(const HeadSpec&, std::span<const HeadTensor>,
                                   const DecodeOptions&);
Result<DecodeResult> decode_end2end(const HeadSpec&, std::span<const HeadTensor>,
                                    const DecodeOptions&);
std::optional<ModelManifest> match_nanodet(const Graph&);
std::optional<ModelManifest> match_yolox(const Graph&);
std::optional<ModelManifest> match_yolov8(const Graph&);
std::optional<ModelManifest> match_end2end(const Graph&);

// --- reading tensors ---

// Part of one output that belongs to one image: rows x columns, dense.
struct Matrix {
  const float* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  const float* row(std::int64_t index) const { return data + index * columns; }
};

inline constexpr std::int64_t kAny = -1;

// The image's part of the output `name` ("" : the only output), whose shape must be
// [batch, rows, columns]; kAny fits every extent, also 0. kModel with what was expected and found.
Result<Matrix> image_matrix(std::span<const HeadTensor> tensors, std::string_view name,
                            const DecodeOptions& options, std::int64_t rows, std::int64_t columns);
// The same for an output [batch, rows], as a matrix of one column.
Result<Matrix> image_column(std::span<const HeadTensor> tensors, std::string_view name,
                            const DecodeOptions& options, std::int64_t rows);
// The output by name, without looking at its shape.
// `field` is the manifest's field that names it.
Result<const HeadTensor*> find_output(std::span<const HeadTensor> tensors, std::string_view name,
                                      std::string_view field = "head.outputs");

Error shape_error(const HeadTensor& tensor, const std::string& expected);
// kModel when the outputs have another number of classes than there are labels.
Status check_classes(const HeadSpec& spec, std::int64_t found, std::string_view output);
// kInvalidArgument unless the input size is positive and the threshold a number.
Status check_options(const DecodeOptions& options);

// ceil(width / stride) x ceil(height / stride).
struct Grid {
  std::int64_t columns = 0;
  std::int64_t rows = 0;
  std::int64_t cells() const { return columns * rows; }
};
Grid grid_of(Size size, int stride);
std::int64_t cells_of(Size size, std::span<const int> strides);

// --- scores ---

// Scores of a whole head are scanned for the few that count before anything else is computed.
//
// Whether some value is not below `threshold` (NaN is not). No early exit, so that it becomes
// straight vector code.
inline bool any_reaches(const float* values, std::int64_t count, float threshold) {
  int any = 0;
  for (std::int64_t i = 0; i < count; ++i) any |= static_cast<int>(!(values[i] < threshold));
  return any != 0;
}

inline float sigmoid(float x) { return 1.0f / (1.0f + std::exp(-x)); }
inline float activated(float raw, Activation activation) {
  return activation == Activation::kSigmoid ? sigmoid(raw) : raw;
}

// A bound on raw scores: those below it are below the threshold after the activation. Slightly
// low on purpose; the exact comparison follows on what passes.
float raw_threshold(float threshold, Activation activation);

// The largest value of a row and where (the first of equals); NaN anywhere gives NaN.
struct Best {
  float value = 0;
  int index = 0;
};
Best best_of(const float* values, std::int64_t count, std::int64_t step = 1);

// Collects detections with the checks that hold for every head.
class Collector {
 public:
  Collector(const HeadSpec& spec, const DecodeOptions& options)
      : spec_(spec), threshold_(options.score_threshold) {}

  // Whether a detection with this (activated) score is wanted; counts a score that is not finite.
  bool wants(float score) {
    if (score >= threshold_ && score <= kGreatest) return true;
    if (score < threshold_) return false;
    reject(score);
    return false;
  }
  void add(const Box& box, float score, int class_id);
  void count_unknown_class() { ++result_.dropped_unknown_class; }

  // The result, or kModel when a score was no probability.
  Result<DecodeResult> take();

 private:
  // Rounding in low-precision arithmetic may lead a little beyond 1.
  static constexpr float kGreatest = 1.01f;
  void reject(float score);

  const HeadSpec& spec_;
  float threshold_;
  float improbable_ = 0;
  DecodeResult result_;
};

inline Box box_from_center(float cx, float cy, float width, float height) {
  return {cx - width / 2, cy - height / 2, cx + width / 2, cy + height / 2};
}

// --- guessing a manifest ---

// What the guesses need of a graph; nullopt unless it has one image input of float32 and known
// channels, and no output of another batch than 1.
struct GraphFacts {
  ModelInput input;  // name, layout and, when the shape is fixed, the size
  std::optional<Size> size;
  struct Output {
    std::string name;
    DataType type;
    Shape shape;
  };
  std::vector<Output> outputs;
};
std::optional<GraphFacts> facts_of(const Graph& graph);

// True when `cells` may be the sum of the grid's cells: equal, or either is unknown.
bool may_be_cells(const GraphFacts& facts, std::int64_t cells, std::span<const int> strides);
// Whether a name contains one of the words, in any case.
bool mentions(std::string_view name, std::initializer_list<std::string_view> words);
// A manifest with the input filled in (fixed size, or `fallback`, in multiples of 32) and labels:
// COCO's for 80 (91: by COCO's category numbers), else "class0", "class1"...
ModelManifest guess(const GraphFacts& facts, Size fallback, int classes);

inline constexpr int kCocoClasses = 80;
// More is not a detector, and names for them would fill the memory.
inline constexpr std::int64_t kMaxGuessedClasses = 10000;
inline bool plausible_classes(std::int64_t classes) {
  return classes >= 1 && classes <= kMaxGuessedClasses;
}
std::vector<std::string> default_labels(int classes);

// As the match functions of heads, and the checks of check_graph, for segmentation.
std::optional<ModelManifest> match_segmentation(const Graph& graph);
Status check_segmentation_output(const ModelManifest& manifest, const Graph& graph);
// For messages: what match_segmentation takes.
inline constexpr std::string_view kSegmentationOutputs =
    "segmentation: one output [1,C,h,w] or [1,h,w,C]";
// Operands with their shapes, for messages.
std::string describe(std::span<const GraphOperand> operands);

}  // namespace sparing::heads_internal

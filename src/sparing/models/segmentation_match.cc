// Guessing a segmentation manifest from a graph, and checking a graph against one.
#include <algorithm>

#include "sparing/base/class_map.h"
#include "sparing/models/head_internal.h"
#include "sparing/models/registry.h"

namespace sparing {
namespace heads_internal {
namespace {

constexpr std::int64_t kMaxReduction = 32;  // input pixels a side of an output pixel

// Whether an output of this size may belong to the input: both sides reduced by the same whole
// number, rounded up.
bool may_be_map(const GraphFacts& facts, std::int64_t height, std::int64_t width) {
  if (height == 0 || width == 0) return false;
  if (!facts.size) return true;
  const auto fits = [](std::int64_t side, std::int64_t reduced, std::int64_t k) {
    return reduced < 0 || (side + k - 1) / k == reduced;
  };
  for (std::int64_t k = 1; k <= kMaxReduction; ++k) {
    if (fits(facts.size->height, height, k) && fits(facts.size->width, width, k)) return true;
  }
  return false;
}

bool plausible_channels(std::int64_t channels) { return channels >= 1 && channels <= kMaxClasses; }

struct Reading {
  Layout layout;
  std::int64_t channels;
};

// The input's layout first, where both fit.
std::optional<Reading> reading_of(const GraphFacts& facts, const Shape& shape) {
  const Layout other = facts.input.layout == Layout::kNchw ? Layout::kNhwc : Layout::kNchw;
  for (const Layout layout : {facts.input.layout, other}) {
    const bool nchw = layout == Layout::kNchw;
    const std::int64_t channels = shape[nchw ? 1 : 3];
    if (plausible_channels(channels) &&
        may_be_map(facts, shape[nchw ? 2 : 1], shape[nchw ? 3 : 2])) {
      return Reading{layout, channels};
    }
  }
  return std::nullopt;
}

Error output_error(const ModelManifest& manifest, const GraphOperand& output,
                   const std::string& expected) {
  return {ErrorCode::kModel, "model '" + manifest.name + "'",
          "output '" + output.name + "' is " + std::string(info(output.descriptor.data_type).name) +
              to_string_shape(output.descriptor.shape) + ", expected " + expected,
          "correct segmentation (output, kind, layout, class_map) or labels of the manifest"};
}

}  // namespace

std::optional<ModelManifest> match_segmentation(const Graph& graph) {
  const std::optional<GraphFacts> facts = facts_of(graph);
  if (!facts || facts->outputs.size() != 1) return std::nullopt;
  const GraphFacts::Output& output = facts->outputs[0];
  if (output.type != DataType::kFloat32 || output.shape.size() != 4) return std::nullopt;
  const std::optional<Reading> reading = reading_of(*facts, output.shape);
  if (!reading) return std::nullopt;

  const bool foreground = reading->channels == 1;
  ModelManifest out = guess(*facts, Size{}, foreground ? 2 : static_cast<int>(reading->channels));
  if (foreground) out.labels = {"background", "foreground"};
  out.head = HeadSpec();
  out.task = ModelTask::kSegment;
  if (out.input.layout == Layout::kNchw) {
    out.input.mean = {123.675f, 116.28f, 103.53f};
    out.input.std = {58.395f, 57.12f, 57.375f};
  } else {
    out.input.std = {255, 255, 255};
  }
  SegmentationSpec& spec = out.segmentation;
  spec.output = output.name;
  spec.classes = static_cast<int>(out.labels.size());
  const bool probabilities = mentions(output.name, {"softmax", "sigmoid", "prob"});
  if (foreground) {
    spec.kind = SegmentationKind::kForeground;
    spec.activation = probabilities ? Activation::kNone : Activation::kSigmoid;
  } else {
    spec.layout = reading->layout;
    spec.activation = probabilities ? Activation::kNone : Activation::kSoftmax;
  }
  return out;
}

Status check_segmentation_output(const ModelManifest& manifest, const Graph& graph) {
  const SegmentationSpec& spec = manifest.segmentation;
  const auto found = std::find_if(graph.outputs().begin(), graph.outputs().end(),
                                  [&](const GraphOperand& operand) {
                                    return spec.output.empty() || operand.name == spec.output;
                                  });
  if (found == graph.outputs().end() || (spec.output.empty() && graph.outputs().size() != 1)) {
    const std::string name = "output '" + spec.output + "' is missing";
    return Error{
        ErrorCode::kModel, "model '" + manifest.name + "'",
        (spec.output.empty() ? "several outputs" : name) + "; found " + describe(graph.outputs()),
        "name the one to read in segmentation.output of the manifest"};
  }
  const Shape& shape = found->descriptor.shape;
  const bool integers = found->descriptor.data_type != DataType::kFloat32;
  if (spec.kind != SegmentationKind::kScores) {
    const bool one = shape.size() == 4 && (shape[1] == 1 || shape[3] == 1 || shape[1] < 0);
    if ((shape.size() == 3 || one) && !(integers && spec.kind == SegmentationKind::kForeground)) {
      return ok_status();
    }
    return output_error(manifest, *found, "[1,1,h,w], [1,h,w,1] or [1,h,w]");
  }
  const int expected =
      spec.class_map.empty() ? spec.classes : static_cast<int>(spec.class_map.size());
  const bool nchw = spec.layout == Layout::kNchw;
  const std::int64_t channels = shape.size() == 4 ? shape[nchw ? 1 : 3] : 0;
  if (!integers && (channels == expected || channels < 0)) return ok_status();
  const std::string count = std::to_string(expected);
  return output_error(manifest, *found,
                      "float32" + (nchw ? "[1," + count + ",h,w]" : "[1,h,w," + count + "]"));
}

}  // namespace heads_internal

Status check_task(const ModelManifest& manifest, ModelTask task) {
  if (manifest.task == task) return ok_status();
  const bool detects = manifest.task == ModelTask::kDetect;
  return Error{
      ErrorCode::kModel, "model '" + manifest.name + "'",
      detects ? "it finds objects, and cannot segment" : "it segments, and finds no objects",
      std::string("use it with `sparing ") + (detects ? "detect" : "segment") +
          "`, or choose another model (`sparing models list`)"};
}

Status check_pair(const ModelManifest& main, const ModelManifest& aux) {
  SPARING_RETURN_IF_ERROR(check_task(main, ModelTask::kSegment));
  SPARING_RETURN_IF_ERROR(check_task(aux, ModelTask::kSegment));
  const std::string thing = "models '" + main.name + "' and '" + aux.name + "'";
  const std::string fix =
      "use models of the same classes, or bring them together with segmentation.class_map and labels "
      "in a manifest";
  if (main.labels.size() != aux.labels.size()) {
    return Error{ErrorCode::kModel, thing,
                 std::to_string(main.labels.size()) + " and " + std::to_string(aux.labels.size()) +
                     " labels",
                 fix};
  }
  const auto [a, b] = std::mismatch(main.labels.begin(), main.labels.end(), aux.labels.begin());
  if (a == main.labels.end()) return ok_status();
  return Error{
      ErrorCode::kModel, thing,
      "label " + std::to_string(a - main.labels.begin()) + " is '" + *a + "' and '" + *b + "'",
      fix};
}

}  // namespace sparing

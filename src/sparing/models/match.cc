// Guessing a manifest from a graph, and checking a graph against one.
#include <algorithm>
#include <cctype>

#include "sparing/models/head_internal.h"
#include "sparing/models/registry.h"

namespace sparing {
namespace heads_internal {
namespace {

constexpr int kMultiple = 32;  // greatest stride of the usual networks

// [batch, 3, height, width] or [batch, height, width, 3].
std::optional<Layout> layout_of(const Shape& shape) {
  if (shape.size() != 4) return std::nullopt;
  if (shape[1] == 3) return Layout::kNchw;
  if (shape[3] == 3) return Layout::kNhwc;
  return std::nullopt;
}

bool batch_of_one(const Shape& shape) { return !shape.empty() && (shape[0] == 1 || shape[0] < 0); }

}  // namespace

std::optional<GraphFacts> facts_of(const Graph& graph) {
  if (graph.inputs().size() != 1 || graph.outputs().empty()) return std::nullopt;
  const GraphOperand& operand = graph.inputs()[0];
  const Shape& shape = operand.descriptor.shape;
  const std::optional<Layout> layout = layout_of(shape);
  if (!layout || operand.descriptor.data_type != DataType::kFloat32 || !batch_of_one(shape)) {
    return std::nullopt;
  }
  GraphFacts facts;
  facts.input.name = operand.name;
  facts.input.layout = *layout;
  const std::int64_t height = shape[*layout == Layout::kNchw ? 2 : 1];
  const std::int64_t width = shape[*layout == Layout::kNchw ? 3 : 2];
  constexpr std::int64_t kMaxSide = 16384;
  if (height > kMaxSide || width > kMaxSide) return std::nullopt;
  if (height > 0 && width > 0) facts.size = {static_cast<int>(width), static_cast<int>(height)};
  for (const GraphOperand& output : graph.outputs()) {
    if (!batch_of_one(output.descriptor.shape)) return std::nullopt;
    facts.outputs.push_back({output.name, output.descriptor.data_type, output.descriptor.shape});
  }
  return facts;
}

bool may_be_cells(const GraphFacts& facts, std::int64_t cells, std::span<const int> strides) {
  if (cells < 0 || !facts.size) return true;
  return cells == cells_of(*facts.size, strides);
}

bool mentions(std::string_view name, std::initializer_list<std::string_view> words) {
  std::string lower(name);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return lower.find(word) != std::string::npos; });
}

ModelManifest guess(const GraphFacts& facts, Size fallback, int classes) {
  ModelManifest out;
  out.input = facts.input;
  if (facts.size) {
    out.input.default_size = *facts.size;
    out.input.fixed_size = true;
    out.input.max_size = std::max({out.input.max_size, facts.size->width, facts.size->height});
  } else {
    out.input.default_size = fallback;
    out.input.multiple_of = kMultiple;
    out.input.min_size = kMultiple;
  }
  out.labels = default_labels(classes);
  out.head.classes = classes;
  return out;
}

std::string describe(std::span<const GraphOperand> operands) {
  std::string text;
  for (const GraphOperand& operand : operands) {
    text += (text.empty() ? "'" : ", '") + operand.name + "' " +
            to_string_shape(operand.descriptor.shape);
    if (operand.descriptor.data_type != DataType::kFloat32) {
      text += " " + std::string(info(operand.descriptor.data_type).name);
    }
  }
  return text.empty() ? "none" : text;
}

}  // namespace heads_internal

namespace {

using heads_internal::describe;

std::string supported() {
  std::string text;
  for (const HeadInfo& row : heads()) {
    text += std::string(row.description) + "; ";
  }
  return text + std::string(heads_internal::kSegmentationOutputs);
}

// The plain reasons first: they hold for every head.
std::string why_none(const Graph& graph) {
  if (graph.inputs().size() != 1) {
    return "it has " + std::to_string(graph.inputs().size()) +
           " inputs, and must have one (the image)";
  }
  if (!heads_internal::facts_of(graph)) {
    return "it must take one float32 image [1,3,H,W] or [1,H,W,3] and give outputs of batch 1";
  }
  return "no head fits its outputs";
}

std::vector<std::string> output_names(const HeadOutputs& outputs) {
  std::vector<std::string> names = outputs.scores;
  names.insert(names.end(), outputs.distribution.begin(), outputs.distribution.end());
  for (const std::string* name : {&outputs.combined, &outputs.predictions, &outputs.detections,
                                  &outputs.boxes, &outputs.labels}) {
    if (!name->empty()) names.push_back(*name);
  }
  return names;
}

Error graph_error(const ModelManifest& manifest, std::string problem, std::string fix) {
  return {ErrorCode::kModel, "model '" + manifest.name + "'", std::move(problem), std::move(fix)};
}

Status check_image_input(const ModelManifest& manifest, const GraphOperand& operand) {
  const Shape& shape = operand.descriptor.shape;
  const bool nchw = manifest.input.layout == Layout::kNchw;
  const std::string what = "input '" + operand.name + "' is " +
                           std::string(info(operand.descriptor.data_type).name) +
                           to_string_shape(shape);
  if (operand.descriptor.data_type != DataType::kFloat32 || shape.size() != 4 || (shape[0] > 1) ||
      (shape[nchw ? 1 : 3] > 0 && shape[nchw ? 1 : 3] != 3)) {
    return graph_error(manifest, what,
                       std::string("it must be float32 ") + (nchw ? "[1,3,H,W]" : "[1,H,W,3]") +
                           "; correct input.layout or export the model so");
  }
  const std::int64_t height = shape[nchw ? 2 : 1];
  const std::int64_t width = shape[nchw ? 3 : 2];
  const Size size = manifest.input.default_size;
  const auto side = [](std::int64_t extent) {
    return extent > 0 ? std::to_string(extent) : std::string("any");
  };
  if ((height > 0 && height != size.height) || (width > 0 && width != size.width)) {
    return graph_error(manifest, what + ", a fixed size that is not input.size.default",
                       "set input.size.default to [" + side(width) + "," + side(height) + "]");
  }
  return ok_status();
}

}  // namespace

Result<ModelManifest> match_head(const Graph& graph, std::string_view name) {
  for (const HeadInfo& row : heads()) {
    if (std::optional<ModelManifest> manifest = row.match(graph)) {
      manifest->name = std::string(name);
      manifest->title = manifest->name + ", taken for " + std::string(row.name);
      return *std::move(manifest);
    }
  }
  if (std::optional<ModelManifest> manifest = heads_internal::match_segmentation(graph)) {
    manifest->name = std::string(name);
    manifest->title = manifest->name + ", taken for segmentation";
    return *std::move(manifest);
  }
  return Error{ErrorCode::kModel, "model '" + std::string(name) + "'",
               why_none(graph) + "; found inputs " + describe(graph.inputs()) + ", outputs " +
                   describe(graph.outputs()),
               "describe it in a manifest (models/README.md) if it is one of: " + supported()};
}

Status check_graph(const ModelManifest& manifest, const Graph& graph) {
  const auto find = [](const std::vector<GraphOperand>& operands, const std::string& name) {
    return std::find_if(operands.begin(), operands.end(),
                        [&](const GraphOperand& operand) { return operand.name == name; });
  };
  const std::vector<GraphOperand>& inputs = graph.inputs();
  if (inputs.size() != 1) {
    return graph_error(manifest, "it has inputs " + describe(inputs),
                       "use a model with one input, the image");
  }
  if (!manifest.input.name.empty() && inputs[0].name != manifest.input.name) {
    return graph_error(manifest,
                       "input '" + manifest.input.name + "' is missing; found " + describe(inputs),
                       "correct input.name of the manifest");
  }
  SPARING_RETURN_IF_ERROR(check_image_input(manifest, inputs[0]));
  if (manifest.task == ModelTask::kSegment) {
    return heads_internal::check_segmentation_output(manifest, graph);
  }
  const std::vector<std::string> names = output_names(manifest.head.outputs);
  for (const std::string& name : names) {
    if (find(graph.outputs(), name) != graph.outputs().end()) continue;
    return graph_error(manifest,
                       "output '" + name + "' is missing; found " + describe(graph.outputs()),
                       "correct head.outputs of the manifest");
  }
  if (names.empty() && graph.outputs().size() != 1) {
    return graph_error(manifest, "it has outputs " + describe(graph.outputs()),
                       "name the one to read in head.outputs");
  }
  return ok_status();
}

}  // namespace sparing

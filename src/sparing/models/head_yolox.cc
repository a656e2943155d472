// YOLOX: one row a cell, with objectness. Best class of a cell, as its own post-processing does.
#include "sparing/models/head_internal.h"

namespace sparing::heads_internal {
namespace {

constexpr int kBoxAndObjectness = 5;

// A row's box in tensor pixels.
Box row_box(const HeadSpec& spec, const float* row, float column, float line, int stride) {
  if (spec.decoded) return box_from_center(row[0], row[1], row[2], row[3]);
  const auto scale = static_cast<float>(stride);
  return box_from_center((row[0] + column) * scale, (row[1] + line) * scale,
                         std::exp(row[2]) * scale, std::exp(row[3]) * scale);
}

struct Scan {
  const HeadSpec& spec;
  std::int64_t classes;
  float bound;  // on raw objectness: a class score of 1 at most cannot bring it back
};

void decode_row(const Scan& scan, const float* row, float column, float line, int stride,
                Collector& out) {
  if (row[4] < scan.bound) return;
  const Best best = best_of(row + kBoxAndObjectness, scan.classes);
  const float score =
      activated(row[4], scan.spec.activation) * activated(best.value, scan.spec.activation);
  if (!out.wants(score)) return;
  out.add(row_box(scan.spec, row, column, line, stride), score, best.index);
}

}  // namespace

Result<DecodeResult> decode_yolox(const HeadSpec& spec, std::span<const HeadTensor> tensors,
                                  const DecodeOptions& options) {
  SPARING_RETURN_IF_ERROR(check_options(options));
  SPARING_ASSIGN_OR_RETURN(
      const Matrix all,
      image_matrix(tensors, spec.outputs.predictions, options,
                   spec.decoded ? kAny : cells_of(options.input_size, spec.strides),
                   spec.classes > 0 ? spec.classes + kBoxAndObjectness : kAny));
  const std::int64_t classes = all.columns - kBoxAndObjectness;
  SPARING_RETURN_IF_ERROR(check_classes(spec, classes, spec.outputs.predictions));
  const Scan scan{spec, classes, raw_threshold(options.score_threshold, spec.activation)};
  Collector out(spec, options);
  if (spec.decoded) {
    for (std::int64_t i = 0; i < all.rows; ++i) decode_row(scan, all.row(i), 0, 0, 1, out);
    return out.take();
  }
  std::int64_t first = 0;
  for (const int stride : spec.strides) {
    const Grid grid = grid_of(options.input_size, stride);
    for (std::int64_t cell = 0; cell < grid.cells(); ++cell) {
      decode_row(scan, all.row(first + cell), static_cast<float>(cell % grid.columns),
                 static_cast<float>(cell / grid.columns), stride, out);
    }
    first += grid.cells();
  }
  return out.take();
}

std::optional<ModelManifest> match_yolox(const Graph& graph) {
  static constexpr int kStrides[] = {8, 16, 32};
  const std::optional<GraphFacts> facts = facts_of(graph);
  if (!facts || facts->outputs.size() != 1) return std::nullopt;
  const Shape& shape = facts->outputs[0].shape;
  if (shape.size() != 3) return std::nullopt;
  const std::int64_t classes = shape[2] - kBoxAndObjectness;
  if (!plausible_classes(classes)) return std::nullopt;
  const bool cells_known = facts->size.has_value() && shape[1] > 0;
  if (!may_be_cells(*facts, shape[1], kStrides)) return std::nullopt;
  // Rows of 84 are a transposed YOLOv8 with COCO's classes rather than 79 classes here; and where
  // the cells cannot be counted, only COCO's 85 are told from other heads.
  if (classes + 1 == kCocoClasses) return std::nullopt;
  if (!cells_known && classes != kCocoClasses) return std::nullopt;
  ModelManifest out = guess(*facts, {640, 640}, static_cast<int>(classes));
  out.input.order = ChannelOrder::kBgr;
  out.input.fit = Fit::kLetterbox;
  out.input.anchor = Anchor::kTopLeft;
  out.iou_threshold = 0.45;
  out.head.type = HeadType::kYolox;
  out.head.outputs.predictions = facts->outputs[0].name;
  return out;
}

}  // namespace sparing::heads_internal

// YOLOv8 and its kin: boxes decoded by the graph, one column (or row) a candidate. Best class of a
// candidate, as the exporter's own prediction does.
#include <algorithm>
#include <array>

#include "sparing/models/head_internal.h"

namespace sparing::heads_internal {
namespace {

// Where value `attribute` of candidate `index` lies: data + attribute * attribute_step +
// index * candidate_step.
struct Candidates {
  const float* data = nullptr;
  std::int64_t count = 0;
  std::int64_t classes = 0;
  std::int64_t attribute_step = 0;
  std::int64_t candidate_step = 0;
};

void decode_candidate(const HeadSpec& spec, const Candidates& all, std::int64_t index,
                      Collector& out) {
  const float* values = all.data + index * all.candidate_step;
  const std::int64_t step = all.attribute_step;
  const Best best = best_of(values + 4 * step, all.classes, step);
  const float score = activated(best.value, spec.activation);
  if (!out.wants(score)) return;
  const float a = values[0], b = values[step], c = values[2 * step], d = values[3 * step];
  out.add(spec.box_format == BoxFormat::kXyxy ? Box{a, b, c, d} : box_from_center(a, b, c, d),
          score, best.index);
}

// [1, N, 4 + C]: a candidate's scores are adjacent.
void decode_rows(const HeadSpec& spec, const Candidates& all, float bound, Collector& out) {
  for (std::int64_t i = 0; i < all.count; ++i) {
    if (any_reaches(all.data + i * all.candidate_step + 4, all.classes, bound)) {
      decode_candidate(spec, all, i, out);
    }
  }
}

// [1, 4 + C, N]: a class's scores are adjacent, so blocks of candidates are scanned class by
// class.
void decode_columns(const HeadSpec& spec, const Candidates& all, float bound, Collector& out) {
  constexpr std::int64_t kBlock = 512;
  std::array<std::int32_t, kBlock> reaches;
  for (std::int64_t first = 0; first < all.count; first += kBlock) {
    const std::int64_t count = std::min(kBlock, all.count - first);
    reaches.fill(0);
    for (std::int64_t label = 0; label < all.classes; ++label) {
      const float* scores = all.data + (4 + label) * all.attribute_step + first;
      for (std::int64_t i = 0; i < count; ++i) {
        reaches[i] |= static_cast<std::int32_t>(!(scores[i] < bound));
      }
    }
    for (std::int64_t i = 0; i < count; ++i) {
      if (reaches[i] != 0) decode_candidate(spec, all, first + i, out);
    }
  }
}

// Which way round a tensor lies: by the number of labels, [4 + C, N] first; without labels the
// shorter side holds the attributes.
bool attributes_first(const HeadSpec& spec, const Matrix& matrix) {
  if (spec.classes > 0) return matrix.rows == spec.classes + 4;
  return matrix.rows <= matrix.columns;
}

}  // namespace

Result<DecodeResult> decode_yolov8(const HeadSpec& spec, std::span<const HeadTensor> tensors,
                                   const DecodeOptions& options) {
  SPARING_RETURN_IF_ERROR(check_options(options));
  SPARING_ASSIGN_OR_RETURN(const Matrix matrix,
                           image_matrix(tensors, spec.outputs.predictions, options, kAny, kAny));
  const bool columns = attributes_first(spec, matrix);
  Candidates all{matrix.data, matrix.columns, matrix.rows - 4, matrix.columns, 1};
  if (!columns) all = {matrix.data, matrix.rows, matrix.columns - 4, 1, matrix.columns};
  if (all.classes < 1 || (spec.classes > 0 && all.classes != spec.classes)) {
    const std::string width = spec.classes > 0 ? std::to_string(spec.classes + 4) : "4+C";
    SPARING_ASSIGN_OR_RETURN(const HeadTensor* tensor,
                             find_output(tensors, spec.outputs.predictions));
    return shape_error(*tensor, "[batch," + width + ",N] or [batch,N," + width + "]");
  }
  const float bound = raw_threshold(options.score_threshold, spec.activation);
  Collector out(spec, options);
  (columns ? decode_columns : decode_rows)(spec, all, bound, out);
  return out.take();
}

std::optional<ModelManifest> match_yolov8(const Graph& graph) {
  static constexpr int kStrides[] = {8, 16, 32};
  const std::optional<GraphFacts> facts = facts_of(graph);
  if (!facts || facts->outputs.size() != 1) return std::nullopt;
  const Shape& shape = facts->outputs[0].shape;
  if (shape.size() != 3) return std::nullopt;
  const auto width_fits = [](std::int64_t width, bool cells_counted) {
    return width == kCocoClasses + 4 || (cells_counted && plausible_classes(width - 4));
  };
  const bool counted = facts->size.has_value();
  std::int64_t width = 0;
  if (width_fits(shape[1], counted && shape[2] > 0) && may_be_cells(*facts, shape[2], kStrides)) {
    width = shape[1];
  } else if (width_fits(shape[2], false) && may_be_cells(*facts, shape[1], kStrides)) {
    width = shape[2];
  } else {
    return std::nullopt;
  }
  ModelManifest out = guess(*facts, {640, 640}, static_cast<int>(width - 4));
  out.input.std = {255, 255, 255};
  out.input.fit = Fit::kLetterbox;
  out.iou_threshold = 0.7;
  out.head.type = HeadType::kYolov8;
  out.head.outputs.predictions = facts->outputs[0].name;
  return out;
}

}  // namespace sparing::heads_internal

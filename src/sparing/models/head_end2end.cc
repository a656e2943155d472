// Networks that give final detections: YOLOv10, and the DETR family. One detection a row at most.
#include <algorithm>
#include <limits>

#include "sparing/models/head_internal.h"

namespace sparing::heads_internal {
namespace {

Box row_box(const HeadSpec& spec, const float* row, Size size) {
  const float sx = spec.normalized ? static_cast<float>(size.width) : 1.0f;
  const float sy = spec.normalized ? static_cast<float>(size.height) : 1.0f;
  const float a = row[0] * sx, b = row[1] * sy, c = row[2] * sx, d = row[3] * sy;
  return spec.box_format == BoxFormat::kXyxy ? Box{a, b, c, d} : box_from_center(a, b, c, d);
}

// A row whose class comes as a number. Negative: an empty row.
void add_labelled(const HeadSpec& spec, const Box& box, float raw_score, float label,
                  Collector& out) {
  const float score = activated(raw_score, spec.activation);
  if (label < 0 || !out.wants(score)) return;
  const int limit = spec.classes > 0 ? spec.classes : std::numeric_limits<int>::max() / 2;
  // Written so that NaN is unknown, too.
  if (!(label < static_cast<float>(limit))) {
    out.count_unknown_class();
  } else {
    out.add(box, score, static_cast<int>(std::lround(label)));
  }
}

Result<DecodeResult> decode_rows(const HeadSpec& spec, std::span<const HeadTensor> tensors,
                                 const DecodeOptions& options) {
  SPARING_ASSIGN_OR_RETURN(const Matrix all,
                           image_matrix(tensors, spec.outputs.detections, options, kAny, 6));
  Collector out(spec, options);
  for (std::int64_t i = 0; i < all.rows; ++i) {
    const float* row = all.row(i);
    add_labelled(spec, row_box(spec, row, options.input_size), row[4], row[5], out);
  }
  return out.take();
}

Result<DecodeResult> decode_triple(const HeadSpec& spec, std::span<const HeadTensor> tensors,
                                   const DecodeOptions& options) {
  SPARING_ASSIGN_OR_RETURN(const Matrix boxes,
                           image_matrix(tensors, spec.outputs.boxes, options, kAny, 4));
  SPARING_ASSIGN_OR_RETURN(const Matrix scores,
                           image_column(tensors, spec.outputs.scores[0], options, boxes.rows));
  SPARING_ASSIGN_OR_RETURN(const Matrix labels,
                           image_column(tensors, spec.outputs.labels, options, boxes.rows));
  Collector out(spec, options);
  for (std::int64_t i = 0; i < boxes.rows; ++i) {
    add_labelled(spec, row_box(spec, boxes.row(i), options.input_size), scores.data[i],
                 labels.data[i], out);
  }
  return out.take();
}

// The softmax of the value `raw` among all columns of its row.
float softmax_of(const float* row, std::int64_t count, float raw) {
  const float greatest = *std::max_element(row, row + count);
  float sum = 0;
  for (std::int64_t i = 0; i < count; ++i) sum += std::exp(row[i] - greatest);
  return std::exp(raw - greatest) / sum;
}

Result<DecodeResult> decode_pair(const HeadSpec& spec, std::span<const HeadTensor> tensors,
                                 const DecodeOptions& options) {
  const int background = spec.background == Background::kNone ? 0 : 1;
  const int first = spec.background == Background::kFirst ? 1 : 0;
  SPARING_ASSIGN_OR_RETURN(const Matrix boxes,
                           image_matrix(tensors, spec.outputs.boxes, options, kAny, 4));
  SPARING_ASSIGN_OR_RETURN(const Matrix scores, image_matrix(tensors, spec.outputs.scores[0],
                                                             options, boxes.rows, kAny));
  const std::int64_t classes = scores.columns - background;
  SPARING_RETURN_IF_ERROR(check_classes(spec, classes, spec.outputs.scores[0]));
  Collector out(spec, options);
  for (std::int64_t i = 0; i < boxes.rows; ++i) {
    const float* row = scores.row(i);
    const Best best = best_of(row + first, classes);
    const float score = spec.activation == Activation::kSoftmax
                            ? softmax_of(row, scores.columns, best.value)
                            : activated(best.value, spec.activation);
    if (!out.wants(score)) continue;
    out.add(row_box(spec, boxes.row(i), options.input_size), score, best.index);
  }
  return out.take();
}

}  // namespace

Result<DecodeResult> decode_end2end(const HeadSpec& spec, std::span<const HeadTensor> tensors,
                                    const DecodeOptions& options) {
  SPARING_RETURN_IF_ERROR(check_options(options));
  if (spec.outputs.boxes.empty()) return decode_rows(spec, tensors, options);
  if (spec.outputs.scores.size() != 1) {
    return Error{ErrorCode::kModel, "head 'end2end'",
                 std::to_string(spec.outputs.scores.size()) + " outputs of scores",
                 "name one in head.outputs.scores"};
  }
  if (!spec.outputs.labels.empty()) return decode_triple(spec, tensors, options);
  return decode_pair(spec, tensors, options);
}

namespace {

bool is_integer(DataType type) { return type == DataType::kInt64 || type == DataType::kInt32; }

// YOLOv10: RGB on 0..1, letterboxed; the graph does not say how many classes there are.
ModelManifest rows_manifest(const GraphFacts& facts) {
  ModelManifest out = guess(facts, {640, 640}, kCocoClasses);
  out.input.std = {255, 255, 255};
  out.input.fit = Fit::kLetterbox;
  out.head.type = HeadType::kEnd2end;
  out.head.box_format = BoxFormat::kXyxy;
  out.head.outputs.detections = facts.outputs[0].name;
  out.nms = NmsMode::kNone;
  return out;
}

struct Roles {
  const GraphFacts::Output* boxes = nullptr;
  const GraphFacts::Output* scores = nullptr;
  const GraphFacts::Output* labels = nullptr;
};

// By shape, then type, then name: boxes are [1,N,4], labels integers or called so.
std::optional<Roles> roles_of(const GraphFacts& facts) {
  Roles roles;
  for (const GraphFacts::Output& output : facts.outputs) {
    const std::size_t rank = output.shape.size();
    const bool four = rank == 3 && output.shape[2] == 4;
    const bool scores_by_name = mentions(output.name, {"logit", "score", "prob", "cls"});
    const GraphFacts::Output** role = nullptr;
    if (four && !scores_by_name) {
      role = &roles.boxes;
    } else if (rank == 2 && (is_integer(output.type) || mentions(output.name, {"label"}))) {
      role = &roles.labels;
    } else if ((rank == 3 && plausible_classes(output.shape[2])) || rank == 2) {
      role = &roles.scores;
    }
    if (role == nullptr || *role != nullptr) return std::nullopt;
    *role = &output;
  }
  if (roles.boxes == nullptr || roles.scores == nullptr) return std::nullopt;
  const std::size_t score_rank = roles.labels != nullptr ? 2 : 3;
  if (roles.scores->shape.size() != score_rank) return std::nullopt;
  return roles;
}

// DETR: logits over COCO's 91 numbers and "no object", softmax; ImageNet's mean and deviation.
// RT-DETR and later: a logit for each class, sigmoid; pixels on 0..1.
ModelManifest detr_manifest(const GraphFacts& facts, const Roles& roles) {
  const auto columns = static_cast<int>(roles.scores->shape[2]);
  const bool logits = mentions(roles.scores->name, {"logit"});
  const bool original = logits && columns == 92;
  ModelManifest out =
      guess(facts, original ? Size{800, 800} : Size{640, 640}, original ? columns - 1 : columns);
  if (original) {
    out.input.mean = {123.675f, 116.28f, 103.53f};
    out.input.std = {58.395f, 57.12f, 57.375f};
    out.head.background = Background::kLast;
    out.head.activation = Activation::kSoftmax;
  } else {
    out.input.std = {255, 255, 255};
    if (logits) out.head.activation = Activation::kSigmoid;
  }
  out.head.box_format = BoxFormat::kCxcywh;
  out.head.normalized = true;
  return out;
}

// Post-processing is in the graph: boxes are corners in pixels.
ModelManifest triple_manifest(const GraphFacts& facts, const Roles& roles) {
  ModelManifest out = guess(facts, {640, 640}, kCocoClasses);
  out.input.std = {255, 255, 255};
  out.head.box_format = BoxFormat::kXyxy;
  out.head.outputs.labels = roles.labels->name;
  return out;
}

}  // namespace

std::optional<ModelManifest> match_end2end(const Graph& graph) {
  const std::optional<GraphFacts> facts = facts_of(graph);
  if (!facts) return std::nullopt;
  if (facts->outputs.size() == 1) {
    const Shape& shape = facts->outputs[0].shape;
    if (shape.size() != 3 || shape[2] != 6) return std::nullopt;
    return rows_manifest(*facts);
  }
  const std::optional<Roles> roles = roles_of(*facts);
  if (!roles) return std::nullopt;
  ModelManifest out =
      roles->labels != nullptr ? triple_manifest(*facts, *roles) : detr_manifest(*facts, *roles);
  out.head.type = HeadType::kEnd2end;
  out.head.outputs.boxes = roles->boxes->name;
  out.head.outputs.scores = {roles->scores->name};
  out.nms = NmsMode::kNone;
  return out;
}

}  // namespace sparing::heads_internal

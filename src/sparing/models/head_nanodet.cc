// NanoDet and other heads with a distribution over distances (Generalized Focal Loss).
#include <algorithm>
#include <array>

#include "sparing/models/head_internal.h"

namespace sparing::heads_internal {
namespace {

// One stride's rows. In the combined form both matrices are the same memory: a row holds the
// scores, then the distributions.
struct Level {
  int stride = 0;
  Grid grid;
  const float* scores = nullptr;
  const float* distribution = nullptr;
  std::int64_t score_step = 0;  // from one cell's row to the next
  std::int64_t distribution_step = 0;
};

// Mean of 0..reg_max weighted by the softmax of the logits.
float expected_bin(const float* logits, int bins) {
  const float greatest = *std::max_element(logits, logits + bins);
  float sum = 0;
  float weighted = 0;
  for (int bin = 0; bin < bins; ++bin) {
    const float weight = std::exp(logits[bin] - greatest);
    sum += weight;
    weighted += weight * static_cast<float>(bin);
  }
  return weighted / sum;
}

Box cell_box(const HeadSpec& spec, const Level& level, std::int64_t cell, Size size) {
  const int bins = spec.reg_max + 1;
  const float* logits = level.distribution + cell * level.distribution_step;
  const auto stride = static_cast<float>(level.stride);
  const auto offset = static_cast<float>(spec.cell_offset);
  const float x = (static_cast<float>(cell % level.grid.columns) + offset) * stride;
  const float y = (static_cast<float>(cell / level.grid.columns) + offset) * stride;
  std::array<float, 4> side;  // left, top, right, bottom
  for (int i = 0; i < 4; ++i) side[i] = expected_bin(logits + i * bins, bins) * stride;
  const Box box{x - side[0], y - side[1], x + side[2], y + side[3]};
  // clip() would turn NaN into a number.
  return is_finite(box) ? clip(box, size.width, size.height) : box;
}

void decode_level(const HeadSpec& spec, const Level& level, std::int64_t classes,
                  const DecodeOptions& options, Collector& out) {
  const float bound = raw_threshold(options.score_threshold, spec.activation);
  for (std::int64_t cell = 0; cell < level.grid.cells(); ++cell) {
    const float* scores = level.scores + cell * level.score_step;
    if (!any_reaches(scores, classes, bound)) continue;
    std::optional<Box> box;  // the same for all classes of a cell
    for (std::int64_t label = 0; label < classes; ++label) {
      if (scores[label] < bound) continue;
      const float score = activated(scores[label], spec.activation);
      if (!out.wants(score)) continue;
      if (!box) box = cell_box(spec, level, cell, options.input_size);
      out.add(*box, score, static_cast<int>(label));
    }
  }
}

struct Levels {
  std::vector<Level> levels;
  std::int64_t classes = 0;
};

Result<Levels> combined_levels(const HeadSpec& spec, std::span<const HeadTensor> tensors,
                               const DecodeOptions& options) {
  const std::int64_t regression = 4 * (spec.reg_max + 1);
  SPARING_ASSIGN_OR_RETURN(const Matrix all,
                           image_matrix(tensors, spec.outputs.combined, options,
                                        cells_of(options.input_size, spec.strides),
                                        spec.classes > 0 ? spec.classes + regression : kAny));
  Levels out{{}, all.columns - regression};
  SPARING_RETURN_IF_ERROR(check_classes(spec, out.classes, spec.outputs.combined));
  std::int64_t first = 0;
  for (const int stride : spec.strides) {
    const Grid grid = grid_of(options.input_size, stride);
    out.levels.push_back(
        {stride, grid, all.row(first), all.row(first) + out.classes, all.columns, all.columns});
    first += grid.cells();
  }
  return out;
}

Result<Levels> separate_levels(const HeadSpec& spec, std::span<const HeadTensor> tensors,
                               const DecodeOptions& options) {
  const std::size_t count = spec.strides.size();
  if (spec.outputs.scores.size() != count || spec.outputs.distribution.size() != count) {
    return Error{ErrorCode::kModel, "head 'nanodet'",
                 std::to_string(count) + " strides, but " +
                     std::to_string(spec.outputs.scores.size()) + " outputs of scores and " +
                     std::to_string(spec.outputs.distribution.size()) + " of distributions",
                 "name one of each for every stride"};
  }
  Levels out;
  for (std::size_t i = 0; i < count; ++i) {
    const Grid grid = grid_of(options.input_size, spec.strides[i]);
    SPARING_ASSIGN_OR_RETURN(const Matrix scores,
                             image_matrix(tensors, spec.outputs.scores[i], options, grid.cells(),
                                          i > 0 ? out.classes : kAny));
    SPARING_RETURN_IF_ERROR(check_classes(spec, scores.columns, spec.outputs.scores[i]));
    SPARING_ASSIGN_OR_RETURN(const Matrix distribution,
                             image_matrix(tensors, spec.outputs.distribution[i], options,
                                          grid.cells(), 4 * (spec.reg_max + 1)));
    out.classes = scores.columns;
    out.levels.push_back({spec.strides[i], grid, scores.data, distribution.data, scores.columns,
                          distribution.columns});
  }
  return out;
}

}  // namespace

Result<DecodeResult> decode_nanodet(const HeadSpec& spec, std::span<const HeadTensor> tensors,
                                    const DecodeOptions& options) {
  SPARING_RETURN_IF_ERROR(check_options(options));
  SPARING_ASSIGN_OR_RETURN(const Levels head, spec.outputs.combined.empty()
                                                  ? separate_levels(spec, tensors, options)
                                                  : combined_levels(spec, tensors, options));
  Collector out(spec, options);
  for (const Level& level : head.levels) decode_level(spec, level, head.classes, options, out);
  return out.take();
}

namespace {

constexpr int kUsualStrides[] = {8, 16, 32, 64};
// reg_max + 1 of published models: NanoDet 8, NanoDet-g 11, GFL 17.
constexpr int kUsualBins[] = {8, 11, 17};

ModelManifest nanodet_manifest(const GraphFacts& facts, int classes, int bins, std::size_t levels) {
  ModelManifest out = guess(facts, Size{}, classes);
  out.input.order = ChannelOrder::kBgr;
  out.input.mean = {103.53f, 116.28f, 123.675f};
  out.input.std = {57.375f, 57.12f, 58.395f};
  out.head.type = HeadType::kNanodet;
  out.head.reg_max = bins - 1;
  out.head.strides.assign(kUsualStrides, kUsualStrides + levels);
  // Four levels came with NanoDet-Plus, and with them reference points on the cells' corners.
  out.head.cell_offset = levels == 4 ? 0.0 : 0.5;
  return out;
}

// One output [1, cells, C + 4 bins]. The width alone says little, so it must be COCO's 80 classes,
// or a number of cells that only the four strides of NanoDet-Plus give.
std::optional<ModelManifest> match_combined(const GraphFacts& facts) {
  const Shape& shape = facts.outputs[0].shape;
  if (shape.size() != 3 || shape[2] < 1) return std::nullopt;
  const std::span<const int> three(kUsualStrides, 3);
  const bool plus = facts.size && shape[1] == cells_of(*facts.size, kUsualStrides) &&
                    shape[1] != cells_of(*facts.size, three);
  for (const int bins : kUsualBins) {
    const std::int64_t classes = shape[2] - 4 * bins;
    const bool coco = classes == kCocoClasses && may_be_cells(facts, shape[1], three);
    if (!plausible_classes(classes) || !(plus || coco)) continue;
    ModelManifest out = nanodet_manifest(facts, static_cast<int>(classes), bins, plus ? 4 : 3);
    out.head.outputs.combined = facts.outputs[0].name;
    return out;
  }
  return std::nullopt;
}

}  // namespace

std::optional<ModelManifest> match_nanodet(const Graph& graph) {
  const std::optional<GraphFacts> facts = facts_of(graph);
  if (!facts) return std::nullopt;
  if (facts->outputs.size() == 1) return match_combined(*facts);
  const std::size_t levels = facts->outputs.size() / 2;
  if (facts->outputs.size() % 2 != 0 || (levels != 3 && levels != 4)) return std::nullopt;
  for (const int bins : kUsualBins) {
    std::vector<GraphFacts::Output> scores;
    std::vector<GraphFacts::Output> distribution;
    for (const GraphFacts::Output& output : facts->outputs) {
      if (output.shape.size() != 3 || output.shape[2] < 1) return std::nullopt;
      const bool bins_fit = output.shape[2] == 4 * bins;
      const bool named_scores = mentions(output.name, {"score", "cls", "class"});
      (bins_fit && !named_scores ? distribution : scores).push_back(output);
    }
    if (scores.size() != levels || distribution.size() != levels) continue;
    const std::int64_t classes = scores[0].shape[2];
    if (!plausible_classes(classes)) return std::nullopt;
    // Largest grid first; where sizes are dynamic the graph's order has to do.
    const auto more_cells = [](const auto& a, const auto& b) { return a.shape[1] > b.shape[1]; };
    std::stable_sort(scores.begin(), scores.end(), more_cells);
    std::stable_sort(distribution.begin(), distribution.end(), more_cells);
    ModelManifest out = nanodet_manifest(*facts, static_cast<int>(classes), bins, levels);
    bool fits = true;
    for (std::size_t i = 0; i < levels; ++i) {
      const std::span<const int> stride(&kUsualStrides[i], 1);
      fits = fits && scores[i].shape[2] == classes &&
             may_be_cells(*facts, scores[i].shape[1], stride) &&
             may_be_cells(*facts, distribution[i].shape[1], stride);
      out.head.outputs.scores.push_back(scores[i].name);
      out.head.outputs.distribution.push_back(distribution[i].name);
    }
    if (fits) return out;
  }
  return std::nullopt;
}

}  // namespace sparing::heads_internal

#include "sparing/pipeline/mask_evaluation.h"

#include <algorithm>
#include <utility>

#include "sparing/flow/luma_image.h"
#include "sparing/metrics/perceptual.h"
#include "sparing/metrics/temporal.h"

namespace sparing {
namespace {

int luma_factor(Size size) {
  const int longer = std::max(size.width, size.height);
  return longer > 2048 ? 4 : longer > 1024 ? 2 : 1;
}

// The value of the pixel under each pixel's centre.
void resize_mask(const std::vector<std::uint8_t>& mask, Size from, Size to,
                 std::vector<std::uint8_t>& out) {
  const auto under = [](int i, int count, int extent) {
    return static_cast<std::size_t>((2 * std::int64_t{i} + 1) * extent / (2 * std::int64_t{count}));
  };
  out.clear();
  out.reserve(static_cast<std::size_t>(to.width) * static_cast<std::size_t>(to.height));
  for (int y = 0; y < to.height; ++y) {
    const std::size_t row = under(y, to.height, from.height) * static_cast<std::size_t>(from.width);
    for (int x = 0; x < to.width; ++x) out.push_back(mask[row + under(x, to.width, from.width)]);
  }
}

}  // namespace

struct PictureAnalysis::Impl {
  PictureAnalysisOptions options;
  DenseFlow flow;
  PerceptualFeatures features;
  LumaImage luma, before;
  FlowField backward;
  Size size;
  std::shared_ptr<const FeatureGrid> features_before;

  explicit Impl(const PictureAnalysisOptions& o) : options(o), flow(o.flow) {}

  Status compare(PicturePair& out) {
    SPARING_RETURN_IF_ERROR(flow.compute(before, luma, out.flow));
    SPARING_RETURN_IF_ERROR(find_still(before, luma, out.still, options.still));
    out.visible.clear();
    if (!options.occlusion) return {};
    SPARING_RETURN_IF_ERROR(flow.compute(luma, before, backward));
    return find_visible(out.flow, backward, out.visible);
  }
};

PictureAnalysis::PictureAnalysis(const PictureAnalysisOptions& options)
    : impl_(std::make_unique<Impl>(options)) {}
PictureAnalysis::PictureAnalysis(PictureAnalysis&&) noexcept = default;
PictureAnalysis& PictureAnalysis::operator=(PictureAnalysis&&) noexcept = default;
PictureAnalysis::~PictureAnalysis() = default;

Status PictureAnalysis::add(const VideoFrame& frame, PicturePair& out) {
  Impl& impl = *impl_;
  SPARING_RETURN_IF_ERROR(validate(frame));
  const Size size = display_size(frame);
  SPARING_RETURN_IF_ERROR(impl.luma.extract(frame, luma_factor(size)));
  std::shared_ptr<FeatureGrid> features;
  if (impl.options.perceptual) {
    features = std::make_shared<FeatureGrid>();
    SPARING_RETURN_IF_ERROR(impl.features.extract(frame, *features));
  }
  const bool follows = impl.size == size;
  if (follows) SPARING_RETURN_IF_ERROR(impl.compare(out));
  out.size = size;
  out.follows = follows;
  out.features = features;
  out.before = std::exchange(impl.features_before, std::move(features));
  if (!follows) out.before.reset();
  impl.size = size;
  std::swap(impl.luma, impl.before);
  return {};
}

struct MaskEvaluation::Impl {
  LabelClasses classes;
  ConfusionMatrix total, last;
  FlowConsistency flow;
  Flicker flicker;
  double pc_sum = 0;
  std::int64_t pc_pairs = 0;
  std::optional<double> pc_last;
  LabelMap before;  // empty: nothing to compare with
  std::int64_t frames = 0, truth_frames = 0, pairs = 0;
  bool truth_last = false, pair_last = false;
  FlowField resized;
  std::vector<std::uint8_t> visible, still;

  explicit Impl(const LabelClasses& c) : classes(c), total(c), last(c), flow(c), flicker(c) {}

  Status compare(const PicturePair& picture, const LabelMap& labels,
                 const ParallelFor& parallel_for) {
    const FlowField* field = &picture.flow;
    if (!(field->size == labels.size)) {
      resize_flow(picture.flow, labels.size, resized);
      field = &resized;
    }
    visible.clear();
    if (!picture.visible.empty()) {
      resize_mask(picture.visible, picture.flow.size, labels.size, visible);
    }
    resize_mask(picture.still, picture.flow.size, labels.size, still);
    SPARING_RETURN_IF_ERROR(flow.add(before, labels, {field->dx, field->dy}, visible));
    SPARING_RETURN_IF_ERROR(flicker.add(before, labels, still));
    pc_last.reset();
    if (picture.before && picture.features) {
      SPARING_ASSIGN_OR_RETURN(
          const auto pc,
          perceptual_consistency({picture.before->view(), before},
                                 {picture.features->view(), labels}, classes, parallel_for));
      if (pc) {
        pc_last = pc->value;
        pc_sum += pc->value;
        ++pc_pairs;
      }
    }
    ++pairs;
    return {};
  }
};

MaskEvaluation::MaskEvaluation(const LabelClasses& classes)
    : impl_(std::make_unique<Impl>(classes)) {}
MaskEvaluation::MaskEvaluation(MaskEvaluation&&) noexcept = default;
MaskEvaluation& MaskEvaluation::operator=(MaskEvaluation&&) noexcept = default;
MaskEvaluation::~MaskEvaluation() = default;

Status MaskEvaluation::add(const PicturePair& picture, const LabelMap& labels,
                           const LabelMap* truth, const ParallelFor& parallel_for) {
  Impl& impl = *impl_;
  SPARING_RETURN_IF_ERROR(impl.classes.check(labels, "labels of the frame"));
  ConfusionMatrix frame(impl.classes);
  if (truth != nullptr) SPARING_RETURN_IF_ERROR(frame.add(*truth, labels));
  impl.pair_last = picture.follows && impl.before.size == labels.size;
  if (impl.pair_last) SPARING_RETURN_IF_ERROR(impl.compare(picture, labels, parallel_for));
  impl.truth_last = truth != nullptr;
  if (impl.truth_last) ++impl.truth_frames;
  impl.total.add(frame);
  impl.last = std::move(frame);
  impl.before = labels;
  ++impl.frames;
  return {};
}

void MaskEvaluation::skip() { impl_->before = LabelMap{}; }

MaskFigures MaskEvaluation::last() const {
  const Impl& impl = *impl_;
  MaskFigures figures;
  figures.scores = impl.last.scores();
  figures.frames = impl.frames > 0 ? 1 : 0;
  figures.truth_frames = impl.truth_last ? 1 : 0;
  if (!impl.pair_last) return figures;
  figures.pairs = 1;
  figures.ftc = impl.flow.last();
  figures.flicker = impl.flicker.last();
  figures.pc = impl.pc_last;
  return figures;
}

MaskFigures MaskEvaluation::total() const {
  const Impl& impl = *impl_;
  MaskFigures figures;
  figures.scores = impl.total.scores();
  figures.ftc = impl.flow.total();
  figures.flicker = impl.flicker.total();
  if (impl.pc_pairs > 0) figures.pc = impl.pc_sum / static_cast<double>(impl.pc_pairs);
  figures.frames = impl.frames;
  figures.truth_frames = impl.truth_frames;
  figures.pairs = impl.pairs;
  return figures;
}

}  // namespace sparing

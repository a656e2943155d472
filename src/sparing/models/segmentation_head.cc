#include "sparing/models/segmentation_head.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "sparing/kernels/class_map_simd.h"
#include "sparing/models/head_internal.h"

namespace sparing {
namespace {

using internal::class_kernels;
using internal::ScoreChannel;
using internal::ScoreJob;
using internal::ScoreTally;
using internal::ScoreUse;

constexpr int kMaxChannels = kMaxSegmentationChannels;
constexpr std::int64_t kMaxSide = 16384;
constexpr float kLeastProbability = 1e-7f;
// Rounding in low-precision arithmetic may lead a little beyond [0, 1].
constexpr float kSlack = 0.01f;
constexpr int kTileFloats = 16384;  // at least 16 pixels of all channels

// The output's part that belongs to one image.
struct Scores {
  std::string_view name;
  const float* data = nullptr;
  int channels = 1;
  Size size;
  bool interleaved = false;  // channels of a pixel side by side

  std::ptrdiff_t pixels() const {
    return static_cast<std::ptrdiff_t>(size.width) * static_cast<std::ptrdiff_t>(size.height);
  }
};

std::string expected_shape(const SegmentationSpec& spec) {
  if (spec.kind != SegmentationKind::kScores) return "[batch,1,h,w], [batch,h,w,1] or [batch,h,w]";
  return spec.layout == Layout::kNchw ? "[batch,channels,h,w]" : "[batch,h,w,channels]";
}

Error shape_error(const HeadTensor& tensor, const SegmentationSpec& spec) {
  return {ErrorCode::kModel, "output '" + std::string(tensor.name) + "'",
          "expected " + expected_shape(spec) + ", found " + to_string_shape(tensor.shape),
          "correct segmentation.kind, layout or output of the manifest"};
}

// Channels, height and width; false when the shape does not belong to the kind.
bool extents(const SegmentationSpec& spec, std::span<const std::int64_t> shape,
             std::array<std::int64_t, 3>& out) {
  if (spec.kind == SegmentationKind::kScores) {
    if (shape.size() != 4) return false;
    out = spec.layout == Layout::kNchw ? std::array{shape[1], shape[2], shape[3]}
                                       : std::array{shape[3], shape[1], shape[2]};
  } else if (shape.size() == 3) {
    out = {1, shape[1], shape[2]};
  } else if (shape.size() == 4 && shape[1] == 1) {
    out = {1, shape[2], shape[3]};
  } else if (shape.size() == 4 && shape[3] == 1) {
    out = {1, shape[1], shape[2]};
  } else {
    return false;
  }
  return out[0] >= 1 && out[1] >= 1 && out[2] >= 1 && out[1] <= kMaxSide && out[2] <= kMaxSide;
}

Result<Scores> scores_of(const SegmentationSpec& spec, std::span<const HeadTensor> tensors,
                         int image) {
  SPARING_ASSIGN_OR_RETURN(
      const HeadTensor* tensor,
      heads_internal::find_output(tensors, spec.output, "segmentation.output"));
  const std::string thing = "output '" + std::string(tensor->name) + "'";
  std::array<std::int64_t, 3> extent{};
  if (!extents(spec, tensor->shape, extent)) return shape_error(*tensor, spec);
  if (image < 0 || image >= tensor->shape[0]) {
    return Error{ErrorCode::kInvalidArgument, "image " + std::to_string(image),
                 thing + " has a batch of " + std::to_string(tensor->shape[0]),
                 "use an index below that"};
  }
  const std::optional<std::int64_t> count = element_count(tensor->shape);
  if (!count || static_cast<std::uint64_t>(*count) != tensor->data.size()) {
    return Error{
        ErrorCode::kModel, thing,
        std::to_string(tensor->data.size()) + " values for shape " + to_string_shape(tensor->shape),
        "give all values of the tensor"};
  }
  if (extent[0] > kMaxChannels) {
    return Error{ErrorCode::kModel, thing, std::to_string(extent[0]) + " channels",
                 "at most " + std::to_string(kMaxChannels) + " are supported"};
  }
  Scores scores;
  scores.name = tensor->name;
  scores.data = tensor->data.data() + image * (*count / tensor->shape[0]);
  scores.channels = static_cast<int>(extent[0]);
  scores.size = {static_cast<int>(extent[2]), static_cast<int>(extent[1])};
  scores.interleaved = spec.kind == SegmentationKind::kScores && spec.layout == Layout::kNhwc;
  return scores;
}

// Channels that the labels or the class map are for; kLabels: indices.
int channels_of(const SegmentationSpec& spec) {
  return spec.class_map.empty() ? spec.classes : static_cast<int>(spec.class_map.size());
}

int label_of(const SegmentationSpec& spec, int channel) {
  return spec.class_map.empty() ? channel : spec.class_map[static_cast<std::size_t>(channel)];
}

// What parse_manifest sees to; a spec may come from elsewhere.
Status check_spec(const SegmentationSpec& spec) {
  if (spec.classes < 1 || spec.classes > kMaxClasses) {
    return Error{ErrorCode::kModel, "labels", std::to_string(spec.classes) + " names",
                 "give 1 to " + std::to_string(kMaxClasses)};
  }
  if (spec.kind == SegmentationKind::kForeground && spec.classes != 2) {
    return Error{ErrorCode::kModel, "labels", std::to_string(spec.classes) + " names",
                 "a foreground mask has two: the background, then what it shows"};
  }
  for (const int label : spec.class_map) {
    if (label >= spec.classes || (label < 0 && label != kIgnoredChannel)) {
      return Error{ErrorCode::kModel, "segmentation.class_map",
                   "label " + std::to_string(label) + " of " + std::to_string(spec.classes),
                   "correct it, or add the label"};
    }
  }
  return ok_status();
}

Status check_channels(const SegmentationSpec& spec, const Scores& scores) {
  const int expected = channels_of(spec);
  if (scores.channels == expected) return ok_status();
  const bool mapped = !spec.class_map.empty();
  return Error{
      ErrorCode::kModel, mapped ? "segmentation.class_map" : "labels",
      std::to_string(expected) + (mapped ? " entries" : " names") + ", but output '" +
          std::string(scores.name) + "' has " + std::to_string(scores.channels) + " channels",
      mapped ? "write one entry for each channel"
             : "correct the labels, or say in segmentation.class_map which channel is which"};
}

Error improbable(const Scores& scores) {
  const float* const end = scores.data + scores.pixels() * scores.channels;
  const float* const found = std::find_if(scores.data, end, [](float value) {
    return std::isfinite(value) && (value < -kSlack || value > 1 + kSlack);
  });
  return {ErrorCode::kModel, "output '" + std::string(scores.name) + "'",
          "a value of " + std::to_string(found != end ? *found : 0.0f) + " is no probability",
          "set segmentation.activation of the manifest (softmax or sigmoid)"};
}

// Which planes get which channels.
struct Channels {
  std::array<ScoreChannel, kMaxChannels> to;
  std::array<int, kMaxChannels> from{};  // index in the tensor
  int count = 0;                         // of those that are not ignored
  int planes = 0;                        // that get any
  std::array<bool, kMaxClasses> written{};

  explicit Channels(const SegmentationSpec& spec) {
    for (int c = 0; c < channels_of(spec); ++c) {
      const int label = label_of(spec, c);
      if (label == kIgnoredChannel) continue;
      bool& seen = written[static_cast<std::size_t>(label)];
      planes += seen ? 0 : 1;
      from[static_cast<std::size_t>(count)] = c;
      to[static_cast<std::size_t>(count++)] = {nullptr, label, seen};
      seen = true;
    }
  }
};

void merge(const ScoreTally& part, ScoreTally& all) {
  all.bad += part.bad;
  all.least = std::min(all.least, part.least);
  all.greatest = std::max(all.greatest, part.greatest);
}

// Channels side by side are brought apart in tiles that stay in the L1 cache.
ScoreTally run_interleaved(const Scores& scores, Channels& channels, ScoreJob job) {
  alignas(64) float tile[kTileFloats];
  const auto width = static_cast<std::ptrdiff_t>(std::min(256, kTileFloats / channels.count));
  float* const out = job.out;
  ScoreTally all;
  for (std::ptrdiff_t begin = 0; begin < scores.pixels(); begin += width) {
    job.count = std::min(width, scores.pixels() - begin);
    job.out = out + begin;
    for (int k = 0; k < channels.count; ++k) {
      const auto index = static_cast<std::size_t>(k);
      const float* from = scores.data + begin * scores.channels + channels.from[index];
      float* const to = tile + k * width;
      for (std::ptrdiff_t i = 0; i < job.count; ++i, from += scores.channels) to[i] = *from;
      channels.to[index].from = to;
    }
    merge(class_kernels().scores(job), all);
  }
  return all;
}

void take_logarithms(std::span<float> values) {
  for (float& value : values) value = std::log(std::max(value, kLeastProbability));
}

ScoreUse use_of(Activation activation) {
  switch (activation) {
    case Activation::kNone: return ScoreUse::kShare;
    case Activation::kSigmoid: return ScoreUse::kSigmoid;
    case Activation::kSoftmax: return ScoreUse::kExponential;
  }
  return ScoreUse::kShare;
}

Result<SegmentationCounts> decode_scores(const SegmentationSpec& spec, const Scores& scores,
                                         SegmentationOutput as, ProbabilityMap& out) {
  SPARING_RETURN_IF_ERROR(check_channels(spec, scores));
  Channels channels(spec);
  if (channels.count == 0) {
    return Error{ErrorCode::kModel, "segmentation.class_map", "all channels are ignored",
                 "write a label index for some"};
  }
  for (int c = 0; c < out.classes; ++c) {
    if (!channels.written[static_cast<std::size_t>(c)]) std::ranges::fill(out.plane(c), 0.0f);
  }
  const bool one_each = channels.count == spec.classes && channels.planes == spec.classes;
  const bool keep =
      as == SegmentationOutput::kLogits && one_each && spec.activation == Activation::kSoftmax;
  ScoreJob job;
  job.use = keep ? ScoreUse::kKeep : use_of(spec.activation);
  job.channels = channels.to.data();
  job.channel_count = channels.count;
  job.out = out.values.data();
  job.plane_stride = scores.pixels();
  job.plane_count = channels.planes;
  job.count = scores.pixels();
  ScoreTally tally;
  if (scores.interleaved) {
    tally = run_interleaved(scores, channels, job);
  } else {
    for (int k = 0; k < channels.count; ++k) {
      const auto index = static_cast<std::size_t>(k);
      channels.to[index].from = scores.data + channels.from[index] * scores.pixels();
    }
    tally = class_kernels().scores(job);
  }
  if (tally.least < -kSlack || tally.greatest > 1 + kSlack) return improbable(scores);
  if (as == SegmentationOutput::kLogits && !keep) take_logarithms(out.values);
  return SegmentationCounts{tally.bad, 0};
}

// The background is what is left of 1: as logits, 0 beside the foreground's.
Result<SegmentationCounts> decode_foreground(const SegmentationSpec& spec, const Scores& scores,
                                             SegmentationOutput as, ProbabilityMap& out) {
  constexpr std::ptrdiff_t kTile = 1024;
  alignas(64) float background[kTile] = {};
  const bool logits = spec.activation != Activation::kNone;
  const bool keep = logits && as == SegmentationOutput::kLogits;
  std::array<ScoreChannel, 2> channels{{{background, 0, false}, {nullptr, 1, false}}};
  ScoreJob job;
  job.use = keep ? ScoreUse::kKeep : (logits ? ScoreUse::kExponential : ScoreUse::kShare);
  job.channels = channels.data();
  job.channel_count = job.plane_count = 2;
  job.plane_stride = scores.pixels();
  ScoreTally all;
  for (std::ptrdiff_t begin = 0; begin < scores.pixels(); begin += kTile) {
    job.count = std::min(kTile, scores.pixels() - begin);
    job.out = out.values.data() + begin;
    channels[1].from = scores.data + begin;
    if (!logits) {
      for (std::ptrdiff_t i = 0; i < job.count; ++i) background[i] = 1 - channels[1].from[i];
    }
    merge(class_kernels().scores(job), all);
  }
  if (all.least < -kSlack || all.greatest > 1 + kSlack) return improbable(scores);
  if (as == SegmentationOutput::kLogits && !keep) take_logarithms(out.values);
  return SegmentationCounts{all.bad, 0};
}

Result<SegmentationCounts> decode_labels(const SegmentationSpec& spec, const Scores& scores,
                                         SegmentationOutput as, ProbabilityMap& out) {
  const Channels channels(spec);
  const bool logits = as == SegmentationOutput::kLogits;
  const float absent = logits ? std::log(kLeastProbability) : 0.0f;
  const float present = logits ? 0.0f : 1.0f;
  const float even = logits ? 0.0f : 1.0f / static_cast<float>(std::max(channels.planes, 1));
  const auto indices = static_cast<float>(channels_of(spec));
  std::ranges::fill(out.values, absent);
  SegmentationCounts counts;
  for (std::ptrdiff_t i = 0; i < scores.pixels(); ++i) {
    const float value = scores.data[i];
    // NaN fails the comparisons.
    const bool known = value >= 0 && value < indices && value == std::floor(value);
    if (!known) ++counts.unknown_class;
    const int label = known ? label_of(spec, static_cast<int>(value)) : kIgnoredChannel;
    if (label != kIgnoredChannel) {
      out.values[static_cast<std::size_t>(label * scores.pixels() + i)] = present;
      continue;
    }
    for (int c = 0; c < out.classes; ++c) {
      if (!channels.written[static_cast<std::size_t>(c)]) continue;
      out.values[static_cast<std::size_t>(c * scores.pixels() + i)] = even;
    }
  }
  return counts;
}

}  // namespace

Result<SegmentationCounts> decode_segmentation(const SegmentationSpec& spec,
                                               std::span<const HeadTensor> tensors, int image,
                                               ProbabilityMap& out, SegmentationOutput as) {
  SPARING_RETURN_IF_ERROR(check_spec(spec));
  SPARING_ASSIGN_OR_RETURN(const Scores scores, scores_of(spec, tensors, image));
  out.resize(spec.classes, scores.size);
  switch (spec.kind) {
    case SegmentationKind::kScores: return decode_scores(spec, scores, as, out);
    case SegmentationKind::kForeground: return decode_foreground(spec, scores, as, out);
    case SegmentationKind::kLabels: return decode_labels(spec, scores, as, out);
  }
  return Error{ErrorCode::kModel, "segmentation.kind", "unknown", "use one of manifest.h"};
}

}  // namespace sparing

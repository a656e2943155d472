#include "quantize_segments.h"

#include <algorithm>
#include <cstdio>
#include <span>
#include <utility>

#include "npy.h"
#include "sampled_source.h"
#include "sparing/kernels/class_map_ops.h"
#include "sparing/metrics/confusion.h"
#include "sparing/models/segmentation_head.h"
#include "sparing/pipeline/frame_network.h"

namespace sparing::cli {
namespace {

// What the network sees of a frame that calibrates, in a file of its own.
Status dump(FrameNetwork& network, const FrameSlot& slot, const ClipRun& run, std::int64_t frame) {
  Status written;
  const Status read =
      network.context.visit_tensor(slot.input, [&](std::span<const std::byte> bytes) {
        written = write_npy(dump_file(run, frame), slot.input.shape(), DataType::kFloat32, bytes);
      });
  return read.ok() ? written : read;
}

Status segment(FrameNetwork& network, FrameSlot& slot, ProbabilityMap& map, LabelMap& labels) {
  SPARING_ASSIGN_OR_RETURN(const Completion completion, network.dispatch(slot));
  SPARING_RETURN_IF_ERROR(completion.wait());
  SPARING_RETURN_IF_ERROR(network.visit(slot, [&](std::span<const HeadTensor> tensors) -> Status {
    SPARING_RETURN_IF_ERROR(decode_segmentation(network.manifest.segmentation, tensors, 0, map));
    return {};
  }));
  argmax(map, labels);
  return {};
}

}  // namespace

Result<LabelMaps> segment_clip(Context& context, const Model& model, const ClipRun& run) {
  FrameNetwork network;
  SPARING_RETURN_IF_ERROR(network.load(context, model, run.size));
  SourceOptions source_options;
  source_options.stop = run.stop;
  SPARING_ASSIGN_OR_RETURN(auto clip, open_source(run.clip, source_options));
  SampledSource source = sampled(std::move(clip), run);
  LabelMaps found;
  found.classes = model.manifest.segmentation.classes;
  FrameSlot slot;
  ProbabilityMap map;
  while (!run.stop.stop_requested()) {
    SPARING_ASSIGN_OR_RETURN(const std::optional<SourceFrame> frame, source.next());
    if (!frame) return found;
    // As the segmenter draws it.
    SPARING_RETURN_IF_ERROR(network.import(frame->frame.view(), slot, Filter::kAuto));
    if (run.frames.calibration.contains(frame->index) && !run.dump_folder.empty()) {
      SPARING_RETURN_IF_ERROR(dump(network, slot, run, frame->index));
    }
    if (run.frames.check.contains(frame->index)) {
      SPARING_RETURN_IF_ERROR(segment(network, slot, map, found.frames[frame->index]));
    }
  }
  return Error{ErrorCode::kInterrupted, "clip '" + run.clip + "'", "stopped", "run it again"};
}

Result<QuantizeCheck> compare_labels(const LabelMaps& reference, const LabelMaps& candidate) {
  SPARING_ASSIGN_OR_RETURN(const LabelClasses classes, LabelClasses::create(reference.classes));
  ConfusionMatrix counts(classes);
  for (const auto& [frame, labels] : reference.frames) {
    const auto other = candidate.frames.find(frame);
    if (other == candidate.frames.end()) continue;
    SPARING_RETURN_IF_ERROR(counts.add(labels, other->second));
  }
  const SegmentationScores scores = counts.scores();
  QuantizeCheck check;
  check.pixels = scores.pixels;
  check.miou = scores.miou.value_or(0);
  check.pixel_accuracy = scores.pixel_accuracy.value_or(0);
  check.drop = 1 - *check.miou;
  return check;
}

}  // namespace sparing::cli

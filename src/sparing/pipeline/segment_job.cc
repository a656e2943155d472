#include "sparing/pipeline/segment_job.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sparing/base/clock.h"
#include "sparing/kernels/class_map_ops.h"

namespace sparing {
namespace {

// The part of an output that shows the picture, where the input has a border (letterbox), to whole
// pixels of the output.
PixelRect picture_part(const Affine& to_display, Size input, Size output, Size display) {
  const Box on_input = map_box(inverse(to_display), {0, 0, static_cast<float>(display.width),
                                                     static_cast<float>(display.height)});
  const auto whole = [](double begin, double end, double scale, int limit) {
    const int from = std::clamp(static_cast<int>(std::lround(begin * scale)), 0, limit - 1);
    const int to = std::clamp(static_cast<int>(std::lround(end * scale)), from + 1, limit);
    return std::pair{from, to - from};
  };
  const auto [x, width] = whole(on_input.x0, on_input.x1,
                                static_cast<double>(output.width) / input.width, output.width);
  const auto [y, height] = whole(on_input.y0, on_input.y1,
                                 static_cast<double>(output.height) / input.height, output.height);
  return {x, y, width, height};
}

void crop(ProbabilityMap& map, const PixelRect& part) {
  if (part.width == map.size.width && part.height == map.size.height) return;
  float* out = map.values.data();
  const float* in = map.values.data();
  // Forward in place: what is written was read before.
  for (int c = 0; c < map.classes; ++c) {
    for (int y = 0; y < part.height; ++y) {
      const float* row =
          in + (static_cast<std::size_t>(c) * map.pixels() +
                static_cast<std::size_t>(part.y + y) * static_cast<std::size_t>(map.size.width) +
                static_cast<std::size_t>(part.x));
      out = std::copy_n(row, part.width, out);
    }
  }
  map.resize(map.classes, {part.width, part.height});
}

}  // namespace

void LookRate::observe(std::int64_t looks, double main_seconds, double process_seconds) {
  if (budget_ <= 0 || ++frames_ % kPeriod != 0) return;
  const double looked = static_cast<double>(looks - looks_before_);
  const double main = main_seconds - main_before_;
  const double other = std::max(process_seconds - process_before_ - main, 0.0) / kPeriod;
  // A period without a look says nothing about what one takes; the next one is soon.
  if (looked > 0) {
    const double left = budget_ * cores_ - other;
    const double look = main / looked;
    // A per cent more than the budget is no reason to look less often.
    const double wanted = left > 0 ? std::ceil(look / left - 0.01) : kMostEvery;
    every_.store(static_cast<int>(std::clamp(wanted, 1.0, static_cast<double>(kMostEvery))));
  }
  looks_before_ = looks;
  main_before_ = main_seconds;
  process_before_ = process_seconds;
}

Status Segmenter::Impl::look(SegmentItem& item, int every) {
  const auto start = Clock::now();
  // Where MainNet is to look unless the scene changes, the past may be blended in; elsewhere it is
  // moved on.
  const bool turn = since_main + 1 >= every;
  MotionDetail detail = turn ? MotionDetail::kEvent : MotionDetail::kFlow;
  if (turn && info(stream->mode()).fuses) detail = MotionDetail::kError;
  SPARING_RETURN_IF_ERROR(motion->add(item.frame.source.frame.view(), item.frame.motion, detail));
  item.frame.times.motion = seconds_since(start);
  const SceneEvent event = item.frame.motion.event;
  const bool moves_on = event == SceneEvent::kNone || event == SceneEvent::kBlank;
  ++since_main;
  item.use_main = !has_past || !moves_on || since_main >= every;
  if (item.use_main) since_main = 0;
  // What a blank picture gives is not kept as a past.
  if (event != SceneEvent::kBlank) has_past = true;
  return {};
}

Status Segmenter::Impl::start_main(SegmentItem& item) {
  const auto start = Clock::now();
  SPARING_ASSIGN_OR_RETURN(item.to_display,
                           main.import(item.frame.source.frame.view(), *item.slot, Filter::kAuto));
  item.frame.times.import = seconds_since(start);
  SPARING_ASSIGN_OR_RETURN(item.completion, main.dispatch(*item.slot));
  return {};
}

Status Segmenter::Impl::read_main(SegmentItem& item, ProbabilityMap& map,
                                  SegmentationCounts& counts) {
  SPARING_RETURN_IF_ERROR(item.completion.wait());
  item.frame.times.main = item.completion.inference_seconds();
  const auto as =
      stream->wants_logits() ? SegmentationOutput::kLogits : SegmentationOutput::kProbabilities;
  SPARING_RETURN_IF_ERROR(
      main.visit(*item.slot, [&](std::span<const HeadTensor> tensors) -> Status {
        SPARING_ASSIGN_OR_RETURN(
            const SegmentationCounts some,
            decode_segmentation(main.manifest.segmentation, tensors, 0, map, as));
        counts.not_finite += some.not_finite;
        counts.unknown_class += some.unknown_class;
        return {};
      }));
  crop(map, picture_part(item.to_display, item.slot->input_size, map.size,
                         display_size(item.frame.source.frame.view())));
  return {};
}

Status Segmenter::Impl::finish(SegmentItem& item, SegmentationCounts& counts) {
  SegmentedFrame& frame = item.frame;
  const VideoFrame& view = frame.source.frame.view();
  const Size display = display_size(view);
  const bool counts_main = item.use_main && info(stream->mode()).main;
  frame.main_looked = counts_main;
  ProbabilityMap& map = frame.probabilities;
  if (item.slot != nullptr) {
    ProbabilityMap& read = counts_main ? map : other_;
    SPARING_RETURN_IF_ERROR(read_main(item, read, counts));
    if (options.keep_main) argmax_resized(read, display, frame.main_labels);
  }
  if (item.use_main) {
    SPARING_RETURN_IF_ERROR(stream->segment(view, frame.motion, map));
  } else if (!stream->predict(frame.motion, map)) {
    return Error{ErrorCode::kInternal, "the result of the frame before", "it is not there",
                 "report this, with the video"};
  }
  frame.times.aux = stream->times().aux;
  frame.times.fusion = stream->times().fusion;
  const auto start = Clock::now();
  argmax_resized(map, display, frame.labels);
  frame.times.labels = seconds_since(start);
  return {};
}

Status Segmenter::Impl::learn(FrameTimes& times) {
  SPARING_RETURN_IF_ERROR(stream->learn());
  times.learn = stream->times().learn;
  return {};
}

}  // namespace sparing

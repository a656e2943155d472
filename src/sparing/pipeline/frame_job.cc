#include "sparing/pipeline/frame_job.h"

#include <algorithm>
#include <span>
#include <utility>

namespace sparing {

std::vector<DropCount> drop_counts(const DetectionCounts& counts) {
  std::vector<DropCount> drops;
  const auto count = [&](const char* reason, std::int64_t n) {
    if (n > 0) drops.push_back({reason, n});
  };
  count("not finite", counts.not_finite);
  count("negative width or height", counts.inside_out);
  count("class without a label", counts.unknown_class);
  count("outside the frame", counts.outside_frame);
  return drops;
}

// Best first, without the lesser of overlapping boxes where the model wants that.
void Detector::Impl::keep_best(std::vector<Detection>& detections, int most,
                               DetectionCounts& counts) const {
  if (manifest.nms == NmsMode::kNone) {
    std::stable_sort(detections.begin(), detections.end(),
                     [](const Detection& a, const Detection& b) { return a.score > b.score; });
  } else {
    NmsOptions one_more = nms;  // shows whether the limit cuts anything
    one_more.max_detections = most + 1;
    non_maximum_suppression(detections, one_more);
  }
  if (detections.size() <= static_cast<std::size_t>(most)) return;
  ++counts.full_frames;
  detections.resize(static_cast<std::size_t>(most));
}

Result<std::vector<Detection>> Detector::Impl::read(const FrameSlot& slot, const Affine& to_display,
                                                    Size display, DetectionCounts& counts,
                                                    int pictures) {
  DecodeOptions decode_options;
  decode_options.input_size = slot.input_size;
  decode_options.score_threshold = score_threshold;
  DecodeResult decoded;
  SPARING_RETURN_IF_ERROR(visit(slot, [&](std::span<const HeadTensor> views) -> Status {
    SPARING_ASSIGN_OR_RETURN(decoded, decode(manifest.head, views, decode_options));
    return {};
  }));
  counts.not_finite += decoded.dropped_not_finite;
  counts.inside_out += decoded.dropped_inside_out;
  counts.unknown_class += decoded.dropped_unknown_class;

  std::vector<Detection>& detections = decoded.detections;
  if (!class_wanted.empty()) {
    std::erase_if(detections, [&](const Detection& d) {
      const auto id = static_cast<std::size_t>(d.class_id);
      return id >= class_wanted.size() || !class_wanted[id];
    });
  }
  keep_best(detections, nms.max_detections * std::max(pictures, 1), counts);
  std::erase_if(detections, [&](Detection& d) {
    d.box = clip(map_box(to_display, d.box), display.width, display.height);
    const bool gone = d.box.area() <= 0;
    counts.outside_frame += gone ? 1 : 0;
    return gone;
  });
  return std::move(detections);
}

}  // namespace sparing

#include "streams_fill.h"

#include "sparing/track/filler.h"
#include "sparing/track/tracker.h"

namespace sparing::bench {

Result<std::vector<std::vector<Detection>>> fill_stream(const Clip& clip, const ClipStream& stream,
                                                        const StreamLooks& looks, bool fill) {
  std::vector<std::vector<Detection>> boxes(looks.size());
  if (!fill) {
    for (std::size_t f = 0; f < looks.size(); ++f) {
      if (looks[f]) boxes[f] = *looks[f];
    }
    return boxes;
  }
  SPARING_ASSIGN_OR_RETURN(Tracker tracker, Tracker::create());
  SPARING_ASSIGN_OR_RETURN(BoxFiller filler, BoxFiller::create(clip.size));
  std::vector<FrameRecord> records(looks.size());
  for (std::size_t f = 0; f < looks.size(); ++f) {
    FrameRecord& record = records[f];
    record.time = stream.frames[f].frame.view().timestamp;
    record.inspected = looks[f].has_value();
    if (!record.inspected) continue;
    std::vector<Detection> sure;
    for (const Detection& detection : *looks[f]) {
      if (detection.score >= kFollowScore) sure.push_back(detection);
    }
    SPARING_ASSIGN_OR_RETURN(const std::vector<std::int64_t> ids,
                             tracker.update(record.time, sure));
    std::size_t next = 0;
    for (const Detection& detection : *looks[f]) {
      const bool follows = detection.score >= kFollowScore;
      record.detections.push_back({detection, follows ? ids[next++] : -1});
    }
  }
  SPARING_ASSIGN_OR_RETURN(const auto filled, filler.fill(records));
  for (std::size_t f = 0; f < filled.size(); ++f) {
    for (const FilledBox& box : filled[f]) boxes[f].push_back(box.detection);
  }
  return boxes;
}

Result<ClipBoxes> fill_clip(const Clip& clip, std::span<const StreamLooks> looks, bool fill) {
  ClipBoxes boxes;
  for (std::size_t s = 0; s < looks.size(); ++s) {
    SPARING_ASSIGN_OR_RETURN(boxes.emplace_back(),
                             fill_stream(clip, clip.streams[s], looks[s], fill));
  }
  return boxes;
}

}  // namespace sparing::bench

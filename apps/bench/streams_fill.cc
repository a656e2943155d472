#include "streams_fill.h"

#include <algorithm>
#include <cmath>

#include "sparing/track/filler.h"
#include "sparing/track/score_smoother.h"
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
  SPARING_ASSIGN_OR_RETURN(Tracker tracker,
                           Tracker::create({.start_score = kFollowScore,
                                            .class_agnostic = clip.group.labels.size() > 1}));
  SPARING_ASSIGN_OR_RETURN(ScoreSmoother smoother, ScoreSmoother::create());
  SPARING_ASSIGN_OR_RETURN(BoxFiller filler, BoxFiller::create(clip.size));
  std::vector<FrameRecord> records(looks.size());
  for (std::size_t f = 0; f < looks.size(); ++f) {
    FrameRecord& record = records[f];
    record.time = stream.frames[f].frame.view().timestamp;
    record.inspected = looks[f].has_value();
    if (!record.inspected) continue;
    SPARING_ASSIGN_OR_RETURN(const std::vector<std::int64_t> ids,
                             tracker.update(record.time, *looks[f]));
    for (std::size_t i = 0; i < ids.size(); ++i) {
      record.detections.push_back({(*looks[f])[i], ids[i]});
    }
  }
  // In windows of a second, as StreamDetector does.
  const auto window = static_cast<std::size_t>(std::max(1.0, std::round(clip.frame_rate.value())));
  for (std::size_t first = 0; first < records.size(); first += window) {
    smoother.smooth(std::span(records).subspan(first, std::min(window, records.size() - first)));
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

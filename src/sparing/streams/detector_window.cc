// A window of all streams, from regions to results.
#include <algorithm>
#include <utility>

#include "sparing/streams/stream_detector_impl.h"

namespace sparing {

namespace {
// Of a budget, for regions while a look at a whole frame is being saved for.
constexpr double kShareWhileSaving = 0.5;
}  // namespace

Status StreamDetector::Impl::fill(StreamState& stream, std::vector<FrameRecord> records,
                                  WindowResult& result) {
  const auto most = static_cast<std::size_t>(processors.front().detector.impl().nms.max_detections);
  // A stream may change its size; boxes of one size are not carried to another.
  for (std::size_t first = 0; first < records.size();) {
    const Size size = stream.frames[first].size;
    std::size_t last = first + 1;
    while (last < records.size() && stream.frames[last].size == size) ++last;
    if (!stream.filler || stream.filler_size != size) {
      SPARING_ASSIGN_OR_RETURN(stream.filler, BoxFiller::create(size, tuning.fill));
      stream.filler_size = size;
    }
    SPARING_ASSIGN_OR_RETURN(auto boxes,
                             stream.filler->fill(std::span(records).subspan(first, last - first)));
    for (std::size_t i = first; i < last; ++i) {
      StreamFrameResult frame;
      frame.stream = stream.number;
      frame.source = std::move(stream.frames[i].source);
      if (!keep_pictures) drop_pixels(frame.source);
      frame.boxes = std::move(boxes[i - first]);
      std::erase_if(frame.boxes,
                    [this](const FilledBox& box) { return box.detection.score < report_score; });
      // Detected ones come first, the best of them before the others.
      std::stable_sort(frame.boxes.begin(), frame.boxes.end(),
                       [](const FilledBox& a, const FilledBox& b) {
                         const bool seen_a = a.origin == BoxOrigin::kDetected;
                         const bool seen_b = b.origin == BoxOrigin::kDetected;
                         if (seen_a != seen_b) return seen_a;
                         return seen_a && a.detection.score > b.detection.score;
                       });
      if (frame.boxes.size() > most) frame.boxes.resize(most);
      for (const FilledBox& box : frame.boxes) {
        FillCounters& told = stream.statistics.fill;
        ++(box.origin == BoxOrigin::kDetected       ? told.detected
           : box.origin == BoxOrigin::kInterpolated ? told.interpolated
                                                    : told.propagated);
      }
      frame.inspected = records[i].inspected;
      stream.statistics.detections += static_cast<std::int64_t>(frame.boxes.size());
      result.frames.push_back(std::move(frame));
    }
    first = last;
  }
  return {};
}

Status StreamDetector::Impl::finish_stream(StreamState& stream, WindowJob& job, bool refreshed,
                                           double trial_scale, WindowResult& result) {
  SPARING_ASSIGN_OR_RETURN(const std::vector<KeyFrameResult> keys, job.results(stream));
  std::vector<FrameRecord> records(stream.frames.size());
  for (std::size_t i = 0; i < records.size(); ++i) {
    records[i].time = stream.frames[i].source.frame.view().timestamp;
    records[i].inspected = false;
  }
  for (const KeyFrameResult& key : keys) {
    FrameRecord& record = records[key.frame];
    record.inspected = key.looked_at;
    record.dropped = key.dropped;
    for (const std::int64_t id : key.dropped) drop_history.dropped(stream.number, id);
    if (!key.looked_at) {
      ++stream.statistics.unseen_key_frames;
      continue;
    }
    ++(key.partial ? stream.statistics.partial_frames : stream.statistics.key_frames);
    SPARING_ASSIGN_OR_RETURN(const std::vector<std::int64_t> ids,
                             stream.tracker.update(record.time, key.detections));
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (ids[i] < 0 && key.detections[i].score < report_score) continue;
      record.detections.push_back({key.detections[i], ids[i]});
      if (ids[i] >= 0) drop_history.looked_at(stream.number, ids[i]);
    }
    if (!key.partial) continue;
    // Of what was not found there the frame says nothing.
    for (const TrackedDetection& t : stream.tracker.predict(record.time)) {
      if (std::find(ids.begin(), ids.end(), t.id) == ids.end()) record.dropped.push_back(t.id);
    }
  }
  stream.smoother.smooth(records);
  std::vector<std::vector<SeenObject>> seen;
  std::vector<TrackedDetection> last;
  for (const KeyFrameResult& key : keys) {
    if (!key.looked_at || key.partial) continue;
    last = records[key.frame].detections;
    std::vector<SeenObject>& objects = seen.emplace_back();
    for (const TrackedDetection& t : last) objects.push_back({t.detection, t.id});
  }
  const HeldFrame& newest = stream.frames.back();
  stream.planner.observe_objects(seen, newest.size);
  const auto packed = job.packed_pixels(stream.number);
  stream.planner.observe_packed(packed.pixels, packed.key_frames);
  if (refreshed && !keys.empty() && keys.back().frame + 1 == stream.frames.size()) {
    ++stream.statistics.refreshes;
    stream.planner.observe_recall(stream.planner.way(), stream.planner.scale(), keys.back().by_way,
                                  keys.back().reference);
    if (trial_scale > 0) {
      stream.planner.observe_recall(DetectWay::kWholeFrame, trial_scale, keys.back().trial,
                                    keys.back().reference);
    }
  }
  SPARING_RETURN_IF_ERROR(stream.follow(last));
  stream.scales.end_window(newest.source.frame.view().timestamp);

  StreamStatistics& statistics = stream.statistics;
  statistics.frames += static_cast<std::int64_t>(stream.frames.size());
  switch (stream.planner.way()) {
    case DetectWay::kPacked: ++statistics.windows_packed; break;
    case DetectWay::kWholeFrame: ++statistics.windows_whole; break;
    case DetectWay::kTiles: ++statistics.windows_tiles; break;
    case DetectWay::kNothing: break;
  }
  for (const HeldFrame& frame : stream.frames) {
    FrameReport report;
    report.stream = stream.number;
    report.frame = frame.source.index;
    if (frame.rois) {
      report.rois = frame.rois->rois;
      report.change = frame.rois->change;
      report.extract_start = std::chrono::duration<double>(frame.extract_begin - epoch).count();
      report.extract_seconds = frame.extract_seconds;
    }
    report.key = frame.looked_at();
    report.way = report.key ? stream.planner.way() : DetectWay::kNothing;
    result.report.frames.push_back(std::move(report));
  }
  const DropTally drops = job.drops(stream.number);
  statistics.dropped_regions.merge(drops);
  result.report.drops.merge(drops);
  return fill(stream, std::move(records), result);
}

Status StreamDetector::Impl::observe(const WindowReport& report) {
  if (observer == nullptr) return {};
  return observer->on_window(report, [&](int number, std::int64_t index) -> const VideoFrame* {
    const auto it = streams.find(number);
    if (it == streams.end()) return nullptr;
    for (const HeldFrame& frame : it->second->frames) {
      if (frame.source.index == index && frame.looked_at()) return &frame.source.frame.view();
    }
    return nullptr;
  });
}

Result<WindowResult> StreamDetector::Impl::finish_window() {
  WindowResult result;
  WindowReport& report = result.report;
  report.index = totals.windows++;
  report.start = now();
  for (const auto& [number, stream] : streams) {
    SPARING_RETURN_IF_ERROR(stream->cut());
    totals.extract_seconds += std::exchange(stream->extract_seconds, 0);
  }
  const double fresh_budget = window_budget();
  const double whole_budget = fresh_budget + saved;
  const double look = pending_look_cost();
  const bool saves = look > margin.share() * whole_budget;
  const double own_budget = saves ? kShareWhileSaving * fresh_budget : whole_budget;
  report.budget_seconds = own_budget + start_budget();
  next_budget.reset();

  const Clock::time_point plan_begin = Clock::now();
  WindowJob job({processors, shapes, options, tuning, drop_history, report.budget_seconds,
                 margin.share(), packed_pixel_seconds(), report.index});
  for (const auto& [number, stream] : streams) SPARING_RETURN_IF_ERROR(job.add_stream(*stream));
  StreamState* refreshed = refreshed_stream(report.budget_seconds);
  double trial_scale = 0;
  if (refreshed != nullptr) {
    trial_scale = refreshed->planner.trial_scale();
    job.add_refresh(*refreshed, refreshed->planner.refresh_scale(), trial_scale);
    refreshed->planner.refreshed();
    SPARING_RETURN_IF_ERROR(job.add_probes(*refreshed));
  }
  SPARING_RETURN_IF_ERROR(job.plan());
  totals.wanted_detector_seconds += job.wanted_seconds();
  saved = saves                                    ? whole_budget - own_budget
          : job.jobs().empty() && job.wanted() > 0 ? report.budget_seconds
                                                   : 0;
  report.plan_seconds = seconds_since(plan_begin);
  totals.plan_seconds += report.plan_seconds;

  const auto observe_canvas = [&](const CanvasReport& canvas) {
    return observer->on_canvas(canvas);
  };
  SPARING_RETURN_IF_ERROR(job.run(
      runner,
      observer != nullptr ? std::function<Status(const CanvasReport&)>(observe_canvas) : nullptr,
      totals.canvases, stop));
  account(job, report);

  const Clock::time_point fill_begin = Clock::now();
  for (const auto& [number, stream] : streams) {
    if (stream->frames.empty()) continue;
    // The observer looks at the pictures after the results took the frames.
    std::vector<HeldFrame> held;
    if (observer != nullptr) held = stream->frames;
    SPARING_RETURN_IF_ERROR(
        finish_stream(*stream, job, stream.get() == refreshed, trial_scale, result));
    if (observer != nullptr) stream->frames = std::move(held);
  }
  totals.fill_seconds += seconds_since(fill_begin);
  SPARING_RETURN_IF_ERROR(plan_ways(own_budget * margin.share()));
  report.seconds = now() - report.start;
  SPARING_RETURN_IF_ERROR(observe(report));
  return result;
}

}  // namespace sparing

#include "sparing/streams/stream_detector.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "sparing/base/clock.h"
#include "sparing/streams/canvas_runner.h"
#include "sparing/streams/model_canvas.h"
#include "sparing/streams/no_throw.h"
#include "sparing/streams/plan_margin.h"
#include "sparing/streams/stream_state.h"
#include "sparing/streams/warm_up.h"
#include "sparing/streams/way_choice.h"
#include "sparing/streams/window_job.h"

namespace sparing {

std::string_view to_string(DrawPurpose purpose) {
  switch (purpose) {
    case DrawPurpose::kDetect: return "detect";
    case DrawPurpose::kRefresh: return "refresh";
    case DrawPurpose::kTrial: return "trial";
    case DrawPurpose::kProbe: return "probe";
  }
  return "unknown";
}

namespace {
// Canvases are rounded up, and a look should leave room for a little more.
constexpr double kStartShare = 1.25;
// Of what a budget leaves, for looks that measure recall.
constexpr double kSpareShare = 0.1;
// Of a budget, for regions while a look at a whole frame is being saved for.
constexpr double kShareWhileSaving = 0.5;
// Shared canvases, before any was planned.
constexpr Size kTypicalCanvas{640, 640};
constexpr double kTypicalFill = 0.75;
// What is kept of older windows' packed canvases, each window.
constexpr double kKeepPacked = 0.5;
}  // namespace

struct StreamDetector::Impl {
  Impl(std::vector<Processor> p, const StreamOptions& o, const StreamTuning& t)
      : processors(std::move(p)), options(o), tuning(t), runner(processors, epoch) {}

  std::vector<Processor> processors;
  StreamOptions options;
  StreamTuning tuning;
  std::map<std::tuple<int, int, int>, int> runs_of;  // processor, width, height
  float report_score = 0;                            // detections below are not told
  Clock::time_point epoch = Clock::now();
  CanvasRunner runner;
  std::vector<CanvasShape> shapes;
  std::vector<ScaleModel>
      scale_models;  // of each processor: a region must be safe wherever it goes
  std::map<int, std::unique_ptr<StreamState>> streams;
  std::map<int, StreamStatistics> finished;
  int next_stream = 0;
  DropHistory drop_history;
  std::optional<double> next_budget;
  // Seconds of windows in which nothing at all could be run, or of those before a look at a whole
  // frame: saved up until there are enough.
  double saved = 0;
  bool keep_pictures = false;
  StreamObserver* observer = nullptr;
  std::stop_token stop;
  DetectorTotals totals;
  std::map<int, double> refresh_credit;  // seconds, by stream
  PlanMargin margin;
  // Of shared canvases, older windows counting less: detector time by the profiles, and the pixels
  // of the regions on them.
  double packed_seconds = 0;
  double packed_area = 0;

  double now() const { return seconds_since(epoch); }
  Status prepare();
  double window_budget() const;
  double start_budget() const;
  double pending_look_cost() const;
  double whole_cost(Size frame, double scale) const;
  double packed_pixel_seconds() const;
  Status plan_ways(double budget);
  StreamState* refreshed_stream(double budget) const;
  Result<WindowResult> finish_window();
  Status finish_stream(StreamState& stream, WindowJob& job, bool refreshed, double trial_scale,
                       WindowResult& result);
  Status fill(StreamState& stream, std::vector<FrameRecord> records, WindowResult& result);
  void account(const WindowJob& job, WindowReport& report);
  void credit_spare_time(const WindowReport& report);
  Status observe(const WindowReport& report);
};

Status StreamDetector::Impl::prepare() {
  tuning.track.start_score = options.follow_score;
  // What is too unsure to be told may still be a known object, so the networks tell of more.
  report_score = processors.front().detector.impl().score_threshold;
  for (Processor& processor : processors) {
    float& threshold = processor.detector.impl().score_threshold;
    threshold = std::min(threshold, static_cast<float>(tuning.track.continue_score));
  }
  if (processors.front().detector.impl().options.class_agnostic) {
    tuning.reconstruct.class_agnostic = true;
    tuning.track.class_agnostic = true;
  }
  const ModelInput& input = processors.front().detector.impl().manifest.input;
  CanvasOptions& canvas = tuning.canvas;
  if (input.fixed_size) {
    canvas.templates = {std::to_string(input.default_size.width) + "x" +
                        std::to_string(input.default_size.height)};
    canvas.height_step = 0;
    canvas.stride = 1;
    canvas.min_width = input.default_size.width;
    canvas.min_height = input.default_size.height;
  } else {
    canvas.stride = std::max(canvas.stride, input.multiple_of);
    if (canvas.stride % input.multiple_of != 0) canvas.stride = input.multiple_of;
  }
  SPARING_ASSIGN_OR_RETURN(shapes, canvas_shapes(canvas));
  std::erase_if(shapes, [&](const CanvasShape& shape) {
    return std::max(shape.size.width, shape.size.height) > input.max_size ||
           std::none_of(processors.begin(), processors.end(),
                        [&](const Processor& p) { return p.profile.runs(shape.size); });
  });
  if (shapes.empty()) {
    return Error{ErrorCode::kInvalidArgument, "--canvases", "no processor runs any of them",
                 "give smaller ones, e.g. 640x640"};
  }
  if (auto tile = parse_size(options.tile); !tile.ok()) {
    Error error = tile.error();
    error.thing = "--tile";
    return error;
  }
  for (const Processor& p : processors) scale_models.push_back(p.scales);
  totals.canvases_of.assign(processors.size(), 0);
  return {};
}

double StreamDetector::Impl::window_budget() const {
  if (next_budget) return *next_budget;
  if (options.budget <= 0) return std::numeric_limits<double>::infinity();
  double frames = 0;
  for (const auto& [number, stream] : streams) frames += static_cast<double>(stream->frames.size());
  return options.budget * 1e-3 * frames;
}

// Of a look at a whole frame, about: seconds.
double StreamDetector::Impl::whole_cost(Size frame, double scale) const {
  return processors.front().profile.estimate(scaled(frame, scale));
}

// Of the cheapest look at a whole frame that is due and found no time; 0: none.
double StreamDetector::Impl::pending_look_cost() const {
  double least = 0;
  for (const auto& [number, stream] : streams) {
    if (!stream->look_pending || stream->frames.empty()) continue;
    const Size size = stream->frames.back().size;
    const double cost = whole_cost(size, stream->least_look_scale(size));
    if (least == 0 || cost < least) least = cost;
  }
  return least;
}

// What the first looks at streams may take on top of the budget: they are the warm-up, and all that
// follows is only as good as what they find.
double StreamDetector::Impl::start_budget() const {
  if (next_budget || options.budget <= 0) return 0;
  double seconds = 0;
  for (const auto& [number, stream] : streams) {
    if (stream->frames.empty() || stream->windows > 0) continue;
    const Size size = stream->frames.back().size;
    seconds += kStartShare * whole_cost(size, WayPlanner::start_scale(size));
  }
  return seconds;
}

// Of a pixel of regions on shared canvases: as the last windows had it.
double StreamDetector::Impl::packed_pixel_seconds() const {
  if (packed_area > 0) return packed_seconds / packed_area;
  return processors.front().profile.estimate(kTypicalCanvas) /
         (kTypicalFill * kTypicalCanvas.width * kTypicalCanvas.height);
}

Status StreamDetector::Impl::plan_ways(double budget) {
  std::vector<StreamState*> active;
  for (const auto& [number, stream] : streams) {
    if (!stream->frames.empty() && !stream->ended) active.push_back(stream.get());
  }
  const auto whole = [&](Size drawn) {
    return processors.front().profile.estimate(
        canvas_for(processors.front().detector.impl().manifest.input, tuning.canvas.stride, drawn));
  };
  return choose_ways(active, {whole, packed_pixel_seconds()}, budget);
}

// The stream that has saved up for a look at a whole frame, the richest first.
StreamState* StreamDetector::Impl::refreshed_stream(double budget) const {
  StreamState* best = nullptr;
  double most = 1;
  for (const auto& [number, stream] : streams) {
    if (stream->frames.empty()) continue;
    const WayPlanner& planner = stream->planner;
    const double scale = planner.refresh_scale();
    if (planner.way() == DetectWay::kWholeFrame && planner.scale() >= scale) continue;
    const Size size = stream->frames.back().size;
    const double cost = whole_cost(size, scale);
    const auto credit = refresh_credit.find(number);
    if (cost > 0.5 * budget || credit == refresh_credit.end()) continue;
    if (credit->second / cost >= most) {
      most = credit->second / cost;
      best = stream.get();
    }
  }
  return best;
}

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

// A share of what a budget leaves goes into looks at whole frames, evenly to all streams: cheap
// ways would hardly ever be measured by a share of their own cost.
void StreamDetector::Impl::credit_spare_time(const WindowReport& report) {
  if (!std::isfinite(report.budget_seconds) || options.refresh_share <= 0) return;
  const double spare = report.budget_seconds - report.planned_seconds;
  if (spare <= 0) return;
  double frames = 0;
  for (const auto& [number, stream] : streams) frames += static_cast<double>(stream->frames.size());
  for (const auto& [number, stream] : streams) {
    if (stream->frames.empty()) continue;
    double& credit = refresh_credit[number];
    const double more =
        kSpareShare * spare * static_cast<double>(stream->frames.size()) / std::max(1.0, frames);
    // No more is saved than two looks take.
    const double most = 2 * whole_cost(stream->frames.back().size, stream->planner.refresh_scale());
    credit = std::max(credit, std::min(credit + more, most));
  }
}

void StreamDetector::Impl::account(const WindowJob& job, WindowReport& report) {
  for (const CanvasJob& done : job.jobs()) {
    const CanvasReport& canvas = done.report;
    ++totals.canvases;
    ++totals.canvases_of[static_cast<std::size_t>(canvas.processor)];
    totals.canvas_pixels += static_cast<std::int64_t>(canvas.size.width) * canvas.size.height;
    totals.detector_seconds += canvas.inference_seconds;
    totals.planned_detector_seconds += canvas.planned_seconds;
    totals.draw_seconds += canvas.draw_seconds;
    totals.read_seconds += canvas.read_seconds;
    report.spent_seconds += canvas.inference_seconds;
    report.planned_seconds += canvas.planned_seconds;
    double area = 0;
    for (const CanvasRegion& r : canvas.regions) area += 1.0 * r.place.width * r.place.height;
    for (const CanvasRegion& r : canvas.regions) {
      const double share = 1.0 * r.place.width * r.place.height / area;
      const auto stream = streams.find(r.stream);
      if (r.purpose == DrawPurpose::kRefresh || r.purpose == DrawPurpose::kTrial) {
        totals.refresh_seconds += share * canvas.inference_seconds;
        refresh_credit[r.stream] -= share * canvas.planned_seconds;
      } else {
        refresh_credit[r.stream] += options.refresh_share * share * canvas.planned_seconds;
      }
      if (r.purpose == DrawPurpose::kProbe) {
        totals.probe_seconds += share * canvas.inference_seconds;
      }
      if (stream == streams.end()) continue;
      StreamStatistics& statistics = stream->second->statistics;
      statistics.detector_seconds += share * canvas.inference_seconds;
      if (r.purpose != DrawPurpose::kDetect) continue;
      ++statistics.regions;
      statistics.drawn_pixels += static_cast<std::int64_t>(r.place.width) * r.place.height;
    }
    // The first inferences of a size, one on each of the context's streams, make the engine's code.
    Processor& processor = processors[static_cast<std::size_t>(canvas.processor)];
    const bool warm = runs_of[{canvas.processor, canvas.size.width, canvas.size.height}]++ >=
                      std::max(1, processor.detector.impl().context.options().streams);
    if (!warm) ++report.first_runs;
    if (options.deterministic || !warm) continue;
    (void)processor.profile.observe(canvas.size, std::max(canvas.inference_seconds, 1e-9));
  }
  if (job.fill_area() > 0) {
    packed_seconds = kKeepPacked * packed_seconds + job.packed_seconds();
    packed_area = kKeepPacked * packed_area + job.fill_area();
  }
  credit_spare_time(report);
  totals.packed_area += job.fill_area();
  totals.packed_canvas_area += job.canvas_area();
  report.fill = job.canvas_area() > 0 ? job.fill_area() / job.canvas_area() : 0;
  const double spent = options.deterministic ? report.planned_seconds : report.spent_seconds;
  if (spent > 1.1 * report.budget_seconds) ++totals.windows_over_budget;
  if (options.budget > 0 && !options.deterministic && report.first_runs == 0 &&
      report.planned_seconds > 0) {
    margin.observe(report.planned_seconds, report.spent_seconds);
  }
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

StreamDetector::StreamDetector(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
StreamDetector::StreamDetector(StreamDetector&&) noexcept = default;
StreamDetector& StreamDetector::operator=(StreamDetector&&) noexcept = default;
StreamDetector::~StreamDetector() = default;

Result<StreamDetector> StreamDetector::create(std::vector<Processor> processors,
                                              const StreamOptions& options,
                                              const StreamTuning& tuning) {
  SPARING_RETURN_IF_ERROR(validate_options(options));
  if (processors.empty()) {
    return Error{ErrorCode::kInvalidArgument, "processors", "none was given", "give at least one"};
  }
  for (const Processor& p : processors) {
    if (p.detector.labels() != processors.front().detector.labels()) {
      return Error{ErrorCode::kInvalidArgument, "processor '" + p.name + "'",
                   "its model has other labels than that of '" + processors.front().name + "'",
                   "use one model in several precisions"};
    }
  }
  auto impl = std::make_unique<Impl>(std::move(processors), options, tuning);
  SPARING_RETURN_IF_ERROR(impl->prepare());
  // Options of the parts are checked before the first stream comes.
  auto trial = StreamState::create(0, {}, impl->options, impl->tuning, impl->scale_models);
  if (!trial.ok()) return trial.error();
  return StreamDetector(std::move(impl));
}

const std::vector<std::string>& StreamDetector::labels() const {
  return impl_->processors.front().detector.labels();
}

const StreamOptions& StreamDetector::options() const { return impl_->options; }

int StreamDetector::processors() const { return static_cast<int>(impl_->processors.size()); }

Result<int> StreamDetector::add_stream(const StreamInfo& info) {
  SPARING_ASSIGN_OR_RETURN(StreamState state,
                           StreamState::create(impl_->next_stream, info, impl_->options,
                                               impl_->tuning, impl_->scale_models));
  auto stream = std::make_unique<StreamState>(std::move(state));
  stream->keep_pictures = impl_->keep_pictures;
  impl_->streams[impl_->next_stream] = std::move(stream);
  return impl_->next_stream++;
}

namespace {

Error no_such_stream(int stream) {
  return {ErrorCode::kInvalidArgument, "stream " + std::to_string(stream), "there is none",
          "use a number that add_stream() gave"};
}

}  // namespace

Status StreamDetector::end_stream(int stream) {
  const auto it = impl_->streams.find(stream);
  if (it == impl_->streams.end()) return no_such_stream(stream);
  it->second->ended = true;
  return {};
}

Result<bool> StreamDetector::add_frame(int stream, SourceFrame frame) {
  const auto it = impl_->streams.find(stream);
  if (it == impl_->streams.end()) return no_such_stream(stream);
  return it->second->add(std::move(frame));
}

Result<WindowResult> StreamDetector::finish_window() {
  auto result = no_throw("window", [&] { return impl_->finish_window(); });
  for (auto it = impl_->streams.begin(); it != impl_->streams.end();) {
    StreamState& stream = *it->second;
    stream.next_window();
    if (stream.ended) {
      impl_->finished[it->first] = statistics(it->first);
      impl_->drop_history.forget_stream(it->first);
      impl_->refresh_credit.erase(it->first);
      it = impl_->streams.erase(it);
    } else {
      ++it;
    }
  }
  return result;
}

void StreamDetector::keep_pictures(bool keep) {
  impl_->keep_pictures = keep;
  for (const auto& [number, stream] : impl_->streams) stream->keep_pictures = keep;
}

void StreamDetector::set_window_budget(double seconds) { impl_->next_budget = seconds; }
void StreamDetector::set_stop(std::stop_token stop) { impl_->stop = std::move(stop); }
void StreamDetector::set_observer(StreamObserver* observer) { impl_->observer = observer; }

StreamStatistics StreamDetector::statistics(int number) const {
  const auto it = impl_->streams.find(number);
  if (it == impl_->streams.end()) {
    const auto gone = impl_->finished.find(number);
    return gone == impl_->finished.end() ? StreamStatistics{} : gone->second;
  }
  const StreamState& stream = *it->second;
  StreamStatistics statistics = stream.statistics;
  if (stream.filler) {
    // What was left out is the filler's to tell.
    FillCounters fill = stream.filler->counters();
    fill.detected = stream.statistics.fill.detected;
    fill.interpolated = stream.statistics.fill.interpolated;
    fill.propagated = stream.statistics.fill.propagated;
    statistics.fill = fill;
  }
  statistics.rois = stream.extractor.statistics();
  statistics.rested_regions = stream.empty.skipped();
  statistics.scales = stream.scales.counters();
  statistics.way = stream.planner.way();
  statistics.scale = stream.planner.scale();
  statistics.every = stream.planner.every();
  statistics.recall = stream.planner.measured();
  return statistics;
}

DetectorTotals StreamDetector::totals() const {
  DetectorTotals totals = impl_->totals;
  const DetectionCounts& counts = impl_->runner.counts();
  totals.dropped_detections = drop_counts(counts);
  totals.full_canvases = counts.full_frames;
  if (const std::int64_t outside = impl_->runner.outside_regions(); outside > 0) {
    totals.dropped_detections.push_back({"outside the regions of their canvas", outside});
  }
  return totals;
}

Status StreamDetector::warm_up(std::span<const Size> frames, double most_seconds) {
  SPARING_ASSIGN_OR_RETURN(const auto sizes,
                           warm_up_processors(impl_->processors, impl_->shapes,
                                              impl_->tuning.canvas.stride, frames, most_seconds));
  for (std::size_t p = 0; p < sizes.size(); ++p) {
    for (const Size& size : sizes[p]) {
      impl_->runs_of[{static_cast<int>(p), size.width, size.height}] +=
          std::max(1, impl_->processors[p].detector.impl().context.options().streams);
    }
  }
  return {};
}

std::span<const CanvasShape> StreamDetector::canvases() const { return impl_->shapes; }

const Processor& StreamDetector::processor(int index) const {
  return impl_->processors[static_cast<std::size_t>(index)];
}

}  // namespace sparing

// What windows may take, and what they took.
#include <algorithm>
#include <cmath>
#include <limits>

#include "sparing/packing/way_cost.h"
#include "sparing/streams/model_canvas.h"
#include "sparing/streams/stream_detector_impl.h"
#include "sparing/streams/way_choice.h"

namespace sparing {

namespace {
// Canvases are rounded up, and a look should leave room for a little more.
constexpr double kStartShare = 1.25;
// Shared canvases, before any was planned.
constexpr Size kTypicalCanvas{640, 640};
constexpr double kTypicalFill = 0.75;
// What is kept of older windows' packed canvases, each window.
constexpr double kKeepPacked = 0.5;
}  // namespace

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

double StreamDetector::Impl::first_look_cost(const StreamState& stream) const {
  const Size size = stream.frames.back().size;
  if (stream.planner.way() == DetectWay::kPacked)
    return whole_cost(size, WayPlanner::start_scale(size));
  if (stream.planner.way() != DetectWay::kTiles)
    return whole_cost(size, stream.planner.first_scale(size));
  const auto tile = parse_size(options.tile);
  if (!tile.ok()) return 0;
  const double scale = stream.planner.scale();
  const Size cut = tile_in_frame(size, *tile, scale);
  return static_cast<double>(tile_count(size, cut, options.tile_overlap)) * whole_cost(cut, scale);
}

// What the first looks at streams may take on top of the budget: they are the warm-up, and all that
// follows is only as good as what they find.
double StreamDetector::Impl::start_budget() const {
  if (next_budget || options.budget <= 0) return 0;
  double seconds = 0;
  for (const auto& [number, stream] : streams) {
    if (stream->frames.empty() || stream->windows > 0) continue;
    seconds += kStartShare * first_look_cost(*stream);
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

}  // namespace sparing

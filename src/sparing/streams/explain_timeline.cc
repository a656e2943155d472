#include "sparing/streams/explain_timeline.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace sparing {
namespace {

using Json = nlohmann::ordered_json;

// Extraction has a row for each stream, after the others: streams come and go.
enum Row : int { kWindows = 1, kPlan, kDraw, kInference, kRead = 1000, kExtract = 2000 };

}  // namespace

Result<ExplainTimeline> ExplainTimeline::create(const std::filesystem::path& file,
                                                const ObserverContext& context) {
  SPARING_ASSIGN_OR_RETURN(TraceWriter trace, TraceWriter::create(file));
  trace.name_row(kWindows, "windows");
  trace.name_row(kPlan, "plan");
  trace.name_row(kDraw, "draw");
  trace.name_row(kRead, "read");
  ExplainTimeline timeline(std::move(trace));
  int row = kInference;
  for (const auto& network : context.networks) {
    std::vector<int>& rows = timeline.rows_.emplace_back();
    const int count = std::max(1, network.at_once);
    for (int i = 0; i < count; ++i) {
      const std::string which = count > 1 ? " (" + std::to_string(i + 1) + ")" : "";
      timeline.trace_.name_row(row, "inference " + network.processor + which);
      rows.push_back(row++);
    }
    timeline.free_at_.emplace_back(rows.size(), 0.0);
  }
  return timeline;
}

void ExplainTimeline::add(const CanvasReport& canvas) {
  const std::string name = "canvas " + std::to_string(canvas.index);
  const Json what = {
      {"size", std::to_string(canvas.size.width) + "x" + std::to_string(canvas.size.height)},
      {"regions", canvas.regions.size()}};
  trace_.slice(kDraw, name, canvas.draw_start, canvas.draw_seconds, what);
  trace_.slice(kRead, name, canvas.read_start, canvas.read_seconds, what);
  if (first_draw_ < 0 || canvas.draw_start < first_draw_) first_draw_ = canvas.draw_start;

  // The engine says how long it took, not when. It began when the canvas was drawn or one before
  // it was done, whichever was later, and had ended when it was read.
  const auto processor = static_cast<std::size_t>(canvas.processor);
  std::vector<double>& free_at = free_at_[processor];
  const auto lane = std::min_element(free_at.begin(), free_at.end());
  double start = std::max(canvas.draw_start + canvas.draw_seconds, *lane);
  if (canvas.read_start > 0) {
    start = std::min(start, std::max(*lane, canvas.read_start - canvas.inference_seconds));
  }
  *lane = start + canvas.inference_seconds;
  const int row = rows_[processor][static_cast<std::size_t>(lane - free_at.begin())];
  Json times = what;
  times["planned ms"] = canvas.planned_seconds * 1e3;
  trace_.slice(row, name, start, canvas.inference_seconds, times);
}

Status ExplainTimeline::finish(const WindowReport& window) {
  const std::string name = "window " + std::to_string(window.index);
  Json what = {{"frames", window.frames.size()},
               {"detector ms", window.spent_seconds * 1e3},
               {"planned ms", window.planned_seconds * 1e3},
               {"fill", window.fill}};
  if (std::isfinite(window.budget_seconds)) what["budget ms"] = window.budget_seconds * 1e3;
  trace_.slice(kWindows, name, window.start, window.seconds, what);
  // Planning ends where drawing begins.
  const double plan_end = first_draw_ >= 0 ? first_draw_ : window.start + window.plan_seconds;
  trace_.slice(kPlan, name, std::max(window.start, plan_end - window.plan_seconds),
               window.plan_seconds, Json::object());
  for (const FrameReport& frame : window.frames) {
    if (frame.extract_seconds <= 0) continue;
    const int row = kExtract + frame.stream;
    if (named_streams_.insert(frame.stream).second) {
      trace_.name_row(row, "extract, stream " + std::to_string(frame.stream));
    }
    trace_.slice(row, "frame " + std::to_string(frame.frame), frame.extract_start,
                 frame.extract_seconds, {{"regions", frame.rois.size()}, {"key", frame.key}});
  }
  trace_.counter("detector ms", window.start, {{"spent", window.spent_seconds * 1e3}});
  first_draw_ = -1;
  return trace_.flush();
}

}  // namespace sparing

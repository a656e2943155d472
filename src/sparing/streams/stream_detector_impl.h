// What a StreamDetector is made of. Its parts: stream_detector.cc (creation, streams, statistics),
// detector_window.cc (a window from regions to results), detector_time.cc (what windows may take
// and took). Private to streams.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <tuple>
#include <utility>
#include <vector>

#include "sparing/base/clock.h"
#include "sparing/streams/canvas_runner.h"
#include "sparing/streams/plan_margin.h"
#include "sparing/streams/stream_detector.h"
#include "sparing/streams/stream_state.h"
#include "sparing/streams/window_job.h"

namespace sparing {

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
  double first_look_cost(const StreamState& stream) const;
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
  Status observe(const WindowReport& report);
};

}  // namespace sparing

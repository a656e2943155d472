// The schedule of a run on many streams:
//
//   per stream: decode -> [frames] -> regions --+
//                                               gate: window whole -> detection -> [window] ->
//                                               sinks
//   per stream: decode -> [frames] -> regions --+
#include "sparing/streams/stream_run.h"

#include <algorithm>
#include <condition_variable>
#include <limits>
#include <mutex>
#include <thread>
#include <utility>

#include "sparing/base/cpu_time.h"
#include "sparing/base/thread_pool.h"
#include "sparing/pipeline/frame_job.h"
#include "sparing/pipeline/stage_clock.h"
#include "sparing/streams/budget_control.h"
#include "sparing/streams/looping_source.h"
#include "sparing/streams/result_writer.h"
#include "sparing/streams/stream_feeder.h"
#include "sparing/streams/tile_check.h"
#include "sparing/streams/window_gate.h"

namespace sparing {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

Error invalid(std::string thing, std::string problem, std::string fix) {
  return {ErrorCode::kInvalidArgument, std::move(thing), std::move(problem), std::move(fix)};
}

// Of those that are known.
std::vector<Size> frame_sizes(std::span<const StreamInput> inputs) {
  std::vector<Size> frames;
  for (const StreamInput& input : inputs) {
    const Size size = input.source->info().display_size;
    if (size.width > 0 && size.height > 0) frames.push_back(size);
  }
  return frames;
}

Status check(const StreamDetector& detector, std::span<const StreamInput> inputs,
             const RunStreamsOptions& options) {
  SPARING_RETURN_IF_ERROR(validate_options(options));
  if (inputs.empty()) return invalid("inputs", "none was given", "give at least one");
  for (const StreamInput& input : inputs) {
    if (input.source == nullptr) {
      return invalid("input '" + input.name + "'", "it has no source", "open it before");
    }
    if (options.loop && !input.reopen) {
      return invalid("input '" + input.name + "'", "it cannot be started again",
                     "loop files, not pipes");
    }
  }
  SPARING_RETURN_IF_ERROR(check_tiles(detector.options(), frame_sizes(inputs)));
  if (!detector.options().deterministic) return {};
  const char* const timed = options.paced          ? "--paced"
                            : options.fps > 0      ? "--fps"
                            : options.duration > 0 ? "--duration"
                                                   : nullptr;
  if (timed == nullptr) return {};
  return invalid(timed, "it goes by the clock, which a deterministic run must not look at",
                 "leave one of the two out");
}

// What is due does not wait for a network that runs for the first time, and no budget pays for it.
Status prepare(StreamDetector& detector, std::span<const StreamInput> inputs) {
  double rate = 0;
  for (const StreamInput& input : inputs) rate += nominal_rate(input.source->info());
  return detector.warm_up(frame_sizes(inputs), window_budget(detector.options(), rate));
}

BudgetSettings budget_settings(const StreamDetector& detector) {
  double threads = 0;
  double streams = 0;
  for (int i = 0; i < detector.processors(); ++i) {
    const ContextOptions& context = detector.processor(i).detector.impl().context.options();
    threads += std::max(1, context.threads);
    streams += std::max(1, context.streams);
  }
  return {static_cast<double>(available_cores()), threads / streams};
}

WindowRules rules(const StreamDetector& detector, const RunStreamsOptions& options) {
  return {detector.options().deterministic ? kNever : options.stall,
          options.paced ? detector.options().window / options.speed : kNever};
}

class StreamRun {
 public:
  StreamRun(StreamDetector& detector, std::vector<StreamInput> inputs,
            std::span<ResultSink* const> sinks, bool keep_pictures,
            const RunStreamsOptions& options, const StreamsControl& control)
      : detector_(detector),
        keep_pictures_(keep_pictures),
        options_(options),
        control_(control),
        sinks_(sinks, static_cast<int>(inputs.size())),
        gate_(static_cast<int>(inputs.size()), rules(detector, options)),
        budget_(budget_settings(detector)) {
    total_frames_ = count_frames(inputs);
    lost_.assign(inputs.size(), 0);
    for (StreamInput& input : inputs) inputs_.push_back(std::move(input));
  }

  StreamsSummary run();

 private:
  std::optional<std::int64_t> count_frames(std::span<const StreamInput> inputs) const;
  int queue_frames(const SourceInfo& info) const;
  Status add_streams();
  void detect_windows();
  Status finish_window(const ClosedWindow& window);
  // Seconds of wall time in which so many frames must be processed; 0: whenever.
  double wall_seconds(const ClosedWindow& window) const;
  void give_budget(const ClosedWindow& window, double seconds);
  void observe_cost(const ClosedWindow& window, double seconds, double spent_seconds,
                    bool first_runs);
  void add_whole_frames(const WindowResult& result);
  double other_threads_cpu() const;
  // No new frames from anywhere.
  void halt();
  // Nor is the window in flight finished: what is written is whole without it.
  void stop();
  void keep_first(Error error);
  void fail(Error error);
  void finish_sinks();
  StreamsSummary summarize_run();
  StreamRunStatistics summarize_stream(std::size_t index) const;

  StreamDetector& detector_;
  const bool keep_pictures_;
  const RunStreamsOptions& options_;
  const StreamsControl& control_;
  SinkGroup sinks_;
  std::vector<StreamInput> inputs_;
  std::optional<std::int64_t> total_frames_;
  const Clock::time_point start_ = Clock::now();
  const double start_cpu_ = process_cpu_seconds();

  std::stop_source detector_stop_;
  WindowGate gate_;
  std::vector<std::unique_ptr<StreamFeeder>> feeders_;
  std::optional<ResultWriter> writer_;
  int first_stream_ = 0;

  std::mutex error_mutex_;
  std::optional<Error> error_;

  // Of the detecting thread.
  BudgetControl budget_;
  LatencyHistogram detect_time_;
  std::vector<std::int64_t> lost_;  // of each stream, with windows that failed
  Clock::time_point last_window_ = start_;
  double last_process_cpu_ = start_cpu_;
  double last_threads_cpu_ = 0;
  std::int64_t detected_frames_ = 0;
  double lag_ = 0;
  double whole_frame_seconds_ = 0;
};

std::optional<std::int64_t> StreamRun::count_frames(std::span<const StreamInput> inputs) const {
  if (options_.loop || options_.duration > 0) return std::nullopt;
  std::int64_t sum = 0;
  for (const StreamInput& input : inputs) {
    const auto count = input.source->info().frame_count;
    if (!count) return std::nullopt;
    sum += *count;
  }
  return sum;
}

int StreamRun::queue_frames(const SourceInfo& info) const {
  if (!options_.paced) return options_.queue_frames;
  if (options_.paced_queue_frames > 0) return options_.paced_queue_frames;
  return camera_queue_frames(detector_.options().window, nominal_rate(info));
}

Status StreamRun::add_streams() {
  FeederSettings settings;
  settings.paced = options_.paced;
  settings.speed = options_.speed;
  // Half of a file's: while the network has the cores, what is decoded only takes memory.
  settings.decoded_frames = std::max(1, options_.queue_frames / 2);
  settings.start = start_;
  if (options_.duration > 0) {
    settings.end = start_ + std::chrono::duration_cast<Clock::duration>(
                                std::chrono::duration<double>(options_.duration));
  }
  for (StreamInput& input : inputs_) {
    settings.queue_frames = queue_frames(input.source->info());
    SPARING_ASSIGN_OR_RETURN(settings.detector_stream,
                             detector_.add_stream({input.name, input.source->info().frame_rate}));
    if (settings.index == 0) first_stream_ = settings.detector_stream;
    if (options_.loop) {
      input.source =
          std::make_unique<LoopingSource>(std::move(input.source), input.reopen, input.max_frames);
    }
    feeders_.push_back(
        std::make_unique<StreamFeeder>(std::move(input), settings, detector_, gate_));
    ++settings.index;
  }
  return {};
}

StreamsSummary StreamRun::run() {
  if (Status status = add_streams(); !status.ok()) {
    fail(std::move(status).error());
    return summarize_run();
  }
  writer_.emplace(ResultWriter::Settings{sinks_, feeders_, control_, start_, first_stream_,
                                         [this](Error error) { fail(std::move(error)); },
                                         [this] { return gate_.active(); }, total_frames_,
                                         keep_pictures_});
  std::thread writer([this] {
    set_current_thread_name("sp-output");
    writer_->run();
  });
  detector_.set_stop(detector_stop_.get_token());
  for (const auto& feeder : feeders_) feeder->start();
  {
    const std::stop_callback on_stop(control_.stop, [this] { stop(); });
    // A source that is silent when the time is over does not look at the clock.
    std::jthread timer;
    if (options_.duration > 0) {
      timer = std::jthread([this](const std::stop_token& stop) {
        std::mutex mutex;
        std::unique_lock lock(mutex);
        std::condition_variable_any end;
        end.wait_for(lock, stop, std::chrono::duration<double>(options_.duration),
                     [] { return false; });
        if (stop.stop_requested()) return;
        for (const auto& feeder : feeders_) feeder->end_time();
      });
    }
    detect_windows();
    halt();
    for (const auto& feeder : feeders_) feeder->join();
  }
  writer_->close();
  writer.join();
  detector_.set_stop({});
  finish_sinks();
  return summarize_run();
}

void StreamRun::detect_windows() {
  bool more = true;
  while (more) {
    gate_.open();
    const ClosedWindow window = gate_.close();
    for (const int stream : window.ended) {
      (void)detector_.end_stream(feeders_[static_cast<std::size_t>(stream)]->detector_stream());
    }
    more = !window.last;
    if (window.frames == 0) continue;
    // Its frames are counted as decoded.
    if (detector_stop_.stop_requested()) return;
    if (Status status = finish_window(window); !status.ok()) {
      if (status.error().code == ErrorCode::kInterrupted) return;
      for (std::size_t i = 0; i < lost_.size(); ++i) lost_[i] += window.frames_of[i];
      fail(std::move(status).error());
      return;
    }
  }
}

Status StreamRun::finish_window(const ClosedWindow& window) {
  const double seconds = wall_seconds(window);
  if (seconds > 0) give_budget(window, seconds);
  SPARING_ASSIGN_OR_RETURN(WindowResult result,
                           timed(detect_time_, [&] { return detector_.finish_window(); }));
  add_whole_frames(result);
  const double spent = result.report.spent_seconds;
  const bool first_runs = result.report.first_runs > 0;
  writer_->push(std::move(result));
  detected_frames_ += window.frames;
  if (options_.paced) lag_ = seconds_since(window.last_since);
  if (seconds > 0) observe_cost(window, seconds, spent, first_runs);
  last_window_ = Clock::now();
  return {};
}

double StreamRun::wall_seconds(const ClosedWindow& window) const {
  const StreamOptions& options = detector_.options();
  if (options.deterministic) return 0;
  if (options_.fps > 0) return static_cast<double>(window.frames) / options_.fps;
  // Who names a budget wants that one.
  if (!options_.paced || options.budget > 0) return 0;
  double seconds = 0;
  for (std::size_t i = 0; i < feeders_.size(); ++i) {
    seconds = std::max(seconds, static_cast<double>(window.frames_of[i]) / feeders_[i]->rate());
  }
  return seconds;
}

void StreamRun::give_budget(const ClosedWindow& window, double seconds) {
  double budget = budget_.budget(window.frames, seconds);
  if (const double most = detector_.options().budget; most > 0) {
    budget = std::min(budget, most * 1e-3 * static_cast<double>(window.frames));
  }
  detector_.set_window_budget(budget);
}

void StreamRun::observe_cost(const ClosedWindow& window, double seconds, double spent_seconds,
                             bool first_runs) {
  // Two accounts, neither of which sees everything: threads of ours, and all that is not the
  // network, whose time is overestimated where it shares cores.
  const double threads = other_threads_cpu();
  const double process = process_cpu_seconds();
  const double network = spent_seconds * budget_settings(detector_).cores_per_detector_second;
  WindowCost cost;
  cost.frames = window.frames;
  cost.first_runs = first_runs;
  cost.other_cpu_seconds =
      std::max(threads - last_threads_cpu_, process - last_process_cpu_ - network);
  if (options_.paced) {
    // While one window is detected, the next one comes.
    cost.load = lag_ / (detector_.options().window / options_.speed);
  } else {
    const double behind =
        seconds_since(start_) - static_cast<double>(detected_frames_) / options_.fps;
    cost.load = (seconds_since(last_window_) + 0.25 * std::max(0.0, behind)) / seconds;
    lag_ = std::max(0.0, behind);
  }
  last_threads_cpu_ = threads;
  last_process_cpu_ = process;
  budget_.observe(cost);
}

double StreamRun::other_threads_cpu() const {
  double seconds = thread_cpu_seconds() + writer_->cpu_seconds();
  for (const auto& feeder : feeders_) seconds += feeder->cpu_seconds();
  return seconds;
}

void StreamRun::add_whole_frames(const WindowResult& result) {
  const LatencyProfile& profile = detector_.processor(0).profile;
  const bool deterministic = detector_.options().deterministic;
  const auto rounded = [](int side) { return std::max(32, (side + 16) / 32 * 32); };
  for (const StreamFrameResult& frame : result.frames) {
    const Size size = display_size(frame.source.frame.view());
    const Size input{rounded(size.width), rounded(size.height)};
    whole_frame_seconds_ += deterministic ? profile.profiled(input) : profile.estimate(input);
  }
}

void StreamRun::halt() {
  for (const auto& feeder : feeders_) feeder->cancel();
  gate_.shut();
}

void StreamRun::stop() {
  detector_stop_.request_stop();
  halt();
}

void StreamRun::keep_first(Error error) {
  std::lock_guard lock(error_mutex_);
  if (!error_) error_ = std::move(error);
}

void StreamRun::fail(Error error) {
  keep_first(std::move(error));
  stop();
}

void StreamRun::finish_sinks() {
  // Nothing was computed: leave what may lie under the outputs' names from an earlier run.
  const bool ended_early =
      error_ || control_.stop.stop_requested() ||
      std::any_of(feeders_.begin(), feeders_.end(), [](const auto& f) { return f->error(); });
  if (!sinks_.any_written() && ended_early) return;
  if (Status status = sinks_.finish(); !status.ok()) keep_first(std::move(status).error());
}

StreamRunStatistics StreamRun::summarize_stream(std::size_t index) const {
  const StreamFeeder& feeder = *feeders_[index];
  StreamRunStatistics stream;
  stream.detector = detector_.statistics(feeder.detector_stream());
  stream.detector.name = feeder.name();
  const auto drop = [&](const char* reason, std::int64_t count) {
    if (count > 0) stream.dropped_frames.push_back({reason, count});
  };
  std::int64_t left = feeder.decoded() - feeder.too_late() - feeder.refused() - lost_[index];
  if (writer_) {
    const WrittenStream& written = writer_->streams()[index];
    stream.frames = written.frames;
    stream.detections = written.detections;
    stream.boxes = written.boxes;
    stream.hdr_frames = written.hdr_frames;
    stream.last_time = written.last_time;
    stream.latency_p50 = written.latency.quantile_seconds(0.5);
    stream.latency_p95 = written.latency.quantile_seconds(0.95);
    stream.latency_max = written.latency.max_seconds();
    if (sinks_.failed()) {
      const HeldResults held = sinks_.held(static_cast<int>(index));
      stream.frames = held.frames;
      stream.detections = held.detections;
      stream.boxes = held.boxes;
      stream.last_time = held.last_time;
    }
    left -= stream.frames;
  }
  drop(kTooFastReason, feeder.too_late());
  drop("cannot be used", feeder.refused());
  drop("in a window whose detection failed", lost_[index]);
  drop(sinks_.failed() ? "decoded, but not in an output when one failed"
                       : "decoded when the run was ended",
       left);
  stream.damaged_frames = feeder.damaged();
  stream.error = feeder.error();
  return stream;
}

StreamsSummary StreamRun::summarize_run() {
  StreamsSummary summary;
  LatencyHistogram decode, extract;
  for (std::size_t i = 0; i < feeders_.size(); ++i) {
    summary.streams.push_back(summarize_stream(i));
    decode.merge(feeders_[i]->decode_time());
    extract.merge(feeders_[i]->extract_time());
  }
  summary.totals = detector_.totals();
  summary.stages = {summarize("decode", decode), summarize("regions", extract),
                    summarize("detection", detect_time_)};
  if (writer_) {
    summary.stages.push_back(summarize("output", writer_->time()));
  }
  for (const StreamRunStatistics& stream : summary.streams) {
    summary.frames += stream.frames;
    summary.detections += stream.detections;
  }
  summary.outputs = sinks_.states();
  summary.wall_seconds = seconds_since(start_);
  summary.cpu_seconds = process_cpu_seconds() - start_cpu_;
  summary.lag_seconds = lag_;
  summary.whole_frame_seconds = whole_frame_seconds_;
  summary.interrupted = control_.stop.stop_requested();
  if (error_) summary.error = with_what_is_held(*error_, summary.outputs);
  return summary;
}

}  // namespace

StreamsSummary run_streams(StreamDetector& detector, std::vector<StreamInput> inputs,
                           std::span<ResultSink* const> sinks, bool keep_pictures,
                           const RunStreamsOptions& options, const StreamsControl& control) {
  Status status = check(detector, inputs, options);
  if (status.ok() && (options.paced || detector.options().budget > 0))
    status = prepare(detector, inputs);
  if (!status.ok()) {
    StreamsSummary summary;
    summary.error = std::move(status).error();
    return summary;
  }
  detector.keep_pictures(keep_pictures);
  return StreamRun(detector, std::move(inputs), sinks, keep_pictures, options, control).run();
}

}  // namespace sparing

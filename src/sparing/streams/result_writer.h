// The last stage of a run on many streams: results to sinks, counts and latencies.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "sparing/base/bounded_queue.h"
#include "sparing/base/clock.h"
#include "sparing/base/histogram.h"
#include "sparing/pipeline/sink_group.h"
#include "sparing/streams/stream_feeder.h"
#include "sparing/streams/stream_run.h"

namespace sparing {

// What was written of one stream.
struct WrittenStream {
  std::int64_t frames = 0;
  std::int64_t detections = 0;
  std::array<std::int64_t, kBoxOrigins> boxes{};  // by origin
  std::int64_t hdr_frames = 0;
  std::optional<Timestamp> last_time;
  LatencyHistogram latency;
};

class ResultWriter {
 public:
  struct Settings {
    SinkGroup& sinks;
    std::span<const std::unique_ptr<StreamFeeder>> feeders;
    const StreamsControl& control;
    Clock::time_point start;
    int first_stream = 0;                 // the detector's number of input 0
    std::function<void(Error)> on_error;  // ends the run
    std::function<int()> active_streams;
    std::optional<std::int64_t> total_frames;
    bool renders = false;  // takes time: a stopped run does not wait for what is queued
  };
  explicit ResultWriter(Settings settings);

  // From the detecting thread. Waits while a window is queued.
  void push(WindowResult result) { (void)results_.push(std::move(result)); }
  void close() { results_.close(); }
  // On a thread of its own, until close(). After an error nothing more is written.
  void run();

  bool failed() const { return failed_.load(); }
  double cpu_seconds() const { return cpu_.load(); }
  // After run().
  const std::vector<WrittenStream>& streams() const { return streams_; }
  std::int64_t frames() const { return frames_; }
  std::int64_t detections() const { return detections_; }
  const LatencyHistogram& time() const { return time_; }

 private:
  Status write(StreamFrameResult& result);
  Status write_window(WindowResult& result);
  void show_progress() const;

  const Settings settings_;
  BoundedQueue<WindowResult> results_;
  std::atomic<bool> failed_{false};
  std::atomic<double> cpu_{0};
  std::vector<WrittenStream> streams_;
  std::int64_t frames_ = 0;
  std::int64_t detections_ = 0;
  LatencyHistogram time_;
};

// A frame's result as sinks take it: boxes best first.
FrameResult frame_result(const StreamFrameResult& result);

}  // namespace sparing

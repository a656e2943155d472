// One stream's way to the detector: a thread that decodes, a queue, and a thread that finds
// regions.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "sparing/base/clock.h"
#include "sparing/base/histogram.h"
#include "sparing/streams/frame_queue.h"
#include "sparing/streams/stream_run.h"
#include "sparing/streams/window_gate.h"

namespace sparing {

// Nominal frames a second of the source's own time; 25 where it does not say.
double nominal_rate(const SourceInfo& info);

struct FeederSettings {
  int index = 0;            // among the inputs, and at the gate
  int detector_stream = 0;  // as add_stream() numbered it
  bool paced = false;
  double speed = 1;
  int queue_frames = 8;
  // Paced: of those, how many may lie decoded. A pipe's do all.
  int decoded_frames = 8;
  Clock::time_point start;               // when the first frame is due, if paced
  std::optional<Clock::time_point> end;  // no frame is taken after it
};

// What is written by one thread and read after join() is not locked.
class StreamFeeder {
 public:
  // `detector` and `gate` are borrowed.
  StreamFeeder(StreamInput input, const FeederSettings& settings, StreamDetector& detector,
               WindowGate& gate);

  void start();
  // No new frames; those queued go their way. From any thread.
  void end_input();
  // The time of the run is over: no frame that is due after it. From any thread.
  void end_time();
  // No new frames, and none of those queued. From any thread.
  void cancel();
  // The gate is shut, or the stream comes to its end.
  void join();

  // Nominal frames a second as they come, `speed` included; 25 where the source does not say.
  double rate() const { return rate_; }
  int detector_stream() const { return settings_.detector_stream; }
  // When the frame, which the detector has given a result for, was due or decoded. In the frames'
  // order, for one thread.
  Clock::time_point take_since(std::int64_t frame);
  // Of both threads, so far.
  double cpu_seconds() const { return decode_cpu_.load() + extract_cpu_.load(); }

  // After join().
  const std::string& name() const { return input_.name; }
  const std::optional<Error>& error() const { return error_; }
  std::int64_t decoded() const { return decoded_; }
  std::int64_t refused() const { return refused_; }
  std::int64_t too_late() const { return queue_.dropped(); }
  std::int64_t damaged() const { return input_.source->damaged_frames(); }
  const LatencyHistogram& decode_time() const { return decode_time_; }
  const LatencyHistogram& extract_time() const { return extract_time_; }

 private:
  void decode();
  void extract();
  // False: the input is over before this frame is due.
  bool wait_until_due(const SourceFrame& frame, Clock::time_point& due);
  bool over() const;
  // Plays a file, whose frames that were due can still be read later.
  bool can_catch_up() const { return settings_.paced && !live_; }
  void keep_first(Error error);

  StreamInput input_;
  const FeederSettings settings_;
  StreamDetector& detector_;
  WindowGate& gate_;
  const double rate_;
  const bool live_;
  FrameQueue queue_;

  std::mutex mutex_;
  std::condition_variable ended_;
  std::atomic<bool> ending_{false};
  std::optional<Timestamp> first_time_;
  std::deque<std::pair<std::int64_t, Clock::time_point>> since_;  // of frames with the detector
  std::optional<Error> error_;

  std::atomic<double> decode_cpu_{0};
  std::atomic<double> extract_cpu_{0};
  LatencyHistogram decode_time_, extract_time_;
  std::int64_t decoded_ = 0;
  std::int64_t refused_ = 0;
  std::thread decoder_, extractor_;
};

}  // namespace sparing

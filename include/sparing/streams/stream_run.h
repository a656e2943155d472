// Sources to sinks through a StreamDetector: decoding, extraction, detection and output of
// different streams and windows overlap on the cores.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "sparing/io/sink.h"
#include "sparing/io/source.h"
#include "sparing/pipeline/detector.h"
#include "sparing/streams/stream_detector.h"

namespace sparing {

struct RunStreamsOptions {
  bool paced = false;
  double speed = 1;
  int queue_frames = 8;
  int paced_queue_frames = -1;
  double fps = -1;
  double stall = 2;
  bool loop = false;
  double duration = 0;

  static constexpr auto fields() {
    return std::tuple{
        option("paced", &RunStreamsOptions::paced)
            .help(
                "play files at their own rate, as cameras do: latency is reported, and frames that "
                "come faster than they can be processed are dropped and counted"),
        option("speed", &RunStreamsOptions::speed)
            .help("with --paced: times the own rate")
            .range(0.01, 100),
        option("queue", &RunStreamsOptions::queue_frames)
            .help("decoded frames of a file that wait in memory for detection, a stream")
            .unit("frames")
            .range(1, 1000),
        option("paced-queue", &RunStreamsOptions::paced_queue_frames)
            .help(
                "with --paced: frames of a stream that may wait, decoded or not, before the oldest "
                "is dropped (default: what comes in three windows, at least 60)")
            .unit("frames")
            .range(1, 10000)
            .unset(-1),
        option("fps", &RunStreamsOptions::fps)
            .help("frames of all sources that must be processed in a second: the budget follows "
                  "from what the machine achieves; with --paced the sources' own rates are the "
                  "default")
            .range(0.01, 1e6)
            .unset(-1),
        option("stall", &RunStreamsOptions::stall)
            .help("longest time that streams wait for one that delivers nothing")
            .unit("s")
            .range(0.05, 3600),
        option("loop", &RunStreamsOptions::loop)
            .help("start files again when they end, with times that go on"),
        option("duration", &RunStreamsOptions::duration)
            .help("end the run after so long; 0: with the sources")
            .unit("s")
            .range(0, 1e7),
    };
  }
};

// One input of a run. The source is opened by the caller.
struct StreamInput {
  std::string name;
  std::unique_ptr<VideoSource> source;
  // Opens the source again, for `loop`; may be empty when loop is off.
  std::function<Result<std::unique_ptr<VideoSource>>()> reopen;
  std::int64_t max_frames = 0;  // with `loop`: of all passes; 0: without end
  // Ends a next() that waits for data, from another thread and at any time, also of a source that
  // was opened again; may be empty for sources that never wait. For runs that end while a source is
  // silent.
  std::function<void()> cancel;
};

// Why paced frames are dropped, in StreamRunStatistics::dropped_frames.
inline constexpr char kTooFastReason[] = "arrived faster than it could be processed";

struct StreamRunStatistics {
  StreamStatistics detector;
  // Written; after a failure of an output, what the fullest holds of the stream.
  std::int64_t frames = 0;
  std::int64_t detections = 0;
  std::array<std::int64_t, kBoxOrigins> boxes{};  // detections by origin
  std::vector<DropCount> dropped_frames;
  std::int64_t damaged_frames = 0;
  std::int64_t hdr_frames = 0;
  std::optional<Timestamp> last_time;  // of the last frame written
  std::optional<Error> error;          // what ended the stream early
  // From when a frame was due (paced) or decoded (files) to its result, seconds.
  double latency_p50 = 0;
  double latency_p95 = 0;
  double latency_max = 0;
};

struct StreamsSummary {
  std::vector<StreamRunStatistics> streams;
  DetectorTotals totals;
  std::vector<StageStatistics> stages;  // decode, extraction, ..., as RunSummary has them
  std::int64_t frames = 0;
  std::int64_t detections = 0;
  double wall_seconds = 0;
  double cpu_seconds = 0;          // of the process, user and system
  double lag_seconds = 0;          // paced: how far the last window was behind
  double whole_frame_seconds = 0;  // by the profile: every frame at its own size; what was spared
  bool interrupted = false;
  std::optional<Error> error;        // what ended the whole run: a sink, the network
  std::vector<OutputState> outputs;  // by sink
};

struct StreamsProgress {
  std::int64_t frames = 0;
  std::int64_t detections = 0;
  std::optional<std::int64_t> total_frames;
  double wall_seconds = 0;
  int active_streams = 0;
};

struct StreamsControl {
  std::stop_token stop;
  std::function<void(const StreamsProgress&)> on_progress;  // after each window
  // Every frame's result, in the order of the sinks: for callers that want more than boxes.
  std::function<Status(const StreamFrameResult&)> on_frame;
};

// Runs all inputs to their ends (or until stopped), every frame into every sink; then finishes the
// sinks. Frames of a stream arrive in order; streams are not in step. A stream that fails or ends
// leaves, and disturbs no other; its error is in its statistics. Sinks that need pictures say so by
// `keep_pictures`. Blocking; one call at a time for a detector. With `paced` the networks run once
// at the first sizes before the clock starts, so that what is due does not wait for them.
StreamsSummary run_streams(StreamDetector& detector, std::vector<StreamInput> inputs,
                           std::span<ResultSink* const> sinks, bool keep_pictures,
                           const RunStreamsOptions& options = {},
                           const StreamsControl& control = {});

}  // namespace sparing

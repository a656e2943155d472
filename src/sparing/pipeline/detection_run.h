// The schedule of a run: four threads and the engine, joined by bounded queues.
//
//   decode -> [frames] -> import, dispatch -> [in flight] -> post-processing -> [results] -> output
//
// A slot (input and output tensors) travels with each frame in flight and returns when its outputs
// are read, so the number of slots bounds the work in the engine. Every stage keeps the order.
#pragma once

#include <atomic>
#include <optional>
#include <span>
#include <vector>

#include "sparing/base/bounded_queue.h"
#include "sparing/base/clock.h"
#include "sparing/base/histogram.h"
#include "sparing/pipeline/frame_job.h"
#include "sparing/pipeline/run_stages.h"
#include "sparing/pipeline/sink_group.h"

namespace sparing {

class DetectionRun {
 public:
  DetectionRun(Detector::Impl& job, VideoSource& source, std::span<ResultSink* const> sinks,
               const RunControl& control);
  // Once.
  RunSummary run();

 private:
  struct InFlight {
    FrameSlot* slot = nullptr;
    SourceFrame frame;
    Affine to_display;
    Completion completion;
  };

  void decode_frames();
  void import_frames();
  void read_outputs();
  void write_results();
  bool stopping() const { return failure_.failed() || control_.stop.stop_requested(); }
  Result<FrameResult> read_one(InFlight& item);
  Status show_input(const InFlight& item);
  void finish_sinks();
  RunSummary summarize_run(double wall_seconds);

  Detector::Impl& job_;
  VideoSource& source_;
  SinkGroup sinks_;
  const RunControl& control_;
  const Clock::time_point start_ = Clock::now();

  std::vector<FrameSlot> slots_;
  BoundedQueue<SourceFrame> frames_;
  BoundedQueue<FrameSlot*> free_slots_;
  BoundedQueue<InFlight> in_flight_;
  BoundedQueue<FrameResult> results_;

  RunFailure failure_;
  std::atomic<bool> write_failed_{false};  // the last stage: nothing more can be written

  // Each is written by one stage only, and read after all have ended.
  LatencyHistogram decode_time_, import_time_, inference_time_, read_time_, write_time_;
  DetectionCounts counts_;
  std::int64_t frames_decoded_ = 0;
  std::int64_t frames_done_ = 0;
  std::int64_t detections_done_ = 0;
  std::int64_t hdr_frames_done_ = 0;
  std::optional<Timestamp> last_time_;
  Size last_input_size_;
};

}  // namespace sparing

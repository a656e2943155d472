// The schedule of a segmentation run: four threads and the engine, joined by bounded queues.
//
//   decode -> [frames] -> motion, import, dispatch -> [in flight] -> result, learning -> [results]
//   -> consumer
//
// A slot (MainNet's tensors) and an item (a frame's results) go round, so memory is constant, and
// MainNet is at the next frames while AuxNet learns from this one. Every stage keeps the order.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "sparing/base/bounded_queue.h"
#include "sparing/base/clock.h"
#include "sparing/base/histogram.h"
#include "sparing/pipeline/run_stages.h"
#include "sparing/pipeline/segment_job.h"

namespace sparing {

class SegmentationRun {
 public:
  SegmentationRun(Segmenter::Impl& job, VideoSource& source, SegmentConsumer& consumer,
                  const SegmentControl& control);
  // Once.
  SegmentSummary run();

 private:
  using Item = std::unique_ptr<SegmentItem>;

  void decode_frames();
  void start_frames();
  void finish_frames();
  void give_results();
  Result<Item> start_one(SourceFrame frame);
  Status finish_one(Item item);
  bool stopping() const { return failure_.failed() || control_.stop.stop_requested(); }
  void count(const SegmentedFrame& frame);
  SegmentSummary summarize_run(double wall_seconds);

  Segmenter::Impl& job_;
  VideoSource& source_;
  SegmentConsumer& consumer_;
  const SegmentControl& control_;
  const Clock::time_point start_ = Clock::now();

  LookRate rate_;
  std::vector<FrameSlot> slots_;
  BoundedQueue<SourceFrame> frames_;
  BoundedQueue<FrameSlot*> free_slots_;
  BoundedQueue<Item> free_items_;
  BoundedQueue<Item> in_flight_;
  BoundedQueue<Item> results_;

  RunFailure failure_;
  std::atomic<bool> consumer_failed_{false};

  // Each is written by one stage only, and read after all have ended.
  LatencyHistogram decode_time_, motion_time_, import_time_, main_time_, aux_time_, fusion_time_,
      labels_time_, learn_time_, output_time_;
  SegmentSummary summary_;
  SegmentationCounts counts_;
  std::int64_t frames_decoded_ = 0;
  std::int64_t looks_ = 0;   // of the engine, those of keep_main too
  double look_seconds_ = 0;  // processor time
  double last_learn_ = 0;
};

}  // namespace sparing

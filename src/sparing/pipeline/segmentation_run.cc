#include "sparing/pipeline/segmentation_run.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "sparing/base/cpu_time.h"
#include "sparing/pipeline/stage_clock.h"

namespace sparing {
namespace {

constexpr std::size_t kFrames = 4;
constexpr std::size_t kResults = 3;

int engine_streams(const Context& context) { return std::max(1, context.options().streams); }

}  // namespace

SegmentationRun::SegmentationRun(Segmenter::Impl& job, VideoSource& source,
                                 SegmentConsumer& consumer, const SegmentControl& control)
    : job_(job),
      source_(source),
      consumer_(consumer),
      control_(control),
      rate_(job.options.segment.budget, job.options.segment.main_every,
            static_cast<int>(std::max(1u, std::thread::hardware_concurrency()))),
      // One more than the engine computes at a time, and one that is read.
      slots_(static_cast<std::size_t>(engine_streams(job.main.context)) + 2),
      frames_(kFrames),
      free_slots_(slots_.size()),
      free_items_(slots_.size() + kResults + 2),
      in_flight_(slots_.size()),
      results_(kResults) {
  for (FrameSlot& slot : slots_) free_slots_.push(&slot);
  for (std::size_t i = 0; i < slots_.size() + kResults + 2; ++i) {
    free_items_.push(std::make_unique<SegmentItem>());
  }
}

SegmentSummary SegmentationRun::run() {
  std::thread decode([this] { decode_frames(); });
  std::thread start([this] { start_frames(); });
  std::thread finish([this] { finish_frames(); });
  give_results();
  decode.join();
  start.join();
  finish.join();
  return summarize_run(seconds_since(start_));
}

void SegmentationRun::decode_frames() {
  frames_decoded_ = decode_into(frames_, source_, control_.stop, failure_, decode_time_);
}

void SegmentationRun::start_frames() {
  while (auto frame = frames_.pop()) {
    if (stopping()) break;
    auto item = start_one(std::move(*frame));
    if (!item.ok()) {
      failure_.fail(std::move(item).error());
      break;
    }
    if (*item == nullptr || !in_flight_.push(std::move(*item))) break;
  }
  frames_.cancel();
  in_flight_.close();
}

// nullptr: the stages downstream have ended.
Result<SegmentationRun::Item> SegmentationRun::start_one(SourceFrame frame) {
  auto free_item = free_items_.pop();
  if (!free_item) return Item();
  Item item = std::move(*free_item);
  item->slot = nullptr;
  item->completion = {};
  item->frame.times = {};
  item->frame.source = std::move(frame);
  SPARING_RETURN_IF_ERROR(job_.look(*item, rate_.every()));
  motion_time_.add(item->frame.times.motion);
  if (!job_.main_runs() || !(item->use_main || job_.options.keep_main)) return item;
  const auto slot = free_slots_.pop();
  if (!slot) return Item();
  item->slot = *slot;
  SPARING_RETURN_IF_ERROR(job_.start_main(*item));
  import_time_.add(item->frame.times.import);
  return item;
}

void SegmentationRun::finish_frames() {
  while (auto item = in_flight_.pop()) {
    FrameSlot* slot = (*item)->slot;
    // A failure upstream came after these frames, which are still good. After one here or
    // downstream the slots still go round, so that the stage upstream is never left waiting.
    if (!consumer_failed_.load()) {
      if (Status status = finish_one(std::move(*item)); !status.ok()) {
        consumer_failed_.store(true);
        failure_.fail(std::move(status).error());
      }
    }
    if (slot != nullptr) free_slots_.push(slot);
    if (consumer_failed_.load()) {
      // Upstream may wait for an item that will not come back.
      free_items_.close();
    }
  }
  free_slots_.close();
  free_items_.close();
  results_.close();
}

Status SegmentationRun::finish_one(Item item) {
  SegmentedFrame& frame = item->frame;
  SPARING_RETURN_IF_ERROR(job_.finish(*item, counts_));
  frame.times.learn = last_learn_;
  if (item->slot != nullptr) {
    main_time_.add(frame.times.main);
    ++looks_;
    const ContextOptions& engine = job_.main.context.options();
    look_seconds_ +=
        frame.times.main * std::max(1, engine.threads / engine_streams(job_.main.context));
    summary_.input_size = item->slot->input_size;
  }
  if (job_.stream->trainer() != nullptr && item->use_main) aux_time_.add(frame.times.aux);
  fusion_time_.add(frame.times.fusion);
  labels_time_.add(frame.times.labels);
  summary_.output_size = frame.probabilities.size;
  rate_.observe(looks_, look_seconds_, process_cpu_seconds());
  // The result goes out before AuxNet learns from it.
  if (!results_.push(std::move(item))) return {};
  FrameTimes times;
  SPARING_RETURN_IF_ERROR(job_.learn(times));
  if (times.learn > 0) learn_time_.add(times.learn);
  last_learn_ = times.learn;
  return {};
}

void SegmentationRun::count(const SegmentedFrame& frame) {
  ++summary_.frames;
  summary_.main_looks += frame.main_looked ? 1 : 0;
  summary_.cuts += frame.motion.event == SceneEvent::kCut ? 1 : 0;
  summary_.blank_frames += frame.motion.event == SceneEvent::kBlank ? 1 : 0;
  const VideoFrame& view = frame.source.frame.view();
  summary_.hdr_frames += is_hdr(view.color_space) ? 1 : 0;
  summary_.last_time = view.timestamp;
}

void SegmentationRun::give_results() {
  bool broken = false;
  while (auto item = results_.pop()) {
    if (!broken) {
      SegmentedFrame& frame = (*item)->frame;
      Status status = timed(output_time_, [&] { return consumer_.take(frame); });
      if (status.ok()) {
        count(frame);
        if (control_.on_progress) control_.on_progress(summary_.frames, seconds_since(start_));
      } else {
        broken = true;
        consumer_failed_.store(true);
        failure_.fail(std::move(status).error());
      }
      frame.source = {};
    }
    free_items_.push(std::move(*item));
  }
}

SegmentSummary SegmentationRun::summarize_run(double wall_seconds) {
  SegmentSummary summary = std::move(summary_);
  summary.wall_seconds = wall_seconds;
  const auto add = [&](const char* name, const LatencyHistogram& histogram) {
    if (histogram.count() > 0) summary.stages.push_back(summarize(name, histogram));
  };
  add("decode", decode_time_);
  add("motion", motion_time_);
  add("import", import_time_);
  add("MainNet", main_time_);
  add("AuxNet", aux_time_);
  add("fusion", fusion_time_);
  add("labels", labels_time_);
  add("learning", learn_time_);
  add("output", output_time_);
  if (const std::int64_t lost = frames_decoded_ - summary.frames; lost > 0) {
    summary.dropped_frames.push_back({"decoded when the run was ended", lost});
  }
  summary.unusable = counts_;
  summary.learning = job_.stream->statistics();
  summary.damaged_frames = source_.damaged_frames();
  summary.interrupted = control_.stop.stop_requested();
  summary.error = failure_.error();
  return summary;
}

}  // namespace sparing

#include "sparing/pipeline/detection_run.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "sparing/base/thread_pool.h"
#include "sparing/pipeline/stage_clock.h"

namespace sparing {
namespace {

// Decoded frames held ready: enough to ride over a slow picture (a key frame), small enough that a
// decoder's buffer pool is not drained.
constexpr std::size_t kDecodedFrames = 4;
// Results that wait for the sinks; a rendering sink may be slower for a while.
constexpr std::size_t kWaitingResults = 8;

}  // namespace

DetectionRun::DetectionRun(Detector::Impl& job, VideoSource& source,
                           std::span<ResultSink* const> sinks, const RunControl& control)
    : job_(job),
      source_(source),
      sinks_(sinks, 1),
      control_(control),
      // One slot is filled or read while the engine works on the others.
      slots_(static_cast<std::size_t>(std::max(1, job.context.options().streams)) + 2),
      frames_(kDecodedFrames),
      free_slots_(slots_.size()),
      in_flight_(slots_.size()),
      results_(kWaitingResults) {
  for (FrameSlot& slot : slots_) free_slots_.push(&slot);
}

RunSummary DetectionRun::run() {
  std::thread decode([this] {
    set_current_thread_name("sp-decode");
    decode_frames();
  });
  std::thread import([this] {
    set_current_thread_name("sp-import");
    import_frames();
  });
  std::thread read([this] {
    set_current_thread_name("sp-post");
    read_outputs();
  });
  std::thread write([this] {
    set_current_thread_name("sp-output");
    write_results();
  });
  decode.join();
  import.join();
  read.join();
  write.join();
  finish_sinks();
  return summarize_run(seconds_since(start_));
}

void DetectionRun::decode_frames() {
  frames_decoded_ = decode_into(frames_, source_, control_.stop, failure_, decode_time_);
}

void DetectionRun::import_frames() {
  while (auto frame = frames_.pop()) {
    if (stopping()) break;
    const auto slot = free_slots_.pop();
    if (!slot) break;
    InFlight item;
    item.slot = *slot;
    item.frame = std::move(*frame);
    auto map = timed(import_time_, [&] { return job_.import(item.frame.frame.view(), **slot); });
    if (!map.ok()) {
      failure_.fail(std::move(map).error());
      break;
    }
    item.to_display = *map;
    auto completion = job_.dispatch(**slot);
    if (!completion.ok()) {
      failure_.fail(std::move(completion).error());
      break;
    }
    item.completion = std::move(*completion);
    if (!in_flight_.push(std::move(item))) break;
  }
  frames_.cancel();
  in_flight_.close();
}

void DetectionRun::read_outputs() {
  bool broken = false;
  while (auto item = in_flight_.pop()) {
    // A failure upstream came after these frames, which are still good. After one here or
    // downstream the slots still go round, so that the stage upstream is never left waiting.
    if (!broken && !write_failed_.load()) {
      auto result = read_one(*item);
      if (!result.ok()) {
        broken = true;
        failure_.fail(std::move(result).error());
      } else if (!results_.push(std::move(*result))) {
        break;
      }
    }
    free_slots_.push(item->slot);
  }
  free_slots_.close();
  results_.close();
}

Result<FrameResult> DetectionRun::read_one(InFlight& item) {
  SPARING_RETURN_IF_ERROR(item.completion.wait());
  inference_time_.add(item.completion.inference_seconds());
  SPARING_RETURN_IF_ERROR(show_input(item));
  last_input_size_ = item.slot->input_size;
  const Size display = display_size(item.frame.frame.view());
  FrameResult result;
  SPARING_ASSIGN_OR_RETURN(result.detections, timed(read_time_, [&] {
                             return job_.read(*item.slot, item.to_display, display, counts_);
                           }));
  result.source = std::move(item.frame);
  return result;
}

Status DetectionRun::show_input(const InFlight& item) {
  if (!control_.on_input) return {};
  Status shown;
  const Tensor& input = item.slot->input;
  SPARING_RETURN_IF_ERROR(job_.context.visit_tensor(input, [&](std::span<const std::byte> bytes) {
    shown = control_.on_input(
        item.frame.index, input.shape(),
        {reinterpret_cast<const float*>(bytes.data()), bytes.size() / sizeof(float)});
  }));
  return shown;
}

void DetectionRun::write_results() {
  while (auto result = results_.pop()) {
    if (write_failed_.load()) continue;
    if (Status status = timed(write_time_, [&] { return sinks_.write(*result); }); !status.ok()) {
      write_failed_.store(true);
      failure_.fail(std::move(status).error());
      continue;
    }
    ++frames_done_;
    detections_done_ += static_cast<std::int64_t>(result->detections.size());
    const VideoFrame& view = result->source.frame.view();
    if (is_hdr(view.color_space)) ++hdr_frames_done_;
    last_time_ = view.timestamp;
    if (control_.on_progress) {
      control_.on_progress(
          {frames_done_, detections_done_, source_.info().frame_count, seconds_since(start_)});
    }
  }
}

void DetectionRun::finish_sinks() {
  // Nothing was computed: leave what may lie under the outputs' names from an earlier run.
  if (!sinks_.any_written() && (failure_.error() || control_.stop.stop_requested())) return;
  if (Status status = sinks_.finish(); !status.ok()) failure_.keep_first(std::move(status).error());
}

RunSummary DetectionRun::summarize_run(double wall_seconds) {
  RunSummary summary;
  summary.outputs = sinks_.states();
  if (failure_.error()) failure_.error() = with_what_is_held(*failure_.error(), summary.outputs);
  if (sinks_.failed()) {
    const HeldResults held = sinks_.held(0);
    frames_done_ = held.frames;
    detections_done_ = held.detections;
    last_time_ = held.last_time;
  }
  summary.frames = frames_done_;
  summary.detections = detections_done_;
  summary.wall_seconds = wall_seconds;
  summary.input_size = last_input_size_;
  summary.stages = {summarize("decode", decode_time_), summarize("import", import_time_),
                    summarize("inference", inference_time_),
                    summarize("post-processing", read_time_), summarize("output", write_time_)};
  if (const std::int64_t decoded = frames_decoded_ - frames_done_; decoded > 0) {
    summary.dropped_frames.push_back({"decoded when the run was ended", decoded});
  }
  summary.dropped_detections = drop_counts(counts_);
  summary.full_frames = counts_.full_frames;
  summary.damaged_frames = source_.damaged_frames();
  summary.hdr_frames = hdr_frames_done_;
  summary.last_time = last_time_;
  summary.interrupted = control_.stop.stop_requested();
  summary.error = failure_.error();
  return summary;
}

}  // namespace sparing

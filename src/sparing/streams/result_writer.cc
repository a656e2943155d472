#include "sparing/streams/result_writer.h"

#include <algorithm>
#include <utility>

#include "sparing/base/cpu_time.h"
#include "sparing/pipeline/stage_clock.h"

namespace sparing {
namespace {

// One that is written, one that waits, one that is detected: a rendering sink may be slower for a
// while. Rendered windows hold their pictures, so no more.
constexpr std::size_t kWaitingWindows = 1;

}  // namespace

FrameResult frame_result(const StreamFrameResult& result) {
  std::vector<const FilledBox*> boxes;
  for (const FilledBox& box : result.boxes) boxes.push_back(&box);
  std::stable_sort(boxes.begin(), boxes.end(), [](const FilledBox* a, const FilledBox* b) {
    return a->detection.score > b->detection.score;
  });
  FrameResult frame;
  frame.stream = result.stream;
  frame.source = result.source;
  frame.inspected = result.inspected;
  for (const FilledBox* box : boxes) {
    frame.detections.push_back(box->detection);
    frame.tracks.push_back({box->id, box->origin});
  }
  return frame;
}

ResultWriter::ResultWriter(Settings settings)
    : settings_(std::move(settings)),
      results_(kWaitingWindows),
      streams_(settings_.feeders.size()) {}

Status ResultWriter::write(StreamFrameResult& result) {
  const std::size_t index = static_cast<std::size_t>(result.stream);
  const FrameResult frame = frame_result(result);
  SPARING_RETURN_IF_ERROR(settings_.sinks.write(frame));
  if (settings_.control.on_frame) SPARING_RETURN_IF_ERROR(settings_.control.on_frame(result));
  WrittenStream& stream = streams_[index];
  ++stream.frames;
  stream.detections += static_cast<std::int64_t>(frame.detections.size());
  for (const BoxTrack& track : frame.tracks) ++stream.boxes[static_cast<std::size_t>(track.origin)];
  const VideoFrame& view = frame.source.frame.view();
  if (is_hdr(view.color_space)) ++stream.hdr_frames;
  stream.last_time = view.timestamp;
  stream.latency.add(seconds_since(settings_.feeders[index]->take_since(frame.source.index)));
  ++frames_;
  detections_ += static_cast<std::int64_t>(frame.detections.size());
  return {};
}

Status ResultWriter::write_window(WindowResult& result) {
  for (StreamFrameResult& frame : result.frames) {
    if (settings_.renders && settings_.control.stop.stop_requested()) return {};
    frame.stream -= settings_.first_stream;
    SPARING_RETURN_IF_ERROR(timed(time_, [&] { return write(frame); }));
    frame.source = {};  // rendered pictures go as soon as they are written
  }
  return {};
}

void ResultWriter::show_progress() const {
  if (!settings_.control.on_progress) return;
  settings_.control.on_progress({frames_, detections_, settings_.total_frames,
                                 seconds_since(settings_.start), settings_.active_streams()});
}

void ResultWriter::run() {
  while (auto result = results_.pop()) {
    if (failed()) continue;
    if (Status status = write_window(*result); !status.ok()) {
      failed_.store(true);
      settings_.on_error(std::move(status).error());
      continue;
    }
    cpu_.store(thread_cpu_seconds());
    show_progress();
  }
}

}  // namespace sparing

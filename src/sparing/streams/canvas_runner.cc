#include "sparing/streams/canvas_runner.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "sparing/base/check.h"
#include "sparing/streams/no_throw.h"

namespace sparing {
namespace {

// Input tensors are kept beyond those in flight, as canvases come in a few sizes, up to this
// memory.
constexpr std::size_t kSpareBytes = std::size_t{96} << 20;

// A frame of one pixel in the model's border colour, which is in its tensor's channel order.
SharedFrame border_pixel(const ModelInput& input) {
  auto frame = allocate_frame(PixelFormat::kRgb24, {1, 1});
  SPARING_CHECK(frame.ok());
  std::uint8_t* pixel = mutable_plane(*frame, 0);
  for (std::size_t c = 0; c < 3; ++c) {
    const std::size_t channel = input.order == ChannelOrder::kRgb ? c : 2 - c;
    pixel[c] = static_cast<std::uint8_t>(std::clamp(input.pad[channel] + 0.5f, 0.0f, 255.0f));
  }
  return std::move(frame).value();
}

Error stopped() {
  return {ErrorCode::kInterrupted, "window", "was stopped before all of it was looked at",
          "start the run again"};
}

std::size_t held_bytes(const std::list<FrameSlot>& slots) {
  std::size_t bytes = 0;
  for (const FrameSlot& slot : slots) bytes += slot.input ? slot.input.byte_size() : 0;
  return bytes;
}

}  // namespace

CanvasRunner::CanvasRunner(std::span<Processor> processors, Clock::time_point epoch)
    : epoch_(epoch) {
  for (Processor& processor : processors) {
    Lane lane;
    lane.processor = &processor;
    // One is drawn or read while the engine works on the others.
    lane.most_in_flight = static_cast<std::size_t>(
        std::max(1, processor.detector.impl().context.options().streams) + 1);
    lanes_.push_back(std::move(lane));
  }
  grey_ = border_pixel(processors.front().detector.impl().manifest.input);
}

FrameSlot* CanvasRunner::take_slot(Lane& lane, Size size) {
  const auto same = std::find_if(lane.free.rbegin(), lane.free.rend(),
                                 [size](const FrameSlot* s) { return s->input_size == size; });
  FrameSlot* slot = nullptr;
  if (same != lane.free.rend()) {
    slot = *same;
    lane.free.erase(std::next(same).base());
  } else if (lane.slots.size() < lane.most_in_flight || held_bytes(lane.slots) < kSpareBytes) {
    slot = &lane.slots.emplace_back();
  } else {
    slot = lane.free.front();  // the least recently used
    lane.free.erase(lane.free.begin());
  }
  return slot;
}

Status CanvasRunner::draw(const Detector::Impl& detector, Context& context, const FrameSlot& slot,
                          CanvasJob& job) {
  const auto write = [&](const VideoFrame& frame, const Rect* from, const PixelRect& to,
                         Affine& map) -> Status {
    VideoFrameImport source = detector.import_settings(frame);
    if (from != nullptr) source.options.visible_rect = *from;
    source.options.destination = to;
    source.options.filter = Filter::kAuto;
    SPARING_ASSIGN_OR_RETURN(map, context.write_tensor(slot.input, source));
    return {};
  };
  const Size size = job.report.size;
  const bool covered = job.report.regions.size() == 1 &&
                       job.report.regions[0].place == PixelRect{0, 0, size.width, size.height};
  Affine unused;
  if (!covered) {
    SPARING_RETURN_IF_ERROR(write(grey_.view(), nullptr, {0, 0, size.width, size.height}, unused));
  }
  for (std::size_t i = 0; i < job.report.regions.size(); ++i) {
    CanvasRegion& region = job.report.regions[i];
    SPARING_RETURN_IF_ERROR(write(*job.frames[i], &region.roi.rect, region.place, region.to_frame));
  }
  return {};
}

Status CanvasRunner::start(Lane& lane) {
  CanvasJob& job = *lane.waiting.back();
  Detector::Impl& detector = lane.processor->detector.impl();
  FrameSlot* slot = take_slot(lane, job.report.size);
  const auto give_back = [&](Status status) {
    lane.free.push_back(slot);
    return status;
  };
  const Clock::time_point begin = Clock::now();
  job.report.draw_start = std::chrono::duration<double>(begin - epoch_).count();
  const auto prepare = [&]() -> Status {
    SPARING_RETURN_IF_ERROR(detector.prepare(*slot, job.report.size));
    return draw(detector, detector.context, *slot, job);
  };
  if (Status s = no_throw("drawing of a canvas", prepare); !s.ok()) return give_back(s);
  job.report.draw_seconds = seconds_since(begin);
  auto completion = no_throw("inference", [&] { return detector.dispatch(*slot); });
  if (!completion.ok()) return give_back(std::move(completion).error());
  lane.in_flight.push_back({&job, slot, std::move(*completion)});
  lane.waiting.pop_back();
  return {};
}

Status CanvasRunner::show(Lane::InFlight& item, Context& context,
                          const std::function<Status(const CanvasReport&)>& observe) {
  if (!observe) return {};
  Status shown;
  CanvasReport& report = item.job->report;
  SPARING_RETURN_IF_ERROR(
      context.visit_tensor(item.slot->input, [&](std::span<const std::byte> bytes) {
        report.pixels = {reinterpret_cast<const float*>(bytes.data()),
                         bytes.size() / sizeof(float)};
        shown = observe(report);
        report.pixels = {};
      }));
  return shown;
}

Status CanvasRunner::read_oldest(Lane& lane, const ReconstructOptions& options,
                                 const std::function<Status(const CanvasReport&)>& observe) {
  Lane::InFlight item = std::move(lane.in_flight.front());
  lane.in_flight.pop_front();
  Detector::Impl& detector = lane.processor->detector.impl();
  const auto read = [&]() -> Status {
    SPARING_RETURN_IF_ERROR(item.completion.wait());
    CanvasReport& report = item.job->report;
    report.inference_seconds = item.completion.inference_seconds();
    const Clock::time_point begin = Clock::now();
    report.read_start = std::chrono::duration<double>(begin - epoch_).count();
    SPARING_ASSIGN_OR_RETURN(const std::vector<Detection> detections,
                             detector.read(*item.slot, Affine{}, report.size, counts_,
                                           static_cast<int>(report.regions.size())));
    std::vector<DrawnRoi> drawn(report.regions.size());
    for (std::size_t i = 0; i < drawn.size(); ++i) {
      const CanvasRegion& region = report.regions[i];
      drawn[i] = {i, region.place, region.to_frame, display_size(*item.job->frames[i])};
    }
    SPARING_ASSIGN_OR_RETURN(CanvasDetections assigned,
                             assign_detections(detections, drawn, options));
    outside_regions_ += assigned.outside;
    item.job->found.assign(drawn.size(), {});
    for (RoiDetection& detection : assigned.detections) {
      report.regions[detection.roi].detections.push_back(detection.detection);
      item.job->found[detection.roi].push_back(std::move(detection));
    }
    report.read_seconds = seconds_since(begin);
    return show(item, detector.context, observe);
  };
  Status status = no_throw("reading of a canvas", read);
  lane.free.push_back(item.slot);
  return status;
}

Status CanvasRunner::run(std::span<CanvasJob> jobs, const ReconstructOptions& options,
                         const std::function<Status(const CanvasReport&)>& observe,
                         const std::stop_token& stop) {
  for (Lane& lane : lanes_) lane.waiting.clear();
  for (std::size_t i = jobs.size(); i-- > 0;) {
    lanes_[static_cast<std::size_t>(jobs[i].report.processor)].waiting.push_back(&jobs[i]);
  }
  Status first;
  const auto keep = [&](Status status) {
    if (!status.ok() && first.ok()) first = std::move(status);
  };
  while (true) {
    bool moved = false;
    Lane* oldest = nullptr;
    for (Lane& lane : lanes_) {
      if (!lane.waiting.empty() && stop.stop_requested()) keep(stopped());
      if (first.ok() && !lane.waiting.empty() && lane.in_flight.size() < lane.most_in_flight) {
        keep(start(lane));
        moved = true;
      }
      if (!lane.in_flight.empty() && lane.in_flight.front().completion.done()) {
        keep(read_oldest(lane, options, observe));
        moved = true;
      }
      if (!lane.in_flight.empty() &&
          (oldest == nullptr || lane.in_flight.front().job->report.draw_start <
                                    oldest->in_flight.front().job->report.draw_start)) {
        oldest = &lane;
      }
    }
    if (moved) continue;
    if (oldest == nullptr) break;
    keep(read_oldest(*oldest, options, observe));
  }
  return first;
}

}  // namespace sparing

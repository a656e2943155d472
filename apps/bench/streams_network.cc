#include "streams_network.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sparing/base/clock.h"
#include "sparing/pipeline/frame_job.h"
#include "sparing/streams/canvas_runner.h"
#include "sparing/streams/latency_meter.h"

namespace sparing::bench {
namespace {

// Inputs that are run together, so that all streams of the context are busy.
constexpr std::size_t kTogether = 8;

DetectOptions detect_options(const std::vector<std::string>& labels) {
  DetectOptions options;
  options.classes = labels;
  options.score = kLeastScore;
  // Kinds of vehicles are judged as one class: an object's class may change from frame to frame.
  options.class_agnostic = labels.size() > 1;
  return options;
}

std::string processor_name(const Context& context) {
  const ContextOptions& options = context.options();
  return std::string(to_string(options.device_type)) + ":" +
         std::string(to_string(options.precision)) + ":" + std::to_string(options.threads);
}

}  // namespace

// The runner refers to the processor, so both stay where they are.
struct Network::Parts {
  Context context;
  Model model;
  std::vector<std::string> wanted;
  std::vector<Processor> processors;
  std::optional<CanvasRunner> runner;
};

Network::Network(std::unique_ptr<Parts> parts, const NetworkCosts& costs)
    : parts_(std::move(parts)), costs_(costs) {}
Network::Network(Network&&) noexcept = default;
Network::~Network() = default;

Result<Network> Network::create(Context context, const Model& model,
                                const std::vector<std::string>& labels, const NetworkCosts& costs) {
  auto parts = std::make_unique<Parts>();
  parts->context = std::move(context);
  parts->model = model;
  parts->wanted = labels;
  SPARING_ASSIGN_OR_RETURN(Detector detector,
                           Detector::create(parts->context, model, detect_options(labels)));
  parts->processors.push_back(
      Processor{processor_name(parts->context), std::move(detector), costs.varied, ScaleModel{}});
  parts->runner.emplace(parts->processors, Clock::now());
  return Network(std::move(parts), costs);
}

const std::vector<std::string>& Network::labels() const {
  return parts_->processors[0].detector.labels();
}

Size Network::nearest_input(double width, double height) const {
  const ModelInput& input = parts_->model.manifest.input;
  const auto side = [&](double length) {
    const int steps = static_cast<int>(std::lround(length / input.multiple_of));
    const int least = (input.min_size + input.multiple_of - 1) / input.multiple_of;
    return std::clamp(steps, std::max(1, least), std::max(1, input.max_size / input.multiple_of)) *
           input.multiple_of;
  };
  return {side(width), side(height)};
}

Result<Spend> Network::run(std::span<InputJob> jobs) {
  std::vector<CanvasJob> canvases(jobs.size());
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    canvases[i].report.size = jobs[i].size;
    for (const Drawing& drawing : jobs[i].drawings) {
      CanvasRegion region;
      region.roi.rect = drawing.rect;
      region.place = drawing.place;
      canvases[i].report.regions.push_back(std::move(region));
      canvases[i].frames.push_back(drawing.frame);
    }
  }
  Spend spend;
  Size before = jobs.empty() ? Size{} : jobs[0].size;
  const auto observe = [&](const CanvasReport& report) -> Status {
    const std::int64_t pixels = std::int64_t{report.size.width} * report.size.height;
    spend += {cost(report.size, std::exchange(before, report.size)), report.inference_seconds, 1,
              pixels};
    return {};
  };
  SPARING_RETURN_IF_ERROR(parts_->runner->run(canvases, {}, observe));
  for (std::size_t i = 0; i < jobs.size(); ++i) jobs[i].found = std::move(canvases[i].found);
  return spend;
}

Network::Key Network::key_of(const Clip& clip, const View& view) {
  return {clip.id,
          view.stream,
          view.frame,
          static_cast<int>(view.rect.x),
          static_cast<int>(view.rect.y),
          static_cast<int>(view.rect.width),
          static_cast<int>(view.rect.height),
          view.input.width,
          view.input.height};
}

Result<std::vector<const Network::Look*>> Network::look(const Clip& clip,
                                                        std::span<const View> views) {
  std::vector<InputJob> jobs;
  std::vector<Key> keys;
  for (const View& view : views) {
    if (looks_.contains(key_of(clip, view))) continue;
    const VideoFrame& frame = clip.streams[view.stream].frames[view.frame].frame.view();
    const PixelRect all{0, 0, view.input.width, view.input.height};
    jobs.push_back({view.input, {{&frame, view.rect, all}}, {}});
    keys.push_back(key_of(clip, view));
  }
  SPARING_ASSIGN_OR_RETURN(const Spend spend, run(jobs));
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    Look look;
    for (const RoiDetection& found : jobs[i].found[0]) look.detections.push_back(found.detection);
    const std::int64_t pixels = std::int64_t{jobs[i].size.width} * jobs[i].size.height;
    // Measured times are shared out by area.
    const double share = static_cast<double>(pixels) / static_cast<double>(spend.pixels);
    look.spend = {cost(jobs[i].size, jobs[i].size), spend.measured * share, 1, pixels};
    looks_[keys[i]] = std::move(look);
  }
  std::vector<const Look*> looks;
  for (const View& view : views) looks.push_back(&looks_.at(key_of(clip, view)));
  return looks;
}

Result<const Network::Look*> Network::whole(const Clip& clip, std::size_t stream, std::size_t frame,
                                            Size input, int every) {
  const std::vector<SourceFrame>& frames = clip.streams[stream].frames;
  const auto view_of = [&](std::size_t f) {
    return View{stream, f, display_rect(frames[f].frame.view()), input};
  };
  if (const auto it = looks_.find(key_of(clip, view_of(frame))); it != looks_.end()) {
    return &it->second;
  }
  std::vector<View> views;
  for (std::size_t f = frame; f < frames.size() && views.size() < kTogether;
       f += static_cast<std::size_t>(every)) {
    views.push_back(view_of(f));
  }
  SPARING_ASSIGN_OR_RETURN(const std::vector<const Look*> looks, look(clip, views));
  return looks.front();
}

Result<Processor> Network::processor() const {
  SPARING_ASSIGN_OR_RETURN(Detector detector, Detector::create(parts_->context, parts_->model,
                                                               detect_options(parts_->wanted)));
  return Processor{parts_->processors[0].name, std::move(detector), costs_.varied, ScaleModel{}};
}

Result<NetworkCosts> measure_costs(const Context& context, const Model& model) {
  constexpr int kRuns = 6;
  SPARING_ASSIGN_OR_RETURN(Detector detector, Detector::create(context, model));
  const std::vector<Size> sizes = {{128, 128}, {320, 320}, {480, 480}, {640, 640}, {960, 960}};
  SPARING_ASSIGN_OR_RETURN(LatencyMeter same, LatencyMeter::create(detector));
  for (const int runs : {kRuns / 2, kRuns - kRuns / 2}) {
    for (const Size& size : sizes) SPARING_RETURN_IF_ERROR(same.measure(size, 2, runs));
  }
  SPARING_ASSIGN_OR_RETURN(LatencyMeter varied, LatencyMeter::create(detector));
  SPARING_RETURN_IF_ERROR(measure_all(varied, sizes, kRuns));
  const std::string name = processor_name(context);
  SPARING_ASSIGN_OR_RETURN(LatencyProfile same_profile, make_profile(model.manifest, same, name));
  SPARING_ASSIGN_OR_RETURN(LatencyProfile varied_profile,
                           make_profile(model.manifest, varied, name));
  double more = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    more += varied.results()[i].seconds - same.results()[i].seconds;
  }
  return NetworkCosts{std::move(same_profile), std::move(varied_profile),
                      std::max(0.0, more / static_cast<double>(sizes.size()))};
}

}  // namespace sparing::bench

#include "sparing/streams/stream_detector.h"

#include <algorithm>
#include <utility>

#include "sparing/streams/no_throw.h"
#include "sparing/streams/stream_detector_impl.h"
#include "sparing/streams/warm_up.h"

namespace sparing {

std::string_view to_string(DrawPurpose purpose) {
  switch (purpose) {
    case DrawPurpose::kDetect: return "detect";
    case DrawPurpose::kRefresh: return "refresh";
    case DrawPurpose::kTrial: return "trial";
    case DrawPurpose::kProbe: return "probe";
  }
  return "unknown";
}

Status StreamDetector::Impl::prepare() {
  tuning.track.start_score = options.follow_score;
  // What is too unsure to be told may still be a known object, so the networks tell of more.
  report_score = processors.front().detector.impl().score_threshold;
  for (Processor& processor : processors) {
    float& threshold = processor.detector.impl().score_threshold;
    threshold = std::min(threshold, static_cast<float>(tuning.track.continue_score));
  }
  if (processors.front().detector.impl().options.class_agnostic) {
    tuning.reconstruct.class_agnostic = true;
    tuning.track.class_agnostic = true;
  }
  const ModelInput& input = processors.front().detector.impl().manifest.input;
  CanvasOptions& canvas = tuning.canvas;
  if (input.fixed_size) {
    canvas.templates = {std::to_string(input.default_size.width) + "x" +
                        std::to_string(input.default_size.height)};
    canvas.height_step = 0;
    canvas.stride = 1;
    canvas.min_width = input.default_size.width;
    canvas.min_height = input.default_size.height;
  } else {
    canvas.stride = std::max(canvas.stride, input.multiple_of);
    if (canvas.stride % input.multiple_of != 0) canvas.stride = input.multiple_of;
  }
  SPARING_ASSIGN_OR_RETURN(shapes, canvas_shapes(canvas));
  std::erase_if(shapes, [&](const CanvasShape& shape) {
    return std::max(shape.size.width, shape.size.height) > input.max_size ||
           std::none_of(processors.begin(), processors.end(),
                        [&](const Processor& p) { return p.profile.runs(shape.size); });
  });
  if (shapes.empty()) {
    return Error{ErrorCode::kInvalidArgument, "--canvases", "no processor runs any of them",
                 "give smaller ones, e.g. 640x640"};
  }
  if (auto tile = parse_size(options.tile); !tile.ok()) {
    Error error = tile.error();
    error.thing = "--tile";
    return error;
  }
  for (const Processor& p : processors) scale_models.push_back(p.scales);
  totals.canvases_of.assign(processors.size(), 0);
  return {};
}

StreamDetector::StreamDetector(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
StreamDetector::StreamDetector(StreamDetector&&) noexcept = default;
StreamDetector& StreamDetector::operator=(StreamDetector&&) noexcept = default;
StreamDetector::~StreamDetector() = default;

Result<StreamDetector> StreamDetector::create(std::vector<Processor> processors,
                                              const StreamOptions& options,
                                              const StreamTuning& tuning) {
  SPARING_RETURN_IF_ERROR(validate_options(options));
  if (processors.empty()) {
    return Error{ErrorCode::kInvalidArgument, "processors", "none was given", "give at least one"};
  }
  for (const Processor& p : processors) {
    if (p.detector.labels() != processors.front().detector.labels()) {
      return Error{ErrorCode::kInvalidArgument, "processor '" + p.name + "'",
                   "its model has other labels than that of '" + processors.front().name + "'",
                   "use one model in several precisions"};
    }
  }
  auto impl = std::make_unique<Impl>(std::move(processors), options, tuning);
  SPARING_RETURN_IF_ERROR(impl->prepare());
  // Options of the parts are checked before the first stream comes.
  auto trial = StreamState::create(0, {}, impl->options, impl->tuning, impl->scale_models);
  if (!trial.ok()) return trial.error();
  return StreamDetector(std::move(impl));
}

const std::vector<std::string>& StreamDetector::labels() const {
  return impl_->processors.front().detector.labels();
}

const StreamOptions& StreamDetector::options() const { return impl_->options; }

int StreamDetector::processors() const { return static_cast<int>(impl_->processors.size()); }

Result<int> StreamDetector::add_stream(const StreamInfo& info) {
  SPARING_ASSIGN_OR_RETURN(StreamState state,
                           StreamState::create(impl_->next_stream, info, impl_->options,
                                               impl_->tuning, impl_->scale_models));
  auto stream = std::make_unique<StreamState>(std::move(state));
  stream->keep_pictures = impl_->keep_pictures;
  impl_->streams[impl_->next_stream] = std::move(stream);
  return impl_->next_stream++;
}

namespace {

Error no_such_stream(int stream) {
  return {ErrorCode::kInvalidArgument, "stream " + std::to_string(stream), "there is none",
          "use a number that add_stream() gave"};
}

}  // namespace

Status StreamDetector::end_stream(int stream) {
  const auto it = impl_->streams.find(stream);
  if (it == impl_->streams.end()) return no_such_stream(stream);
  it->second->ended = true;
  return {};
}

Result<bool> StreamDetector::add_frame(int stream, SourceFrame frame) {
  const auto it = impl_->streams.find(stream);
  if (it == impl_->streams.end()) return no_such_stream(stream);
  return it->second->add(std::move(frame));
}

Result<WindowResult> StreamDetector::finish_window() {
  auto result = no_throw("window", [&] { return impl_->finish_window(); });
  for (auto it = impl_->streams.begin(); it != impl_->streams.end();) {
    StreamState& stream = *it->second;
    stream.next_window();
    if (stream.ended) {
      impl_->finished[it->first] = statistics(it->first);
      impl_->drop_history.forget_stream(it->first);
      impl_->refresh_credit.erase(it->first);
      it = impl_->streams.erase(it);
    } else {
      ++it;
    }
  }
  return result;
}

void StreamDetector::keep_pictures(bool keep) {
  impl_->keep_pictures = keep;
  for (const auto& [number, stream] : impl_->streams) stream->keep_pictures = keep;
}

void StreamDetector::set_window_budget(double seconds) { impl_->next_budget = seconds; }
void StreamDetector::set_stop(std::stop_token stop) { impl_->stop = std::move(stop); }
void StreamDetector::set_observer(StreamObserver* observer) { impl_->observer = observer; }

StreamStatistics StreamDetector::statistics(int number) const {
  const auto it = impl_->streams.find(number);
  if (it == impl_->streams.end()) {
    const auto gone = impl_->finished.find(number);
    return gone == impl_->finished.end() ? StreamStatistics{} : gone->second;
  }
  const StreamState& stream = *it->second;
  StreamStatistics statistics = stream.statistics;
  if (stream.filler) {
    // What was left out is the filler's to tell.
    FillCounters fill = stream.filler->counters();
    fill.detected = stream.statistics.fill.detected;
    fill.interpolated = stream.statistics.fill.interpolated;
    fill.propagated = stream.statistics.fill.propagated;
    statistics.fill = fill;
  }
  statistics.rois = stream.extractor.statistics();
  statistics.rested_regions = stream.empty.skipped();
  statistics.scales = stream.scales.counters();
  statistics.way = stream.planner.way();
  statistics.scale = stream.planner.scale();
  statistics.every = stream.planner.every();
  statistics.recall = stream.planner.measured();
  return statistics;
}

DetectorTotals StreamDetector::totals() const {
  DetectorTotals totals = impl_->totals;
  const DetectionCounts& counts = impl_->runner.counts();
  totals.dropped_detections = drop_counts(counts);
  totals.full_canvases = counts.full_frames;
  if (const std::int64_t outside = impl_->runner.outside_regions(); outside > 0) {
    totals.dropped_detections.push_back({"outside the regions of their canvas", outside});
  }
  return totals;
}

Status StreamDetector::warm_up(std::span<const Size> frames, double most_seconds) {
  SPARING_ASSIGN_OR_RETURN(const auto sizes,
                           warm_up_processors(impl_->processors, impl_->shapes,
                                              impl_->tuning.canvas.stride, frames, most_seconds));
  for (std::size_t p = 0; p < sizes.size(); ++p) {
    for (const Size& size : sizes[p]) {
      impl_->runs_of[{static_cast<int>(p), size.width, size.height}] +=
          std::max(1, impl_->processors[p].detector.impl().context.options().streams);
    }
  }
  return {};
}

std::span<const CanvasShape> StreamDetector::canvases() const { return impl_->shapes; }

const Processor& StreamDetector::processor(int index) const {
  return impl_->processors[static_cast<std::size_t>(index)];
}

}  // namespace sparing

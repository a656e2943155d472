#include "realtime_streams.h"

#include <algorithm>
#include <map>
#include <utility>

#include "runtime.h"
#include "sparing/base/clock.h"
#include "sparing/streams/latency_meter.h"

namespace sparing::bench {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kStreamImages = std::int64_t{1} << 32;  // image ids of a stream

class SelectedFrames : public VideoSource {
 public:
  SelectedFrames(std::unique_ptr<VideoSource> source, std::int64_t first, std::int64_t step)
      : source_(std::move(source)), first_(first), step_(step) {}

  const SourceInfo& info() const override { return source_->info(); }
  Result<std::optional<SourceFrame>> next() override {
    while (true) {
      auto frame = source_->next();
      if (!frame.ok() || !*frame) return frame;
      const std::int64_t index = (*frame)->index;
      if (index >= first_ && (index - first_) % step_ == 0) return frame;
    }
  }
  std::int64_t damaged_frames() const override { return source_->damaged_frames(); }

 private:
  std::unique_ptr<VideoSource> source_;
  std::int64_t first_;
  std::int64_t step_;
};

class KeptBoxes : public ResultSink {
 public:
  explicit KeptBoxes(std::vector<DetectionSet>& sets) : sets_(sets) {}
  Status write(const FrameResult& result) override {
    sets_[static_cast<std::size_t>(result.stream)].images.push_back(
        {result.source.index, result.detections});
    return {};
  }
  Status finish() override { return {}; }
  std::string name() const override { return "memory"; }

 private:
  std::vector<DetectionSet>& sets_;
};

void summarize(RealtimeRun& run, const std::vector<WrittenAt>& windows) {
  run.fps = steady_rate(windows);
  std::vector<double> middle;
  for (const StreamRunStatistics& stream : run.summary.streams) {
    if (stream.frames > 0) middle.push_back(stream.latency_p50);
    run.latency_p95 = std::max(run.latency_p95, stream.latency_p95);
    for (const DropCount& drop : stream.dropped_frames) {
      // Those that the end of the run met in the queues were not lost to slowness.
      if (drop.reason != "decoded when the run was ended") run.dropped += drop.count;
    }
  }
  std::sort(middle.begin(), middle.end());
  if (!middle.empty()) run.latency_p50 = middle[middle.size() / 2];
  if (run.summary.wall_seconds > 0) {
    run.cores = run.summary.cpu_seconds / run.summary.wall_seconds;
  }
}

}  // namespace

std::unique_ptr<VideoSource> select_frames(std::unique_ptr<VideoSource> source, std::int64_t first,
                                           std::int64_t step) {
  return std::make_unique<SelectedFrames>(std::move(source), first, step);
}

Result<StreamInput> open_played(const PlayedVideo& video) {
  StreamInput input;
  input.name = video.file.filename().string() + " from " + std::to_string(video.first);
  SPARING_ASSIGN_OR_RETURN(auto source, open_source(video.file.string()));
  input.source = select_frames(std::move(source), video.first, 1);
  input.reopen = [file = video.file.string()] { return open_source(file); };
  return input;
}

Result<RealtimeSetting> realtime_setting(Context context, Model model) {
  const std::string processor = processor_name(context.options());
  SPARING_ASSIGN_OR_RETURN(Detector detector, Detector::create(context, model));
  const std::vector<Size> sizes = {{128, 128}, {320, 320}, {480, 480}, {640, 640}, {960, 960}};
  SPARING_ASSIGN_OR_RETURN(LatencyProfile profile, measure_profile(detector, processor, sizes, 5));
  return RealtimeSetting{std::move(context), std::move(model), std::move(profile), processor};
}

Result<Detector> person_detector(const RealtimeSetting& setting, const std::string& size,
                                 double score) {
  DetectOptions options;
  options.classes = {"person"};
  options.score = score;
  options.size = size;
  return Detector::create(setting.context, setting.model, options);
}

Result<StreamDetector> person_streams(const RealtimeSetting& setting, const StreamOptions& options,
                                      const StreamTuning& tuning, double score) {
  SPARING_ASSIGN_OR_RETURN(Detector detector, person_detector(setting, "", score));
  std::vector<Processor> processors;
  processors.push_back({setting.processor, std::move(detector), setting.profile, ScaleModel{}});
  return StreamDetector::create(std::move(processors), options, tuning);
}

double steady_rate(std::span<const WrittenAt> windows) {
  if (windows.size() < 3) return 0;
  const auto first = std::find_if(windows.begin(), windows.end() - 2, [](const WrittenAt& window) {
    return window.seconds >= kSettleSeconds;
  });
  const WrittenAt& last = windows[windows.size() - 2];
  const double seconds = last.seconds - first->seconds;
  return seconds > 0 ? static_cast<double>(last.frames - first->frames) / seconds : 0;
}

Result<RealtimeRun> run_realtime(const RealtimeSetting& setting,
                                 const std::vector<PlayedVideo>& videos, double seconds) {
  SPARING_ASSIGN_OR_RETURN(StreamDetector detector, person_streams(setting, {}));
  RealtimeRun run;
  std::vector<StreamInput> inputs;
  for (const PlayedVideo& video : videos) {
    SPARING_ASSIGN_OR_RETURN(StreamInput input, open_played(video));
    run.due += input.source->info().frame_rate.value();
    inputs.push_back(std::move(input));
  }
  run.boxes.resize(videos.size());
  for (DetectionSet& set : run.boxes) set.labels = detector.labels();
  KeptBoxes sink(run.boxes);
  ResultSink* sinks[] = {&sink};
  RunStreamsOptions options;
  options.paced = true;
  options.loop = true;
  options.duration = seconds;
  std::vector<WrittenAt> windows;
  StreamsControl control;
  control.on_progress = [&](const StreamsProgress& progress) {
    windows.push_back({progress.wall_seconds, progress.frames});
    run.rss_mb = std::max(run.rss_mb, cli::resident_megabytes());
  };
  run.summary = run_streams(detector, std::move(inputs), sinks, false, options, control);
  if (run.summary.error) return *run.summary.error;
  for (const StreamRunStatistics& stream : run.summary.streams) {
    if (stream.error) return *stream.error;
  }
  summarize(run, windows);
  return run;
}

void add_judged_truth(const AnnotationSet& truth, std::int64_t first, std::int64_t frames,
                      std::int64_t stream, AnnotationSet& all) {
  all.labels = truth.labels;
  const auto pass = static_cast<std::int64_t>(truth.images.size());
  for (std::int64_t index = 0; index < frames; ++index) {
    const std::int64_t in_pass = (first + index) % pass;
    if (!is_judged(in_pass, stream)) continue;
    ImageAnnotations image = truth.images[static_cast<std::size_t>(in_pass)];
    image.image_id = stream * kStreamImages + index;
    all.images.push_back(std::move(image));
  }
}

void add_judged_boxes(const DetectionSet& boxes, std::int64_t first, std::int64_t pass,
                      std::int64_t stream, DetectionSet& all) {
  all.labels = boxes.labels;
  for (const ImageDetections& image : boxes.images) {
    if (!is_judged((first + image.image_id) % pass, stream)) continue;
    all.images.push_back({stream * kStreamImages + image.image_id, image.detections});
  }
}

Result<DetectionSet> whole_frame_boxes(const RealtimeSetting& setting, const fs::path& video,
                                       const std::string& size, std::int64_t first,
                                       std::int64_t step) {
  SPARING_ASSIGN_OR_RETURN(Detector detector, person_detector(setting, size));
  SPARING_ASSIGN_OR_RETURN(auto opened, open_source(video.string()));
  const auto source = select_frames(std::move(opened), first, step);
  std::vector<DetectionSet> sets(1);
  sets[0].labels = detector.labels();
  KeptBoxes sink(sets);
  ResultSink* sinks[] = {&sink};
  const RunSummary summary = detector.run(*source, sinks);
  if (summary.error) return *summary.error;
  return std::move(sets[0]);
}

}  // namespace sparing::bench

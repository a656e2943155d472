// sparing-bench detect: accuracy of whole-frame detection on the sample video, and what the run
// costs beside the inference itself.
#include <algorithm>
#include <cstdio>
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <vector>

#include <unistd.h>

#include "benchmarks.h"
#include "events_bench.h"
#include "realtime_bench.h"
#include "sparing/base/clock.h"
#include "sparing/io/annotations.h"
#include "sparing/io/sink.h"
#include "sparing/io/source.h"
#include "sparing/metrics/average_precision.h"
#include "sparing/models/registry.h"
#include "sparing/pipeline/detector.h"
#include "streams_bench.h"

namespace sparing::bench {
namespace {

namespace fs = std::filesystem;

class CollectingSink : public ResultSink {
 public:
  Status write(const FrameResult& result) override {
    set.images.push_back({result.source.index, result.detections});
    return {};
  }
  Status finish() override { return {}; }
  std::string name() const override { return "memory"; }
  DetectionSet set;
};

class NullSink : public ResultSink {
 public:
  Status write(const FrameResult&) override { return {}; }
  Status finish() override { return {}; }
  std::string name() const override { return "nowhere"; }
};

struct Setting {
  const BenchOptions& options;
  Context context;
  Model model;
};

Result<RunSummary> run_once(Setting& setting, Detector& detector, ResultSink& sink,
                            std::int64_t max_frames) {
  SourceOptions source_options;
  source_options.max_frames = max_frames;
  SPARING_ASSIGN_OR_RETURN(auto source,
                           open_source(setting.options.detect.video.string(), source_options));
  ResultSink* sinks[] = {&sink};
  RunSummary summary = detector.run(*source, sinks);
  if (summary.error) return *summary.error;
  return summary;
}

Result<RunSummary> run_detector(Setting& setting, const DetectOptions& detect, ResultSink& sink,
                                std::int64_t max_frames) {
  SPARING_ASSIGN_OR_RETURN(Detector detector,
                           Detector::create(setting.context, setting.model, detect));
  return run_once(setting, detector, sink, max_frames);
}

// VOC AP@0.5 of persons over all frames, with the network at `size`.
Status bench_accuracy(Setting& setting, const std::string& id, const std::string& size,
                      Report& report) {
  const fs::path truth_file = setting.options.detect.data / "pets-s2l1" / "gt.txt";
  if (!fs::exists(truth_file)) {
    report.skip(id, "no ground truth at " + truth_file.string() + " (--data)");
    return {};
  }
  DetectOptions detect;
  detect.score = 0.05;
  detect.size = size;
  CollectingSink sink;
  sink.set.labels = setting.model.manifest.labels;
  SPARING_ASSIGN_OR_RETURN(const RunSummary summary, run_detector(setting, detect, sink, 0));
  SPARING_ASSIGN_OR_RETURN(const AnnotationSet truth, read_ground_truth(truth_file));
  SPARING_ASSIGN_OR_RETURN(const Evaluation result,
                           evaluate(map_classes(sink.set, truth), truth, {}));
  char note[160];
  std::snprintf(note, sizeof note, "VOC AP@0.5, person, %lld frames at %s, %.1f fps",
                static_cast<long long>(summary.frames), size.c_str(),
                static_cast<double>(summary.frames) / summary.wall_seconds);
  report.add({id, result.ap50_voc, "", note});
  return {};
}

// Seconds that the engine alone needs for `frames` runs of the network, as many in flight as
// streams.
Result<double> inference_alone(Setting& setting, const Graph& graph, Size size,
                               std::int64_t frames) {
  Context& context = setting.context;
  const std::string& input_name = graph.inputs()[0].name;
  const Shape shape{1, 3, size.height, size.width};
  SPARING_ASSIGN_OR_RETURN(const auto shapes,
                           context.infer_output_shapes(graph, {{input_name, shape}}));
  struct Slot {
    NamedTensors inputs;
    NamedTensors outputs;
    Completion completion;
  };
  std::vector<Slot> slots(static_cast<std::size_t>(std::max(1, context.options().streams)));
  for (Slot& slot : slots) {
    SPARING_ASSIGN_OR_RETURN(slot.inputs[input_name],
                             context.create_tensor({DataType::kFloat32, shape, false, true}));
    for (const GraphOperand& output : graph.outputs()) {
      SPARING_ASSIGN_OR_RETURN(slot.outputs[output.name],
                               context.create_tensor({output.descriptor.data_type,
                                                      shapes.at(output.name), true, false}));
    }
  }
  const Clock::time_point start = Clock::now();
  for (std::int64_t frame = 0; frame < frames; ++frame) {
    Slot& slot = slots[static_cast<std::size_t>(frame) % slots.size()];
    if (frame >= static_cast<std::int64_t>(slots.size())) {
      SPARING_RETURN_IF_ERROR(slot.completion.wait());
    }
    SPARING_ASSIGN_OR_RETURN(slot.completion, context.dispatch(graph, slot.inputs, slot.outputs));
  }
  for (Slot& slot : slots) SPARING_RETURN_IF_ERROR(slot.completion.wait());
  return seconds_since(start);
}

// Wall time of the whole run (decode, import, inference, post-processing, JSON Lines) over that of
// the inference alone; the two take turns, the figure is the median of the ratios.
Status bench_overhead(Setting& setting, Report& report) {
  const int pairs = 3;
  DetectOptions detect;
  detect.size = "768x576";
  SPARING_ASSIGN_OR_RETURN(const Graph graph, setting.context.load_graph(setting.model.file));
  const fs::path file =
      fs::temp_directory_path() / ("sparing-bench-" + std::to_string(::getpid()) + ".jsonl");
  struct Pair {
    double ratio;
    double run_ms;
    double alone_ms;
  };
  std::vector<Pair> measured;
  for (int pair = 0; pair < pairs; ++pair) {
    SPARING_ASSIGN_OR_RETURN(auto sink,
                             open_sink(file, {{}, setting.model.manifest.labels, "", ""}));
    SPARING_ASSIGN_OR_RETURN(const RunSummary summary,
                             run_detector(setting, detect, *sink, setting.options.quick ? 120 : 0));
    std::error_code error;
    fs::remove(file, error);
    SPARING_ASSIGN_OR_RETURN(const double alone,
                             inference_alone(setting, graph, {768, 576}, summary.frames));
    const double to_ms = 1e3 / static_cast<double>(summary.frames);
    measured.push_back({summary.wall_seconds / alone, summary.wall_seconds * to_ms, alone * to_ms});
  }
  std::sort(measured.begin(), measured.end(),
            [](const Pair& a, const Pair& b) { return a.ratio < b.ratio; });
  const Pair& middle = measured[measured.size() / 2];
  char note[200];
  const ContextOptions& context = setting.context.options();
  std::snprintf(note, sizeof note,
                "whole run %.2f ms/frame over inference alone %.2f; %s, %d threads, %d streams",
                middle.run_ms, middle.alone_ms, std::string(to_string(context.precision)).c_str(),
                context.threads, context.streams);
  report.add({"frame768.overhead", middle.ratio, "x", note});
  return {};
}

// Ten passes of one detector: how far the resident memory after a later pass exceeds that after the
// first, at most.
Status bench_memory(Setting& setting, Report& report) {
  DetectOptions detect;
  detect.size = "384x288";
  SPARING_ASSIGN_OR_RETURN(Detector detector,
                           Detector::create(setting.context, setting.model, detect));
  std::vector<double> megabytes;
  for (int pass = 0; pass < 10; ++pass) {
    NullSink sink;
    SPARING_ASSIGN_OR_RETURN(const RunSummary summary, run_once(setting, detector, sink, 0));
    megabytes.push_back(cli::resident_megabytes());
  }
  char note[120];
  const double most = *std::max_element(megabytes.begin() + 1, megabytes.end());
  std::snprintf(note, sizeof note,
                "10 passes at 384x288; %.1f MB after the first, then at most %.1f, %.1f at the end",
                megabytes.front(), most, megabytes.back());
  report.add({"memory10.growth_mb", most - megabytes.front(), "MB", note});
  return {};
}

// Whole frames: accuracy on the sample video, and what the run costs beside the inference.
Status bench_frame(const BenchOptions& options, Report& report) {
  SPARING_ASSIGN_OR_RETURN(Context context, cli::create_context(options.detect.runtime));
  SPARING_ASSIGN_OR_RETURN(
      Model model,
      resolve_model(options.detect.model, default_model_paths(cli::share_dir()), context));
  Setting setting{options, context, std::move(model)};
  if (!options.quick) {
    SPARING_RETURN_IF_ERROR(bench_accuracy(setting, "frame768.ap", "768x576", report));
  }
  SPARING_RETURN_IF_ERROR(bench_accuracy(
      setting, options.quick ? "quick.frame384.ap" : "frame384.ap", "384x288", report));
  SPARING_RETURN_IF_ERROR(bench_overhead(setting, report));
  return options.quick ? Status() : bench_memory(setting, report);
}

struct Stage {
  const char* name;
  bool quick;  // runs with --quick, too
  Status (*run)(const BenchOptions&, Report&);
};

// A further part of the benchmark is one row here.
constexpr Stage kStages[] = {
    {"frame", true, bench_frame},
    {"accuracy", true, bench_streams_accuracy},
    {"budget", false, bench_streams_budget},
    {"other", false, bench_streams_other},
    {"realtime", false, bench_realtime},
    {"events", false, bench_events},
};

bool is_wanted(const Stage& stage, const BenchOptions& options) {
  const std::vector<std::string>& names = options.detect.stages;
  if (names.empty()) return stage.quick || !options.quick;
  return std::find(names.begin(), names.end(), stage.name) != names.end();
}

}  // namespace

std::vector<std::string> detect_stages() {
  std::vector<std::string> names;
  for (const Stage& stage : kStages) names.emplace_back(stage.name);
  return names;
}

fs::path default_video() { return cli::deps_dir() / "samples" / "vtest.avi"; }

Status bench_detect(const BenchOptions& options, Report& report) {
  // Of the default folder what is missing is skipped; one that was asked for must be there.
  const fs::path& data = options.detect.data;
  if (data != DetectBenchOptions{}.data && !fs::is_directory(data)) {
    return Error{ErrorCode::kInput, "--data '" + data.string() + "'", "there is no such folder",
                 "give the folder of the test material (docs/benchmarks.md)"};
  }
  for (const Stage& stage : kStages) {
    if (is_wanted(stage, options)) SPARING_RETURN_IF_ERROR(stage.run(options, report));
  }
  return {};
}

}  // namespace sparing::bench

// sparing detect: the main job.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "commands.h"
#include "exit_codes.h"
#include "npy.h"
#include "option_flags.h"
#include "progress.h"
#include "runtime.h"
#include "signals.h"
#include "sparing/base/version.h"
#include "sparing/io/sink.h"
#include "sparing/io/source.h"
#include "sparing/models/registry.h"
#include "sparing/pipeline/detector.h"
#include "summary.h"

namespace sparing::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kHelp =
    "Examples:\n"
    "  sparing detect clip.mp4 --out boxes.jsonl                 boxes as JSON Lines\n"
    "  sparing detect clip.mp4 --out boxes.jsonl --render boxes.mp4 --classes person,car\n"
    "  sparing detect photos/ --out boxes.json --format coco     a folder of pictures\n"
    "  sparing detect 'shots/*.png' --out -                      a pattern; JSON Lines to a pipe\n"
    "  ffmpeg -i rtsp://... -an -c copy -f matroska - | sparing detect - --out boxes.jsonl\n\n"
    "Ctrl-C ends the run after the frames in flight and keeps what was found.";

struct DetectCommand {
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::string format;
  std::string render;
  std::string model = "nanodet-g";
  std::string dump_inputs;
  long long max_frames = 0;
  int decoder_threads = 1;
  bool json = false;
  bool quiet = false;
  DetectOptions detect;
  RuntimeOptions runtime;

  int run();

 private:
  Status check() const;
  Result<std::vector<std::unique_ptr<ResultSink>>> open_sinks(const RunInfo& info) const;
  int finish(const RunDescription& description, const RunSummary& summary) const;
  std::string repeated_output() const;
  bool writes_to_stdout() const {
    return std::find(outputs.begin(), outputs.end(), "-") != outputs.end();
  }
};

Status DetectCommand::check() const {
  const auto usage = [](std::string thing, std::string problem, std::string fix) {
    return Error{ErrorCode::kInvalidArgument, std::move(thing), std::move(problem), std::move(fix)};
  };
  if (inputs.size() != 1) {
    return usage("inputs", std::to_string(inputs.size()) + " were given",
                 "give one video, folder, pattern or -; quote a pattern, e.g. 'shots/*.png'");
  }
  if (outputs.empty() && render.empty() && !json) {
    return usage("outputs", "none was given",
                 "say where the boxes go, e.g. --out boxes.jsonl or --render boxes.mp4");
  }
  if (std::count(outputs.begin(), outputs.end(), "-") > 1) {
    return usage("--out -", "was given twice", "standard output takes one format at a time");
  }
  if (const std::string twice = repeated_output(); !twice.empty()) {
    return usage("output '" + twice + "'", "was named twice", "give each output a path of its own");
  }
  if (json && writes_to_stdout()) {
    return usage("--json", "needs standard output, which --out - has", "write the boxes to a file");
  }
  SPARING_RETURN_IF_ERROR(validate_options(detect));
  return validate_options(runtime);
}

// A file that two outputs would replace in turn; empty if there is none.
std::string DetectCommand::repeated_output() const {
  std::set<fs::path> seen;
  std::vector<std::string> paths = outputs;
  if (!render.empty()) paths.push_back(render);
  for (const std::string& path : paths) {
    std::error_code error;
    const fs::path canonical = fs::weakly_canonical(path, error);
    if (fs::is_character_file(canonical, error)) continue;  // /dev/null takes any number
    if (!seen.insert(canonical.empty() ? fs::path(path) : canonical).second) return path;
  }
  return {};
}

Result<std::vector<std::unique_ptr<ResultSink>>> DetectCommand::open_sinks(
    const RunInfo& info) const {
  std::vector<std::unique_ptr<ResultSink>> sinks;
  for (const std::string& output : outputs) {
    SinkOptions options;
    options.format = format.empty() && output == "-" ? "jsonl" : format;
    SPARING_ASSIGN_OR_RETURN(auto sink, open_sink(output, info, options));
    sinks.push_back(std::move(sink));
  }
  if (!render.empty()) {
    SPARING_ASSIGN_OR_RETURN(auto sink, open_sink(render, info, {.format = "video"}));
    sinks.push_back(std::move(sink));
  }
  return sinks;
}

int DetectCommand::finish(const RunDescription& description, const RunSummary& summary) const {
  if (summary.hdr_frames > 0 && !quiet) {
    std::fprintf(stderr, "sparing: note: %s\n", hdr_note(description.input).c_str());
  }
  if (json) {
    std::printf("%s\n", summary_json(description, summary).c_str());
  } else if (!quiet) {
    // Standard output may be somebody's JSON Lines.
    std::FILE* out = writes_to_stdout() ? stderr : stdout;
    std::fputs(summary_text(description, summary).c_str(), out);
  }
  if (summary.error) {
    Error error = *summary.error;
    // A sink that fails says itself what it could keep.
    if (summary.frames > 0 && error.code != ErrorCode::kOutput) {
      error.problem += " (the " + std::to_string(summary.frames) + " frames before are kept)";
    }
    return report(error);
  }
  if (summary.interrupted) {
    std::fprintf(
        stderr,
        "sparing: interrupted after %lld frames, at %s of '%s'; outputs are complete up to there\n",
        static_cast<long long>(summary.frames),
        clock_text(summary.last_time ? summary.last_time->seconds() : 0).c_str(),
        description.input.c_str());
    return kExitInterrupted;
  }
  return kExitOk;
}

int DetectCommand::run() {
  // Before any thread is made: they inherit the signal mask.
  RunControl control;
  control.stop = stop_on_signals();
  if (Status status = check(); !status.ok()) return report(status.error());

  SourceOptions source_options;
  source_options.decoder_threads = decoder_threads;
  source_options.max_frames = max_frames;
  source_options.stop = control.stop;
  auto source = open_source(inputs[0], source_options);
  if (!source.ok()) return report(source.error());
  auto context = create_context(runtime);
  if (!context.ok()) return report(context.error());
  auto resolved = resolve_model(model, default_model_paths(share_dir()), *context);
  if (!resolved.ok()) return report(resolved.error());
  auto detector = Detector::create(*context, *resolved, detect);
  if (!detector.ok()) return report(detector.error());

  RunInfo info;
  info.sources = {(*source)->info()};
  info.labels = detector->labels();
  info.model = resolved->manifest.name;
  info.version = version();
  auto sinks = open_sinks(info);
  if (!sinks.ok()) return report(sinks.error());
  std::vector<ResultSink*> sink_pointers;
  RunDescription description;
  for (const auto& sink : *sinks) {
    sink_pointers.push_back(sink.get());
    description.outputs.push_back(sink->name());
  }

  ProgressLine progress(!quiet);
  control.on_progress = [&](const Progress& p) { progress.update(p); };
  if (!dump_inputs.empty()) {
    std::error_code error;
    fs::create_directories(dump_inputs, error);
    control.on_input = [&](std::int64_t frame, std::span<const std::int64_t> shape,
                           std::span<const float> data) {
      char name[32];
      std::snprintf(name, sizeof name, "%06lld.npy", static_cast<long long>(frame));
      return write_npy(fs::path(dump_inputs) / name, shape, DataType::kFloat32,
                       std::as_bytes(data));
    };
  }
  const RunSummary summary = detector->run(**source, sink_pointers, control);
  progress.clear();

  description.input = (*source)->info().name;
  description.model = resolved->manifest.name;
  description.device = to_string(context->options().device_type);
  description.precision = to_string(context->options().precision);
  description.threads = context->options().threads;
  description.streams = context->options().streams;
  return finish(description, summary);
}

}  // namespace

void add_detect_command(CLI::App& parent, Command& run) {
  auto command = std::make_shared<DetectCommand>();
  CLI::App* app = parent.add_subcommand("detect", "find objects in every frame of a video");
  app->footer(kHelp);
  app->add_option("input", command->inputs,
                  "a video file, a folder or 'pattern' of pictures, or - for standard input")
      ->required();
  std::string formats;
  for (const SinkFormat& format : sink_formats()) {
    formats += (formats.empty() ? "" : ", ") + std::string(format.name);
  }
  app->add_option(
         "-o,--out", command->outputs,
         "where the boxes go; may be given several times; - is standard output; the format "
         "follows from the ending (.jsonl .json .txt .mp4)")
      ->allow_extra_args(false);
  app->add_option("--format", command->format, "format of --out instead of by ending: " + formats);
  app->add_option("--render", command->render, "a video (mp4) with the boxes drawn in");
  app->add_option("--model", command->model,
                  "a model's name (`sparing models list`), manifest (.json) or ONNX file")
      ->capture_default_str();
  add_flags(*app, command->detect);
  add_flags(*app, command->runtime);
  check_range<long long>(
      app->add_option("--max-frames", command->max_frames, "stop after so many frames (0: all)"), 0,
      1e15);
  check_range<int>(app->add_option("--decoder-threads", command->decoder_threads,
                                   "threads of the video decoder"),
                   1, 64)
      ->capture_default_str();
  app->add_option("--dump-inputs", command->dump_inputs,
                  "write what the network sees, a NumPy file a frame, into this folder");
  app->add_flag("--json", command->json, "print the summary as one JSON object");
  app->add_flag("-q,--quiet", command->quiet, "no progress and no summary");
  refuse_empty_values(*app);
  app->callback([command, &run] { run = [command] { return command->run(); }; });
}

}  // namespace sparing::cli

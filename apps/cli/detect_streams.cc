// `sparing detect` on many inputs, or on one with a mode or a budget: by StreamDetector.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "commands.h"
#include "detect_outputs.h"
#include "detect_settings.h"
#include "exit_codes.h"
#include "option_flags.h"
#include "progress.h"
#include "sparing/base/version.h"
#include "sparing/io/source.h"
#include "sparing/streams/stream_detector.h"
#include "sparing/streams/stream_run.h"
#include "stream_processors.h"
#include "streams_summary.h"
#include "summary.h"

namespace sparing::cli {
namespace {

namespace fs = std::filesystem;

// Stands for an input that could not be opened, so that the others keep their numbers.
class UnopenedSource final : public VideoSource {
 public:
  UnopenedSource(const std::string& name, Error error) : error_(std::move(error)) {
    info_.name = name;
  }
  const SourceInfo& info() const override { return info_; }
  Result<std::optional<SourceFrame>> next() override { return error_; }
  std::int64_t damaged_frames() const override { return 0; }

 private:
  SourceInfo info_;
  Error error_;
};

struct Inputs {
  std::vector<StreamInput> inputs;
  std::vector<SourceInfo> infos;
  std::vector<bool> usable;
  std::vector<Error> errors;  // of those that are not usable

  bool any_usable() const { return errors.size() < usable.size(); }
};

bool is_still(const SourceInfo& info) { return info.container == "image2"; }

// Whether there is anything under the name: else it is a slip of the pen.
bool exists(const std::string& spec) {
  std::error_code error;
  return spec == "-" || fs::exists(spec, error);
}

Error still_pictures(const std::string& input) {
  return {ErrorCode::kInvalidArgument, "input '" + input + "'",
          "single pictures are looked at whole, one by one, in a run of their own",
          "give it alone, as one folder or quoted pattern, without options of many streams; or say "
          "--sequence if they are the frames of a video"};
}

// Each input can be stopped by itself: a run that is over does not wait for a silent pipe.
Status open_input(const DetectSettings& settings, const std::string& spec,
                  const std::stop_token& stop, Inputs& inputs) {
  auto source_stop = std::make_shared<std::stop_source>();
  const auto forward = [source_stop] { source_stop->request_stop(); };
  auto link = std::make_shared<std::stop_callback<decltype(forward)>>(stop, forward);
  SourceOptions options;
  options.decoder_threads = settings.decoder_threads;
  options.max_frames = settings.max_frames;
  options.stop = source_stop->get_token();
  auto source = open_source(spec, options);
  StreamInput input;
  input.name = spec;
  if (source.ok()) {
    if (is_still((*source)->info()) && !settings.sequence) return still_pictures(spec);
    input.name = (*source)->info().name;
    input.source = std::move(*source);
  } else {
    const Error error = std::move(source).error();
    if (error.code != ErrorCode::kInput || !exists(spec) || settings.inputs.size() == 1) {
      return error;
    }
    inputs.errors.push_back(error);
    input.source = std::make_unique<UnopenedSource>(spec, error);
  }
  if (spec != "-") input.reopen = [spec, options] { return open_source(spec, options); };
  input.max_frames = settings.max_frames;
  input.cancel = [source_stop, link] { source_stop->request_stop(); };
  inputs.usable.push_back(source.ok());
  inputs.infos.push_back(input.source->info());
  inputs.inputs.push_back(std::move(input));
  return {};
}

Status check_sequence(const DetectSettings& settings, const Inputs& inputs) {
  if (!settings.sequence || !inputs.any_usable()) return {};
  for (std::size_t i = 0; i < inputs.infos.size(); ++i) {
    if (inputs.usable[i] && is_still(inputs.infos[i])) return {};
  }
  return Error{ErrorCode::kInvalidArgument, "--sequence",
               "it is for a folder or pattern of pictures, and '" + settings.inputs[0] +
                   "' is a video already",
               "leave it out"};
}

Result<Inputs> open_inputs(const DetectSettings& settings, const std::stop_token& stop) {
  Inputs inputs;
  for (const std::string& spec : settings.inputs) {
    SPARING_RETURN_IF_ERROR(open_input(settings, spec, stop, inputs));
  }
  SPARING_RETURN_IF_ERROR(check_sequence(settings, inputs));
  return inputs;
}

Status check_streams_settings(const DetectSettings& settings) {
  const auto usage = [](std::string thing, std::string problem, std::string fix) {
    return Error{ErrorCode::kInvalidArgument, std::move(thing), std::move(problem), std::move(fix)};
  };
  if (!settings.dump_inputs.empty()) {
    return usage("--dump-inputs", "it is for runs that look at whole frames of one input",
                 "leave it out");
  }
  if (!settings.detect.size.empty()) {
    return usage("--size", "in runs on many streams each region has a size of its own",
                 "give --scale instead, e.g. --scale 0.5");
  }
  if (std::count(settings.inputs.begin(), settings.inputs.end(), "-") > 1) {
    return usage("input -", "was given twice", "standard input holds one video");
  }
  const RuntimeOptions& runtime = settings.runtime;
  if (!settings.processors.empty() &&
      (runtime.threads > 0 || runtime.streams > 0 || !runtime.cores.empty() ||
       runtime.precision != "auto" || runtime.device != "cpu")) {
    return usage("--processors",
                 "--device, --precision, --threads, --streams and --cores describe a single one",
                 "leave these out");
  }
  SPARING_RETURN_IF_ERROR(validate_options(settings.streams));
  SPARING_RETURN_IF_ERROR(check_options(settings.tuning.roi, kRoiPrefix));
  SPARING_RETURN_IF_ERROR(check_options(settings.tuning.pack, kPackPrefix));
  SPARING_RETURN_IF_ERROR(validate_options(settings.run));
  return check_conflicts(settings);
}

// Each error, and the exit code of the first.
int report_all(const std::vector<Error>& errors) {
  int code = kExitOk;
  for (std::size_t i = 0; i < errors.size(); ++i) {
    const int own = report(errors[i]);
    if (i == 0) code = own;
  }
  return code;
}

void print_notes(const DetectSettings& settings, const std::vector<std::string>& notes) {
  for (const std::string& note : notes) {
    if (!settings.quiet) std::fprintf(stderr, "sparing: note: %s\n", note.c_str());
  }
}

// A window ends on a frame that is looked at.
std::vector<std::string> long_windows(const DetectSettings& settings, const Inputs& inputs) {
  std::vector<std::string> notes;
  for (const SourceInfo& info : inputs.infos) {
    if (settings.streams.every == 0 || info.frame_rate.num == 0) continue;
    const double seconds = settings.streams.every * static_cast<double>(info.frame_rate.den) /
                           static_cast<double>(info.frame_rate.num);
    if (seconds <= settings.streams.window) continue;
    char text[160];
    std::snprintf(text, sizeof text,
                  "--every %d is a frame in %.1f s of '%s': its windows, and the delay of results, "
                  "are as long, in place of --window %g",
                  settings.streams.every, seconds, info.name.c_str(), settings.streams.window);
    notes.emplace_back(text);
  }
  return notes;
}

// What ended streams early; the exit code that it makes.
int report_streams(const StreamsSummary& summary) {
  int code = kExitOk;
  std::size_t failed = 0;
  for (const StreamRunStatistics& stream : summary.streams) {
    if (!stream.error) continue;
    Error error = *stream.error;
    if (stream.frames > 0) {
      error.problem += " (the " + std::to_string(stream.frames) + " frames before are kept)";
    }
    const int own = report(error);
    if (failed++ == 0) code = own;
  }
  return failed > 0 && failed < summary.streams.size() ? kExitSomeInputs : code;
}

int finish(const DetectSettings& settings, const StreamsDescription& description,
           const StreamsSummary& summary) {
  if (summary.streams.empty()) return report(*summary.error);  // it did not begin
  for (const StreamRunStatistics& stream : summary.streams) {
    if (stream.hdr_frames > 0 && !settings.quiet) {
      std::fprintf(stderr, "sparing: note: %s\n", hdr_note(stream.detector.name).c_str());
    }
  }
  if (settings.json) {
    std::printf("%s\n", streams_summary_json(description, summary).c_str());
  } else if (!settings.quiet) {
    std::FILE* out = settings.writes_to_stdout() ? stderr : stdout;
    std::fputs(streams_summary_text(description, summary).c_str(), out);
  }
  for (const std::string& warning : streams_warnings(settings, summary)) {
    std::fprintf(stderr, "sparing: warning: %s\n", warning.c_str());
  }
  const int streams_code = report_streams(summary);
  if (summary.error) {
    Error error = *summary.error;
    if (summary.frames > 0 && error.code != ErrorCode::kOutput) {
      error.problem += " (the " + std::to_string(summary.frames) + " frames before are kept)";
    }
    const int code = report(error);
    report_outputs(summary.outputs, summary.error);
    return code;
  }
  if (summary.interrupted) {
    std::fprintf(stderr,
                 "sparing: interrupted after %lld frames of %zu inputs; outputs are complete up to "
                 "there\n",
                 static_cast<long long>(summary.frames), summary.streams.size());
    return kExitInterrupted;
  }
  if (streams_code == kExitOk && !description.lacking.empty()) return kExitLacking;
  return streams_code;
}

Result<StreamDetector> make_detector(const DetectSettings& settings,
                                     StreamsDescription& description) {
  SPARING_ASSIGN_OR_RETURN(LoadedProcessors loaded, load_processors(settings));
  print_notes(settings, loaded.notes);
  description.settings = &settings;
  description.model = loaded.model;
  for (std::size_t i = 0; i < loaded.processors.size(); ++i) {
    description.processors.push_back({loaded.processors[i].name, loaded.profiles[i]});
  }
  return StreamDetector::create(std::move(loaded.processors), settings.streams, settings.tuning);
}

RunInfo run_info(const Inputs& inputs, const StreamDetector& detector,
                 const StreamsDescription& description) {
  RunInfo info;
  info.sources = inputs.infos;
  info.labels = detector.labels();
  info.model = description.model;
  info.version = version();
  return info;
}

struct Observers {
  ObserverList list;
  CanvasExport* canvases = nullptr;  // in the list
};

// A look into the run must not end it.
void warn_of_failure(const ObserverFailure& failure) {
  const std::string when =
      failure.window >= 0 ? "window " + std::to_string(failure.window) + ": " : "";
  std::fprintf(stderr, "%ssparing: warning: %s: %s%s; the run goes on without it\n",
               isatty(STDERR_FILENO) != 0 ? "\r\033[K" : "", failure.name.c_str(), when.c_str(),
               failure.error.to_string().c_str());
}

// What could not be written, also of what is written at the end.
std::vector<ObserverFailure> finish_observers(const DetectSettings& settings,
                                              Observers& observers) {
  std::vector<ObserverFailure> lacking = observers.list.failures();
  if (observers.canvases == nullptr) return lacking;
  Status status = observers.canvases->finish();
  if (status.ok()) return lacking;
  ObserverFailure failure{"--export-canvases '" + settings.export_canvases + "'",
                          std::move(status).error(), -1, 0, 0};
  std::fprintf(stderr, "sparing: warning: %s: %s\n", failure.name.c_str(),
               failure.error.to_string().c_str());
  lacking.push_back(std::move(failure));
  return lacking;
}

Status open_observers(const DetectSettings& settings, StreamDetector& detector,
                      Observers& observers) {
  if (!settings.explain.empty()) {
    SPARING_ASSIGN_OR_RETURN(
        auto explain,
        open_explain(settings.explain, observer_context(detector), settings.explain_options));
    observers.list.add("--explain '" + settings.explain + "'", std::move(explain));
  }
  if (!settings.export_canvases.empty()) {
    SPARING_ASSIGN_OR_RETURN(
        auto canvases, open_canvas_export(settings.export_canvases, observer_context(detector),
                                          settings.export_options));
    observers.canvases = canvases.get();
    observers.list.add("--export-canvases '" + settings.export_canvases + "'", std::move(canvases));
  }
  observers.list.on_failure(warn_of_failure);
  if (!observers.list.empty()) detector.set_observer(&observers.list);
  return {};
}

}  // namespace

int run_many_streams(const DetectSettings& settings, const std::stop_token& stop) {
  if (Status status = check_streams_settings(settings); !status.ok()) return report(status.error());
  auto inputs = open_inputs(settings, stop);
  if (!inputs.ok()) return report(inputs.error());
  if (!inputs->any_usable()) return report_all(inputs->errors);
  print_notes(settings, long_windows(settings, *inputs));
  StreamsDescription description;
  auto detector = make_detector(settings, description);
  if (!detector.ok()) return report(detector.error());
  auto outputs = open_outputs(settings, run_info(*inputs, *detector, description), inputs->usable);
  if (!outputs.ok()) return report(outputs.error());
  description.outputs = outputs->names();
  Observers observers;
  if (Status status = open_observers(settings, *detector, observers); !status.ok()) {
    return report(status.error());
  }

  StreamsControl control;
  control.stop = stop;
  ProgressLine progress(!settings.quiet);
  control.on_progress = [&](const StreamsProgress& p) {
    progress.update(p.frames, p.total_frames, p.wall_seconds,
                    ", " + std::to_string(p.detections) + " detections, " +
                        std::to_string(p.active_streams) + " streams");
  };
  const StreamsSummary summary =
      run_streams(*detector, std::move(inputs->inputs), outputs->pointers(), outputs->pictures,
                  settings.run, control);
  progress.clear();
  description.lacking = finish_observers(settings, observers);
  return finish(settings, description, summary);
}

}  // namespace sparing::cli

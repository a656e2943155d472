// `sparing detect` on one input, every frame looked at whole.
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "commands.h"
#include "detect_outputs.h"
#include "detect_settings.h"
#include "exit_codes.h"
#include "npy.h"
#include "progress.h"
#include "sparing/base/version.h"
#include "sparing/io/source.h"
#include "summary.h"
#include "summary_parts.h"

namespace sparing::cli {
namespace {

namespace fs = std::filesystem;

int finish(const DetectSettings& settings, const RunDescription& description,
           const RunSummary& summary) {
  if (summary.hdr_frames > 0 && !settings.quiet) {
    std::fprintf(stderr, "sparing: note: %s\n", hdr_note(description.input).c_str());
  }
  if (settings.json) {
    std::printf("%s\n", summary_json(description, summary).c_str());
  } else if (!settings.quiet) {
    // Standard output may be somebody's JSON Lines.
    std::FILE* out = settings.writes_to_stdout() ? stderr : stdout;
    std::fputs(summary_text(description, summary).c_str(), out);
  }
  return report_end(
      {description.input, summary.frames, summary.last_time, summary.interrupted, summary.error},
      summary.outputs);
}

void dump_inputs(const std::string& folder, RunControl& control) {
  std::error_code error;
  fs::create_directories(folder, error);
  control.on_input = [folder](std::int64_t frame, std::span<const std::int64_t> shape,
                              std::span<const float> data) {
    char name[32];
    std::snprintf(name, sizeof name, "%06lld.npy", static_cast<long long>(frame));
    return write_npy(fs::path(folder) / name, shape, DataType::kFloat32, std::as_bytes(data));
  };
}

}  // namespace

int run_whole_frames(const DetectSettings& settings, const std::stop_token& stop) {
  SourceOptions source_options;
  source_options.decoder_threads = settings.decoder_threads;
  source_options.max_frames = settings.max_frames;
  source_options.stop = stop;
  auto source = open_source(settings.inputs[0], source_options);
  if (!source.ok()) return report(source.error());
  auto context = create_context(settings.runtime);
  if (!context.ok()) return report(context.error());
  auto resolved = resolve_model(settings.model, default_model_paths(share_dir()), *context);
  if (!resolved.ok()) return report(resolved.error());
  auto detector = Detector::create(*context, *resolved, settings.detect);
  if (!detector.ok()) return report(detector.error());

  RunInfo info;
  info.sources = {(*source)->info()};
  info.labels = detector->labels();
  info.model = resolved->manifest.name;
  info.version = version();
  auto outputs = open_outputs(settings, info, {true});
  if (!outputs.ok()) return report(outputs.error());

  RunControl control;
  control.stop = stop;
  ProgressLine progress(!settings.quiet);
  control.on_progress = [&](const Progress& p) { progress.update(p); };
  if (!settings.dump_inputs.empty()) dump_inputs(settings.dump_inputs, control);
  const RunSummary summary = detector->run(**source, outputs->pointers(), control);
  progress.clear();

  RunDescription description;
  description.input = (*source)->info().name;
  description.model = resolved->manifest.name;
  description.device = to_string(context->options().device_type);
  description.precision = to_string(context->options().precision);
  description.threads = context->options().threads;
  description.streams = context->options().streams;
  description.outputs = outputs->names();
  return finish(settings, description, summary);
}

}  // namespace sparing::cli

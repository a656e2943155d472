// sparing segment: masks of one video, stable in time, and what can be done with them.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>

#include "commands.h"
#include "detect_outputs.h"
#include "exit_codes.h"
#include "option_flags.h"
#include "progress.h"
#include "segment_outputs.h"
#include "segment_settings.h"
#include "segment_summary.h"
#include "signals.h"
#include "sparing/base/version.h"
#include "sparing/io/masks.h"
#include "sparing/io/picture_sink.h"
#include "sparing/io/source.h"
#include "summary_parts.h"

namespace sparing::cli {
namespace {

constexpr const char* kHelp =
    "Examples:\n"
    "  sparing segment me.mp4 --background blur --render call.mp4       blur what is behind people\n"
    "  sparing segment me.mp4 --background replace=beach.jpg --render call.mp4\n"
    "  sparing segment me.mp4 --background cutout --render me.mov       video with alpha\n"
    "  sparing segment interview.mp4 --privacy person --render public.mp4\n"
    "  sparing segment drive/ --model street --overlay --legend --render street.mp4\n"
    "  sparing segment drive/ --model street --out masks/               a PNG of labels a frame\n"
    "  sparing segment drive/ --model street --mode auxadapt+temporal --compare main \\\n"
    "      --gt labels/ --ignore 11 --render compare.mp4                side by side, with figures\n\n"
    "Ctrl-C ends the run after what is in flight and keeps what was made. A TIME is a number in the\n"
    "unit shown, or has a unit of its own: 40ms, 1.5s.";

constexpr const char* kPictures = "Pictures";
constexpr const char* kTime = "Stability in time";
constexpr const char* kAdvanced = "Advanced";

int finish(const SegmentSettings& settings, const SegmentDescription& description,
           const SegmentSummary& summary, const std::vector<OutputState>& outputs) {
  if (summary.hdr_frames > 0 && !settings.quiet) {
    std::fprintf(stderr, "sparing: note: %s\n", hdr_note(description.run.input).c_str());
  }
  if (settings.json) {
    std::printf("%s\n", summary_json(description, summary, outputs).c_str());
  } else if (!settings.quiet) {
    // Standard output may be somebody's JSON Lines.
    std::FILE* out = settings.writes_to_stdout() ? stderr : stdout;
    std::fputs(summary_text(description, summary, outputs).c_str(), out);
  }
  return report_end({description.run.input, summary.frames, summary.last_time, summary.interrupted,
                     summary.error},
                    outputs);
}

// What a run needs beside its input.
struct Networks {
  Model main;
  std::optional<Model> aux;
};

Result<Networks> find_networks(const SegmentSettings& settings, Context& context) {
  const ModelPaths paths = default_model_paths(share_dir());
  Networks networks;
  SPARING_ASSIGN_OR_RETURN(networks.main, resolve_model(settings.model, paths, context));
  SPARING_RETURN_IF_ERROR(check_task(networks.main.manifest, ModelTask::kSegment));
  SPARING_ASSIGN_OR_RETURN(networks.aux, resolve_aux(networks.main, paths, context, settings.aux));
  return networks;
}

int run_segment(SegmentSettings& settings, const CLI::App& app) {
  // Before any thread is made: they inherit the signal mask.
  const std::stop_token stop = stop_on_signals();
  for (const CLI::Option* option : app.get_options()) {
    if (option->count() > 0) settings.given.push_back(option->get_name());
  }
  if (Status status = check_settings(settings); !status.ok()) return report(status.error());
  SourceOptions source_options;
  source_options.decoder_threads = settings.decoder_threads;
  source_options.max_frames = settings.max_frames;
  source_options.stop = stop;
  auto source = open_source(settings.input, source_options);
  if (!source.ok()) return report(source.error());
  auto context = create_context(settings.runtime);
  if (!context.ok()) return report(context.error());
  auto networks = find_networks(settings, *context);
  if (!networks.ok()) return report(networks.error());
  SegmenterOptions options = settings.segmenter;
  options.keep_main = !settings.compare.empty();
  auto segmenter = Segmenter::create(*context, networks->main, networks->aux, options);
  if (!segmenter.ok()) return report(segmenter.error());

  SegmentRunInfo info;
  info.run.sources = {(*source)->info()};
  info.run.labels = segmenter->labels();
  info.run.model = networks->main.manifest.name;
  info.run.version = version();
  info.manifest = networks->main.manifest;
  info.mode = segmenter->mode();
  auto outputs = SegmentOutputs::open(settings, info);
  if (!outputs.ok()) return report(outputs.error());

  SegmentControl control;
  control.stop = stop;
  ProgressLine progress(!settings.quiet);
  const std::optional<std::int64_t> total = (*source)->info().frame_count;
  control.on_progress = [&](std::int64_t frames, double wall_seconds) {
    progress.update(frames, total, wall_seconds);
  };
  SegmentSummary summary = segmenter->run(**source, *outputs, control);
  if (Status status = outputs->finish(); !status.ok() && !summary.error) {
    summary.error = status.error();
  }
  progress.clear();

  SegmentDescription description;
  description.run.input = (*source)->info().name;
  description.run.model = info.run.model;
  description.run.device = to_string(context->options().device_type);
  description.run.precision = to_string(context->options().precision);
  description.run.threads = context->options().threads;
  description.run.streams = context->options().streams;
  description.run.outputs = outputs->names();
  description.mode = std::string(sparing::info(segmenter->mode()).name);
  if (segmenter->stream().trainer() != nullptr && networks->aux) {
    description.aux = networks->aux->manifest.name;
  }
  return finish(settings, description, summary, outputs->states());
}

std::string format_names(const auto& formats) {
  std::string names;
  for (const auto& format : formats) {
    names += (names.empty() ? "" : ", ") + std::string(format.name);
  }
  return names;
}

void add_pictures(CLI::App& app, SegmentSettings& settings) {
  app.add_option(
      "--render", settings.render,
      "pictures with the effects below, or the classes in colours; the format follows from "
      "the ending (" +
          format_names(picture_formats()) + "; a folder gets PNGs)");
  app.add_option("--background", settings.background,
                 "what becomes of all but the foreground: blur[:RADIUS], replace=IMAGE or VIDEO, "
                 "colour[=#rrggbb], cutout (alpha: .mov, .webm or PNGs)")
      ->group(kPictures);
  app.add_option("--foreground", settings.foreground,
                 "classes that are the foreground (default: all but 'background')")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->group(kPictures);
  check_range<double>(app.add_option("--contrast", settings.contrast,
                                     "how much harder than the network's the mask's edges are"),
                      1, 100)
      ->capture_default_str()
      ->group(kPictures);
  app.add_flag("--refine", settings.refine,
               "move the mask's edges to edges of the picture; for masks that lie beside them")
      ->group(kPictures);
  app.add_option("--privacy", settings.privacy,
                 "classes to mask out for good, e.g. person or car,person:pixelate "
                 "(:colour[=#rrggbb], :pixelate, :blur)")
      ->group(kPictures);
  app.add_flag("--overlay", settings.overlay, "classes in colours, also over other effects")
      ->group(kPictures);
  check_range<double>(
      app.add_option("--overlay-strength", settings.overlay_strength, "of the colours, 0 to 1"), 0,
      1)
      ->capture_default_str()
      ->group(kPictures);
  app.add_flag("--legend", settings.legend, "name the colours in the picture")->group(kPictures);
  app.add_option("--compare", settings.compare,
                 "render the input, MainNet alone and the mode side by side, with figures")
      ->check(CLI::IsMember({"main"}))
      ->group(kPictures);
  app.add_option("--gt", settings.gt,
                 "label maps (a folder of PNGs, or JSON Lines) that --compare measures against")
      ->group(kPictures);
  app.add_option("--ignore", settings.ignore,
                 "labels of --gt that stand for no class (255 always does)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->group(kPictures);
  check_range<int>(app.add_option("--crf", settings.crf, "quality of mp4 and webm, 0 (best) to 51"),
                   0, 51)
      ->capture_default_str()
      ->group(kPictures);
}

}  // namespace

void add_segment_command(CLI::App& parent, Command& run) {
  auto settings = std::make_shared<SegmentSettings>();
  CLI::App* app = parent.add_subcommand(
      "segment", "masks of what is in a video: backgrounds, privacy, streets");
  app->footer(kHelp);
  app->add_option("input", settings->input,
                  "a video file, a folder or 'pattern' of pictures (the frames of one), or - for "
                  "standard input")
      ->required();
  app->add_option("-o,--out", settings->outputs,
                  "where the masks go; may be given several times: a folder for PNGs of labels, a "
                  ".jsonl file or - for run lengths (COCO RLE)")
      ->allow_extra_args(false);
  app->add_option("--format", settings->format,
                  "format of --out instead of by ending: " + format_names(mask_formats()));
  app->add_option("--model", settings->model,
                  "MainNet: a model's name (`sparing models list`), manifest (.json) or ONNX file")
      ->capture_default_str();
  app->add_option("--aux", settings->aux,
                  "AuxNet, likewise (default: the one that MainNet's manifest names)");
  add_flags(*app, settings->runtime);
  check_range<long long>(
      app->add_option("--max-frames", settings->max_frames, "stop after so many frames (0: all)"),
      0, 1e15);
  check_range<int>(app->add_option("--decoder-threads", settings->decoder_threads,
                                   "threads of the video decoder"),
                   1, 64)
      ->capture_default_str();
  app->add_flag("--json", settings->json, "print the summary as one JSON object");
  app->add_flag("-q,--quiet", settings->quiet, "no progress and no summary");
  add_pictures(*app, *settings);
  add_flags(*app, settings->segmenter.segment, {kTime, ""});
  add_flags(*app, settings->segmenter.ensemble, {kAdvanced, ""});
  add_flags(*app, settings->segmenter.fusion, {kAdvanced, ""});
  add_flags(*app, settings->segmenter.motion, {kAdvanced, "motion-"});
  add_flags(*app, settings->segmenter.learn, {kAdvanced, ""});
  add_flags(*app, settings->segmenter.trainer, {kAdvanced, ""});
  refuse_empty_values(*app);
  app->callback(
      [settings, app, &run] { run = [settings, app] { return run_segment(*settings, *app); }; });
}

}  // namespace sparing::cli

// sparing detect: the main job.
#include <algorithm>
#include <memory>
#include <string>

#include "commands.h"
#include "detect_settings.h"
#include "option_flags.h"
#include "signals.h"
#include "sparing/io/sink.h"

namespace sparing::cli {
namespace {

constexpr const char* kHelp =
    "Examples:\n"
    "  sparing detect clip.mp4 --out boxes.jsonl                 boxes as JSON Lines\n"
    "  sparing detect clip.mp4 --out boxes.jsonl --render boxes.mp4 --classes person,car\n"
    "  sparing detect photos/ --out boxes.json --format coco     a folder of pictures\n"
    "  sparing detect 'shots/*.png' --out -                      a pattern; JSON Lines to a pipe\n"
    "  ffmpeg -i rtsp://... -an -c copy -f matroska - | sparing detect - --out boxes.jsonl\n"
    "  sparing detect a.mp4 b.mp4 c.mp4 --out boxes.jsonl        many streams, spending least\n"
    "  sparing detect a.mp4 b.mp4 --budget 5ms --render '{name}-boxes.mp4'\n\n"
    "One input alone is looked at frame by frame; with several inputs, or an option of many streams,\n"
    "only at what needs it, and the other frames' boxes are filled in. Ctrl-C ends the run after\n"
    "what is in flight and keeps what was found. A TIME is a number in the unit shown, or has a unit of\n"
    "its own: 25ms, 1.5s, 2min (us, ms, s, min, h).";

constexpr const char* kStreams = "Many streams";
constexpr const char* kAdvanced = "Advanced, many streams";

int run_detect(DetectSettings& settings, const CLI::App& app) {
  // Before any thread is made: they inherit the signal mask.
  const std::stop_token stop = stop_on_signals();
  for (const CLI::Option* option : app.get_options()) {
    if (option->count() == 0) continue;
    settings.given.push_back(option->get_name());
    const std::string group = option->get_group();
    const bool of_streams = group == kStreams || group == kAdvanced;
    if (of_streams && settings.streams_option.empty()) settings.streams_option = option->get_name();
  }
  if (Status status = check_settings(settings); !status.ok()) return report(status.error());
  const bool many = settings.inputs.size() > 1 || !settings.streams_option.empty();
  return many ? run_many_streams(settings, stop) : run_whole_frames(settings, stop);
}

void add_outputs(CLI::App& app, DetectSettings& settings) {
  std::string formats;
  for (const SinkFormat& format : sink_formats()) {
    formats += (formats.empty() ? "" : ", ") + std::string(format.name);
  }
  app.add_option("-o,--out", settings.outputs,
                 "where the boxes go; may be given several times; - is standard output; the format "
                 "follows from the ending (.jsonl .json .txt .mp4); {stream} and {name} make one "
                 "file an input")
      ->allow_extra_args(false);
  app.add_option("--format", settings.format, "format of --out instead of by ending: " + formats);
  app.add_option("--render", settings.render,
                 "a video (mp4) with the boxes drawn in; {stream} and {name} as of --out");
}

void add_streams_options(CLI::App& app, DetectSettings& settings) {
  const FlagStyle style{kStreams, ""};
  add_flags(app, settings.streams, style);
  add_flags(app, settings.run, style);
  app.add_flag("--sequence", settings.sequence,
               "the pictures of a folder or pattern are the frames of a video, 25 a second")
      ->group(kStreams);
  app.add_option("--processors", settings.processors,
                 "run canvases on several at once, each as device:precision:cores, e.g. "
                 "cpu:int8:1,cpu:bf16:1; int8 is the model NAME-int8 (`sparing models quantize`)")
      ->group(kStreams);
  app.add_option("--profile", settings.profiles,
                 "the processor's times (`sparing models profile`); once for each processor "
                 "(default: the stored ones, else measured)")
      ->allow_extra_args(false)
      ->group(kStreams);
  app.add_option("--scales", settings.scales,
                 "what `sparing train-scale` learned (default: what is stored for the model)")
      ->group(kStreams);
  app.add_option("--explain", settings.explain,
                 "write pictures of regions and canvases, and a timeline, into this folder; slower")
      ->group(kStreams);
  app.add_option("--export-canvases", settings.export_canvases,
                 "write packed canvases with labels, to train a network on, into this folder")
      ->group(kStreams);
}

void add_tuning(CLI::App& app, StreamTuning& tuning) {
  add_flags(app, tuning.roi, {kAdvanced, kRoiPrefix});
  add_flags(app, tuning.merge, {kAdvanced, ""});
  add_flags(app, tuning.probes, {kAdvanced, ""});
  add_flags(app, tuning.canvas, {kAdvanced, ""});
  add_flags(app, tuning.pack, {kAdvanced, kPackPrefix});
  add_flags(app, tuning.priority, {kAdvanced, ""});
  add_flags(app, tuning.plan, {kAdvanced, ""});
  add_flags(app, tuning.reconstruct, {kAdvanced, ""});
  add_flags(app, tuning.track, {kAdvanced, ""});
  add_flags(app, tuning.scores, {kAdvanced, ""});
  add_flags(app, tuning.fill, {kAdvanced, ""});
  add_flags(app, tuning.latency, {kAdvanced, ""});
}

}  // namespace

void add_detect_command(CLI::App& parent, Command& run) {
  auto settings = std::make_shared<DetectSettings>();
  CLI::App* app = parent.add_subcommand("detect", "find objects in every frame of videos");
  app->footer(kHelp);
  app->add_option("input", settings->inputs,
                  "video files, a folder or 'pattern' of pictures, or - for standard input")
      ->required();
  add_outputs(*app, *settings);
  app->add_option("--model", settings->model,
                  "a model's name (`sparing models list`), manifest (.json) or ONNX file")
      ->capture_default_str();
  add_flags(*app, settings->detect);
  add_flags(*app, settings->runtime);
  check_range<long long>(app->add_option("--max-frames", settings->max_frames,
                                         "stop each input after so many frames (0: all)"),
                         0, 1e15);
  check_range<int>(app->add_option("--decoder-threads", settings->decoder_threads,
                                   "threads of the video decoder"),
                   1, 64)
      ->capture_default_str();
  app->add_option("--dump-inputs", settings->dump_inputs,
                  "write what the network sees, a NumPy file a frame, into this folder");
  app->add_flag("--json", settings->json, "print the summary as one JSON object");
  app->add_flag("-q,--quiet", settings->quiet, "no progress and no summary");
  add_streams_options(*app, *settings);
  add_flags(*app, settings->explain_options, {kAdvanced, ""});
  add_flags(*app, settings->export_options, {kAdvanced, ""});
  add_tuning(*app, settings->tuning);
  refuse_empty_values(*app);
  app->callback(
      [settings, app, &run] { run = [settings, app] { return run_detect(*settings, *app); }; });
}

}  // namespace sparing::cli

// sparing models quantize: a model in 8-bit integers, kept only when it finds what the original
// finds, or labels as it labels.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "commands.h"
#include "eval_classes.h"
#include "exit_codes.h"
#include "option_flags.h"
#include "program.h"
#include "quantize_parts.h"
#include "quantize_report.h"
#include "quantize_segments.h"
#include "runtime.h"
#include "sampled_source.h"
#include "signals.h"
#include "sparing/base/clock.h"
#include "sparing/io/annotations.h"
#include "sparing/io/file.h"
#include "sparing/metrics/agreement.h"
#include "sparing/metrics/average_precision.h"
#include "sparing/pipeline/frame_network.h"
#include "sparing/streams/latency_meter.h"

namespace sparing::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kHelp =
    "Examples:\n"
    "  sparing models quantize nanodet-g --calib clip.mp4\n"
    "  sparing models quantize nanodet-g --calib clip.mp4 --gt gt.txt --size 768x576,384x288\n"
    "  sparing models quantize street --calib drive.mp4\n"
    "  sparing detect clip.mp4 --model nanodet-g-int8 --out boxes.jsonl\n\n"
    "The clip should look like what the model will see, and have what it looks for. The new model is\n"
    "refused (exit code 7) when it agrees too little with the original. Needs\n"
    "`scripts/setup --quantize` once.";

struct QuantizeOptions {
  int frames = 100;
  double max_drop = -1;
  std::string preset = "mixed";
  int threads = 0;

  static constexpr auto fields() {
    return std::tuple{
        option("frames", &QuantizeOptions::frames)
            .help("frames that calibrate, and as many between them that the models are compared on")
            .range(1, 10000),
        option("max-drop", &QuantizeOptions::max_drop)
            .help(
                "refuse the model when it loses more: of AP with --gt, else of the agreement (1 - F1 "
                "of its boxes against the original's; default 0.01), or of the mIoU of its labels "
                "against the original's (default 0.1)")
            .range(0, 1)
            .unset(-1),
        option("preset", &QuantizeOptions::preset)
            .help("of NNCF; performance: all activations symmetric")
            .choices("mixed|performance"),
        option("threads", &QuantizeOptions::threads)
            .help("threads for all but the timing; 0: one per core")
            .range(0, 1024),
    };
  }
};

struct QuantizeCommand {
  std::string model;
  std::string calib;
  std::string out;
  std::string name;
  std::vector<std::string> sizes;
  std::string ground_truth;
  GroundTruthOptions reading;
  QuantizeOptions options;
  bool json = false;
  bool quiet = false;

  int run();

 private:
  struct Job {
    Model original;
    ModelManifest manifest;  // of the new model
    fs::path folder;         // where it goes
    fs::path scratch;
    FramePlan frames;
    std::optional<AnnotationSet> truth;
    std::vector<DetectionSet> before;      // the original's detections, by size
    std::vector<LabelMaps> labels_before;  // or its labels
    std::vector<Size> tensor_sizes;
    QuantizeReport report;

    bool segments() const { return original.manifest.task == ModelTask::kSegment; }
  };

  Result<Context> context(const std::string& precision, int threads) const;
  Status prepare(Job& job);
  Status run_original(Job& job) const;
  int run_tool(Job& job) const;
  Result<Model> finish_model(Job& job) const;
  Status check(Job& job, const Model& candidate) const;
  Result<QuantizeCheck> compare(const Job& job, const DetectionSet& before,
                                const DetectionSet& after) const;
  Result<QuantizeCheck> check_at(const Job& job, Context& context, const Model& candidate,
                                 std::size_t size) const;
  Status time(Job& job, const Model& candidate) const;
  int conclude(const Job& job) const;
  ClipRun clip_run(const Job& job, std::size_t size) const;
  void tell(const std::string& text) const {
    if (!quiet) std::fprintf(stderr, "sparing: %s\n", text.c_str());
  }
};

Error usage(std::string thing, std::string problem, std::string fix) {
  return {ErrorCode::kInvalidArgument, std::move(thing), std::move(problem), std::move(fix)};
}

Result<Context> QuantizeCommand::context(const std::string& precision, int threads) const {
  RuntimeOptions runtime;
  runtime.precision = precision;
  runtime.threads = threads;
  runtime.streams = threads == 1 ? 1 : 0;
  runtime.no_cache = true;  // these networks may be gone in a minute
  return create_context(runtime);
}

std::string to_precision(const Context& context) {
  return std::string(to_string(context.options().precision));
}

ClipRun QuantizeCommand::clip_run(const Job& job, std::size_t size) const {
  ClipRun run;
  run.clip = calib;
  run.size = sizes[size];
  run.frames = job.frames;
  run.stop = stop_on_signals();
  return run;
}

Status QuantizeCommand::prepare(Job& job) {
  SPARING_RETURN_IF_ERROR(validate_options(options));
  if (calib == "-") return usage("--calib -", "the clip is read several times", "give a file");
  const fs::path python = quantize_python();
  if (python.empty()) {
    return Error{
        ErrorCode::kNotSupported, "quantisation", "its Python environment is missing",
        "run scripts/setup --quantize, or set SPARING_QUANTIZE_PYTHON to a Python with the "
        "packages of tools/requirements-quantize.txt"};
  }
  const ModelPaths paths = default_model_paths(share_dir());
  SPARING_ASSIGN_OR_RETURN(Context f32, context("f32", options.threads));
  SPARING_ASSIGN_OR_RETURN(job.original, resolve_model(model, paths, f32));
  const std::string& old_name = job.original.manifest.name;
  if (name.empty()) name = old_name + "-int8";
  if (name == old_name) {
    return usage("--name '" + name + "'", "it is the original's", "give the new model another");
  }
  SPARING_ASSIGN_OR_RETURN(job.manifest, quantized_manifest(job.original.manifest, name));
  job.folder = out.empty() ? paths.model_dir : fs::path(out);
  if (!ground_truth.empty() && job.segments()) {
    return usage("--gt '" + ground_truth + "'", "it is for detectors",
                 "leave it out: the labels of '" + old_name + "' are what is compared with");
  }
  if (!ground_truth.empty()) {
    SPARING_ASSIGN_OR_RETURN(job.truth, read_ground_truth(ground_truth, reading));
  }
  if (sizes.empty()) sizes = {""};
  SPARING_ASSIGN_OR_RETURN(const auto source, open_source(calib));
  for (const std::string& size : sizes) {
    FrameNetwork network;
    SPARING_RETURN_IF_ERROR(network.load(f32, job.original, size));
    SPARING_ASSIGN_OR_RETURN(
        const Size tensor,
        input_size(network.manifest.input, source->info().display_size, network.requested_size));
    job.tensor_sizes.push_back(tensor);
  }
  SPARING_ASSIGN_OR_RETURN(const std::int64_t total, count_frames(calib, stop_on_signals()));
  job.frames = plan_frames(total, options.frames);
  job.report.name = name;
  job.report.original = old_name;
  job.report.clip = calib;
  job.report.folder = job.folder.string();
  job.report.calibration_frames = static_cast<std::int64_t>(job.frames.calibration.size());
  job.report.check_frames = static_cast<std::int64_t>(job.frames.check.size());
  job.report.max_drop = options.max_drop;
  if (options.max_drop < 0) job.report.max_drop = job.segments() ? 0.1 : 0.01;
  job.report.bytes_before = model_bytes(job.original.file);
  return {};
}

// Both what calibrates and what the new model is compared with.
Status QuantizeCommand::run_original(Job& job) const {
  tell("running " + job.report.original + " on " + std::to_string(job.report.calibration_frames) +
       " frames of '" + calib + "', and on " + std::to_string(job.report.check_frames) +
       " to compare");
  SPARING_ASSIGN_OR_RETURN(Context f32, context("f32", options.threads));
  const fs::path inputs = job.scratch / "inputs";
  std::error_code error;
  fs::create_directory(inputs, error);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    ClipRun run = clip_run(job, i);
    run.dump_folder = inputs;
    run.dump_prefix = std::to_string(i) + "-";
    if (job.segments()) {
      SPARING_ASSIGN_OR_RETURN(LabelMaps maps, segment_clip(f32, job.original, run));
      job.labels_before.push_back(std::move(maps));
    } else {
      SPARING_ASSIGN_OR_RETURN(DetectionSet found, detect_in_clip(f32, job.original, run));
      job.before.push_back(std::move(found));
    }
  }
  return {};
}

// 0, or the exit code of what has been reported.
int QuantizeCommand::run_tool(Job& job) const {
  tell("quantising");
  const std::string python = quantize_python().string();
  const fs::path result = job.scratch / job.manifest.file;
  std::vector<std::string> words = {python,
                                    (share_dir() / "tools" / "quantize_model.py").string(),
                                    job.original.file.string(),
                                    "--inputs",
                                    (job.scratch / "inputs").string(),
                                    "--out",
                                    result.string(),
                                    "--preset",
                                    options.preset,
                                    "--threads",
                                    std::to_string(options.threads)};
  if (!job.manifest.input.name.empty())
    words.insert(words.end(), {"--input", job.manifest.input.name});
  const auto start = Clock::now();
  const int code = run_program(words, stop_on_signals());
  job.report.quantize_seconds = std::chrono::duration<double>(Clock::now() - start).count();
  if (stop_on_signals().stop_requested() || code == kExitInterrupted) return kExitInterrupted;
  if (code < 0 || code == 126 || code == 127) {
    return report({ErrorCode::kNotSupported, "quantisation", "cannot run '" + python + "'",
                   "run scripts/setup --quantize, or correct SPARING_QUANTIZE_PYTHON"});
  }
  // The tool has said what is wrong.
  if (code == 6) return kExitOutput;
  return code == 0 ? kExitOk : kExitModel;
}

Result<Model> QuantizeCommand::finish_model(Job& job) const {
  const fs::path file = job.scratch / job.manifest.file;
  SPARING_ASSIGN_OR_RETURN(job.manifest.sha256, sha256_file(file));
  SPARING_ASSIGN_OR_RETURN(job.manifest.weights_sha256,
                           sha256_file(fs::path(file).replace_extension(".bin")));
  job.report.bytes_after = model_bytes(file);
  const std::string text = to_json(job.manifest);
  const fs::path manifest = job.scratch / (name + ".json");
  const auto bytes = std::as_bytes(std::span(text));
  SPARING_RETURN_IF_ERROR(write_file(manifest, std::span(&bytes, 1)));
  // As it will be found, but not among the models of before.
  SPARING_ASSIGN_OR_RETURN(Context f32, context("f32", 1));
  return resolve_model(manifest.string(), {{}, job.scratch}, f32);
}

// VOC's AP at IoU .5 over the frames that were compared.
Result<double> average_precision(const DetectionSet& found, const AnnotationSet& all,
                                 const std::set<std::int64_t>& frames) {
  AnnotationSet truth{all.labels, {}};
  for (const ImageAnnotations& image : all.images) {
    if (frames.contains(image.image_id)) truth.images.push_back(image);
  }
  EvaluationOptions evaluation;
  evaluation.classes = annotated_classes(truth);
  DetectionSet mapped = map_classes(found, truth);
  remove_other_classes(mapped, evaluation.classes);
  SPARING_ASSIGN_OR_RETURN(const Evaluation result, evaluate(mapped, truth, evaluation));
  if (result.ap50_voc < 0) {
    return Error{ErrorCode::kInput, "--gt", "it has no object in the frames that are compared",
                 "give the ground truth of the --calib clip"};
  }
  return result.ap50_voc;
}

Result<QuantizeCheck> QuantizeCommand::compare(const Job& job, const DetectionSet& before,
                                               const DetectionSet& after) const {
  AgreementOptions agreeing;
  agreeing.confidence = job.original.manifest.score_threshold;
  SPARING_ASSIGN_OR_RETURN(const Agreement agreed, agreement(before, after, agreeing));
  QuantizeCheck check;
  check.boxes = agreed.reference_boxes;
  check.agreement = agreed.f1;
  check.drop = 1 - agreed.f1;
  if (job.truth) {
    SPARING_ASSIGN_OR_RETURN(check.ap_before,
                             average_precision(before, *job.truth, job.frames.check));
    SPARING_ASSIGN_OR_RETURN(check.ap_after,
                             average_precision(after, *job.truth, job.frames.check));
    check.drop = *check.ap_before - *check.ap_after;
  } else if (agreed.reference_boxes == 0) {
    return Error{ErrorCode::kInput, "clip '" + calib + "'",
                 "'" + job.report.original + "' finds nothing in it, so nothing can be compared",
                 "give a clip with objects"};
  }
  return check;
}

Result<QuantizeCheck> QuantizeCommand::check_at(const Job& job, Context& context,
                                                const Model& candidate, std::size_t size) const {
  const ClipRun run = clip_run(job, size);
  if (job.segments()) {
    SPARING_ASSIGN_OR_RETURN(const LabelMaps after, segment_clip(context, candidate, run));
    return compare_labels(job.labels_before[size], after);
  }
  SPARING_ASSIGN_OR_RETURN(const DetectionSet after, detect_in_clip(context, candidate, run));
  return compare(job, job.before[size], after);
}

// In f32, and in what `auto` means here: where bf16 is, the layers that stay floating run in it.
Status QuantizeCommand::check(Job& job, const Model& candidate) const {
  tell("comparing");
  std::string done;
  for (const char* precision : {"f32", "auto"}) {
    SPARING_ASSIGN_OR_RETURN(Context context, this->context(precision, options.threads));
    if (to_precision(context) == done) continue;
    done = to_precision(context);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      SPARING_ASSIGN_OR_RETURN(QuantizeCheck row, check_at(job, context, candidate, i));
      row.size = job.tensor_sizes[i];
      row.precision = done;
      job.report.checks.push_back(std::move(row));
    }
  }
  return {};
}

Status QuantizeCommand::time(Job& job, const Model& candidate) const {
  constexpr int kRuns = 3;  // in each of the rounds
  constexpr int kRounds = 3;
  tell("timing on one thread");
  std::vector<LatencyMeter> contenders;
  const auto add = [&](const Context& context, const Model& model) -> Status {
    SPARING_ASSIGN_OR_RETURN(contenders.emplace_back(), LatencyMeter::create(context, model));
    return {};
  };
  SPARING_ASSIGN_OR_RETURN(Context f32, context("f32", 1));
  SPARING_ASSIGN_OR_RETURN(Context fastest, context("auto", 1));
  const bool has_bf16 = to_precision(fastest) == "bf16";
  SPARING_RETURN_IF_ERROR(add(f32, job.original));
  SPARING_RETURN_IF_ERROR(add(fastest, candidate));
  if (has_bf16) SPARING_RETURN_IF_ERROR(add(fastest, job.original));
  for (int round = 0; round < kRounds; ++round) {
    for (LatencyMeter& meter : contenders) {
      SPARING_RETURN_IF_ERROR(measure_all(meter, job.tensor_sizes, kRuns, stop_on_signals()));
    }
  }
  for (std::size_t i = 0; i < job.tensor_sizes.size(); ++i) {
    QuantizeSpeed& speed = job.report.speeds.emplace_back();
    speed.size = job.tensor_sizes[i];
    const auto median = [&](std::size_t which) {
      for (const ShapeLatency& row : contenders[which].results()) {
        if (row.size == speed.size) return row.seconds;
      }
      return 0.0;
    };
    speed.f32_seconds = median(0);
    speed.int8_seconds = median(1);
    if (has_bf16) speed.bf16_seconds = median(2);
  }
  return {};
}

int QuantizeCommand::conclude(const Job& job) const {
  if (json) {
    std::printf("%s\n", report_json(job.report).c_str());
  } else if (!quiet) {
    std::fputs(report_text(job.report).c_str(), stdout);
  }
  if (!job.report.accepted()) {
    const QuantizeCheck& worst = job.report.worst();
    std::fprintf(
        stderr,
        "sparing: model '%s': refused: it loses %.4f of the %s at %dx%d (%s), more than "
        "--max-drop %g, and nothing is kept; calibrate with another clip or more --frames, "
        "or allow more\n",
        name.c_str(), worst.drop, job.segments() ? "mIoU" : (job.truth ? "AP" : "agreement"),
        worst.size.width, worst.size.height, worst.precision.c_str(), job.report.max_drop);
    return kExitRefused;
  }
  if (Status status = keep_model(name, job.scratch, job.folder); !status.ok()) {
    return report(status.error());
  }
  if (!json && !quiet) {
    std::printf("kept: %s\n", (job.folder / (name + ".json")).c_str());
  }
  return kExitOk;
}

int QuantizeCommand::run() {
  stop_on_signals();
  Job job;
  if (Status status = prepare(job); !status.ok()) return report(status.error());
  auto scratch =
      ScratchFolder::create(job.folder / ("." + name + ".partial-" + std::to_string(getpid())));
  if (!scratch.ok()) return report(scratch.error());
  job.scratch = scratch->path();
  if (Status status = run_original(job); !status.ok()) return report(status.error());
  if (const int code = run_tool(job); code != kExitOk) return code;
  auto candidate = finish_model(job);
  if (!candidate.ok()) return report(candidate.error());
  if (Status status = check(job, *candidate); !status.ok()) return report(status.error());
  if (Status status = time(job, *candidate); !status.ok()) return report(status.error());
  return conclude(job);
}

}  // namespace

void add_quantize_command(CLI::App& parent, Command& run) {
  auto command = std::make_shared<QuantizeCommand>();
  CLI::App* app =
      parent.add_subcommand("quantize", "make a model in 8-bit integers, calibrated on a clip");
  app->footer(kHelp);
  app->add_option("model", command->model, "a model's name, manifest (.json) or ONNX file")
      ->required();
  app->add_option("--calib", command->calib, "a video, folder or 'pattern' of pictures")
      ->required();
  app->add_option("-o,--out", command->out,
                  "folder for the new model (default: the models folder)");
  app->add_option("--name", command->name, "of the new model (default: the old one's and -int8)");
  app->add_option("--size", command->sizes,
                  "sizes of the network's input to calibrate and compare at (default: the model's)")
      ->delimiter(',')
      ->type_name("WxH,...");
  app->add_option("--gt", command->ground_truth,
                  "ground truth of the clip (MOT, COCO, YOLO): AP decides instead of agreement");
  app->add_option("--gt-format", command->reading.format,
                  "mot, coco or yolo (default: from the content)");
  app->add_option("--labels", command->reading.labels,
                  "class names of a MOT or YOLO ground truth, in the order of its ids")
      ->delimiter(',');
  add_flags(*app, command->options);
  app->add_flag("--json", command->json, "print the report as one JSON object");
  app->add_flag("-q,--quiet", command->quiet, "print errors only");
  app->callback([command, &run] { run = [command] { return command->run(); }; });
}

}  // namespace sparing::cli

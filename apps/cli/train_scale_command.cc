// sparing train-scale: how far objects can be shrunk, learnt on a user's own clips.
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "commands.h"
#include "exit_codes.h"
#include "option_flags.h"
#include "progress.h"
#include "runtime.h"
#include "scale_training.h"
#include "signals.h"
#include "sparing/base/clock.h"
#include "sparing/io/file.h"
#include "sparing/io/source.h"
#include "sparing/streams/scale_model_json.h"
#include "sparing/streams/scale_sampler.h"
#include "stream_processors.h"

namespace sparing::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* kHelp =
    "Examples:\n"
    "  sparing train-scale monday.mp4 tuesday.mp4 --model nanodet-g\n"
    "  sparing train-scale clip.mp4 --frames 0-4999 --every 10 --classes person --out scales.json\n\n"
    "Detections in whole frames count as true. Each is drawn alone at every scale; the smallest at\n"
    "which it is found is its safe scale. The earlier two thirds of each clip train a decision tree\n"
    "and a rule by height, the rest judges both, and the better one is used: the one that draws\n"
    "less, of those that draw few too small (--most-under), but never a tree that would draw more\n"
    "than 1.5 times the area of the height rule. Packed detection with the model in this precision\n"
    "finds the result in the models folder by itself.";

// What is learnt from less is chance.
constexpr std::int64_t kLeastTraining = 60;
constexpr std::int64_t kLeastTest = 30;

struct FrameRange {
  std::int64_t first = 0;
  std::int64_t last = std::numeric_limits<std::int64_t>::max();
};

struct TrainScaleCommand {
  std::vector<std::string> clips;
  std::string model = "nanodet-g";
  std::string out;
  std::string frames;
  std::vector<std::string> classes;
  bool json = false;
  bool quiet = false;
  ScaleSamplerOptions sampling;
  LabelOptions labels;
  ScaleTrainingOptions training;
  RuntimeOptions runtime;

  int run();

 private:
  struct Samples {
    std::vector<ScaleSample> train;
    std::vector<ScaleSample> test;
    ScaleSamplerCounters counters;
  };

  Result<FrameRange> frame_range() const;
  Status sample_clip(const std::string& clip, const FrameRange& range, Context& context,
                     const Model& network, Samples& samples) const;
  Status check_enough(const Samples& samples) const;
  int conclude(const ScaleTrainingResult& result, const Samples& samples,
               const fs::path& file) const;
};

Result<FrameRange> TrainScaleCommand::frame_range() const {
  FrameRange range;
  if (frames.empty()) return range;
  const auto read = [](std::string_view text, std::int64_t& value) {
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    return code == std::errc() && end == text.data() + text.size() && value >= 0;
  };
  const std::size_t dash = frames.find('-');
  const bool good = dash != std::string::npos && read(frames.substr(0, dash), range.first) &&
                    (dash + 1 == frames.size() || read(frames.substr(dash + 1), range.last)) &&
                    range.first <= range.last;
  if (good) return range;
  return Error{ErrorCode::kInvalidArgument, "--frames", "'" + frames + "' is no range",
               "give the first and last frame, counted from 0, e.g. 0-379 or 1000-"};
}

void add_counters(const ScaleSamplerCounters& more, ScaleSamplerCounters& sum) {
  sum.frames += more.frames;
  sum.objects += more.objects;
  sum.no_region += more.no_region;
  sum.never_found += more.never_found;
  sum.trials += more.trials;
  sum.canvases += more.canvases;
  sum.canvas_pixels += more.canvas_pixels;
}

Status TrainScaleCommand::sample_clip(const std::string& clip, const FrameRange& range,
                                      Context& context, const Model& network,
                                      Samples& samples) const {
  SourceOptions source_options;
  source_options.stop = stop_on_signals();
  SPARING_ASSIGN_OR_RETURN(const auto source, open_source(clip, source_options));
  DetectOptions detect;
  detect.classes = classes;
  detect.score = 0.2;
  SPARING_ASSIGN_OR_RETURN(Detector detector, Detector::create(context, network, detect));
  SPARING_ASSIGN_OR_RETURN(ScaleSampler sampler,
                           ScaleSampler::create(std::move(detector), sampling, labels));
  if (!quiet) {
    std::fprintf(stderr, "sparing: labelling objects of '%s'\n", source->info().name.c_str());
  }
  ProgressLine line(!quiet);
  const Clock::time_point start = Clock::now();
  std::int64_t count = 0;
  std::optional<std::int64_t> total = source->info().frame_count;
  if (total)
    total = std::min(*total, range.last == FrameRange{}.last ? *total : range.last + 1) -
            std::min(*total, range.first);
  while (true) {
    if (stop_on_signals().stop_requested()) {
      return Error{ErrorCode::kInterrupted, "training", "stopped, nothing was written",
                   "run it again, with fewer --frames or a larger --every"};
    }
    const auto next = source->next();
    if (!next.ok()) {
      // What came before is as good as ever.
      if (count == 0 || next.error().code != ErrorCode::kInput) return next.error();
      line.clear();
      std::fprintf(stderr, "sparing: warning: %s; the %lld frames before are used\n",
                   next.error().to_string().c_str(), static_cast<long long>(count));
      break;
    }
    const std::optional<SourceFrame>& frame = *next;
    if (!frame || frame->index > range.last) break;
    if (frame->index < range.first) continue;
    SPARING_RETURN_IF_ERROR(sampler.add(frame->frame.view()));
    line.update(++count, total, seconds_since(start),
                ", " + std::to_string(sampler.samples().size()) + " objects");
  }
  line.clear();
  add_counters(sampler.counters(), samples.counters);
  // By time, so that no object of the test part was seen a frame before.
  const std::int64_t split = count * 2 / 3;
  for (const LabelledRegion& region : sampler.samples()) {
    (region.frame < split ? samples.train : samples.test).push_back(region.sample);
  }
  return {};
}

Status TrainScaleCommand::check_enough(const Samples& samples) const {
  if (std::ssize(samples.train) >= kLeastTraining && std::ssize(samples.test) >= kLeastTest) {
    return {};
  }
  const ScaleSamplerCounters& counters = samples.counters;
  return Error{ErrorCode::kInput, clips.size() == 1 ? "clip '" + clips[0] + "'" : "the clips",
               std::to_string(samples.train.size()) + " objects to train and " +
                   std::to_string(samples.test.size()) + " to test are too few (" +
                   std::to_string(counters.objects) + " were found in " +
                   std::to_string(counters.frames) + " frames, " +
                   std::to_string(counters.no_region) + " outside of all regions, " +
                   std::to_string(counters.never_found) + " not again when drawn alone)",
               "give longer clips or a smaller --every, until there are " +
                   std::to_string(kLeastTraining) + " and " + std::to_string(kLeastTest)};
}

Json errors_json(const ScaleErrors& errors) {
  Json json;
  json["samples"] = errors.samples;
  json["under_rate"] = errors.under_rate;
  json["area_share"] = errors.area_share;
  json["safe_area_share"] = errors.safe_area_share;
  return json;
}

void print_row(const char* name, const ScaleErrors& errors, bool chosen) {
  std::printf("%-22s %17.1f %% %13.1f %%%s\n", name, errors.under_rate * 100,
              errors.area_share * 100, chosen ? "   used" : "");
}

int TrainScaleCommand::conclude(const ScaleTrainingResult& result, const Samples& samples,
                                const fs::path& file) const {
  const ScaleSamplerCounters& counters = samples.counters;
  if (json) {
    Json out;
    out["schema"] = 1;
    out["model"] = result.model.model;
    out["precision"] = result.model.precision;
    out["predictor"] = result.model.predictor;
    out["frames"] = counters.frames;
    out["objects"] = counters.objects;
    out["no_region"] = counters.no_region;
    out["never_found"] = counters.never_found;
    out["trials"] = counters.trials;
    out["train_samples"] = samples.train.size();
    out["test_samples"] = samples.test.size();
    out["tree"] = errors_json(result.tree);
    out["height"] = errors_json(result.height);
    out["defaults"] = errors_json(result.defaults);
    out["file"] = file.string();
    std::printf("%s\n", out.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
  } else if (!quiet) {
    std::printf(
        "%zu objects trained, %zu tested (of %lld found; %lld outside of all regions, %lld "
        "not found again drawn alone)\n",
        samples.train.size(), samples.test.size(), static_cast<long long>(counters.objects),
        static_cast<long long>(counters.no_region), static_cast<long long>(counters.never_found));
    std::printf("%-22s %19s %15s\n", "predictor", "drawn too small", "area drawn");
    print_row("decision tree", result.tree, result.model.predictor == "tree");
    print_row("height and confidence", result.height, result.model.predictor == "height");
    print_row("defaults", result.defaults, false);
    std::printf("%-22s %19s %13.1f %%\n", "safe scale of each", "",
                result.height.safe_area_share * 100);
    std::printf("written: %s\n", file.c_str());
  }
  return kExitOk;
}

int TrainScaleCommand::run() {
  stop_on_signals();
  auto range = frame_range();
  if (!range.ok()) return report(range.error());
  auto context = create_context(runtime);
  if (!context.ok()) return report(context.error());
  const ModelPaths paths = default_model_paths(share_dir());
  auto network = resolve_model(model, paths, *context);
  if (!network.ok()) return report(network.error());
  const std::string precision = scales_precision(network->manifest.name, *context);
  fs::path file = out;
  if (file.empty()) {
    if (paths.model_dir.empty()) {
      return report({ErrorCode::kOutput, "models folder", "there is no home folder",
                     "name a file with --out, or set SPARING_MODELS_DIR"});
    }
    file = paths.model_dir / "scales" / (network->manifest.name + "." + precision + ".json");
  }
  if (Status s = check_writable(file); !s.ok()) return report(s.error());
  Samples samples;
  for (const std::string& clip : clips) {
    if (Status s = sample_clip(clip, *range, *context, *network, samples); !s.ok()) {
      return report(s.error());
    }
  }
  if (Status s = check_enough(samples); !s.ok()) return report(s.error());
  auto result = train_scales(samples.train, samples.test, training);
  if (!result.ok()) return report(result.error());
  result->model.model = network->manifest.name;
  result->model.precision = precision;
  if (Status s = save_scale_model(file, result->model); !s.ok()) return report(s.error());
  return conclude(*result, samples, file);
}

}  // namespace

void add_train_scale_command(CLI::App& parent, Command& run) {
  auto command = std::make_shared<TrainScaleCommand>();
  CLI::App* app = parent.add_subcommand("train-scale",
                                        "learn on your own clips how small objects can be drawn");
  app->footer(kHelp);
  app->add_option("clips", command->clips, "videos, folders or 'patterns' of pictures")->required();
  app->add_option("--model", command->model, "a model's name, manifest (.json) or ONNX file")
      ->capture_default_str();
  app->add_option("-o,--out", command->out,
                  "the JSON file (default: scales/NAME.PRECISION.json in the models folder)");
  app->add_option("--frames", command->frames, "only these frames of each clip, counted from 0")
      ->type_name("FIRST-LAST");
  app->add_option("--classes", command->classes, "only objects with these labels (default: all)")
      ->delimiter(',');
  add_flags(*app, command->sampling);
  add_flags(*app, command->labels);
  add_flags(*app, command->training);
  add_flags(*app, command->runtime);
  app->add_flag("--json", command->json, "print the report as JSON");
  app->add_flag("-q,--quiet", command->quiet, "print errors only");
  app->callback([command, &run] { run = [command] { return command->run(); }; });
}

}  // namespace sparing::cli

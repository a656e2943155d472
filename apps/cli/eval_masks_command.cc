// sparing eval-masks: segmentations against ground truth, and how steady they are.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "commands.h"
#include "eval_masks_report.h"
#include "exit_codes.h"
#include "option_flags.h"
#include "progress.h"
#include "signals.h"
#include "sparing/base/clock.h"
#include "sparing/base/options.h"
#include "sparing/base/thread_pool.h"
#include "sparing/io/file.h"
#include "sparing/io/masks.h"
#include "sparing/io/source.h"
#include "sparing/pipeline/mask_evaluation.h"

namespace sparing::cli {
namespace {

constexpr const char* kHelp =
    "Examples:\n"
    "  sparing eval-masks masks/ --gt labels/ --frames frames/ --classes 11 --ignore 11\n"
    "  sparing eval-masks masks.jsonl --gt labels/ --frames clip.mp4 --labels names.txt --json\n\n"
    "Pictures belong together by their names, or by the frame's number, or in natural order; "
    "docs/metrics.md defines the figures.";

struct MaskOptions {
  int classes = 0;
  std::string flow = "medium";
  bool occlusion = false;
  bool pc = true;
  int threads = 0;
  int decoder_threads = 1;
  int max_frames = 0;

  static constexpr auto fields() {
    return std::tuple{
        option("classes", &MaskOptions::classes)
            .help("number of classes; --labels tells it, too")
            .range(1, kMaxClasses)
            .unset(0),
        option("flow", &MaskOptions::flow)
            .help("optical flow of F-TC: the preset of DIS")
            .choices("ultrafast|fast|medium"),
        option("occlusion", &MaskOptions::occlusion)
            .help("F-TC: leave out pixels that are covered in the next frame"),
        option("pc", &MaskOptions::pc).help("compute PC, which takes most of the time"),
        option("threads", &MaskOptions::threads)
            .help("threads of PC (default: one a core)")
            .range(1, 256)
            .unset(0),
        option("decoder-threads", &MaskOptions::decoder_threads)
            .help("threads of the video decoder")
            .range(1, 64),
        option("max-frames", &MaskOptions::max_frames)
            .help("stop after so many frames")
            .range(1, 1e9)
            .unset(0),
    };
  }
};

Error usage(std::string thing, std::string problem, std::string fix) {
  return {ErrorCode::kInvalidArgument, std::move(thing), std::move(problem), std::move(fix)};
}

// What does not fit is in the files, whatever the call that noticed.
Error of_frame(Error error, const SourceFrame& frame) {
  if (error.code == ErrorCode::kInvalidArgument) error.code = ErrorCode::kInput;
  error.thing = "frame " + std::to_string(frame.index) +
                (frame.file.empty() ? "" : " ('" + frame.file + "')") + ", " + error.thing;
  return error;
}

struct EvalMasksCommand {
  std::string masks, truth, frames, labels_file, per_frame;
  std::vector<int> ignored;
  std::optional<std::int64_t> stream;
  MaskOptions options;
  bool json = false;
  bool quiet = false;

  int run();

 private:
  Status prepare();
  Status open(const std::stop_token& stop);
  Status evaluate(const std::stop_token& stop);
  Status add(const SourceFrame& frame, MaskEvaluation& evaluation,
             const MaskEvaluation::ParallelFor& parallel_for);
  Status conclude(const MaskEvaluation& evaluation);

  std::optional<LabelClasses> classes_;
  std::unique_ptr<VideoSource> source_;
  std::unique_ptr<MaskReader> mask_reader_, truth_reader_;
  std::unique_ptr<PictureAnalysis> analysis_;
  PicturePair picture_;
  MasksReport report_;
  std::string lines_;  // for --per-frame
};

Result<std::vector<std::string>> read_names(const std::string& path) {
  std::ifstream file(path);
  const auto failed = [&](const char* problem) {
    return Error{ErrorCode::kInput, "labels '" + path + "'", problem,
                 "give a text file with one class name a line"};
  };
  if (!file || std::filesystem::is_directory(path)) return failed("cannot be read");
  std::vector<std::string> names;
  for (std::string name; std::getline(file, name);) {
    if (!name.empty() && name.back() == '\r') name.pop_back();
    if (names.size() > kMaxClasses || name.size() > 1000) return failed("is no list of classes");
    if (name.find_first_not_of(" \t") != std::string::npos) names.push_back(name);
  }
  if (names.empty()) return failed("has no names");
  return names;
}

Status EvalMasksCommand::prepare() {
  if (truth.empty()) {
    return usage("--gt", "is missing",
                 "give a folder of true labels: F-TC and PC say nothing without mIoU beside them");
  }
  if (frames.empty()) {
    return usage("--frames", "is missing", "give the video or the folder that was segmented");
  }
  SPARING_RETURN_IF_ERROR(check_options(options, ""));
  int count = options.classes;
  if (!labels_file.empty()) {
    SPARING_ASSIGN_OR_RETURN(report_.labels, read_names(labels_file));
    const int names = static_cast<int>(report_.labels.size());
    if (count != 0 && count != names) {
      return usage("--classes",
                   "is " + std::to_string(count) + ", but --labels has " + std::to_string(names),
                   "leave one of them out");
    }
    count = names;
  }
  if (count == 0) {
    return usage("--classes", "is missing", "give the number of classes, or --labels FILE");
  }
  const std::vector<std::uint8_t> values(ignored.begin(), ignored.end());
  SPARING_ASSIGN_OR_RETURN(classes_, LabelClasses::create(count, values));
  if (per_frame.empty()) return {};
  return check_writable(per_frame);
}

Status EvalMasksCommand::open(const std::stop_token& stop) {
  SourceOptions reading;
  reading.decoder_threads = options.decoder_threads;
  reading.max_frames = options.max_frames;
  reading.stop = stop;
  SPARING_ASSIGN_OR_RETURN(source_, open_source(frames, reading));
  if (!per_frame.empty()) {
    SPARING_RETURN_IF_ERROR(check_not_an_input(per_frame, std::span(&source_->info(), 1)));
  }
  MaskReaderOptions which;
  which.stream = stream;
  SPARING_ASSIGN_OR_RETURN(mask_reader_, open_masks(masks, source_->info(), which));
  SPARING_ASSIGN_OR_RETURN(truth_reader_, open_masks(truth, source_->info()));
  report_.masks = masks;
  report_.truth = truth;
  report_.frames = frames;
  report_.masks_paired = mask_reader_->pairing();
  report_.truth_paired = truth_reader_->pairing();
  PictureAnalysisOptions analysing;
  for (const auto preset :
       {DenseFlowPreset::kUltrafast, DenseFlowPreset::kFast, DenseFlowPreset::kMedium}) {
    if (options.flow == to_string(preset)) analysing.flow = preset;
  }
  analysing.occlusion = options.occlusion;
  analysing.perceptual = options.pc;
  analysis_ = std::make_unique<PictureAnalysis>(analysing);
  return {};
}

Status EvalMasksCommand::add(const SourceFrame& frame, MaskEvaluation& evaluation,
                             const MaskEvaluation::ParallelFor& parallel_for) {
  if (Status status = analysis_->add(frame.frame.view(), picture_); !status.ok()) {
    return of_frame(status.error(), frame);
  }
  SPARING_ASSIGN_OR_RETURN(const auto labels, mask_reader_->next(frame));
  SPARING_ASSIGN_OR_RETURN(const auto true_labels, truth_reader_->next(frame));
  if (!labels) {
    evaluation.skip();
    ++report_.without_mask;
    return {};
  }
  const Status status =
      evaluation.add(picture_, *labels, true_labels ? &*true_labels : nullptr, parallel_for);
  if (!status.ok()) return of_frame(status.error(), frame);
  if (!per_frame.empty()) lines_ += masks_frame_json(frame, evaluation);
  return {};
}

Status EvalMasksCommand::evaluate(const std::stop_token& stop) {
  const int threads = options.threads > 0 ? options.threads : available_cores();
  std::optional<ThreadPool> pool;
  MaskEvaluation::ParallelFor parallel_for;
  if (threads > 1) {
    // The calling thread works, too.
    pool.emplace(ThreadPoolOptions{.name = "eval-masks", .threads = threads - 1});
    parallel_for = [&pool](int count, const std::function<void(int)>& body) {
      pool->parallel_for(count, body);
    };
  }
  MaskEvaluation evaluation(*classes_);
  ProgressLine progress(!quiet);
  const Clock::time_point start = Clock::now();
  auto total = source_->info().frame_count;
  if (options.max_frames > 0 && (!total || *total > options.max_frames)) total = options.max_frames;
  Status status;
  while (!stop.stop_requested()) {
    auto frame = source_->next();
    if (!frame.ok() && frame.error().code != ErrorCode::kInterrupted) status = frame.error();
    if (!frame.ok() || !frame->has_value()) break;
    status = add(**frame, evaluation, parallel_for);
    if (!status.ok()) break;
    progress.update((*frame)->index + 1, total, seconds_since(start));
  }
  progress.clear();
  SPARING_RETURN_IF_ERROR(std::move(status));
  report_.interrupted = stop.stop_requested();
  return conclude(evaluation);
}

// What is left over, and whether there is anything to report.
Status EvalMasksCommand::conclude(const MaskEvaluation& evaluation) {
  report_.figures = evaluation.total();
  if (!report_.interrupted && options.max_frames == 0) {
    SPARING_ASSIGN_OR_RETURN(report_.unused_masks, mask_reader_->finish());
    SPARING_ASSIGN_OR_RETURN(report_.unused_truth, truth_reader_->finish());
  }
  if (!report_.interrupted && report_.figures.frames == 0) {
    return Error{
        ErrorCode::kInput, "masks '" + masks + "'",
        "none belongs to a frame of '" + frames + "' (paired " + report_.masks_paired + ")",
        "give masks of these frames"};
  }
  if (!report_.interrupted && !report_.figures.scores.miou) {
    return Error{ErrorCode::kInput, "ground truth '" + truth + "'",
                 "it says nothing of any frame with a mask (paired " + report_.truth_paired +
                     "), and F-TC and PC are not shown without mIoU",
                 "give true labels of these frames"};
  }
  if (per_frame.empty()) return {};
  const auto bytes = std::as_bytes(std::span<const char>(lines_));
  return write_file(per_frame, std::span(&bytes, 1));
}

int EvalMasksCommand::run() {
  // Before any thread is made: they inherit the signal mask.
  const std::stop_token stop = stop_on_signals();
  if (Status status = prepare(); !status.ok()) return report(status.error());
  if (Status status = open(stop); !status.ok()) return report(status.error());
  if (Status status = evaluate(stop); !status.ok()) return report(status.error());
  if (json) {
    std::printf("%s\n", masks_report_json(report_).c_str());
  } else if (!quiet) {
    std::fputs(masks_report_text(report_).c_str(), stdout);
  }
  if (!report_.interrupted) return kExitOk;
  std::fprintf(stderr, "sparing: interrupted after %lld frames of '%s'; the figures are of these\n",
               static_cast<long long>(report_.figures.frames), frames.c_str());
  return kExitInterrupted;
}

}  // namespace

void add_eval_masks_command(CLI::App& parent, Command& run) {
  auto command = std::make_shared<EvalMasksCommand>();
  CLI::App* app =
      parent.add_subcommand("eval-masks", "compare segmentations with ground truth and in time");
  app->footer(kHelp);
  app->add_option("masks", command->masks,
                  "a folder of PNG label maps, or JSON Lines of run lengths")
      ->required();
  app->add_option("--gt", command->truth,
                  "true labels: a folder of PNG label maps (or JSON Lines); not of every frame");
  app->add_option("--frames", command->frames, "the video, folder or 'pattern' of pictures");
  app->add_option("--labels", command->labels_file, "a text file with one class name a line")
      ->type_name("FILE");
  app->add_option("--ignore", command->ignored,
                  "labels that count nowhere, besides 255: --ignore 11")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check([](const std::string& text) { return number_problem(text, true, 0, 255, ""); });
  check_range<std::int64_t>(app->add_option("--stream", command->stream,
                                            "of several streams' JSON Lines this one, from 0"),
                            0, 1e9);
  add_flags(*app, command->options);
  app->add_option("--per-frame", command->per_frame,
                  "the figures of each frame and so far as JSON Lines")
      ->type_name("FILE");
  app->add_flag("--json", command->json, "print one JSON object");
  app->add_flag("-q,--quiet", command->quiet, "no progress and no table");
  refuse_empty_values(*app);
  app->callback([command, &run] { run = [command] { return command->run(); }; });
}

}  // namespace sparing::cli

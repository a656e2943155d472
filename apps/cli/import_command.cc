// sparing import: what a network would see of one frame.
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "commands.h"
#include "exit_codes.h"
#include "frame_finder.h"
#include "import_report.h"
#include "import_settings.h"
#include "npy.h"
#include "option_flags.h"
#include "progress.h"
#include "signals.h"
#include "sparing/base/aligned_buffer.h"
#include "sparing/base/thread_pool.h"
#include "sparing/io/file.h"
#include "sparing/io/image.h"
#include "sparing/io/source.h"
#include "summary.h"
#include "tensor_picture.h"

namespace sparing::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kHelp =
    "Examples:\n"
    "  sparing import clip.mp4 --frame 100 --out frame.png        the picture\n"
    "  sparing import clip.mp4 --time 12.5 --model nanodet-g --out input.npy --out input.png\n"
    "  sparing import clip.mp4 --rect 100,50.5,320,240 --size 128x96 --type f16 --out crop.npy\n\n"
    "An .npy file has exactly the tensor; a .png shows it with the normalisation undone. "
    "docs/import.md defines the values.";

struct ImportCommand {
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  int decoder_threads = 1;
  bool json = false;
  bool quiet = false;
  ImportSettings settings;

  int run();

 private:
  Status check() const;
  Status import(ImportReport& report) const;
  Status write(const std::string& output, const ImportReport& report,
               const TensorView& tensor) const;
};

std::string ending(const std::string& path) {
  std::string text = fs::path(path).extension().string();
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

Error usage(std::string thing, std::string problem, std::string fix) {
  return {ErrorCode::kInvalidArgument, std::move(thing), std::move(problem), std::move(fix)};
}

Status ImportCommand::check() const {
  if (inputs.size() != 1) {
    return usage("inputs", std::to_string(inputs.size()) + " were given",
                 "give one video, folder, pattern or -; quote a pattern, e.g. 'shots/*.png'");
  }
  for (const std::string& output : outputs) {
    if (ending(output) != ".npy" && ending(output) != ".png") {
      return usage("output '" + output + "'", "its name does not tell the format",
                   "end it with .npy or .png");
    }
  }
  return {};
}

Shape shape_of(const ImportRequest& request, Size size) {
  return request.layout == Layout::kNchw ? Shape{1, request.channels, size.height, size.width}
                                         : Shape{1, size.height, size.width, request.channels};
}

Result<Affine> draw(const VideoFrame& frame, const ImportRequest& request,
                    const ImportSettings& settings, const TensorView& tensor) {
  if (settings.reference) return import_frame_reference(frame, request.options, tensor);
  if (settings.threads == 1) return import_frame(frame, request.options, tensor);
  // The calling thread works, too.
  ThreadPool pool({.name = "import", .threads = settings.threads - 1});
  return import_frame(
      frame, request.options, tensor, settings.threads,
      [&pool](int count, const std::function<void(int)>& body) { pool.parallel_for(count, body); });
}

Status ImportCommand::write(const std::string& output, const ImportReport& report,
                            const TensorView& tensor) const {
  if (ending(output) == ".npy") {
    const Shape shape = shape_of(report.request, report.size);
    const auto bytes =
        static_cast<std::size_t>(*element_count(shape)) * info(report.request.type).size;
    return write_npy(output, shape, report.request.type, {tensor.data, bytes});
  }
  return write_png(output, report.size, tensor.channels == 1 ? 1 : 3,
                   to_picture(tensor, report.request.options));
}

Status ImportCommand::import(ImportReport& report) const {
  const ImportRequest& request = report.request;
  const VideoFrame& frame = report.frame.frame.view();
  SPARING_ASSIGN_OR_RETURN(report.size, tensor_size(request, frame));
  const Shape shape = shape_of(request, report.size);
  AlignedBuffer memory(static_cast<std::size_t>(*element_count(shape)) * info(request.type).size);
  if (memory.data() == nullptr) {
    return Error{ErrorCode::kInternal, "tensor " + to_string_shape(shape), "out of memory",
                 "give a smaller --size"};
  }
  const TensorView tensor = dense_view(memory.data(), request.type, shape, request.layout);
  SPARING_ASSIGN_OR_RETURN(report.map, draw(frame, request, settings, tensor));
  report.channels = statistics(tensor);
  if (report.frame.damaged) report.notes.push_back("the decoder reported errors in this picture");
  if (is_hdr(frame.color_space)) report.notes.push_back(hdr_note(report.source.name));
  for (const std::string& output : outputs) {
    SPARING_RETURN_IF_ERROR(write(output, report, tensor));
    report.outputs.push_back(output);
    if (request.type == DataType::kBfloat16 && ending(output) == ".npy") {
      report.notes.push_back("NumPy has no bfloat16: " + output +
                             " has its bits as uint16, for .view(ml_dtypes.bfloat16)");
    }
  }
  return {};
}

int ImportCommand::run() {
  // Before any thread is made: they inherit the signal mask.
  const std::stop_token stop = stop_on_signals();
  if (Status status = check(); !status.ok()) return report(status.error());
  auto request = make_request(settings);
  if (!request.ok()) return report(request.error());

  SourceOptions options;
  options.decoder_threads = decoder_threads;
  options.stop = stop;
  auto source = open_source(inputs[0], options);
  if (!source.ok()) return report(source.error());
  ImportReport result;
  result.source = (*source)->info();
  for (const std::string& output : outputs) {
    const Status status = check_not_an_input(output, std::span(&result.source, 1));
    if (!status.ok()) return report(status.error());
  }
  ProgressLine progress(!quiet);
  FrameChoice choice;
  choice.number = std::max(settings.frame, 0);
  if (settings.time >= 0) choice.seconds = settings.time;
  auto frame = find_frame(**source, choice, stop, progress);
  if (!frame.ok()) return report(frame.error());
  result.frame = std::move(*frame);
  result.request = std::move(*request);
  if (Status status = import(result); !status.ok()) return report(status.error());
  if (json) {
    std::printf("%s\n", report_json(result).c_str());
  } else if (!quiet) {
    std::fputs(report_text(result).c_str(), stdout);
  }
  return kExitOk;
}

}  // namespace

void add_import_command(CLI::App& parent, Command& run) {
  auto command = std::make_shared<ImportCommand>();
  CLI::App* app = parent.add_subcommand("import", "show what a network sees of one frame");
  app->footer(kHelp);
  app->add_option("input", command->inputs,
                  "a video file, a folder or 'pattern' of pictures, or - for standard input")
      ->required();
  app->add_option("-o,--out", command->outputs,
                  "where the tensor goes (.npy, .png); may be given several times")
      ->allow_extra_args(false);
  add_flags(*app, command->settings);
  check_range<int>(app->add_option("--decoder-threads", command->decoder_threads,
                                   "threads of the video decoder"),
                   1, 64)
      ->capture_default_str();
  app->add_flag("--json", command->json, "print the summary as one JSON object");
  app->add_flag("-q,--quiet", command->quiet, "no progress and no summary");
  refuse_empty_values(*app);
  app->callback([command, &run] { run = [command] { return command->run(); }; });
}

}  // namespace sparing::cli

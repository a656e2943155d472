#include "detect_outputs.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <set>
#include <utility>

#include "commands.h"

namespace sparing::cli {
namespace {

namespace fs = std::filesystem;

// The frames of one stream only.
class StreamSink final : public ResultSink {
 public:
  StreamSink(std::unique_ptr<ResultSink> sink, int stream)
      : sink_(std::move(sink)), stream_(stream) {}

  Status write(const FrameResult& result) override {
    if (result.stream != stream_) return {};
    written_ = true;
    return sink_->write(result);
  }
  // An input that failed before its first frame leaves what may lie under the name.
  Status finish() override { return written_ ? sink_->finish() : Status(); }
  std::string name() const override { return sink_->name(); }
  std::optional<HeldResults> held(int stream) const override {
    return stream == stream_ ? sink_->held(stream) : HeldResults{};
  }

 private:
  std::unique_ptr<ResultSink> sink_;
  int stream_;
  bool written_ = false;
};

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at)) {
    text.replace(at, from.size(), to);
    at += to.size();
  }
}

bool is_per_stream(const std::string& path) {
  return path.find("{stream}") != std::string::npos || path.find("{name}") != std::string::npos;
}

// A slip in a placeholder would put all inputs in one file of a strange name.
Status check_placeholders(const std::string& path) {
  for (std::size_t open = path.find('{'); open != std::string::npos;
       open = path.find('{', open + 1)) {
    const std::size_t close = path.find_first_of("{}", open + 1);
    if (close == std::string::npos || path[close] != '}') continue;
    const std::string placeholder = path.substr(open, close + 1 - open);
    if (placeholder == "{stream}" || placeholder == "{name}") continue;
    return Error{ErrorCode::kInvalidArgument, "output '" + path + "'",
                 "there is no placeholder " + placeholder,
                 "use {stream}, the input's number, or {name}, its file name without ending"};
  }
  return {};
}

struct Wanted {
  std::string path;
  std::string format;  // empty: by ending
};

std::vector<Wanted> wanted_outputs(const DetectSettings& settings) {
  std::vector<Wanted> wanted;
  for (const std::string& output : settings.outputs) {
    const bool plain = settings.format.empty() && output == "-";
    wanted.push_back({output, plain ? "jsonl" : settings.format});
  }
  if (!settings.render.empty()) wanted.push_back({settings.render, "video"});
  return wanted;
}

// By name or ending; empty: none, which open_sink explains.
std::string format_of(const Wanted& wanted) {
  if (!wanted.format.empty()) return wanted.format;
  std::string extension = fs::path(wanted.path).extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const SinkFormat& format : sink_formats()) {
    if (extension == "." + std::string(format.extension)) return std::string(format.name);
  }
  return {};
}

// A run of one input, as formats need it that hold one. Its files are those of all inputs, so that
// none of them is overwritten.
RunInfo run_of(const RunInfo& run, std::size_t stream) {
  RunInfo one = run;
  one.sources = {run.sources[stream]};
  for (std::size_t i = 0; i < run.sources.size(); ++i) {
    if (i == stream) continue;
    const std::vector<std::string>& files = run.sources[i].files;
    one.sources[0].files.insert(one.sources[0].files.end(), files.begin(), files.end());
  }
  return one;
}

std::string with_stream(const std::string& path) {
  fs::path example(path);
  const std::string ending = example.extension().string();
  example.replace_extension();
  return example.string() + "-{stream}" + ending;
}

Status check_name(const std::string& path, std::set<fs::path>& seen) {
  std::error_code error;
  const fs::path canonical = fs::weakly_canonical(path, error);
  if (fs::is_character_file(canonical, error)) return {};  // /dev/null takes any number
  if (seen.insert(canonical.empty() ? fs::path(path) : canonical).second) return {};
  return Error{ErrorCode::kInvalidArgument, "output '" + path + "'", "was named twice",
               "give each output a path of its own; {stream} is another for each input"};
}

Status open_each(const Wanted& wanted, const std::string& format, const RunInfo& run,
                 const std::vector<bool>& usable, DetectOutputs& outputs) {
  for (std::size_t i = 0; i < run.sources.size(); ++i) {
    if (!usable[i]) continue;
    const int stream = static_cast<int>(i);
    const std::string path = output_path(wanted.path, stream, run.sources[i].name);
    SPARING_ASSIGN_OR_RETURN(
        auto sink, open_sink(path, format == "jsonl" ? run : run_of(run, i), {.format = format}));
    outputs.sinks.push_back(std::make_unique<StreamSink>(std::move(sink), stream));
  }
  return {};
}

Status open_one(const Wanted& wanted, const std::string& format, const RunInfo& run,
                DetectOutputs& outputs) {
  if (run.sources.size() > 1 && !format.empty() && format != "jsonl" && wanted.path != "-") {
    return Error{ErrorCode::kInvalidArgument, "output '" + wanted.path + "'",
                 "format '" + format + "' holds one input, but there are " +
                     std::to_string(run.sources.size()),
                 "name one file for each, e.g. " + with_stream(wanted.path) + ", or use .jsonl"};
  }
  SPARING_ASSIGN_OR_RETURN(auto sink, open_sink(wanted.path, run, {.format = wanted.format}));
  outputs.sinks.push_back(std::move(sink));
  return {};
}

}  // namespace

std::vector<std::string> DetectOutputs::names() const {
  std::vector<std::string> names;
  for (const auto& sink : sinks) names.push_back(sink->name());
  return names;
}

std::vector<ResultSink*> DetectOutputs::pointers() const {
  std::vector<ResultSink*> pointers;
  for (const auto& sink : sinks) pointers.push_back(sink.get());
  return pointers;
}

std::string output_path(const std::string& text, int stream, const std::string& input) {
  std::string path = text;
  replace_all(path, "{stream}", std::to_string(stream));
  fs::path name = fs::path(input);
  if (name.filename().empty()) name = name.parent_path();  // "photos/"
  replace_all(path, "{name}", input == "-" ? "stdin" : name.stem().string());
  return path;
}

void report_outputs(const std::vector<OutputState>& outputs, const std::optional<Error>& reported) {
  std::string others;
  bool failed = false;
  for (const OutputState& output : outputs) {
    if (output.error) {
      failed = true;
      if (!reported || output.error->to_string() != reported->to_string()) report(*output.error);
      continue;
    }
    others += (others.empty() ? "'" : ", '") + output.name + "' " + std::to_string(output.frames) +
              " frames";
  }
  if (!failed || others.empty()) return;
  std::fprintf(stderr, "sparing: the other outputs are complete up to there: %s\n", others.c_str());
}

Result<DetectOutputs> open_outputs(const DetectSettings& settings, const RunInfo& run,
                                   const std::vector<bool>& usable) {
  const std::vector<Wanted> wanted = wanted_outputs(settings);
  std::set<fs::path> seen;
  for (const Wanted& output : wanted) {
    SPARING_RETURN_IF_ERROR(check_placeholders(output.path));
    for (std::size_t i = 0; i < run.sources.size(); ++i) {
      if (!is_per_stream(output.path) && i > 0) break;
      SPARING_RETURN_IF_ERROR(
          check_name(output_path(output.path, static_cast<int>(i), run.sources[i].name), seen));
    }
  }
  DetectOutputs outputs;
  for (const Wanted& output : wanted) {
    const std::string format = format_of(output);
    outputs.pictures = outputs.pictures || format == "video";
    SPARING_RETURN_IF_ERROR(is_per_stream(output.path)
                                ? open_each(output, format, run, usable, outputs)
                                : open_one(output, format, run, outputs));
  }
  return outputs;
}

}  // namespace sparing::cli

// The outputs of `sparing detect`: one for all inputs, or one for each.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "detect_settings.h"
#include "sparing/io/sink.h"
#include "sparing/pipeline/detector.h"

namespace sparing::cli {

struct DetectOutputs {
  std::vector<std::unique_ptr<ResultSink>> sinks;
  bool pictures = false;  // one of them renders
  std::vector<std::string> names() const;
  std::vector<ResultSink*> pointers() const;
};

// `text` with {stream} as the input's number, and {name} as its file name without ending.
std::string output_path(const std::string& text, int stream, const std::string& input);

// Opens --out and --render. A path with {stream} or {name} becomes one file an input; formats that
// hold one input need it when there are several. `usable` says which inputs can be read at all: the
// others get no file of their own. kInvalidArgument: a path that misses it, or two outputs under
// one name; else as open_sink.
Result<DetectOutputs> open_outputs(const DetectSettings& settings, const RunInfo& run,
                                   const std::vector<bool>& usable);

// After the run's own error was reported: the errors of other outputs, and what those hold that did
// not fail, one line each on standard error. Nothing where none failed.
void report_outputs(const std::vector<OutputState>& outputs, const std::optional<Error>& reported);

}  // namespace sparing::cli

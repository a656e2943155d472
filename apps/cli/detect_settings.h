// What `sparing detect` was asked for, and what its two ways of running share.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "runtime.h"
#include "sparing/base/result.h"
#include "sparing/pipeline/detector.h"
#include "sparing/streams/canvas_export.h"
#include "sparing/streams/explain.h"
#include "sparing/streams/stream_options.h"
#include "sparing/streams/stream_run.h"

namespace sparing::cli {

struct DetectSettings {
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::string format;
  std::string render;
  std::string model = "nanodet-g";
  std::string dump_inputs;
  long long max_frames = 0;
  int decoder_threads = 1;
  bool json = false;
  bool quiet = false;
  DetectOptions detect;
  RuntimeOptions runtime;

  // Of runs on many streams.
  bool sequence = false;
  std::string processors;
  std::string scales;
  std::vector<std::string> profiles;
  StreamOptions streams;
  RunStreamsOptions run;
  StreamTuning tuning;
  std::string explain;
  std::string export_canvases;
  ExplainOptions explain_options;
  CanvasExportOptions export_options;
  // Named, as the user wrote it: the first option that only such a run has. Empty: none.
  std::string streams_option;
  // All options that the user wrote, e.g. "--fps".
  std::vector<std::string> given;

  bool writes_to_stdout() const;
};

// What holds for both ways. kInvalidArgument.
Status check_settings(const DetectSettings& settings);

// Options that contradict each other, or do nothing beside the others: kInvalidArgument names them.
Status check_conflicts(const DetectSettings& settings);
// Before the names of the parts' options on the command line, against clashes.
inline constexpr char kRoiPrefix[] = "roi-";
inline constexpr char kPackPrefix[] = "pack-";

// Whole frames of one input, each looked at. The exit code.
int run_whole_frames(const DetectSettings& settings, const std::stop_token& stop);
// Any number of inputs, by StreamDetector.
int run_many_streams(const DetectSettings& settings, const std::stop_token& stop);

}  // namespace sparing::cli

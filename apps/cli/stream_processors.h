// The processors of a run on many streams: contexts, the network on them, their profiles and
// scales.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "detect_settings.h"
#include "sparing/streams/processor.h"
#include "sparing/streams/profile_store.h"
#include "sparing/streams/stream_detector.h"

namespace sparing::cli {

// One of --processors.
struct ProcessorName {
  std::string text;       // as given
  std::string device;     // "cpu"
  std::string precision;  // "int8", "bf16", ...
  int cores = 1;
};

// "cpu:int8:1,cpu:bf16:1". kInvalidArgument: a part that is missing or unknown, more cores of the
// CPU than this process has.
Result<std::vector<ProcessorName>> parse_processors(const std::string& text);

// Of a network's scales: int8 for a quantised one (by its name), whatever the rest of it runs in;
// else the context's.
std::string scales_precision(const std::string& model, const Context& context);

struct LoadedProcessors {
  std::vector<Processor> processors;
  std::vector<std::string> profiles;  // of each, where its times come from, for the summary
  std::vector<std::string> notes;     // for standard error
  std::string model;                  // its name
  int threads = 0;                    // of the first
  int streams = 0;
};

// Those of --processors, or the one that --device, --precision and --threads describe. Int8 is the
// model NAME-int8 of the registry. Profiles are those of --profile, the stored one, or measured now
// and stored; in deterministic runs that of --profile, or a nominal one.
// kModel, kNotSupported: as resolve_model and create_context; also what load_profile and
// load_scale_model refuse.
Result<LoadedProcessors> load_processors(const DetectSettings& settings);

}  // namespace sparing::cli

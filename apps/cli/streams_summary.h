// The summary of a run on many streams, for people and for programs.
#pragma once

#include <string>
#include <vector>

#include "detect_settings.h"
#include "sparing/streams/observers.h"
#include "sparing/streams/stream_run.h"

namespace sparing::cli {

struct ProcessorDescription {
  std::string name;
  std::string profile;  // where its times come from
};

struct StreamsDescription {
  const DetectSettings* settings = nullptr;
  std::string model;
  std::vector<ProcessorDescription> processors;
  std::vector<std::string> outputs;
  // Of the folders of --explain and --export-canvases: what could not be written.
  std::vector<ObserverFailure> lacking;
};

// Of a run that is whole, but saw little: what it missed, in numbers, and what would help. Each is
// a sentence without its end.
std::vector<std::string> streams_warnings(const DetectSettings& settings,
                                          const StreamsSummary& summary);

std::string streams_summary_text(const StreamsDescription& run, const StreamsSummary& summary);
// One JSON object in one line; the fields are documented in docs/streams.md.
std::string streams_summary_json(const StreamsDescription& run, const StreamsSummary& summary);

}  // namespace sparing::cli

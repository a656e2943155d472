// A run's summary for people and for programs.
#pragma once

#include <string>
#include <vector>

#include "sparing/pipeline/detector.h"

namespace sparing::cli {

struct RunDescription {
  std::string input;
  std::string model;
  std::string device;
  std::string precision;
  int threads = 0;
  int streams = 0;
  std::vector<std::string> outputs;
};

// What a user should know of an input whose transfer function is PQ or HLG.
std::string hdr_note(const std::string& input);
std::string summary_text(const RunDescription& run, const RunSummary& summary);
// One JSON object in one line; the fields are documented in docs/cli.md.
std::string summary_json(const RunDescription& run, const RunSummary& summary);

}  // namespace sparing::cli

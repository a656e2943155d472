// What the summaries of one and of many streams share.
#pragma once

#include <cstdint>
#include <cstdio>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "sparing/pipeline/detector.h"

namespace sparing::cli {

// A line for each output but standard output; one that failed says so wherever it is.
std::string outputs_text(std::span<const OutputState> outputs);
// Of each output what it holds, and its error or null.
nlohmann::ordered_json held_json(std::span<const OutputState> outputs);
// Adds a line, formatted as by printf.
template <class... Args>
void append(std::string& text, const char* format, Args... args) {
  char line[512];
  std::snprintf(line, sizeof line, format, args...);
  text += line;
}

// A table of times, a line a stage.
std::string stages_text(std::span<const StageStatistics> stages);
// How a run ended.
struct RunEnd {
  std::string input;
  std::int64_t frames = 0;
  std::optional<Timestamp> last_time;
  bool interrupted = false;
  std::optional<Error> error;
};
// Says on standard error what ended a run early, and what is kept; the exit code.
int report_end(const RunEnd& end, const std::vector<OutputState>& outputs);

// A list of reasons with their counts.
nlohmann::ordered_json drops_json(std::span<const DropCount> drops);
// By the stages' names.
nlohmann::ordered_json stages_json(std::span<const StageStatistics> stages);

}  // namespace sparing::cli

// What the summaries of one and of many streams share.
#pragma once

#include <span>
#include <string>

#include <nlohmann/json.hpp>

#include "sparing/pipeline/detector.h"

namespace sparing::cli {

// A line for each output but standard output; one that failed says so wherever it is.
std::string outputs_text(std::span<const OutputState> outputs);
// Of each output what it holds, and its error or null.
nlohmann::ordered_json held_json(std::span<const OutputState> outputs);
// By the stages' names.
nlohmann::ordered_json stages_json(std::span<const StageStatistics> stages);

}  // namespace sparing::cli

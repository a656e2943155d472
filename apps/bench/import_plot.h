// The measured times as a bar chart.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "import_measure.h"
#include "sparing/base/result.h"

namespace sparing::bench {

// A self-contained SVG: a group of bars a job, milliseconds on a logarithmic axis, the machine's
// limit as a line, the ratio to the best peer above.
Status plot_jobs(std::span<const JobResult> jobs, const std::string& subtitle,
                 const std::filesystem::path& file);

}  // namespace sparing::bench

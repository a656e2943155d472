#include "sparing/streams/warm_up.h"

#include <algorithm>
#include <cmath>

#include "sparing/pipeline/frame_job.h"
#include "sparing/streams/latency_meter.h"
#include "sparing/streams/way_planner.h"

namespace sparing {
namespace {

// The canvases that plans take most.
constexpr Size kCanvases[] = {{320, 320}, {640, 640}};

int rounded_up(double side, int unit) {
  return std::max(1, static_cast<int>(std::ceil(side / unit))) * unit;
}

}  // namespace

std::vector<Size> first_inputs(const ModelInput& input, std::span<const Size> frames) {
  if (input.fixed_size) return {input.default_size};
  std::vector<Size> wanted(std::begin(kCanvases), std::end(kCanvases));
  const int unit = std::max(32, input.multiple_of);
  for (const Size& frame : frames) {
    const double scale = WayPlanner::start_scale(frame);
    wanted.push_back(
        {rounded_up(frame.width * scale, unit), rounded_up(frame.height * scale, unit)});
  }
  std::vector<Size> sizes;
  for (const Size& size : wanted) {
    if (!input_size(input, size, size).ok()) continue;
    if (std::find(sizes.begin(), sizes.end(), size) == sizes.end()) sizes.push_back(size);
  }
  return sizes;
}

Status warm_up(const StreamDetector& detector, std::span<const Size> frames) {
  for (int i = 0; i < detector.processors(); ++i) {
    const Processor& processor = detector.processor(i);
    SPARING_ASSIGN_OR_RETURN(LatencyMeter meter, LatencyMeter::create(processor.detector));
    for (const Size& size : first_inputs(processor.detector.impl().manifest.input, frames)) {
      if (processor.profile.runs(size)) SPARING_RETURN_IF_ERROR(meter.measure(size, 1, 0));
    }
  }
  return {};
}

}  // namespace sparing

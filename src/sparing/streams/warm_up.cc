#include "sparing/streams/warm_up.h"

#include <algorithm>
#include <cmath>

#include "sparing/base/clock.h"
#include "sparing/pipeline/frame_job.h"
#include "sparing/streams/latency_meter.h"
#include "sparing/streams/model_canvas.h"
#include "sparing/streams/way_planner.h"

namespace sparing {
namespace {

// The canvases that plans take most.
constexpr Size kCanvases[] = {{320, 320}, {640, 640}};
constexpr double kMostSeconds = 3;

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

Result<std::vector<std::vector<Size>>> warm_up_processors(std::span<const Processor> processors,
                                                          std::span<const CanvasShape> canvases,
                                                          int stride, std::span<const Size> frames,
                                                          double most_seconds) {
  const Clock::time_point begin = Clock::now();
  std::vector<std::vector<Size>> run;
  for (const Processor& processor : processors) {
    std::vector<Size>& done = run.emplace_back();
    const LatencyProfile& profile = processor.profile;
    SPARING_ASSIGN_OR_RETURN(LatencyMeter meter, LatencyMeter::create(processor.detector));
    const ModelInput& input = processor.detector.impl().manifest.input;
    std::vector<Size> sizes = first_inputs(input, frames);
    const std::size_t needed = sizes.size();
    const auto add = [&](Size size) {
      if (std::find(sizes.begin(), sizes.end(), size) == sizes.end() && profile.runs(size) &&
          profile.estimate(size) <= most_seconds)
        sizes.push_back(size);
    };
    for (const CanvasShape& canvas : canvases) add(canvas.size);
    for (const Size& frame : frames) {
      for (const double scale : kFrameScales) add(canvas_for(input, stride, scaled(frame, scale)));
    }
    std::stable_sort(
        sizes.begin() + static_cast<std::ptrdiff_t>(needed), sizes.end(),
        [&](const Size& a, const Size& b) { return profile.estimate(a) < profile.estimate(b); });
    for (std::size_t s = 0; s < sizes.size(); ++s) {
      if (s >= needed && seconds_since(begin) > kMostSeconds) break;
      if (!profile.runs(sizes[s])) continue;
      SPARING_RETURN_IF_ERROR(meter.measure(sizes[s], 1, 0));
      done.push_back(sizes[s]);
    }
  }
  return run;
}

}  // namespace sparing

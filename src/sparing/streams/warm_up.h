// What a network's first runs cost more than its later ones, spent before the clock of cameras
// starts.
#pragma once

#include <span>
#include <vector>

#include "sparing/base/geometry.h"
#include "sparing/base/result.h"
#include "sparing/models/manifest.h"
#include "sparing/packing/canvas_plan.h"
#include "sparing/streams/processor.h"

namespace sparing {

// The inputs to begin with: a small and a middle canvas, and for frames of these sizes (display)
// the whole one that a stream's first window looks at. Each once.
std::vector<Size> first_inputs(const ModelInput& input, std::span<const Size> frames);

// Runs every processor's network once at each of these, on all its streams at once; then, for up to
// three seconds, at the canvases and the whole frames at the planner's scales (sides multiples of
// `stride`) that take at most `most_seconds` each, the cheapest first. What was run, by processor.
// Errors as Context::create_tensor and dispatch.
Result<std::vector<std::vector<Size>>> warm_up_processors(std::span<const Processor> processors,
                                                          std::span<const CanvasShape> canvases,
                                                          int stride, std::span<const Size> frames,
                                                          double most_seconds);

}  // namespace sparing

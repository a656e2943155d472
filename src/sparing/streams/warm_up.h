// What a network's first runs cost more than its later ones, spent before the clock of cameras
// starts.
#pragma once

#include <span>
#include <vector>

#include "sparing/base/geometry.h"
#include "sparing/base/result.h"
#include "sparing/models/manifest.h"
#include "sparing/streams/stream_detector.h"

namespace sparing {

// The inputs to begin with: a small and a middle canvas, and for frames of these sizes (display)
// the whole one that a stream's first window looks at. Each once.
std::vector<Size> first_inputs(const ModelInput& input, std::span<const Size> frames);

// Runs every processor's network once at each of these, on all its streams at once. Errors as
// Context::create_tensor and dispatch.
Status warm_up(const StreamDetector& detector, std::span<const Size> frames);

}  // namespace sparing

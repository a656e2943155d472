// Which size the network's input tensor gets.
#pragma once

#include "sparing/base/geometry.h"
#include "sparing/base/result.h"
#include "sparing/models/manifest.h"

namespace sparing {

// The input size for a frame of `display` size: `requested` if it is not {0, 0}, else the model's
// default; a native default is the frame's size scaled down into max_size where needed (aspect ratio
// kept), each side rounded to the nearest multiple of `multiple_of` (halves up) and at least min_size.
// Preconditions: both sides of display >= 1; requested passes check_requested_size.
Size network_input_size(const ModelInput& input, Size requested, Size display);

// kInvalidArgument when the model does not take the size: names what it takes.
Status check_requested_size(const ModelInput& input, Size requested);

}  // namespace sparing

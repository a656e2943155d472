// Whether a run's tiles are a sensible number. Private to streams; a plain function, thread-safe.
#pragma once

#include <span>

#include "sparing/base/geometry.h"
#include "sparing/base/result.h"
#include "sparing/streams/stream_options.h"

namespace sparing {

// kInvalidArgument: tiles with a side under 64 px, and, where every frame is cut into tiles (mode
// "tiles"), more than 4096 of them in one of these frames; the fix names tiles that would do.
// Frames of unknown size ({0, 0}) are passed over. A scale that is to follow from the
// objects' size is taken for 1.
Status check_tiles(const StreamOptions& options, std::span<const Size> frames);

}  // namespace sparing

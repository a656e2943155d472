// Boxes for every frame from looks at some: the tracker and filler that StreamDetector has, for
// the approaches that have none of their own.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "sparing/base/result.h"
#include "streams_clips.h"

namespace sparing::bench {

// Objects of less confidence are not followed, as in StreamOptions::follow_score: boxes in between
// them would be mostly false.
inline constexpr float kFollowScore = 0.25f;

// What was found in each frame of a stream; nullopt: not looked at.
using StreamLooks = std::vector<std::optional<std::vector<Detection>>>;

// Boxes of every frame. With `fill` off, those of the frames that were looked at alone.
Result<std::vector<std::vector<Detection>>> fill_stream(const Clip& clip, const ClipStream& stream,
                                                        const StreamLooks& looks, bool fill = true);

// The same for all streams.
Result<ClipBoxes> fill_clip(const Clip& clip, std::span<const StreamLooks> looks, bool fill = true);

}  // namespace sparing::bench

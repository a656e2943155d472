// Who in a rectangle of a picture is not background.
#pragma once

#include "scene_material.h"

namespace sparing::bench {

// The soft mask of the person in `box`: 255 where `picture` differs much from `background` (equal
// sizes), 0 where it does not and outside the box; of the luma samples of `place`. Small holes are
// closed; of several parts only the largest and what is not much smaller stay. A shift of the
// brightness, measured around the box, is no difference.
SamplePlane person_mask(const YuvPicture& picture, const YuvPicture& background, const Box& box,
                        const PixelRect& place);

}  // namespace sparing::bench

// Pictures as canvases of the drawing functions. Private to the library.
#pragma once

#include "sparing/io/overlay.h"
#include "sparing/io/picture.h"

namespace sparing {

// Over the picture's planes; an odd side counts one more, behind which the picture has memory.
// Precondition: not empty().
YuvCanvas canvas_of(Picture& picture);

}  // namespace sparing

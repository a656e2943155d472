// The canvas for one picture of its own. Private to streams.
#pragma once

#include "sparing/base/geometry.h"
#include "sparing/models/manifest.h"

namespace sparing {

// `size` drawn at `scale`, at least one pixel a side.
Size scaled(Size size, double scale);

// The smallest input that the model takes and that holds `drawn`, sides multiples of `stride` (>=
// 1; the model's own where that is more); its largest where none does.
Size canvas_for(const ModelInput& input, int stride, Size drawn);

}  // namespace sparing

// The colour arithmetic of one import, folded into one small matrix.
#pragma once

#include <optional>

#include "sparing/kernels/import_plan.h"
#include "sparing/kernels/store.h"

namespace sparing::internal {

// What a line of samples holds: (stored sample - offset) * unit.
struct LineScale {
  double unit = 1;
  double offset = 0;
};

// Lines as the format's components lie: Y (and U, V) or R, G, B. nullopt: the normalisation is
// beyond what floats hold with the promised precision.
std::optional<ColorTransform> make_color_transform(const ImportPlan& plan, PixelFormat format,
                                                   const ImportOptions& options,
                                                   const TensorView& tensor,
                                                   const LineScale (&lines)[3]);

// Lines that a tensor of so many channels is made of: 1 or 3.
int line_count(PixelFormat format, int channels);

}  // namespace sparing::internal

#include "sparing/kernels/import.h"

namespace sparing {

Result<Affine> import_frame(const VideoFrame& frame, const ImportOptions& options,
                            const TensorView& destination) {
  return import_frame_reference(frame, options, destination);
}

const char* import_simd_target() { return "none"; }

}  // namespace sparing

#include "sparing/kernels/import.h"

#include <string>

#include "sparing/kernels/import_plan.h"
#include "sparing/kernels/import_validate.h"

namespace sparing {

Result<Affine> import_frame(const VideoFrame& frame, const ImportOptions& options,
                            const TensorView& destination) {
  return import_frame_reference(frame, options, destination);
}

Result<Affine> import_frame(const VideoFrame& frame, const ImportOptions& options,
                            const TensorView& destination, int bands,
                            const ParallelFor& parallel_for) {
  if (bands < 1 || bands > 1024) {
    return internal::invalid("bands", std::to_string(bands) + " is out of range", "give 1 to 1024");
  }
  if (!parallel_for) return internal::invalid("parallel_for", "is empty", "give a function");
  return import_frame(frame, options, destination);
}

const char* import_simd_target() { return "reference"; }

}  // namespace sparing

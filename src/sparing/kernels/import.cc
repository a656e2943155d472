#include "sparing/kernels/import.h"

#include "sparing/kernels/import_plan.h"
#include "sparing/kernels/import_yuv420.h"

namespace sparing {

Result<Affine> import_frame(const VideoFrame& frame, const ImportOptions& options,
                            const TensorView& destination) {
  SPARING_ASSIGN_OR_RETURN(const internal::ImportPlan plan,
                           internal::plan_import(frame, options, destination));
  // A fast path for more formats, types or layouts is one more line here.
  if (!internal::fits_yuv420(frame, options, destination)) {
    return import_frame_reference(frame, options, destination);
  }
  internal::fill_border(plan, options, destination);
  internal::import_yuv420(plan, frame, options, destination);
  return plan.tensor_to_display;
}

const char* import_simd_target() { return internal::yuv420_simd_target(); }

}  // namespace sparing

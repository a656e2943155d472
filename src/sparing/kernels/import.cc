#include "sparing/kernels/import.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "sparing/kernels/import_engine.h"
#include "sparing/kernels/import_plan.h"
#include "sparing/kernels/import_validate.h"

namespace sparing {
namespace {

constexpr int kMaxBands = 1024;

}  // namespace

Result<Affine> import_frame(const VideoFrame& frame, const ImportOptions& options,
                            const TensorView& destination) {
  return import_frame(frame, options, destination, 1,
                      [](int, const std::function<void(int)>& body) { body(0); });
}

Result<Affine> import_frame(const VideoFrame& frame, const ImportOptions& options,
                            const TensorView& destination, int bands,
                            const ParallelFor& parallel_for) {
  if (bands < 1 || bands > kMaxBands) {
    return internal::invalid("bands", std::to_string(bands) + " is out of range",
                             "give 1 to " + std::to_string(kMaxBands));
  }
  if (!parallel_for) return internal::invalid("parallel_for", "is empty", "give a function");
  SPARING_ASSIGN_OR_RETURN(const internal::ImportPlan plan,
                           internal::plan_import(frame, options, destination));
  if (plan.content.empty()) {
    internal::fill_border(plan, options, destination);
    return plan.tensor_to_display;
  }
  const auto engine = internal::ImportEngine::make(plan, frame, options, destination);
  if (!engine) return import_frame_reference(frame, options, destination);
  internal::fill_border(plan, options, destination);
  const int rows = plan.content.height;
  const int count = std::min(bands, rows);
  // Bands of whole rows that differ by one row at most.
  parallel_for(count, [&](int band) {
    const auto begin = static_cast<int>(std::int64_t{rows} * band / count);
    const auto end = static_cast<int>(std::int64_t{rows} * (band + 1) / count);
    engine->draw(begin, end - begin);
  });
  return plan.tensor_to_display;
}

const char* import_simd_target() { return internal::sample_kernels().target; }

}  // namespace sparing

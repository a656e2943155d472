// The inner loop, compiled once for each instruction set.
#include "sparing/metrics/correlation.h"
#include "sparing/metrics/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sparing/metrics/correlation_simd.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
// clang-format off: highway.h must come after foreach_target.h
#include "hwy/highway.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace sparing::internal {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::CappedTag<float, kColumnBlock>;
using Vector = hn::Vec<Tag>;

constexpr int kLanes = static_cast<int>(hn::MaxLanes(Tag()));
constexpr int kVectors = kColumnBlock / kLanes;  // of a block of columns

const char* target_name() { return hwy::TargetName(HWY_TARGET); }

void raise(const CorrelationJob& job) {
  const Tag d;
  Vector row_best[kRowBlock];
  for (int r = 0; r < kRowBlock; ++r) row_best[r] = hn::Set(d, job.row_best[r]);
  const float* column = job.columns;
  for (int block = 0; block < job.column_blocks; ++block) {
    Vector sums[kRowBlock][kVectors];
    for (int r = 0; r < kRowBlock; ++r) {
      for (int v = 0; v < kVectors; ++v) sums[r][v] = hn::Zero(d);
    }
    const float* row = job.rows;
    for (int c = 0; c < job.channels; ++c, row += kRowBlock, column += kColumnBlock) {
      Vector values[kVectors];
      for (int v = 0; v < kVectors; ++v) values[v] = hn::LoadU(d, column + v * kLanes);
      for (int r = 0; r < kRowBlock; ++r) {
        const Vector factor = hn::Set(d, row[r]);
        for (int v = 0; v < kVectors; ++v) {
          sums[r][v] = hn::MulAdd(factor, values[v], sums[r][v]);
        }
      }
    }
    float* best = job.column_best + block * kColumnBlock;
    for (int v = 0; v < kVectors; ++v) {
      Vector highest = hn::LoadU(d, best + v * kLanes);
      for (int r = 0; r < kRowBlock; ++r) {
        highest = hn::Max(highest, sums[r][v]);
        row_best[r] = hn::Max(row_best[r], sums[r][v]);
      }
      hn::StoreU(highest, d, best + v * kLanes);
    }
  }
  for (int r = 0; r < kRowBlock; ++r) {
    HWY_ALIGN float lanes[kColumnBlock];
    hn::Store(row_best[r], d, lanes);
    float best = lanes[0];
    for (int i = 1; i < kLanes; ++i) best = lanes[i] > best ? lanes[i] : best;
    job.row_best[r] = best;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace sparing::internal
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sparing::internal {

HWY_EXPORT(raise);
HWY_EXPORT(target_name);

void raise_to_correlations(const CorrelationJob& job) { HWY_DYNAMIC_DISPATCH(raise)(job); }

const char* correlation_simd_target() { return HWY_DYNAMIC_DISPATCH(target_name)(); }

}  // namespace sparing::internal
#endif  // HWY_ONCE

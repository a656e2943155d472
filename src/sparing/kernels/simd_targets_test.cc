#include "sparing/kernels/simd_targets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sparing/kernels/import.h"

namespace sparing {
namespace {

// What falls back to plain code still gives right values, only slowly, and no other test would say.
TEST(SimdTargets, VectorsAreUsed) {
  const char* target = import_simd_target();
  RecordProperty("target", target);
#if defined(__aarch64__)
  EXPECT_THAT(target, ::testing::StartsWith("NEON"));
#elif defined(__x86_64__)
  EXPECT_THAT(target, ::testing::AnyOf(::testing::StartsWith("AVX"), ::testing::StartsWith("SS")));
#elif defined(__wasm_simd128__)
  EXPECT_STREQ(target, "WASM");
#else
  GTEST_SKIP() << "no known vectors here; the target is " << target;
#endif
}

}  // namespace
}  // namespace sparing

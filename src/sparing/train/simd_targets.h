// Included before Highway: the instruction sets that the trainer's loops are compiled for. Vectors
// of a size that is not known when they are compiled are left to the compiler's default target.
#pragma once

#ifdef SPARING_FEW_SIMD_TARGETS
#define HWY_DISABLED_TARGETS \
  (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV | HWY_SSSE3 | HWY_SSE4 | HWY_AVX3)
#else
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV | HWY_SSSE3)
#endif

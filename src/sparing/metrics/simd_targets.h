// Included before Highway, wherever it is. Private to metrics.
#pragma once

// The loop keeps arrays of vectors, which those of a size that is not known when they are compiled
// cannot be in. NEON takes their place.
#define SPARING_METRICS_UNSIZED (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)

#ifdef SPARING_FEW_SIMD_TARGETS
#define HWY_DISABLED_TARGETS (SPARING_METRICS_UNSIZED | HWY_AVX3 | HWY_SSE4 | HWY_SSSE3)
#else
#define HWY_DISABLED_TARGETS SPARING_METRICS_UNSIZED
#endif

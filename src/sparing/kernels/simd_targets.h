// Included before Highway, wherever it is.
#pragma once

// Highway 1.0 leaves it out unless it is asked for: it has shuffles of bytes across whole vectors.
#define HWY_WANT_AVX3_DL

// The kernels are not written for vectors of a size that is not known when they are compiled. NEON
// takes their place.
#define SPARING_UNSIZED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)

#ifdef SPARING_FEW_SIMD_TARGETS
#define HWY_DISABLED_TARGETS (SPARING_UNSIZED_TARGETS | HWY_AVX3 | HWY_SSE4 | HWY_SSSE3)
#else
#define HWY_DISABLED_TARGETS SPARING_UNSIZED_TARGETS
#endif

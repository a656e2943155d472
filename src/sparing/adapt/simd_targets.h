// Included before Highway, wherever it is. Private to adapt.
#pragma once

#ifdef SPARING_FEW_SIMD_TARGETS
#define HWY_DISABLED_TARGETS (HWY_AVX3 | HWY_SSE4 | HWY_SSSE3)
#endif

// Included before Highway: the instruction sets that the kernels are not written for, since their
// vectors have no size known when they are compiled. NEON takes their place.
#pragma once

#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)

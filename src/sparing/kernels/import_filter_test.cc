// Filters against hand-computed values and against independent recomputations.
#include "sparing/kernels/import.h"

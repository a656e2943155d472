#include "sparing/kernels/import.h"

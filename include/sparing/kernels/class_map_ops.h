// Operations on whole maps of classes that every frame needs: softmax, argmax, argmax at another
// size. Compiled for each instruction set; results do not depend on which, nor on the threads.
#pragma once

#include <cstdint>

#include "sparing/base/class_map.h"
#include "sparing/base/geometry.h"
#include "sparing/kernels/import.h"  // ParallelFor

namespace sparing {

// Replaces logits by probabilities, pixel by pixel: exp(x - max) / sum, with a relative error of
// at most 2e-6 + 1e-7 * (max - x); e^-87 stands for all that is smaller. A pixel with a NaN or
// +infinity, or with nothing but -infinity, becomes 1 / classes everywhere; returns how many such
// pixels there were. Precondition: 1 <= classes <= kMaxClasses.
std::int64_t softmax(ProbabilityMap& map, const ParallelFor& parallel_for = {});

// The class with the greatest value of each pixel; of equals the lowest. NaN never wins; a pixel of
// NaNs only is class 0. `labels` is resized, without allocating where its capacity is enough.
// Precondition: 1 <= classes <= kMaxClasses.
void argmax(const ProbabilityMap& map, LabelMap& labels, const ParallelFor& parallel_for = {});

// The same for the map brought to `size` by bilinear interpolation at half-pixel centres (edges
// repeated): as if every plane were resized on its own, without making those planes. Best when
// `size` is not smaller than the map. Precondition: as argmax; map.size and size are positive.
void argmax_resized(const ProbabilityMap& map, Size size, LabelMap& labels,
                    const ParallelFor& parallel_for = {});

// The planes brought to `size` the same way. `out` is resized; it must not be `map`.
void resize_bilinear(const ProbabilityMap& map, Size size, ProbabilityMap& out,
                     const ParallelFor& parallel_for = {});

}  // namespace sparing

// Which classes a ground truth can judge.
#pragma once

#include <vector>

#include "sparing/base/annotation.h"

namespace sparing::cli {

// The class ids that have an object, ascending.
std::vector<int> annotated_classes(const AnnotationSet& truth);

// A class that nobody annotated is unknown, not absent: its detections say nothing. Removes all
// detections of other classes than these and returns how many; no classes: removes none.
long long remove_other_classes(DetectionSet& set, const std::vector<int>& classes);

}  // namespace sparing::cli

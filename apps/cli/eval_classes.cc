#include "eval_classes.h"

#include <algorithm>
#include <cstddef>
#include <set>

namespace sparing::cli {

std::vector<int> annotated_classes(const AnnotationSet& truth) {
  std::set<int> ids;
  for (const ImageAnnotations& image : truth.images) {
    for (const Annotation& object : image.objects) ids.insert(object.class_id);
  }
  return {ids.begin(), ids.end()};
}

long long remove_other_classes(DetectionSet& set, const std::vector<int>& classes) {
  if (classes.empty()) return 0;
  std::size_t removed = 0;
  for (ImageDetections& image : set.images) {
    removed += std::erase_if(image.detections, [&](const Detection& d) {
      return std::find(classes.begin(), classes.end(), d.class_id) == classes.end();
    });
  }
  return static_cast<long long>(removed);
}

}  // namespace sparing::cli

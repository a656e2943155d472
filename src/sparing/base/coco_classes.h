// COCO's 80 classes and their official category ids.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace sparing {

struct CocoClass {
  int category_id;  // 1 to 90, with gaps
  std::string_view name;
};
// In the order in which detectors number them.
std::span<const CocoClass> coco_classes();

// Whether `labels` are exactly COCO's 80 names in their order.
bool are_coco_labels(std::span<const std::string> labels);

}  // namespace sparing

#include <string>
#include <vector>

#include "sparing/base/coco_classes.h"
#include "sparing/models/head_internal.h"

namespace sparing::heads_internal {
namespace {

constexpr int kCocoNumbers = 91;  // 0 and the gaps are no class

}  // namespace

std::vector<std::string> default_labels(int classes) {
  std::vector<std::string> labels;
  if (classes == kCocoClasses) {
    for (const CocoClass& coco : coco_classes()) labels.emplace_back(coco.name);
    return labels;
  }
  for (int i = 0; i < classes; ++i) labels.push_back("class" + std::to_string(i));
  if (classes == kCocoNumbers) {
    for (const CocoClass& coco : coco_classes()) {
      labels[static_cast<std::size_t>(coco.category_id)] = coco.name;
    }
  }
  return labels;
}

}  // namespace sparing::heads_internal

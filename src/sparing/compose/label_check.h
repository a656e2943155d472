// Whether labels can be laid over a picture. Private to compose.
#pragma once

#include <string>

#include "sparing/base/class_map.h"
#include "sparing/base/result.h"
#include "sparing/io/picture.h"

namespace sparing {

inline Status check_labels(const LabelMap& labels, const Picture& picture) {
  const std::string size =
      std::to_string(labels.size.width) + "x" + std::to_string(labels.size.height);
  if (labels.size.width < 1 || labels.size.height < 1) {
    return Error{ErrorCode::kInvalidArgument, "labels of a picture", size + " has no pixels",
                 "give a label for each pixel"};
  }
  const std::size_t needed =
      static_cast<std::size_t>(labels.size.width) * static_cast<std::size_t>(labels.size.height);
  if (labels.labels.size() != needed) {
    return Error{ErrorCode::kInvalidArgument, "labels of a picture",
                 std::to_string(labels.labels.size()) + " labels for " + size,
                 "give " + std::to_string(needed)};
  }
  if (picture.empty()) {
    return Error{ErrorCode::kInvalidArgument, "picture", "it has no pixels", "give a frame's"};
  }
  return {};
}

}  // namespace sparing

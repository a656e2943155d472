#include "sparing/metrics/label_classes.h"

#include <algorithm>
#include <string>

namespace sparing {

Result<LabelClasses> LabelClasses::create(int classes, std::span<const std::uint8_t> ignored) {
  if (classes < 1 || classes > kMaxClasses) {
    return Error{ErrorCode::kInvalidArgument, "number of classes",
                 std::to_string(classes) + " is out of range",
                 "give 1 to " + std::to_string(kMaxClasses)};
  }
  LabelClasses result;
  result.classes_ = classes;
  const auto first = result.kinds_.begin();
  std::fill(first, first + classes, Kind::kClass);
  result.kinds_[kIgnoreLabel] = Kind::kIgnored;
  for (const std::uint8_t label : ignored) result.kinds_[label] = Kind::kIgnored;
  if (std::find(first, result.kinds_.end(), Kind::kClass) == result.kinds_.end()) {
    return Error{ErrorCode::kInvalidArgument, "ignored labels", "are all that there are",
                 "leave a class to judge by"};
  }
  return result;
}

Status LabelClasses::check(const LabelMap& map, std::string_view what) const {
  const auto invalid = [&](std::string problem, std::string fix) {
    return Error{ErrorCode::kInvalidArgument, std::string(what), std::move(problem),
                 std::move(fix)};
  };
  const std::string size =
      std::to_string(map.size.width) + "x" + std::to_string(map.size.height) + " pixels";
  if (map.size.width < 1 || map.size.height < 1) {
    return invalid("have " + size, "give a map with pixels");
  }
  const std::size_t pixels =
      static_cast<std::size_t>(map.size.width) * static_cast<std::size_t>(map.size.height);
  if (map.labels.size() != pixels) {
    return invalid("are " + std::to_string(map.labels.size()) + " for " + size,
                   "give one label a pixel");
  }
  const auto unknown = std::find_if(map.labels.begin(), map.labels.end(), [&](std::uint8_t label) {
    return kinds_[label] == Kind::kUnknown;
  });
  if (unknown == map.labels.end()) return {};
  const auto at = static_cast<std::size_t>(unknown - map.labels.begin());
  const auto width = static_cast<std::size_t>(map.size.width);
  return invalid("label " + std::to_string(*unknown) + " at (" + std::to_string(at % width) + ", " +
                     std::to_string(at / width) + ") is none of the " + std::to_string(classes_) +
                     " classes",
                 "give the right number of classes, or have this label ignored");
}

}  // namespace sparing

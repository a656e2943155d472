// Which labels of a map count: what all figures of segmentation share.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "sparing/base/class_map.h"
#include "sparing/base/result.h"

namespace sparing {

// A label is a class (0 .. count() - 1), or ignored (kIgnoreLabel, and what was named so, classes
// too), or neither, which is an error wherever it is met. A plain value; reading from several
// threads is safe.
class LabelClasses {
 public:
  // kInvalidArgument: `classes` not in 1..kMaxClasses; every class ignored.
  static Result<LabelClasses> create(int classes, std::span<const std::uint8_t> ignored = {});

  int count() const { return classes_; }
  bool is_class(std::uint8_t label) const { return kinds_[label] == Kind::kClass; }
  bool is_ignored(std::uint8_t label) const { return kinds_[label] == Kind::kIgnored; }

  // kInvalidArgument: not dense (size and number of labels differ), empty, or a label that is
  // neither class nor ignored; `what` names the map in the error ("labels of frame 3").
  Status check(const LabelMap& map, std::string_view what) const;

 private:
  enum class Kind : std::uint8_t { kUnknown, kClass, kIgnored };
  LabelClasses() = default;
  int classes_ = 0;
  std::array<Kind, 256> kinds_{};
};

}  // namespace sparing

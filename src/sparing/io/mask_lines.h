// Lines of masks as run lengths (docs/outputs.md). Private to io.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sparing/base/class_map.h"
#include "sparing/base/result.h"

namespace sparing {

struct MaskLine {
  std::int64_t stream = 0;
  std::int64_t frame = 0;
  LabelMap labels;
};

// `thing` is "file 'a.jsonl', line 3". kInput: what is wrong with which field.
Result<MaskLine> parse_mask_line(std::string_view text, const std::string& thing);

}  // namespace sparing

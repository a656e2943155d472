// Label maps as PNG, from bytes in memory. Private to io.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "sparing/base/class_map.h"
#include "sparing/base/result.h"

namespace sparing {

// As read_label_png; `name` is the file's, for messages.
Result<LabelMap> parse_label_png(std::span<const std::uint8_t> bytes, const std::string& name);

// kInvalidArgument unless the map is dense and its sides are in 1..kMaxFrameExtent.
Status check_label_map(const LabelMap& labels, const std::string& thing);

}  // namespace sparing

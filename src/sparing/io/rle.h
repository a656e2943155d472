// Masks as run lengths, in the compressed text of COCO (pycocotools' rleToString). Private to io.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sparing/base/class_map.h"

namespace sparing {

// Of every class that occurs, in ascending order, its runs over the pixels column by column: of
// other pixels, then of its own, and so on. Precondition: a dense map.
std::vector<std::pair<std::uint8_t, std::string>> encode_masks(const LabelMap& labels);

// Sets `label` where the mask of `counts` is 1. `labels` has its size already. Empty: done; else
// what is wrong with the text: it ends within a number, has other characters than '0' to 'o', a run
// that is negative, runs that do not fill the picture exactly, or a pixel of which the map had a
// label before. The map may then have some of the mask.
std::string decode_mask(std::string_view counts, std::uint8_t label, LabelMap& labels);

}  // namespace sparing

// COCO run lengths between this project and pycocotools (rle_test.py). Lines of standard input:
//   encode WIDTH HEIGHT LABEL...     labels row by row; 255 is none
//   decode WIDTH HEIGHT CLASS COUNTS [CLASS COUNTS ...]
// For each a line of output: CLASS COUNTS ..., or the labels row by row, or "error: ...".
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <sstream>
#include <string>

#include "sparing/io/rle.h"

namespace {

void encode(std::istringstream& fields, sparing::LabelMap& map) {
  for (auto& label : map.labels) {
    int value = 0;
    fields >> value;
    label = static_cast<std::uint8_t>(value);
  }
  for (const auto& [label, counts] : sparing::encode_masks(map)) {
    std::printf("%d %s ", label, counts.c_str());
  }
  std::printf("\n");
}

void decode(std::istringstream& fields, sparing::LabelMap& map) {
  std::fill(map.labels.begin(), map.labels.end(), sparing::kIgnoreLabel);
  int label = 0;
  for (std::string counts; fields >> label >> counts;) {
    const std::string problem = sparing::decode_mask(counts, static_cast<std::uint8_t>(label), map);
    if (problem.empty()) continue;
    std::printf("error: %s\n", problem.c_str());
    return;
  }
  for (const std::uint8_t value : map.labels) std::printf("%d ", value);
  std::printf("\n");
}

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream fields(line);
    std::string kind;
    sparing::Size size;
    fields >> kind >> size.width >> size.height;
    sparing::LabelMap map;
    map.resize(size);
    if (kind == "encode") {
      encode(fields, map);
    } else if (kind == "decode") {
      decode(fields, map);
    } else {
      std::fprintf(stderr, "not a record: %s\n", line.c_str());
      return 2;
    }
  }
  return 0;
}

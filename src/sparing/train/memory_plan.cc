#include "sparing/train/memory_plan.h"

#include <algorithm>
#include <numeric>

#include "sparing/train/primitive_job.h"

namespace sparing::train {

std::size_t plan_memory(std::vector<PlannedBlock>& blocks) {
  std::vector<std::size_t> order(blocks.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return blocks[a].bytes > blocks[b].bytes; });
  std::vector<std::size_t> placed;  // by offset
  std::size_t total = 0;
  for (const std::size_t index : order) {
    PlannedBlock& block = blocks[index];
    if (block.bytes == 0) continue;
    const std::size_t bytes = align_up(block.bytes);
    std::size_t offset = 0;
    for (const std::size_t other_index : placed) {
      const PlannedBlock& other = blocks[other_index];
      if (other.last < block.first || other.first > block.last) continue;
      if (offset + bytes <= other.offset) break;
      offset = std::max(offset, other.offset + align_up(other.bytes));
    }
    block.offset = offset;
    total = std::max(total, offset + bytes);
    const auto place = std::upper_bound(
        placed.begin(), placed.end(), offset,
        [&](std::size_t wanted, std::size_t i) { return wanted < blocks[i].offset; });
    placed.insert(place, index);
  }
  return total;
}

}  // namespace sparing::train

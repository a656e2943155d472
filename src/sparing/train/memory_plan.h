// Where things of known sizes and lifetimes lie in one block of memory.
#pragma once

#include <cstddef>
#include <vector>

namespace sparing::train {

// Alive from `first` to `last`, both included, in whatever ticks.
struct PlannedBlock {
  std::size_t bytes = 0;
  int first = 0;
  int last = 0;
  std::size_t offset = 0;  // what plan_memory() finds; a multiple of 64
};

// Two blocks whose lifetimes meet do not overlap. Largest first, each at the lowest place that is
// free. Returns the bytes of the whole.
std::size_t plan_memory(std::vector<PlannedBlock>& blocks);

}  // namespace sparing::train

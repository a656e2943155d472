#include "sparing/train/memory_plan.h"

#include <cstdint>

#include <gtest/gtest.h>

namespace sparing::train {
namespace {

bool overlap(const PlannedBlock& a, const PlannedBlock& b) {
  const bool in_time = a.first <= b.last && b.first <= a.last;
  return in_time && a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
}

TEST(MemoryPlan, ThingsThatFollowEachOtherShareOnePlace) {
  std::vector<PlannedBlock> blocks{{128, 0, 1}, {128, 2, 3}, {64, 1, 2}};
  EXPECT_EQ(plan_memory(blocks), 192u);
  EXPECT_EQ(blocks[0].offset, 0u);
  EXPECT_EQ(blocks[1].offset, 0u);
  EXPECT_EQ(blocks[2].offset, 128u);
}

TEST(MemoryPlan, SizesAreRoundedUpToCacheLinesAndNothingTakesNone) {
  std::vector<PlannedBlock> blocks{{1, 0, 9}, {65, 0, 9}, {0, 0, 9}};
  EXPECT_EQ(plan_memory(blocks), 192u);
  for (const PlannedBlock& block : blocks) EXPECT_EQ(block.offset % 64, 0u);
}

TEST(MemoryPlan, NothingThatLivesTogetherOverlaps) {
  std::uint32_t seed = 7;
  const auto random = [&](std::uint32_t limit) {
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % limit;
  };
  for (int round = 0; round < 20; ++round) {
    std::vector<PlannedBlock> blocks(60);
    std::size_t sum = 0;
    for (PlannedBlock& block : blocks) {
      block.bytes = random(5000);
      block.first = static_cast<int>(random(40));
      block.last = block.first + static_cast<int>(random(10));
      sum += block.bytes + 64;
    }
    const std::size_t total = plan_memory(blocks);
    EXPECT_LT(total, sum);
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      EXPECT_LE(blocks[i].offset + blocks[i].bytes, total);
      for (std::size_t j = 0; j < i; ++j) {
        if (blocks[i].bytes == 0 || blocks[j].bytes == 0) continue;
        EXPECT_FALSE(overlap(blocks[i], blocks[j])) << i << " and " << j;
      }
    }
  }
}

}  // namespace
}  // namespace sparing::train

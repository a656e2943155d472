// Running a test once on each instruction set.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>

#include "sparing/kernels/import.h"
#include "sparing/kernels/simd_targets.h"
// After simd_targets.h, which HWY_TARGETS depends on.
#include "sparing/kernels/simd_targets.h"
// clang-format off: highway.h must come after simd_targets.h
#include "hwy/highway.h"
// clang-format on

namespace sparing::test {

// Runs `body` once on each instruction set that was compiled and that this machine has.
inline void for_each_target(const std::function<void()>& body) {
#if (HWY_TARGETS & (HWY_TARGETS - 1)) == 0
  // Compiled for one: there is no choice, and Highway's library need not be there.
  ASSERT_STREQ(import_simd_target(), hwy::TargetName(HWY_TARGETS));
  SCOPED_TRACE(import_simd_target());
  body();
#else
  int targets = 0;
  for (std::int64_t rest = hwy::SupportedTargets() & HWY_TARGETS; rest != 0; rest &= rest - 1) {
    const std::int64_t target = rest & -rest;
    hwy::SetSupportedTargetsForTest(target);
    ASSERT_STREQ(import_simd_target(), hwy::TargetName(target));
    SCOPED_TRACE(import_simd_target());
    body();
    hwy::SetSupportedTargetsForTest(0);
    ++targets;
    if (::testing::Test::HasFatalFailure()) return;
  }
  ASSERT_GT(targets, 0);
#endif
}

// `count` times the environment's SPARING_TEST_SCALE, for emulated machines and longer runs.
inline int scaled(int count) {
  const char* scale = std::getenv("SPARING_TEST_SCALE");
  const double factor = scale == nullptr ? 1.0 : std::strtod(scale, nullptr);
  return factor > 0 ? static_cast<int>(count * factor) + 1 : count;
}

}  // namespace sparing::test

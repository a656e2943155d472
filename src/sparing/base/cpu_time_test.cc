#include "sparing/base/cpu_time.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace sparing {
namespace {

void work_for(double seconds) {
  const double end = thread_cpu_seconds() + seconds;
  while (thread_cpu_seconds() < end) {
  }
}

TEST(CpuTime, AThreadsTimeIsPartOfTheProcesss) {
  const double before = process_cpu_seconds();
  std::thread([] { work_for(0.05); }).join();
  EXPECT_GE(process_cpu_seconds() - before, 0.045);
}

TEST(CpuTime, OtherThreadsDoNotCountForThisOne) {
  const double before = thread_cpu_seconds();
  std::thread([] { work_for(0.05); }).join();
  EXPECT_LT(thread_cpu_seconds() - before, 0.04);
}

}  // namespace
}  // namespace sparing

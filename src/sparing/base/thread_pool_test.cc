#include "sparing/base/thread_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <latch>
#include <numeric>
#include <set>
#include <stdexcept>

namespace sparing {
namespace {

std::string current_thread_name() {
  char name[16] = "";
  pthread_getname_np(pthread_self(), name, sizeof name);
  return name;
}

// The names of all workers: each holds one until all have one.
std::set<std::string> worker_names(ThreadPool& pool) {
  std::latch all(pool.size());
  std::mutex mutex;
  std::set<std::string> names;
  std::vector<std::future<void>> done;
  for (int i = 0; i < pool.size(); ++i) {
    done.push_back(pool.async([&] {
      {
        std::lock_guard lock(mutex);
        names.insert(current_thread_name());
      }
      all.arrive_and_wait();
    }));
  }
  for (auto& future : done) future.get();
  return names;
}

std::vector<int> allowed_cores() {
  cpu_set_t set;
  std::vector<int> cores;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(static_cast<std::size_t>(core), &set)) cores.push_back(core);
  }
  return cores;
}

TEST(ThreadPool, HasTheWorkersAskedFor) {
  EXPECT_EQ(ThreadPool({.threads = 3}).size(), 3);
  EXPECT_EQ(ThreadPool(ThreadPoolOptions{}).size(), available_cores());
  EXPECT_EQ(ThreadPool({.threads = -5}).size(), available_cores());
  EXPECT_EQ(available_cores(), static_cast<int>(allowed_cores().size()));
}

TEST(ThreadPool, OneWorkerRunsTasksInOrder) {
  std::vector<int> order;
  {
    ThreadPool pool({.threads = 1});
    for (int i = 0; i < 100; ++i) pool.submit([&order, i] { order.push_back(i); });
  }
  std::vector<int> expected(100);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(order, expected);
}

TEST(ThreadPool, DestructionRunsWhatIsQueuedAndWhatThatSubmits) {
  std::atomic<int> ran{0};
  {
    ThreadPool pool({.threads = 2});
    for (int i = 0; i < 50; ++i) {
      pool.submit([&] {
        pool.submit([&] { ++ran; });
        ++ran;
      });
    }
  }
  EXPECT_EQ(ran, 100);
}

TEST(ThreadPool, AsyncReturnsValuesAndExceptions) {
  ThreadPool pool({.threads = 2});
  EXPECT_EQ(pool.async([] { return 42; }).get(), 42);
  auto owner = pool.async([p = std::make_unique<int>(7)] { return *p; });
  EXPECT_EQ(owner.get(), 7);
  auto failing = pool.async([]() -> int { throw std::runtime_error("no"); });
  EXPECT_THROW(failing.get(), std::runtime_error);
  EXPECT_EQ(pool.async([] { return 1; }).get(), 1) << "the worker lives on";
}

TEST(ThreadPool, WorkersRunAtTheSameTime) {
  ThreadPool pool({.threads = 3});
  std::latch meet(3);  // never passed unless three tasks run at once
  std::vector<std::future<void>> done;
  for (int i = 0; i < 3; ++i) done.push_back(pool.async([&] { meet.arrive_and_wait(); }));
  for (auto& future : done) future.get();
}

TEST(ThreadPool, WorkersAreNamedAndNumbered) {
  ThreadPool pool({.name = "detect", .threads = 3});
  EXPECT_EQ(worker_names(pool), (std::set<std::string>{"detect-0", "detect-1", "detect-2"}));
}

TEST(ThreadPool, LongNamesKeepTheirNumber) {
  ThreadPool pool({.name = "a-very-long-name-indeed", .threads = 2});
  EXPECT_EQ(worker_names(pool), (std::set<std::string>{"a-very-long-n-0", "a-very-long-n-1"}));
}

TEST(ThreadPool, NamesTheCallingThread) {
  std::thread([] {
    set_current_thread_name("decode");
    EXPECT_EQ(current_thread_name(), "decode");
    set_current_thread_name("sixteen-letters!");
    EXPECT_EQ(current_thread_name(), "sixteen-letters");
  }).join();
}

TEST(ThreadPool, PinsWorkersToTheirCores) {
  const std::vector<int> cores = allowed_cores();
  ASSERT_FALSE(cores.empty());
  ThreadPool pool({.name = "pin", .threads = 4, .cores = cores});
  EXPECT_EQ(pool.unpinned(), 0);
  std::latch all(4);
  std::vector<std::future<void>> done;
  for (int i = 0; i < 4; ++i) {
    done.push_back(pool.async([&] {
      const auto worker = static_cast<std::size_t>(std::stoi(current_thread_name().substr(4)));
      EXPECT_THAT(allowed_cores(), testing::ElementsAre(cores[worker % cores.size()]));
      EXPECT_EQ(sched_getcpu(), cores[worker % cores.size()]);
      all.arrive_and_wait();
    }));
  }
  for (auto& future : done) future.get();
}

TEST(ThreadPool, CountsWorkersThatCannotBePinned) {
  const ThreadPool pool({.threads = 3, .cores = {-1, CPU_SETSIZE, allowed_cores().at(0)}});
  EXPECT_EQ(pool.unpinned(), 2);
}

TEST(ParallelFor, CallsEachIndexOnce) {
  ThreadPool pool({.threads = 3});
  for (const int count : {0, -1, 1, 2, 3, 4, 1000}) {
    std::vector<std::atomic<int>> calls(static_cast<std::size_t>(std::max(count, 0)));
    pool.parallel_for(count, [&](int i) { ++calls[static_cast<std::size_t>(i)]; });
    EXPECT_TRUE(std::all_of(calls.begin(), calls.end(), [](const auto& n) { return n == 1; }));
  }
}

TEST(ParallelFor, UsesWorkersAndTheCaller) {
  ThreadPool pool({.threads = 2});
  std::latch meet(3);  // two workers and the caller, or this never ends
  pool.parallel_for(3, [&](int) { meet.arrive_and_wait(); });
}

TEST(ParallelFor, WritesAreVisibleToTheCaller) {
  ThreadPool pool({.threads = 4});
  std::vector<int> squares(10000);
  pool.parallel_for(10000, [&](int i) { squares[static_cast<std::size_t>(i)] = i * i % 1009; });
  for (int i = 0; i < 10000; ++i) ASSERT_EQ(squares[static_cast<std::size_t>(i)], i * i % 1009);
}

TEST(ParallelFor, EndsWhileAllWorkersAreBusyElsewhere) {
  std::latch started(2);
  std::latch release(1);
  ThreadPool pool({.threads = 2});  // joins the workers before the latches end
  for (int i = 0; i < 2; ++i) {
    pool.submit([&] {
      started.count_down();
      release.wait();
    });
  }
  started.wait();
  int calls = 0;
  pool.parallel_for(10, [&](int) { ++calls; });  // all on this thread
  EXPECT_EQ(calls, 10);
  release.count_down();
}

TEST(ParallelFor, NestsInWorkersToAnyDepth) {
  ThreadPool pool({.threads = 2});
  std::atomic<int> leaves{0};
  const auto nest = [&](auto&& self, int depth) -> void {
    if (depth == 0) {
      ++leaves;
      return;
    }
    pool.parallel_for(3, [&](int) { self(self, depth - 1); });
  };
  std::vector<std::future<void>> done;
  for (int i = 0; i < 4; ++i) done.push_back(pool.async([&] { nest(nest, 4); }));
  for (auto& future : done) future.get();
  EXPECT_EQ(leaves, 4 * 81);
}

TEST(ParallelFor, ManyCallersAtOnce) {
  ThreadPool pool({.threads = 2});
  std::atomic<long long> sum{0};
  std::vector<std::thread> callers;
  for (int t = 0; t < 4; ++t) {
    callers.emplace_back([&] {
      for (int round = 0; round < 300; ++round) {
        // A local that dies right after the loop: a helper that comes late must not touch it.
        std::vector<int> values(17, 1);
        pool.parallel_for(17, [&](int i) { sum += values[static_cast<std::size_t>(i)]; });
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(sum, 4 * 300 * 17);
}

TEST(ThreadPoolDeathTest, ATaskThatThrowsEndsTheProgram) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        ThreadPool pool({.threads = 1});
        pool.submit([] { throw std::runtime_error("no"); });
      },
      "");
  EXPECT_DEATH(
      {
        ThreadPool pool({.threads = 1});
        pool.parallel_for(4, [](int) { throw std::runtime_error("no"); });
      },
      "");
}

// Tasks come while workers look, while they sleep, and while they fall asleep.
TEST(ThreadPool, SpinningWorkersMissNothing) {
  ThreadPool pool({.threads = 2, .spin = std::chrono::microseconds(200)});
  for (int round = 0; round < 300; ++round) {
    std::atomic<int> sum{0};
    pool.parallel_for(5, [&](int i) { sum += i; });
    ASSERT_EQ(sum.load(), 10);
    if (round % 20 == 0) std::this_thread::sleep_for(std::chrono::microseconds(20 * (round % 30)));
  }
}

}  // namespace
}  // namespace sparing

#include "sparing/base/bounded_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <numeric>
#include <thread>
#include <vector>

namespace sparing {
namespace {

using std::chrono::milliseconds;

// True when the call that fills `future` is still waiting. A wait that is missing shows at once on
// any machine; one that is there can never end early, however slow the machine.
template <class T>
bool is_waiting(std::future<T>& future) {
  return future.wait_for(milliseconds(30)) == std::future_status::timeout;
}

TEST(BoundedQueue, IsFirstInFirstOut) {
  BoundedQueue<int> queue(3);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(queue.push(i));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(queue.pop(), i);
}

TEST(BoundedQueue, CarriesMoveOnlyItems) {
  BoundedQueue<std::unique_ptr<int>> queue(1);
  EXPECT_TRUE(queue.push(std::make_unique<int>(4)));
  const auto item = queue.pop();
  ASSERT_TRUE(item.has_value());
  EXPECT_EQ(**item, 4);
}

TEST(BoundedQueue, PushWaitsWhileFull) {
  BoundedQueue<int> queue(2);
  EXPECT_TRUE(queue.push(0));
  EXPECT_TRUE(queue.push(1));
  auto third = std::async(std::launch::async, [&] { return queue.push(2); });
  EXPECT_TRUE(is_waiting(third));
  EXPECT_EQ(queue.pop(), 0);
  EXPECT_TRUE(third.get());
  EXPECT_EQ(queue.pop(), 1);
  EXPECT_EQ(queue.pop(), 2);
}

TEST(BoundedQueue, ACapacityOfZeroCountsAsOne) {
  BoundedQueue<int> queue(0);
  EXPECT_TRUE(queue.push(0));
  auto second = std::async(std::launch::async, [&] { return queue.push(1); });
  EXPECT_TRUE(is_waiting(second));
  EXPECT_EQ(queue.pop(), 0);
  EXPECT_TRUE(second.get());
}

TEST(BoundedQueue, PopWaitsWhileEmpty) {
  BoundedQueue<int> queue(2);
  auto item = std::async(std::launch::async, [&] { return queue.pop(); });
  EXPECT_TRUE(is_waiting(item));
  EXPECT_TRUE(queue.push(5));
  EXPECT_EQ(item.get(), 5);
}

TEST(BoundedQueue, CloseKeepsWhatIsQueuedAndFailsPushes) {
  BoundedQueue<int> queue(3);
  EXPECT_TRUE(queue.push(1));
  EXPECT_TRUE(queue.push(2));
  queue.close();
  queue.close();
  EXPECT_FALSE(queue.push(3));
  EXPECT_EQ(queue.pop(), 1);
  EXPECT_EQ(queue.pop(), 2);
  EXPECT_EQ(queue.pop(), std::nullopt);
  EXPECT_EQ(queue.pop(), std::nullopt);
}

TEST(BoundedQueue, CloseWakesAllThatWait) {
  BoundedQueue<int> full(1);
  BoundedQueue<int> empty(1);
  EXPECT_TRUE(full.push(0));
  std::vector<std::future<bool>> pushes;
  std::vector<std::future<std::optional<int>>> pops;
  for (int i = 0; i < 3; ++i) {
    pushes.push_back(std::async(std::launch::async, [&] { return full.push(1); }));
    pops.push_back(std::async(std::launch::async, [&] { return empty.pop(); }));
  }
  EXPECT_TRUE(is_waiting(pushes.back()));
  EXPECT_TRUE(is_waiting(pops.back()));
  full.close();
  empty.close();
  for (auto& push : pushes) EXPECT_FALSE(push.get());
  for (auto& pop : pops) EXPECT_EQ(pop.get(), std::nullopt);
  EXPECT_EQ(full.pop(), 0) << "what was queued before is kept";
  EXPECT_EQ(full.pop(), std::nullopt) << "a push that failed leaves nothing";
}

TEST(BoundedQueue, CancelDropsAndCounts) {
  BoundedQueue<int> queue(5);
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(queue.push(i));
  EXPECT_EQ(queue.pop(), 0);
  EXPECT_EQ(queue.cancel(), 3u);
  EXPECT_EQ(queue.cancel(), 0u);
  EXPECT_FALSE(queue.push(9));
  EXPECT_EQ(queue.pop(), std::nullopt);
}

// As a frame does that goes back to the pool it came from.
TEST(BoundedQueue, CancelledItemsMayUseTheQueueWhenTheyDie) {
  BoundedQueue<std::shared_ptr<int>> queue(2);
  bool pushed = true;
  auto item = std::shared_ptr<int>(new int(1), [&](int* p) {
    delete p;
    pushed = queue.push(nullptr);
  });
  EXPECT_TRUE(queue.push(std::move(item)));
  EXPECT_EQ(queue.cancel(), 1u);
  EXPECT_FALSE(pushed);
}

TEST(BoundedQueue, ManyProducersAndConsumersLoseAndDoubleNothing) {
  constexpr int kThreads = 4;
  constexpr int kItems = 5000;
  BoundedQueue<int> queue(7);
  std::vector<std::future<void>> producers;
  std::vector<std::future<std::vector<int>>> consumers;
  for (int t = 0; t < kThreads; ++t) {
    consumers.push_back(std::async(std::launch::async, [&] {
      std::vector<int> taken;
      while (const auto item = queue.pop()) taken.push_back(*item);
      return taken;
    }));
    producers.push_back(std::async(std::launch::async, [&queue, t] {
      for (int i = 0; i < kItems; ++i) EXPECT_TRUE(queue.push(t * kItems + i));
    }));
  }
  for (auto& producer : producers) producer.get();
  queue.close();
  std::vector<int> seen(kThreads * kItems);
  for (auto& consumer : consumers) {
    std::vector<int> last(kThreads, -1);
    for (const int item : consumer.get()) {
      ++seen[static_cast<std::size_t>(item)];
      int& previous = last[static_cast<std::size_t>(item / kItems)];
      EXPECT_LT(previous, item) << "one producer's items out of order";
      previous = item;
    }
  }
  EXPECT_THAT(seen, testing::Each(1));
}

TEST(BoundedQueue, CancelAmongRunningThreadsAccountsForEveryItem) {
  for (int round = 0; round < 50; ++round) {
    BoundedQueue<int> queue(4);
    std::atomic<std::size_t> pushed{0};
    std::atomic<std::size_t> popped{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t) {
      threads.emplace_back([&] {
        while (queue.push(1)) ++pushed;
      });
      threads.emplace_back([&] {
        while (queue.pop()) ++popped;
      });
    }
    while (popped < 100) std::this_thread::yield();
    const std::size_t dropped = queue.cancel();
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(pushed, popped + dropped);
  }
}

}  // namespace
}  // namespace sparing

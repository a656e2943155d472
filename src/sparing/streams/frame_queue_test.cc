#include "sparing/streams/frame_queue.h"

#include <gtest/gtest.h>

#include <thread>

namespace sparing {
namespace {

QueuedFrame numbered(std::int64_t index, Clock::time_point since = Clock::now()) {
  QueuedFrame item;
  item.frame.index = index;
  item.since = since;
  return item;
}

TEST(FrameQueue, AFileWaitsAndLosesNothing) {
  FrameQueue queue(2, 0);
  std::thread decoder([&] {
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(queue.push(numbered(i)));
    queue.close();
  });
  std::int64_t next = 0;
  while (auto item = queue.pop()) EXPECT_EQ(item->frame.index, next++);
  decoder.join();
  EXPECT_EQ(next, 100);
  EXPECT_EQ(queue.dropped(), 0);
}

TEST(FrameQueue, ACameraDropsTheOldest) {
  FrameQueue queue(3, 1000);
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(queue.push(numbered(i)));
  queue.close();
  EXPECT_EQ(queue.dropped(), 7);
  for (int i = 7; i < 10; ++i) EXPECT_EQ(queue.pop()->frame.index, i);
  EXPECT_FALSE(queue.pop());
}

TEST(FrameQueue, ACameraDropsWhatIsLateByMoreThanTheQueueHolds) {
  FrameQueue queue(10, 1);
  const Clock::time_point now = Clock::now();
  EXPECT_TRUE(queue.push(numbered(0, now)));
  EXPECT_TRUE(queue.push(numbered(1, now)));
  EXPECT_EQ(queue.pop()->frame.index, 0);
  EXPECT_EQ(queue.pop()->frame.index, 1);
  EXPECT_TRUE(queue.push(numbered(2, now - std::chrono::seconds(100))));
  EXPECT_EQ(queue.dropped(), 1);
  EXPECT_TRUE(queue.push(numbered(3, now - std::chrono::seconds(5))));
  EXPECT_EQ(queue.dropped(), 1);
  EXPECT_EQ(queue.pop()->frame.index, 3);
}

TEST(FrameQueue, SomeGetThroughHoweverLateAllAre) {
  FrameQueue queue(4, 1e-3);  // one a millisecond
  const Clock::time_point long_ago = Clock::now() - std::chrono::seconds(100);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(queue.push(numbered(i, long_ago)));
  EXPECT_EQ(queue.dropped(), 2);
  EXPECT_EQ(queue.pop()->frame.index, 2);  // the newest
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_TRUE(queue.push(numbered(3, long_ago)));
  EXPECT_EQ(queue.pop()->frame.index, 3);
}

TEST(FrameQueue, CancelLetsNothingThrough) {
  FrameQueue queue(1, 0);
  EXPECT_TRUE(queue.push(numbered(0)));
  std::thread waiting([&] { EXPECT_FALSE(queue.push(numbered(1))); });
  queue.cancel();
  waiting.join();
  EXPECT_FALSE(queue.pop());
  EXPECT_EQ(queue.dropped(), 0);
}

}  // namespace
}  // namespace sparing

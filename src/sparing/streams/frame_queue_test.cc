#include "sparing/streams/frame_queue.h"

#include <gtest/gtest.h>

#include <atomic>
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

TEST(FrameQueue, HoldsThreeWindowsOfACamera) {
  EXPECT_EQ(camera_queue_frames(1, 60), 180);
  EXPECT_EQ(camera_queue_frames(1, 30), 90);
  EXPECT_EQ(camera_queue_frames(1, 30000 / 1001.0), 90);  // 89.91
  EXPECT_EQ(camera_queue_frames(0.5, 240), 360);
  EXPECT_EQ(camera_queue_frames(1, 10), 60);
  EXPECT_EQ(camera_queue_frames(0.05, 25), 60);
  EXPECT_EQ(camera_queue_frames(60, 240), 10000);
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

// Decoded frames are large: what a file can bring later waits outside, undropped, until it is late.
TEST(FrameQueue, APlayedFileWaitsOutside) {
  FrameQueue queue(1000, 1, 2);
  const Clock::time_point due = Clock::now() - std::chrono::seconds(10);
  std::atomic<int> pushed = 0;
  EXPECT_TRUE(queue.push(numbered(0, due)));
  EXPECT_TRUE(queue.push(numbered(1, due)));
  std::thread decoder([&] {
    for (int i = 2; i < 20; ++i) {
      ASSERT_TRUE(queue.push(numbered(i, due)));
      ++pushed;
    }
    queue.close();
  });
  for (int i = 0; i < 20; ++i) {
    EXPECT_LE(pushed, i);  // two are held
    const auto item = queue.pop();
    ASSERT_TRUE(item);
    EXPECT_EQ(item->frame.index, i);
    EXPECT_EQ(item->since, due);
  }
  EXPECT_FALSE(queue.pop());
  decoder.join();
  EXPECT_EQ(queue.dropped(), 0);
}

TEST(FrameQueue, APlayedFileDropsWhatIsTooLateWithoutBeingAskedForIt) {
  FrameQueue queue(50, 1e-3, 2);  // 50 ms
  const Clock::time_point start = Clock::now();
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(queue.push(numbered(i, start)));  // returns at last
  EXPECT_GE(queue.dropped(), 2);
  EXPECT_GE(seconds_since(start), 0.05);
  queue.close();
  EXPECT_EQ(queue.pop()->frame.index, 3);
}

TEST(FrameQueue, IsReadyWhileThePusherCatchesUp) {
  FrameQueue queue(1000, 1, 1);
  const Clock::time_point now = Clock::now();
  EXPECT_TRUE(queue.push(numbered(0, now - std::chrono::seconds(5))));
  std::thread decoder([&] { EXPECT_TRUE(queue.push(numbered(1, now - std::chrono::seconds(4)))); });
  std::this_thread::sleep_for(std::chrono::milliseconds(100));  // it is made to wait
  EXPECT_TRUE(queue.pop());
  decoder.join();
  EXPECT_TRUE(queue.pop());
  EXPECT_TRUE(queue.ready());  // the next one was due 3 s ago
  EXPECT_TRUE(queue.push(numbered(2, now)));
  EXPECT_TRUE(queue.pop());
  EXPECT_FALSE(queue.ready());  // it comes when it is due
}

TEST(FrameQueue, ADecoderThatIsTooSlowIsNotWaitedForLong) {
  // It may be late by 2 s, and catches up with what comes due up to half a second later.
  FrameQueue queue(200, 0.01, 1);
  const Clock::time_point now = Clock::now();
  EXPECT_TRUE(queue.push(numbered(0, now)));
  std::thread decoder([&] { EXPECT_TRUE(queue.push(numbered(1, now))); });
  std::this_thread::sleep_for(std::chrono::milliseconds(100));  // it is made to wait
  EXPECT_TRUE(queue.pop());
  decoder.join();
  EXPECT_TRUE(queue.pop());
  EXPECT_TRUE(queue.ready());
  const Clock::time_point due = Clock::now() + std::chrono::milliseconds(550);
  std::this_thread::sleep_until(due + std::chrono::milliseconds(50));
  EXPECT_TRUE(queue.push(numbered(2, due)));
  EXPECT_TRUE(queue.pop());
  EXPECT_FALSE(queue.ready());
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

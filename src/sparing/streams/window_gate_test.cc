#include "sparing/streams/window_gate.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <limits>
#include <thread>

namespace sparing {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

// One frame of a stream, which must be let in.
void add(WindowGate& gate, int stream, bool whole) {
  ASSERT_TRUE(gate.enter(stream));
  gate.leave(stream, Clock::now(), whole, false);
}

bool is_ready(const std::future<ClosedWindow>& window) {
  return window.wait_for(std::chrono::milliseconds(30)) == std::future_status::ready;
}

TEST(WindowGate, AWindowIsWholeWhenEachStreamsPartIs) {
  WindowGate gate(2, {kNever, kNever});
  gate.open();
  auto window = std::async(std::launch::async, [&] { return gate.close(); });
  add(gate, 0, false);
  add(gate, 0, true);
  EXPECT_FALSE(is_ready(window));
  add(gate, 1, true);
  const ClosedWindow closed = window.get();
  EXPECT_EQ(closed.frames, 3);
  EXPECT_EQ(closed.frames_of, (std::vector<std::int64_t>{2, 1}));
  EXPECT_TRUE(closed.ended.empty());
  EXPECT_FALSE(closed.last);
}

TEST(WindowGate, NobodyIsLetInWhileItIsClosedOrTwiceForOnePart) {
  WindowGate gate(1, {kNever, kNever});
  gate.open();
  add(gate, 0, true);
  std::atomic<bool> inside{false};
  std::thread feeder([&] {
    ASSERT_TRUE(gate.enter(0));
    inside = true;
    gate.leave(0, Clock::now(), true, false);
  });
  EXPECT_EQ(gate.close().frames, 1);
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  EXPECT_FALSE(inside);
  gate.open();
  EXPECT_EQ(gate.close().frames, 1);
  EXPECT_TRUE(inside);
  feeder.join();
}

TEST(WindowGate, CloseWaitsForWhoIsInside) {
  WindowGate gate(1, {kNever, kNever});
  gate.open();
  ASSERT_TRUE(gate.enter(0));
  auto window = std::async(std::launch::async, [&] { return gate.close(); });
  gate.shut();
  EXPECT_FALSE(is_ready(window));
  gate.leave(0, Clock::now(), false, false);
  const ClosedWindow closed = window.get();
  EXPECT_EQ(closed.frames, 1);  // what was added when it was shut is not lost
  EXPECT_TRUE(closed.last);
  EXPECT_FALSE(gate.enter(0));
}

TEST(WindowGate, GoesOnWithoutAStreamThatBringsNothing) {
  WindowGate gate(2, {0.05, kNever});
  gate.open();
  add(gate, 0, true);
  const ClosedWindow first = gate.close();
  EXPECT_EQ(first.frames_of, (std::vector<std::int64_t>{1, 0}));
  EXPECT_FALSE(first.last);
  gate.open();
  add(gate, 1, true);  // it joins the next
  add(gate, 0, true);
  EXPECT_EQ(gate.close().frames, 2);
}

TEST(WindowGate, AStreamAtTheGateIsWaitedFor) {
  WindowGate gate(2, {0.02, 0.02});
  gate.open();
  add(gate, 0, true);
  ASSERT_TRUE(gate.enter(1));
  auto window = std::async(std::launch::async, [&] { return gate.close(); });
  EXPECT_FALSE(is_ready(window));
  gate.leave(1, Clock::now(), true, false);
  EXPECT_EQ(window.get().frames, 2);
}

TEST(WindowGate, AStreamThatIsAboutToComeIsWaitedFor) {
  WindowGate gate(1, {0.01, 0.01});
  gate.open();
  ASSERT_TRUE(gate.enter(0));
  gate.leave(0, Clock::now(), false, /*more=*/true);
  auto window = std::async(std::launch::async, [&] { return gate.close(); });
  EXPECT_FALSE(is_ready(window));
  add(gate, 0, false);
  EXPECT_EQ(window.get().frames, 2);
}

TEST(WindowGate, PacedWindowsEndWithTheirTime) {
  WindowGate gate(2, {kNever, 0.05});
  gate.open();
  add(gate, 0, false);
  add(gate, 1, false);
  const ClosedWindow closed = gate.close();
  EXPECT_EQ(closed.frames, 2);
  EXPECT_FALSE(closed.last);
}

TEST(WindowGate, AWindowWithoutFramesIsNoWindow) {
  WindowGate gate(2, {0.01, 0.01});
  gate.open();
  auto window = std::async(std::launch::async, [&] { return gate.close(); });
  EXPECT_FALSE(is_ready(window));
  add(gate, 1, true);
  EXPECT_EQ(window.get().frames, 1);
}

TEST(WindowGate, EndsAreToldOnce) {
  WindowGate gate(2, {kNever, kNever});
  gate.open();
  EXPECT_TRUE(gate.enter(1));
  gate.leave_for_good(1);
  add(gate, 0, true);
  ClosedWindow closed = gate.close();
  EXPECT_EQ(closed.ended, (std::vector<int>{1}));
  EXPECT_FALSE(closed.last);
  EXPECT_EQ(gate.active(), 1);
  gate.open();
  EXPECT_TRUE(gate.enter(0));
  gate.leave_for_good(0);
  closed = gate.close();
  EXPECT_EQ(closed.frames, 0);
  EXPECT_EQ(closed.ended, (std::vector<int>{0}));
  EXPECT_TRUE(closed.last);
  EXPECT_EQ(gate.active(), 0);
}

}  // namespace
}  // namespace sparing

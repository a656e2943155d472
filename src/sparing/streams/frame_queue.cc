#include "sparing/streams/frame_queue.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace sparing {
namespace {

constexpr double kWindowsThatWait = 3;
constexpr double kFewest = 60;
constexpr double kMost = 10000;

}  // namespace

int camera_queue_frames(double window_seconds, double frame_rate) {
  // A little less than computed: whole numbers stay what they are.
  const double frames = std::ceil(kWindowsThatWait * window_seconds * frame_rate - 1e-9);
  return static_cast<int>(std::clamp(frames, kFewest, kMost));
}

FrameQueue::FrameQueue(std::size_t capacity, double frame_seconds, std::size_t most_held)
    : capacity_(std::max<std::size_t>(capacity, 1)),
      frame_seconds_(frame_seconds),
      most_held_(std::max<std::size_t>(most_held, 1)) {}

void FrameQueue::wait_for_room(std::unique_lock<std::mutex>& lock) {
  if (!paced()) {
    not_full_.wait(lock, [&] { return closed_ || frames_.size() < capacity_; });
    return;
  }
  bool waited = false;
  while (!closed_ && frames_.size() >= most_held_) {
    const Clock::time_point too_late =
        frames_.front().since + std::chrono::duration_cast<Clock::duration>(
                                    std::chrono::duration<double>(longest_seconds()));
    if (Clock::now() > too_late) break;
    not_full_.wait_until(lock, too_late);
    waited = true;
  }
  if (!waited) return;
  catching_up_ = true;
  released_ = Clock::now();
}

// Until it has caught up with what came due while it waited. A decoder that is too slow never does:
// it is not taken for one that catches up for long.
void FrameQueue::follow_pusher(Clock::time_point since) {
  if (!catching_up_) return;
  const auto next = since + std::chrono::duration_cast<Clock::duration>(
                                std::chrono::duration<double>(frame_seconds_));
  const double grace = longest_seconds() / 4;
  catching_up_ =
      next <= Clock::now() && std::chrono::duration<double>(since - released_).count() < grace;
}

std::deque<QueuedFrame> FrameQueue::make_room() {
  const double longest = longest_seconds();
  const bool starved = seconds_since(last_pop_) > longest / 4;
  std::deque<QueuedFrame> dropped;
  while (frames_.size() > (starved ? 1 : 0) &&
         (frames_.size() > capacity_ || seconds_since(frames_.front().since) > longest)) {
    dropped.push_back(std::move(frames_.front()));
    frames_.pop_front();
  }
  dropped_ += static_cast<std::int64_t>(dropped.size());
  return dropped;
}

bool FrameQueue::push(QueuedFrame frame) {
  std::deque<QueuedFrame> dropped;
  {
    std::unique_lock lock(mutex_);
    wait_for_room(lock);
    if (closed_) return false;
    follow_pusher(frame.since);
    frames_.push_back(std::move(frame));
    if (paced()) dropped = make_room();
  }
  not_empty_.notify_one();
  return true;
}

std::optional<QueuedFrame> FrameQueue::pop() {
  std::unique_lock lock(mutex_);
  not_empty_.wait(lock, [&] { return closed_ || !frames_.empty(); });
  if (frames_.empty()) return std::nullopt;
  std::optional<QueuedFrame> frame(std::move(frames_.front()));
  frames_.pop_front();
  last_pop_ = Clock::now();
  lock.unlock();
  not_full_.notify_one();
  return frame;
}

bool FrameQueue::ready() const {
  std::lock_guard lock(mutex_);
  return closed_ || !frames_.empty() || catching_up_;
}

void FrameQueue::close() {
  {
    std::lock_guard lock(mutex_);
    closed_ = true;
  }
  not_full_.notify_all();
  not_empty_.notify_all();
}

void FrameQueue::cancel() {
  std::deque<QueuedFrame> dropped;
  {
    std::lock_guard lock(mutex_);
    closed_ = true;
    dropped.swap(frames_);
  }
  not_full_.notify_all();
  not_empty_.notify_all();
}

std::int64_t FrameQueue::dropped() const {
  std::lock_guard lock(mutex_);
  return dropped_;
}

}  // namespace sparing

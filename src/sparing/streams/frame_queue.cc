#include "sparing/streams/frame_queue.h"

#include <algorithm>
#include <utility>

namespace sparing {

FrameQueue::FrameQueue(std::size_t capacity, double frame_seconds)
    : capacity_(std::max<std::size_t>(capacity, 1)), frame_seconds_(frame_seconds) {}

std::deque<QueuedFrame> FrameQueue::make_room() {
  const double longest = frame_seconds_ * static_cast<double>(capacity_);
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
    if (!paced()) not_full_.wait(lock, [&] { return closed_ || frames_.size() < capacity_; });
    if (closed_) return false;
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
  return closed_ || !frames_.empty();
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

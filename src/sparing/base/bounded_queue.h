// A bounded multi-producer multi-consumer queue with an end.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

namespace sparing {

// push blocks while the queue is full, pop while it is empty. close() ends it: what is queued can
// still be popped, pushes fail, those that wait included. cancel() also drops what is queued. Items
// come out in the order they went in. A capacity of 0 counts as 1. Thread-safe.
template <class T>
class BoundedQueue {
 public:
  explicit BoundedQueue(std::size_t capacity) : capacity_(capacity > 0 ? capacity : 1) {}

  // False when the queue was closed: the item was not taken.
  bool push(T item) {
    std::unique_lock lock(mutex_);
    not_full_.wait(lock, [&] { return closed_ || items_.size() < capacity_; });
    if (closed_) return false;
    items_.push_back(std::move(item));
    lock.unlock();
    not_empty_.notify_one();
    return true;
  }

  // nullopt when the queue is closed and empty.
  std::optional<T> pop() {
    std::unique_lock lock(mutex_);
    not_empty_.wait(lock, [&] { return closed_ || !items_.empty(); });
    if (items_.empty()) return std::nullopt;
    std::optional<T> item(std::move(items_.front()));
    items_.pop_front();
    lock.unlock();
    not_full_.notify_one();
    return item;
  }

  void close() {
    {
      std::lock_guard lock(mutex_);
      closed_ = true;
    }
    not_full_.notify_all();
    not_empty_.notify_all();
  }

  // Returns how many items were dropped, for the caller's statistics.
  std::size_t cancel() {
    std::deque<T> dropped;  // destroyed without the lock: an item's destructor may do anything
    {
      std::lock_guard lock(mutex_);
      closed_ = true;
      dropped.swap(items_);
    }
    not_full_.notify_all();
    not_empty_.notify_all();
    return dropped.size();
  }

 private:
  const std::size_t capacity_;
  std::mutex mutex_;
  std::condition_variable not_full_;
  std::condition_variable not_empty_;
  std::deque<T> items_;
  bool closed_ = false;
};

}  // namespace sparing

// Decoded frames of one stream that wait for detection.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>

#include "sparing/base/clock.h"
#include "sparing/io/source.h"

namespace sparing {

struct QueuedFrame {
  SourceFrame frame;
  // Paced: when it was due; files: when it was decoded. Its latency counts from here.
  Clock::time_point since;
};

// Bounded, with two ways of being full. A file waits: push() blocks. A camera does not: the oldest
// frames make room, and are counted. Those go, too, that are late by more than `capacity` frames
// take to come: a decoder that is behind drops as one whose frames pile up here. But one in a
// quarter of that time gets through, however late all are. Thread-safe, for one pusher and one
// popper.
class FrameQueue {
 public:
  // `frame_seconds` > 0 is the time from one frame to the next of a camera; 0: a file.
  FrameQueue(std::size_t capacity, double frame_seconds);

  // False when the queue was closed: the frame was not taken.
  bool push(QueuedFrame frame);
  // nullopt when the queue is closed and empty.
  std::optional<QueuedFrame> pop();
  // Whether pop() returns at once: there is a frame, or the end.
  bool ready() const;
  // What is queued can still be popped.
  void close();
  // What is queued goes, without being counted as dropped.
  void cancel();
  // Frames that came faster than they were taken.
  std::int64_t dropped() const;

 private:
  bool paced() const { return frame_seconds_ > 0; }
  // Frames to be destroyed without the lock.
  std::deque<QueuedFrame> make_room();

  const std::size_t capacity_;
  const double frame_seconds_;
  mutable std::mutex mutex_;
  std::condition_variable not_full_;
  std::condition_variable not_empty_;
  std::deque<QueuedFrame> frames_;
  std::int64_t dropped_ = 0;
  Clock::time_point last_pop_{};
  bool closed_ = false;
};

}  // namespace sparing

// Decoded frames of one stream that wait for detection.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <limits>
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

// How many frames of a camera may wait by default: what comes in three windows of `window_seconds`,
// as one is detected while the next is awaited, and a slow one takes longer than it lasts. At least
// 60, at most 10000. `frame_rate` > 0 is in frames a second of the stream's own time.
int camera_queue_frames(double window_seconds, double frame_rate);

// Bounded, with two ways of being full. A file waits: push() blocks. A camera does not: the oldest
// frames make room, and are counted. Those go, too, that are late by more than `capacity` frames
// take to come: a decoder that is behind drops as one whose frames pile up here. But one in a
// quarter of that time gets through, however late all are.
//
// A file that is played as a camera waits outside: decoded frames are large, so push() blocks while
// `most_held` of them are here and the oldest is not too late. Their `since` stays what it was.
// Thread-safe, for one pusher and one popper.
class FrameQueue {
 public:
  static constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();

  // `frame_seconds` > 0 is the time from one frame to the next of a camera; 0: a file, for which
  // `most_held` means nothing.
  FrameQueue(std::size_t capacity, double frame_seconds, std::size_t most_held = kAll);

  // False when the queue was closed: the frame was not taken.
  bool push(QueuedFrame frame);
  // nullopt when the queue is closed and empty.
  std::optional<QueuedFrame> pop();
  // Whether pop() returns soon: there is a frame, or the end, or the pusher was made to wait and
  // has frames to bring that are due.
  bool ready() const;
  // What is queued can still be popped.
  void close();
  // What is queued goes, without being counted as dropped.
  void cancel();
  // Frames that came faster than they were taken.
  std::int64_t dropped() const;

 private:
  bool paced() const { return frame_seconds_ > 0; }
  double longest_seconds() const { return frame_seconds_ * static_cast<double>(capacity_); }
  void wait_for_room(std::unique_lock<std::mutex>& lock);
  // Frames to be destroyed without the lock.
  std::deque<QueuedFrame> make_room();
  void follow_pusher(Clock::time_point since);

  const std::size_t capacity_;
  const double frame_seconds_;
  const std::size_t most_held_;
  mutable std::mutex mutex_;
  std::condition_variable not_full_;
  std::condition_variable not_empty_;
  std::deque<QueuedFrame> frames_;
  std::int64_t dropped_ = 0;
  Clock::time_point last_pop_{};
  bool catching_up_ = false;  // the pusher, after it was made to wait
  Clock::time_point released_{};
  bool closed_ = false;
};

}  // namespace sparing

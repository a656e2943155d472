// When a window is whole: the turnstile between the streams' threads, which add frames, and the one
// that detects, during which nobody may add.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "sparing/base/clock.h"

namespace sparing {

struct WindowRules {
  // A stream that has brought nothing for so long is not waited for; infinite: always waited for.
  double stall_seconds = 0;
  // The window ends so long after its first frame was due, for streams that have nothing more
  // ready; infinite: when each stream's part is whole.
  double wall_seconds = 0;
};

struct ClosedWindow {
  std::int64_t frames = 0;              // added to it, in all
  std::vector<std::int64_t> frames_of;  // each stream
  std::vector<int> ended;               // streams that ended in it, ascending
  Clock::time_point last_since;         // the newest frame's due or decoding time
  bool last = false;                    // every stream has ended, or the gate is shut
};

// Thread-safe: one thread for each stream calls enter() and leave(), one calls open() and close().
class WindowGate {
 public:
  WindowGate(int streams, const WindowRules& rules);

  // A stream has a frame (or its end) and wants in. Waits until the window is open and the stream's
  // part is not whole; false: the gate is shut, and the stream must go.
  bool enter(int stream);
  // After enter(), with the due or decoding time of the frame that was added. `more`: the stream is
  // about to come again at once, and is waited for.
  void leave(int stream, Clock::time_point added, bool whole, bool more);
  // After enter(), and also when it was false: the stream brings nothing more.
  void leave_for_good(int stream);

  // A new window, unless the gate is shut.
  void open();
  // Waits until the window is whole by the rules, closes it and waits until nobody is inside.
  // A window without a frame is waited for as long as a stream may bring one.
  ClosedWindow close();
  // No more frames: ends close() soon, and every enter(). From any thread.
  void shut();

  int active() const;

 private:
  struct Stream {
    bool waiting = false;  // has something: at the gate, inside, or about to come
    bool inside = false;
    bool whole = false;
    bool ended = false;
    bool told = false;  // the end, to close()'s caller
    std::int64_t frames = 0;
    Clock::time_point idle_since;
  };

  // Whether the window need not wait for it; else when it need no longer, if ever.
  bool done(const Stream& stream, Clock::time_point now,
            std::optional<Clock::time_point>& wake) const;
  bool nobody_inside() const;
  std::int64_t frames() const;
  void wait_until_whole(std::unique_lock<std::mutex>& lock);

  const WindowRules rules_;
  mutable std::mutex mutex_;
  std::condition_variable feeders_;
  std::condition_variable closer_;
  std::vector<Stream> streams_;
  std::optional<Clock::time_point> first_since_;  // of the window's frames
  Clock::time_point last_since_{};
  bool open_ = false;
  bool shut_ = false;
};

}  // namespace sparing

#include "sparing/streams/window_gate.h"

#include <algorithm>
#include <cmath>

namespace sparing {
namespace {

// `from` + `seconds`; nullopt: never.
std::optional<Clock::time_point> after(Clock::time_point from, double seconds) {
  if (!std::isfinite(seconds)) return std::nullopt;
  return from + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

void take_earlier(std::optional<Clock::time_point>& wake, std::optional<Clock::time_point> time) {
  if (time && (!wake || *time < *wake)) wake = time;
}

}  // namespace

WindowGate::WindowGate(int streams, const WindowRules& rules)
    : rules_(rules), streams_(static_cast<std::size_t>(streams)) {}

bool WindowGate::enter(int number) {
  std::unique_lock lock(mutex_);
  Stream& stream = streams_[static_cast<std::size_t>(number)];
  stream.waiting = true;
  feeders_.wait(lock, [&] { return shut_ || (open_ && !stream.whole); });
  if (shut_) return false;
  stream.inside = true;
  return true;
}

void WindowGate::leave(int number, Clock::time_point added, bool whole, bool more) {
  {
    std::lock_guard lock(mutex_);
    Stream& stream = streams_[static_cast<std::size_t>(number)];
    stream.inside = false;
    stream.waiting = more;
    stream.whole = whole;
    stream.idle_since = Clock::now();
    ++stream.frames;
    first_since_ = first_since_ ? std::min(*first_since_, added) : added;
    last_since_ = std::max(last_since_, added);
  }
  closer_.notify_one();
}

void WindowGate::leave_for_good(int number) {
  {
    std::lock_guard lock(mutex_);
    Stream& stream = streams_[static_cast<std::size_t>(number)];
    stream.waiting = stream.inside = false;
    stream.ended = true;
  }
  closer_.notify_one();
}

void WindowGate::open() {
  {
    std::lock_guard lock(mutex_);
    if (shut_) return;
    const Clock::time_point now = Clock::now();
    for (Stream& stream : streams_) {
      stream.whole = false;
      stream.frames = 0;
      stream.idle_since = now;
    }
    first_since_.reset();
    last_since_ = {};
    open_ = true;
  }
  feeders_.notify_all();
}

bool WindowGate::done(const Stream& stream, Clock::time_point now,
                      std::optional<Clock::time_point>& wake) const {
  if (stream.ended || stream.whole) return true;
  // A window without a frame has nothing to go on with.
  if (stream.waiting || !first_since_) return false;
  std::optional<Clock::time_point> until = after(stream.idle_since, rules_.stall_seconds);
  take_earlier(until, after(*first_since_, rules_.wall_seconds));
  if (until && *until <= now) return true;
  take_earlier(wake, until);
  return false;
}

bool WindowGate::nobody_inside() const {
  return std::none_of(streams_.begin(), streams_.end(), [](const Stream& s) { return s.inside; });
}

std::int64_t WindowGate::frames() const {
  std::int64_t sum = 0;
  for (const Stream& stream : streams_) sum += stream.frames;
  return sum;
}

void WindowGate::wait_until_whole(std::unique_lock<std::mutex>& lock) {
  while (!shut_) {
    const Clock::time_point now = Clock::now();
    std::optional<Clock::time_point> wake;
    bool whole = true;
    for (const Stream& stream : streams_) whole = done(stream, now, wake) && whole;
    if (whole) return;
    if (wake) {
      closer_.wait_until(lock, *wake);
    } else {
      closer_.wait(lock);
    }
  }
}

ClosedWindow WindowGate::close() {
  std::unique_lock lock(mutex_);
  wait_until_whole(lock);
  open_ = false;
  closer_.wait(lock, [&] { return nobody_inside(); });
  ClosedWindow window;
  window.frames = frames();
  window.last_since = last_since_;
  window.last = shut_;
  bool all_ended = true;
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    Stream& stream = streams_[i];
    window.frames_of.push_back(stream.frames);
    if (stream.ended && !stream.told) window.ended.push_back(static_cast<int>(i));
    stream.told = stream.ended;
    all_ended = all_ended && stream.ended;
  }
  window.last = window.last || all_ended;
  return window;
}

void WindowGate::shut() {
  {
    std::lock_guard lock(mutex_);
    shut_ = true;
  }
  feeders_.notify_all();
  closer_.notify_all();
}

int WindowGate::active() const {
  std::lock_guard lock(mutex_);
  return static_cast<int>(
      std::count_if(streams_.begin(), streams_.end(), [](const Stream& s) { return !s.ended; }));
}

}  // namespace sparing

#include "sparing/streams/stream_feeder.h"

#include "sparing/base/check.h"
#include "sparing/base/cpu_time.h"
#include "sparing/base/thread_pool.h"
#include "sparing/pipeline/stage_clock.h"

namespace sparing {
namespace {

constexpr double kUnknownRate = 25;

double rate_of(const SourceInfo& info, const FeederSettings& settings) {
  const double rate = nominal_rate(info);
  return settings.paced ? rate * settings.speed : rate;
}

}  // namespace

double nominal_rate(const SourceInfo& info) {
  return info.frame_rate.num > 0 ? info.frame_rate.value() : kUnknownRate;
}

StreamFeeder::StreamFeeder(StreamInput input, const FeederSettings& settings,
                           StreamDetector& detector, WindowGate& gate)
    : input_(std::move(input)),
      settings_(settings),
      detector_(detector),
      gate_(gate),
      rate_(rate_of(input_.source->info(), settings)),
      live_(input_.source->info().live),
      queue_(static_cast<std::size_t>(settings.queue_frames), settings.paced ? 1 / rate_ : 0,
             live_ ? FrameQueue::kAll : static_cast<std::size_t>(settings.decoded_frames)) {}

void StreamFeeder::start() {
  decoder_ = std::thread([this] {
    set_current_thread_name("sp-decode-" + std::to_string(settings_.index));
    decode();
    queue_.close();
  });
  extractor_ = std::thread([this] {
    set_current_thread_name("sp-extract-" + std::to_string(settings_.index));
    extract();
  });
}

void StreamFeeder::join() {
  if (extractor_.joinable()) extractor_.join();
  if (decoder_.joinable()) decoder_.join();
}

void StreamFeeder::end_input() {
  {
    std::lock_guard lock(mutex_);
    ending_.store(true);
  }
  ended_.notify_all();
  if (input_.cancel) input_.cancel();
}

void StreamFeeder::end_time() {
  if (!can_catch_up()) end_input();
}

void StreamFeeder::cancel() {
  end_input();
  queue_.cancel();
}

void StreamFeeder::keep_first(Error error) {
  std::lock_guard lock(mutex_);
  if (!error_) error_ = std::move(error);
}

bool StreamFeeder::over() const {
  if (ending_.load()) return true;
  return !can_catch_up() && settings_.end && Clock::now() >= *settings_.end;
}

bool StreamFeeder::wait_until_due(const SourceFrame& frame, Clock::time_point& due) {
  const Timestamp& time = frame.frame.view().timestamp;
  if (!first_time_) first_time_ = time;
  const double seconds = seconds_between(*first_time_, time) / settings_.speed;
  due = settings_.start +
        std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  if (settings_.end && due > *settings_.end) return false;
  std::unique_lock lock(mutex_);
  return !ended_.wait_until(lock, due, [&] { return ending_.load(); });
}

void StreamFeeder::decode() {
  while (!over()) {
    auto next = timed(decode_time_, [&] { return input_.source->next(); });
    decode_cpu_.store(thread_cpu_seconds());
    if (!next.ok()) {
      // A read that waited was ended: no fault of the source.
      if (!ending_.load()) keep_first(std::move(next).error());
      return;
    }
    if (!*next) return;
    QueuedFrame item{std::move(**next), Clock::now()};
    if (settings_.paced && !wait_until_due(item.frame, item.since)) return;
    ++decoded_;
    if (!queue_.push(std::move(item))) return;
  }
}

void StreamFeeder::extract() {
  while (auto item = queue_.pop()) {
    if (!gate_.enter(settings_.index)) break;
    {
      std::lock_guard lock(mutex_);
      since_.emplace_back(item->frame.index, item->since);
    }
    auto whole = timed(extract_time_, [&] {
      return detector_.add_frame(settings_.detector_stream, std::move(item->frame));
    });
    extract_cpu_.store(thread_cpu_seconds());
    if (!whole.ok()) {
      ++refused_;
      keep_first(std::move(whole).error());
      gate_.leave_for_good(settings_.index);
      cancel();
      return;
    }
    gate_.leave(settings_.index, item->since, *whole, queue_.ready());
  }
  // The end comes through the gate, too, so that it falls into the same window in every run.
  (void)gate_.enter(settings_.index);
  gate_.leave_for_good(settings_.index);
}

Clock::time_point StreamFeeder::take_since(std::int64_t frame) {
  std::lock_guard lock(mutex_);
  while (!since_.empty() && since_.front().first < frame) since_.pop_front();
  if (since_.empty() || since_.front().first != frame) return Clock::now();
  const Clock::time_point since = since_.front().second;
  since_.pop_front();
  return since;
}

}  // namespace sparing

// When a run on many streams saw so little that its boxes say little.
#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>

#include "streams_summary.h"

namespace sparing::cli {
namespace {

// Of what should have been looked at, or of the frames: more is a warning.
constexpr double kMostMissed = 1.0 / 3;  // of regions and key frames
constexpr double kMostTooFast = 0.5;     // of frames

double percent(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? 100.0 * static_cast<double>(part) / static_cast<double>(whole) : 0;
}

std::string text_of(const char* format, ...) __attribute__((format(printf, 1, 2)));
std::string text_of(const char* format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return text;
}

struct Missed {
  std::int64_t regions = 0, dropped_regions = 0;
  std::int64_t keys = 0, unseen_keys = 0;
  std::int64_t frames = 0, dropped_frames = 0;  // dropped as they came too fast
  std::int64_t detected_frames = 0;
  std::size_t blind_streams = 0;  // with frames, and never looked at
};

Missed count(const StreamsSummary& summary) {
  Missed missed;
  for (const StreamRunStatistics& stream : summary.streams) {
    const StreamStatistics& detector = stream.detector;
    const std::int64_t dropped = detector.dropped_regions.total();
    missed.regions += detector.regions + dropped;
    missed.dropped_regions += dropped;
    missed.keys += detector.key_frames + detector.unseen_key_frames;
    missed.unseen_keys += detector.unseen_key_frames;
    missed.detected_frames += detector.frames;
    missed.frames += stream.frames;
    for (const DropCount& drop : stream.dropped_frames) {
      if (drop.reason == kTooFastReason) missed.dropped_frames += drop.count;
    }
    if (stream.frames > 0 && detector.key_frames == 0) ++missed.blind_streams;
  }
  return missed;
}

// What would have been enough, in milliseconds a frame: two digits, rounded up.
std::string enough_text(double milliseconds) {
  double unit = 0.01;
  while (unit * 100 < milliseconds) unit *= 10;
  return text_of("%.10g", std::ceil(milliseconds / unit) * unit);
}

std::string advice(const DetectSettings& settings, const StreamsSummary& summary,
                   const Missed& missed) {
  // Plans aim a little below the budget.
  const double enough = 1.1e3 * summary.totals.wanted_detector_seconds /
                        static_cast<double>(std::max<std::int64_t>(missed.detected_frames, 1));
  const std::string time = enough_text(enough);
  if (settings.streams.budget > 0) {
    return text_of("give at least --budget %sms (it was %gms)", time.c_str(),
                   settings.streams.budget);
  }
  return text_of(
      "all of it takes at least %s ms of detector time a frame, and the rate left %.3g ms: give "
      "fewer streams or %s",
      time.c_str(),
      1e3 * summary.totals.planned_detector_seconds /
          static_cast<double>(std::max<std::int64_t>(missed.detected_frames, 1)),
      settings.run.paced ? "a lower --speed" : "a lower --fps");
}

}  // namespace

std::vector<std::string> streams_warnings(const DetectSettings& settings,
                                          const StreamsSummary& summary) {
  std::vector<std::string> warnings;
  const Missed missed = count(summary);
  const double regions = percent(missed.dropped_regions, missed.regions);
  const double keys = percent(missed.unseen_keys, missed.keys);
  if (std::max(regions, keys) > 100 * kMostMissed || missed.blind_streams > 0) {
    std::string text = text_of(
        "little was looked at: %.0f %% of the regions were dropped (%lld of %lld), and %.0f %% of "
        "the frames that were to be looked at were not (%lld of %lld)",
        regions, static_cast<long long>(missed.dropped_regions),
        static_cast<long long>(missed.regions), keys, static_cast<long long>(missed.unseen_keys),
        static_cast<long long>(missed.keys));
    if (missed.blind_streams > 0) {
      text += text_of("; %zu of %zu streams were never looked at", missed.blind_streams,
                      summary.streams.size());
    }
    if (missed.dropped_regions > 0) text += "; " + advice(settings, summary, missed);
    warnings.push_back(std::move(text));
  }
  const std::int64_t came = missed.frames + missed.dropped_frames;
  if (percent(missed.dropped_frames, came) > 100 * kMostTooFast) {
    warnings.push_back(text_of(
        "%.0f %% of the frames were dropped (%lld of %lld), as they came faster than they could be "
        "processed; give a lower --speed, fewer streams, or a smaller --budget",
        percent(missed.dropped_frames, came), static_cast<long long>(missed.dropped_frames),
        static_cast<long long>(came)));
  }
  return warnings;
}

}  // namespace sparing::cli

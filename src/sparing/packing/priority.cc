#include "sparing/packing/priority.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "sparing/base/check.h"

namespace sparing {
namespace {

constexpr std::size_t kMostObjects = 65536;

int drawn_side(double length, double scale) {
  constexpr double kMost = 1e9;  // leaves room for gaps and borders
  return static_cast<int>(std::clamp(std::round(length * scale), 1.0, kMost));
}

}  // namespace

Size drawn_size(const RoiRequest& request) {
  return {drawn_side(request.roi.rect.width, request.scale),
          drawn_side(request.roi.rect.height, request.scale)};
}

RoiPriority priority_of(const RoiRequest& request, const PriorityOptions& options) {
  if (request.probe) return RoiPriority::kProbe;
  if (request.last_frame) return RoiPriority::kLastFrame;
  const bool followed = request.roi.source == RoiSource::kFlow &&
                        static_cast<double>(request.roi.confidence) >= options.low_confidence;
  return followed ? RoiPriority::kFollowed : RoiPriority::kUnsure;
}

std::vector<std::size_t> priority_order(std::span<const RoiRequest> requests,
                                        const PriorityOptions& options) {
  // Smaller is earlier.
  std::vector<std::tuple<int, int, double>> keys;
  keys.reserve(requests.size());
  for (const RoiRequest& request : requests) {
    const Size size = drawn_size(request);
    keys.emplace_back(static_cast<int>(priority_of(request, options)), -request.consecutive_drops,
                      -static_cast<double>(size.width) * size.height);
  }
  std::vector<std::size_t> order(requests.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return keys[a] < keys[b]; });
  return order;
}

std::string_view to_string(DropReason reason) {
  for (const DropReasonInfo& info : kDropReasons) {
    if (info.reason == reason) return info.name;
  }
  SPARING_CHECK(false);
  return {};
}

void DropTally::merge(const DropTally& other) {
  for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
}

std::int64_t DropTally::total() const {
  return std::accumulate(counts_.begin(), counts_.end(), std::int64_t{0});
}

int DropHistory::consecutive_drops(int stream, std::int64_t object_id) const {
  const auto found = drops_.find({stream, object_id});
  return found == drops_.end() ? 0 : found->second.drops;
}

void DropHistory::dropped(int stream, std::int64_t object_id) {
  if (object_id < 0) return;
  Entry& entry = drops_[{stream, object_id}];
  if (entry.drops > 0) by_age_.erase(entry.updated);
  if (entry.drops < std::numeric_limits<int>::max()) ++entry.drops;
  entry.updated = ++clock_;
  by_age_[entry.updated] = {stream, object_id};
  if (drops_.size() > kMostObjects) {
    drops_.erase(by_age_.begin()->second);
    by_age_.erase(by_age_.begin());
  }
}

void DropHistory::looked_at(int stream, std::int64_t object_id) { forget(stream, object_id); }

void DropHistory::forget(int stream, std::int64_t object_id) {
  const auto found = drops_.find({stream, object_id});
  if (found == drops_.end()) return;
  by_age_.erase(found->second.updated);
  drops_.erase(found);
}

void DropHistory::forget_stream(int stream) {
  const auto first = drops_.lower_bound({stream, std::numeric_limits<std::int64_t>::min()});
  auto last = first;
  for (; last != drops_.end() && last->first.first == stream; ++last) {
    by_age_.erase(last->second.updated);
  }
  drops_.erase(first, last);
}

}  // namespace sparing

// Which regions of a window come first when not all fit, and an account of those that were dropped
// (Mondrian, sections 4.3.2, "ROI Priority Assignment", and 4.5, "Interpolation for Dropped ROIs").
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "sparing/base/geometry.h"
#include "sparing/base/options.h"
#include "sparing/base/roi.h"

namespace sparing {

// A region of one frame of one stream, as it asks for a place on a canvas.
struct RoiRequest {
  Roi roi;                    // its rect is what is drawn: with context, merged (MergedRoi)
  double scale = 1;           // drawn pixels per pixel of the frame, > 0
  int stream = 0;             // index of the stream
  std::int64_t frame = 0;     // the caller's number of the frame within the stream
  bool probe = false;         // drawn again at another scale to tune it (section 4.2.3)
  bool last_frame = false;    // of the last frame of its stream in the window
  int consecutive_drops = 0;  // frames in a row without this object's region (DropHistory)
};

// The whole pixels that a region gets on a canvas: rect x scale, rounded, at least 1.
Size drawn_size(const RoiRequest& request);

// Most important first.
enum class RoiPriority {
  kProbe,      // probes, so that scales are corrected as soon as possible
  kLastFrame,  // the window's last frame, from which the next window's objects are followed
  kUnsure,     // not followed by flow (something new), or an object of low confidence
  kFollowed,   // known objects: the best candidates for propagation
};

struct RoiPriorityInfo {
  RoiPriority priority;
  std::string_view name;
};

inline constexpr std::array kRoiPriorities = {
    RoiPriorityInfo{RoiPriority::kProbe, "probe"},
    RoiPriorityInfo{RoiPriority::kLastFrame, "last-frame"},
    RoiPriorityInfo{RoiPriority::kUnsure, "unsure"},
    RoiPriorityInfo{RoiPriority::kFollowed, "followed"},
};

struct PriorityOptions {
  double low_confidence = 0.4;

  static constexpr auto fields() {
    return std::tuple{
        option("low-confidence", &PriorityOptions::low_confidence)
            .help("followed objects whose last confidence is lower come before the others")
            .range(0, 1),
    };
  }
};

RoiPriority priority_of(const RoiRequest& request, const PriorityOptions& options = {});

// Indices of the requests, most important first: by priority; of the same priority the longest
// consecutive drops first; then by drawn area, descending (the paper's order, which also packs
// well); then as given. O(n log n).
std::vector<std::size_t> priority_order(std::span<const RoiRequest> requests,
                                        const PriorityOptions& options = {});

// Why a region was not looked at.
enum class DropReason {
  kBudget,    // more important regions took the window's time
  kNoRoom,    // canvases had area left, but no place of its shape
  kTooLarge,  // larger than every canvas, and shrinking was not allowed
  kNoTime,    // nothing at all could be run: no canvas is cheap enough for the budget
};

struct DropReasonInfo {
  DropReason reason;
  std::string_view name;
  std::string_view text;  // for people
};

inline constexpr std::array kDropReasons = {
    DropReasonInfo{DropReason::kBudget, "budget", "more important regions took the time"},
    DropReasonInfo{DropReason::kNoRoom, "no-room", "no place of its shape was left on a canvas"},
    DropReasonInfo{DropReason::kTooLarge, "too-large", "larger than every canvas"},
    DropReasonInfo{DropReason::kNoTime, "no-time", "not even the cheapest canvas was affordable"},
};

std::string_view to_string(DropReason reason);

struct RoiDrop {
  std::size_t request = 0;  // index
  DropReason reason = DropReason::kBudget;
  friend bool operator==(const RoiDrop&, const RoiDrop&) = default;
};

// How many were dropped, by reason.
class DropTally {
 public:
  void add(DropReason reason, std::int64_t count = 1) {
    counts_[static_cast<std::size_t>(reason)] += count;
  }
  void merge(const DropTally& other);
  std::int64_t count(DropReason reason) const { return counts_[static_cast<std::size_t>(reason)]; }
  std::int64_t total() const;

 private:
  std::array<std::int64_t, kDropReasons.size()> counts_{};
};

// For each object of each stream, how many of its regions in a row were dropped. Objects are
// forgotten when they are looked at, when forget() says so, and, as a bound on memory, the least
// recently dropped beyond 65536. Not thread-safe.
class DropHistory {
 public:
  // Regions in a row that were dropped; 0 for new objects (id -1) and those never dropped.
  int consecutive_drops(int stream, std::int64_t object_id) const;
  // What became of a region; ignored for objects without an id.
  void dropped(int stream, std::int64_t object_id);
  void looked_at(int stream, std::int64_t object_id);
  // An object that is gone, a stream that has ended.
  void forget(int stream, std::int64_t object_id);
  void forget_stream(int stream);
  std::size_t size() const { return drops_.size(); }

 private:
  using Key = std::pair<int, std::int64_t>;
  struct Entry {
    int drops = 0;
    std::int64_t updated = 0;
  };
  std::map<Key, Entry> drops_;
  std::map<std::int64_t, Key> by_age_;
  std::int64_t clock_ = 0;
};

}  // namespace sparing

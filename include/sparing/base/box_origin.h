// How a box of a frame came about, where not every frame is looked at.
#pragma once

#include <cstdint>
#include <string_view>

namespace sparing {

enum class BoxOrigin {
  kDetected,      // by the network, in this frame
  kInterpolated,  // between a detection before and one after
  kPropagated,    // from the detections before, by constant velocity
};

inline constexpr int kBoxOrigins = 3;

// "detected", "interpolated", "propagated".
constexpr std::string_view to_string(BoxOrigin origin) {
  switch (origin) {
    case BoxOrigin::kDetected: return "detected";
    case BoxOrigin::kInterpolated: return "interpolated";
    case BoxOrigin::kPropagated: return "propagated";
  }
  return "unknown";
}

// What is known of a detection beside its class, score and box.
struct BoxTrack {
  std::int64_t id = -1;  // of the object, within its stream; -1: not followed
  BoxOrigin origin = BoxOrigin::kDetected;
  friend bool operator==(const BoxTrack&, const BoxTrack&) = default;
};

}  // namespace sparing

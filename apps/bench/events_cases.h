// What may happen before a camera, as seeded synthetic scenes at the size of PETS, and what counts
// as coming through it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "scene.h"
#include "sparing/pipeline/detector.h"
#include "sparing/streams/stream_detector.h"

namespace sparing::bench {

// Detections of every frame of a scene; frames that were not looked at by anybody are empty.
using SceneBoxes = std::vector<std::vector<Detection>>;

// A scene and the frames [first, last) whose actors are to be found.
struct EventCase {
  Scene scene;
  std::vector<int> actors;  // whom to look for; empty: everybody
  int first = 0;
  int last = 0;
};

inline constexpr int kFlashFrames = 3;
inline constexpr double kEventWindow = 1.0;  // seconds: StreamOptions::window's default

// A person appears for kFlashFrames frames among three who walk.
EventCase flash_case(std::shared_ptr<const SceneMaterial> material, int frame_rate,
                     std::uint64_t seed);
// Three people come into view, stand for 30 s, and one walks by. Judged are the last 20 s.
EventCase standing_case(std::shared_ptr<const SceneMaterial> material, std::uint64_t seed);
// Five people walk. Odd seeds: light goes up by a gain of 1.25 and 10 grey levels; even ones: down
// by as much. Judged from a window after the step on.
EventCase light_case(std::shared_ptr<const SceneMaterial> material, std::uint64_t seed);
// The same people. The camera is pushed by 10 pixels; odd seeds: for good; even ones: it swings
// back within half a second.
EventCase shake_case(std::shared_ptr<const SceneMaterial> material, std::uint64_t seed);
// The same without step and push.
EventCase undisturbed(const EventCase& disturbed);

// Runs the cases' scenes as streams of one detector, all at the same time.
Result<std::vector<SceneBoxes>> detect_streams(StreamDetector& detector,
                                               std::span<const EventCase> cases);
// Whole frames, one by one, every `step`-th of those judged.
Result<SceneBoxes> detect_whole(Detector& detector, const EventCase& one, int step);

// Shares of people and frames.
struct EventCount {
  long long found = 0;
  long long total = 0;
  double share() const {
    return total > 0 ? static_cast<double>(found) / static_cast<double>(total) : 0;
  }
  EventCount& operator+=(const EventCount& other) {
    found += other.found;
    total += other.total;
    return *this;
  }
};

// A box of the person: IoU of 0.5 or more.
bool is_found(const Box& person, std::span<const Detection> detections);
// Of the people to be found, in every `step`-th frame judged, those that are; people of whom more
// than half is covered do not count.
EventCount count_found(const EventCase& one, const SceneBoxes& boxes, int step = 1);
// The same of those only whom `others` has, too.
EventCount count_found_of(const EventCase& one, const SceneBoxes& boxes, const SceneBoxes& others,
                          int step);
// Whether each actor to be found is so in any of the frames judged.
EventCount count_reported(const EventCase& one, const SceneBoxes& boxes);

}  // namespace sparing::bench

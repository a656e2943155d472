#include "events_cases.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <optional>
#include <utility>

#include "scene_random.h"

namespace sparing::bench {
namespace {

constexpr Size kEventSize{768, 576};
constexpr double kSmallest = 0.8;  // of people, as they are cut out
constexpr double kLargest = 1.1;
constexpr float kFoundIou = 0.5f;
constexpr double kHidden = 0.5;
constexpr double kBrighter = 1.25;
constexpr double kGreyLevels = 10;
constexpr double kPush = 10;  // pixels

SceneOptions event_scene(int frame_rate, double seconds, std::uint64_t seed) {
  SceneOptions options;
  options.size = kEventSize;
  options.frame_rate = frame_rate;
  options.frames = static_cast<int>(std::lround(seconds * frame_rate));
  options.seed = seed;
  return options;
}

int some_track(const SceneMaterial& material, SceneRandom& random) {
  return random.below(static_cast<int>(material.tracks.size()));
}

int length_of(const SceneMaterial& material, int track) {
  return static_cast<int>(material.tracks[static_cast<std::size_t>(track)].cutouts.size());
}

// Five walking people for six seconds; something happens in the third.
EventCase walking_case(std::shared_ptr<const SceneMaterial> material, std::uint64_t seed,
                       const std::function<void(SceneOptions&, double time)>& disturb) {
  SceneOptions options = event_scene(10, 7, seed);
  SceneRandom random(seed * 31 + 7);
  const int at = 20 + random.below(10);  // anywhere in a window
  disturb(options, static_cast<double>(at) / options.frame_rate);
  EventCase one{Scene(std::move(material), options), {}, 0, options.frames};
  one.scene.add_people(5, kSmallest, kLargest);
  one.first = at + static_cast<int>(std::lround(kEventWindow * options.frame_rate));
  return one;
}

void for_each_judged(const EventCase& one, int step,
                     const std::function<void(int frame, const SceneTruth& person)>& visit) {
  for (int frame = one.first; frame < one.last; frame += step) {
    for (const SceneTruth& person : one.scene.truth(frame)) {
      const bool wanted = one.actors.empty() || std::find(one.actors.begin(), one.actors.end(),
                                                          person.actor) != one.actors.end();
      if (wanted && person.covered <= kHidden) visit(frame, person);
    }
  }
}

Result<SourceFrame> rendered(const Scene& scene, int frame) {
  SourceFrame source;
  SPARING_ASSIGN_OR_RETURN(source.frame, scene.render(frame));
  source.index = frame;
  return source;
}

}  // namespace

EventCase flash_case(std::shared_ptr<const SceneMaterial> material, int frame_rate,
                     std::uint64_t seed) {
  const SceneMaterial& people = *material;
  SceneOptions options = event_scene(frame_rate, 5, seed);
  SceneRandom random(seed * 131 + 5);
  EventCase one{Scene(std::move(material), options), {}, 0, 0};
  one.scene.add_people(3, kSmallest, kLargest);
  one.first = static_cast<int>(random.uniform(1.5, 3.5) * frame_rate);
  one.last = one.first + kFlashFrames;
  const int track = some_track(people, random);
  const int cutout = random.below(length_of(people, track) - kFlashFrames);
  SceneActor actor = one.scene.place(random.bits(), track, random.uniform(kSmallest, kLargest),
                                     cutout, cutout + kFlashFrames, one.scene.seconds(one.first));
  actor.end = one.scene.seconds(one.last);
  one.actors = {static_cast<int>(one.scene.actors().size())};
  one.scene.add(actor);
  return one;
}

EventCase standing_case(std::shared_ptr<const SceneMaterial> material, std::uint64_t seed) {
  const SceneMaterial& people = *material;
  const double start = 1.5;
  SceneOptions options = event_scene(10, start + 30, seed);
  SceneRandom random(seed * 131 + 11);
  EventCase one{Scene(std::move(material), options), {}, options.frames - 200, options.frames};
  for (int i = 0; i < 3; ++i) {
    const int track = some_track(people, random);
    const int cutout = random.below(length_of(people, track));
    SceneActor actor = one.scene.place(random.bits(), track, random.uniform(kSmallest, kLargest),
                                       cutout, cutout, start);
    actor.still = true;
    actor.end = kNever;
    one.actors.push_back(static_cast<int>(one.scene.actors().size()));
    one.scene.add(actor);
  }
  one.scene.add_people(1, kSmallest, kLargest);
  return one;
}

EventCase light_case(std::shared_ptr<const SceneMaterial> material, std::uint64_t seed) {
  return walking_case(std::move(material), seed, [&](SceneOptions& options, double time) {
    const bool up = seed % 2 == 1;
    options.light = {time, up ? kBrighter : 1 / kBrighter, up ? kGreyLevels : -kGreyLevels};
  });
}

EventCase shake_case(std::shared_ptr<const SceneMaterial> material, std::uint64_t seed) {
  return walking_case(std::move(material), seed, [&](SceneOptions& options, double time) {
    SceneRandom random(seed * 17 + 3);
    const double angle = random.uniform(0, 2 * std::numbers::pi);
    options.shake.start = time;
    options.shake.shift = {std::round(kPush * std::cos(angle)),
                           std::round(kPush * std::sin(angle))};
    options.shake.settle = seed % 2 == 1 ? 0 : 0.5;
  });
}

EventCase undisturbed(const EventCase& disturbed) {
  SceneOptions options = disturbed.scene.options();
  options.light = {};
  options.shake = {};
  EventCase one{disturbed.scene.with(options), disturbed.actors, disturbed.first, disturbed.last};
  return one;
}

Result<std::vector<SceneBoxes>> detect_streams(StreamDetector& detector,
                                               std::span<const EventCase> cases) {
  struct Feed {
    int stream = 0;
    int next = 0;  // frame
  };
  std::vector<Feed> feeds;
  std::vector<SceneBoxes> boxes;
  for (const EventCase& one : cases) {
    SPARING_ASSIGN_OR_RETURN(
        const int stream,
        detector.add_stream({"synthetic scene", {one.scene.options().frame_rate, 1}}));
    feeds.push_back({stream, 0});
    boxes.emplace_back(static_cast<std::size_t>(one.scene.options().frames));
  }
  std::size_t open = cases.size();
  while (open > 0) {
    for (std::size_t i = 0; i < cases.size(); ++i) {
      const Scene& scene = cases[i].scene;
      Feed& feed = feeds[i];
      if (feed.next < 0) continue;
      bool whole = false;
      while (!whole && feed.next < scene.options().frames) {
        SPARING_ASSIGN_OR_RETURN(SourceFrame frame, rendered(scene, feed.next++));
        SPARING_ASSIGN_OR_RETURN(whole, detector.add_frame(feed.stream, std::move(frame)));
      }
      if (feed.next < scene.options().frames) continue;
      SPARING_RETURN_IF_ERROR(detector.end_stream(feed.stream));
      feed.next = -1;
      --open;
    }
    SPARING_ASSIGN_OR_RETURN(const WindowResult window, detector.finish_window());
    for (const StreamFrameResult& frame : window.frames) {
      const auto feed = std::find_if(feeds.begin(), feeds.end(),
                                     [&](const Feed& f) { return f.stream == frame.stream; });
      if (feed == feeds.end()) continue;
      auto& found = boxes[static_cast<std::size_t>(feed - feeds.begin())]
                         [static_cast<std::size_t>(frame.source.index)];
      for (const FilledBox& box : frame.boxes) found.push_back(box.detection);
    }
  }
  return boxes;
}

Result<SceneBoxes> detect_whole(Detector& detector, const EventCase& one, int step) {
  SceneBoxes boxes(static_cast<std::size_t>(one.scene.options().frames));
  for (int frame = one.first; frame < one.last; frame += step) {
    SPARING_ASSIGN_OR_RETURN(const SharedFrame picture, one.scene.render(frame));
    SPARING_ASSIGN_OR_RETURN(boxes[static_cast<std::size_t>(frame)],
                             detector.detect(picture.view()));
  }
  return boxes;
}

bool is_found(const Box& person, std::span<const Detection> detections) {
  return std::any_of(detections.begin(), detections.end(), [&](const Detection& detection) {
    return iou(detection.box, person) >= kFoundIou;
  });
}

EventCount count_found(const EventCase& one, const SceneBoxes& boxes, int step) {
  EventCount count;
  for_each_judged(one, step, [&](int frame, const SceneTruth& person) {
    ++count.total;
    count.found += is_found(person.box, boxes[static_cast<std::size_t>(frame)]) ? 1 : 0;
  });
  return count;
}

EventCount count_found_of(const EventCase& one, const SceneBoxes& boxes, const SceneBoxes& others,
                          int step) {
  EventCount count;
  for_each_judged(one, step, [&](int frame, const SceneTruth& person) {
    const auto at = static_cast<std::size_t>(frame);
    if (!is_found(person.box, others[at])) return;
    ++count.total;
    count.found += is_found(person.box, boxes[at]) ? 1 : 0;
  });
  return count;
}

EventCount count_reported(const EventCase& one, const SceneBoxes& boxes) {
  std::vector<int> seen;
  std::vector<int> reported;
  const auto note = [](std::vector<int>& list, int actor) {
    if (std::find(list.begin(), list.end(), actor) == list.end()) list.push_back(actor);
  };
  for_each_judged(one, 1, [&](int frame, const SceneTruth& person) {
    note(seen, person.actor);
    if (is_found(person.box, boxes[static_cast<std::size_t>(frame)])) note(reported, person.actor);
  });
  return {static_cast<long long>(reported.size()), static_cast<long long>(seen.size())};
}

}  // namespace sparing::bench

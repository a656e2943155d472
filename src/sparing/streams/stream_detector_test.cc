// Detection on streams of drawn people over a fake network that finds bright rectangles: what is
// reported must be where it was drawn, in every frame of every stream, however it was packed.
#include "sparing/streams/stream_detector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "sparing/streams/drawn_people_test_util.h"

namespace sparing {
namespace {

using namespace sparing::testing;
using ::testing::HasSubstr;

TEST(StreamDetector, WhatStandsStillIsFollowedFromTheFirstFrameOn) {
  // The first look is of the whole frame; nothing moves that would make a region of its own.
  for (const char* mode : {"packed", "auto"}) {
    SCOPED_TRACE(mode);
    StreamDetector detector = make_detector(deterministic(mode, 0));
    const Scene scene{{480, 360}, {{60, 100, 0}, {380, 220, 0}}};
    const Played run = play(detector, {scene}, {30});
    EXPECT_EQ(score(scene, run.frames.at(0)).recall, 1);
    EXPECT_EQ(run.windows.front().frames.size(), 1u) << "the window ends with that look";
  }
}

TEST(StreamDetector, AKnownObjectIsSeenInAWeakDetectionToo) {
  const auto play_scores = [](const std::function<float(int)>& scores) {
    std::vector<Processor> all;
    all.push_back(make_processor("fake", 1, 100, {.score = 0.3}, false, scores));
    StreamDetector detector =
        StreamDetector::create(std::move(all), deterministic("frame", 1)).value();
    const Scene scene{{480, 360}, {{60, 100, 0}}};
    return play(detector, {scene}, {20}).frames.at(0);
  };
  const auto changing = play_scores([](int n) { return n % 2 == 0 ? 0.9f : 0.2f; });
  for (const StreamFrameResult& frame : changing) {
    ASSERT_EQ(frame.boxes.size(), 1u) << frame.source.index;
    EXPECT_EQ(frame.boxes[0].origin, BoxOrigin::kDetected);
    EXPECT_EQ(frame.boxes[0].id, changing[0].boxes[0].id);
    EXPECT_GE(frame.boxes[0].detection.score, 0.3f);
  }
  for (const StreamFrameResult& frame : play_scores([](int) { return 0.2f; })) {
    EXPECT_TRUE(frame.boxes.empty()) << "never sure: no object, and below --score";
  }
}

TEST(StreamDetector, FindsWhatWasDrawnInEveryModeAndFrame) {
  for (const char* mode : {"packed", "frame", "tiles", "auto"}) {
    for (const int every : {1, 3}) {
      SCOPED_TRACE(std::string(mode) + ", every " + std::to_string(every));
      StreamOptions options = deterministic(mode, every);
      options.tile = "320x320";
      StreamDetector detector = make_detector(options);
      const Scene scene = two_people();
      const Played run = play(detector, {scene}, {40});
      const auto& frames = run.frames.at(0);
      ASSERT_EQ(frames.size(), 40u);
      for (std::size_t i = 0; i < frames.size(); ++i) {
        EXPECT_EQ(frames[i].source.index, static_cast<std::int64_t>(i));
        EXPECT_EQ(frames[i].source.frame.view().planes[0].data, nullptr)
            << "no pixels were asked for";
      }
      const Score s = score(scene, frames);
      EXPECT_GE(s.recall, 0.97);
      EXPECT_GE(s.precision, 0.97);
      EXPECT_EQ(run.streams[0].frames, 40);
      EXPECT_GE(run.streams[0].key_frames, 40 / every);
      EXPECT_LE(run.streams[0].key_frames, 40 / every + 2);
    }
  }
}

TEST(StreamDetector, PackingSpendsLess) {
  StreamDetector whole = make_detector(deterministic("frame", 1));
  StreamOptions options = deterministic("packed", 1);
  StreamDetector packed = make_detector(options);
  const Scene scene = two_people();
  const double all = play(whole, {scene}, {30}).totals.planned_detector_seconds;
  const Played run = play(packed, {scene}, {30});
  EXPECT_LT(run.totals.planned_detector_seconds, 0.8 * all);
  EXPECT_GT(run.totals.packed_area / run.totals.packed_canvas_area, 0.05);
  EXPECT_EQ(run.streams[0].dropped_regions.total(), 0);
}

TEST(StreamDetector, StreamsShareCanvasesAndKeepApart) {
  const std::vector<Scene> scenes = {
      two_people(), {{640, 200}, {{100, 40, 4}}}, {{320, 480}, {{40, 300, 2}, {200, 60, 1}}}};
  const std::vector<std::int64_t> lengths = {40, 17, 25};
  StreamDetector detector = make_detector(deterministic("packed", 2));
  const Played together = play(detector, scenes, lengths);
  for (std::size_t s = 0; s < scenes.size(); ++s) {
    SCOPED_TRACE(s);
    const auto& frames = together.frames.at(static_cast<int>(s));
    ASSERT_EQ(frames.size(), static_cast<std::size_t>(lengths[s]));
    EXPECT_GE(score(scenes[s], frames).recall, 0.97);
    EXPECT_GE(score(scenes[s], frames).precision, 0.95);
    // Alone it finds the same, but for pixels at the edges of canvases.
    StreamDetector alone = make_detector(deterministic("packed", 2));
    const Played solo = play(alone, {scenes[s]}, {lengths[s]});
    for (std::size_t f = 0; f < frames.size(); ++f) {
      ASSERT_EQ(frames[f].boxes.size(), solo.frames.at(0)[f].boxes.size()) << "frame " << f;
    }
  }
}

TEST(StreamDetector, IsTheSameInEveryRunWhereThatIsAskedFor) {
  const std::vector<Scene> scenes = {two_people(), {{640, 200}, {{100, 40, 4}}}};
  StreamDetector first = make_detector(deterministic("auto", 0), {}, 2);
  StreamDetector second = make_detector(deterministic("auto", 0), {}, 2);
  const Played a = play(first, scenes, {35, 35});
  const Played b = play(second, scenes, {35, 35});
  for (int s = 0; s < 2; ++s) {
    for (std::size_t f = 0; f < 35; ++f) {
      const auto& x = a.frames.at(s)[f].boxes;
      const auto& y = b.frames.at(s)[f].boxes;
      ASSERT_EQ(x.size(), y.size());
      for (std::size_t i = 0; i < x.size(); ++i) EXPECT_EQ(x[i].detection, y[i].detection);
    }
  }
  EXPECT_EQ(a.totals.canvases_of, b.totals.canvases_of);
  EXPECT_GT(a.totals.canvases_of[0], 0);
  EXPECT_GT(a.totals.canvases_of[1], 0) << "both processors work";
}

TEST(StreamDetector, KeepsTheLimitOfDetectionsAFrame) {
  Scene scene{{640, 480}, {}};
  for (int i = 0; i < 6; ++i) scene.people.push_back({20.0 + 90 * i, 60.0 + 50 * (i % 3), 1});
  std::vector<Processor> one;
  DetectOptions detect;
  detect.max_detections = 4;
  one.push_back(make_processor("fake", 1, 100, detect));
  StreamDetector detector =
      StreamDetector::create(std::move(one), deterministic("packed", 2)).value();
  const Played run = play(detector, {scene}, {20});
  for (const StreamFrameResult& f : run.frames.at(0)) EXPECT_LE(f.boxes.size(), 4u);
  EXPECT_EQ(run.frames.at(0)[0].boxes.size(), 4u);
}

TEST(StreamDetector, ANewPersonIsFound) {
  Scene scene = two_people();
  scene.people.push_back({200, 30, 2, 15, 18});  // for three frames only
  StreamDetector detector = make_detector(deterministic("packed", 1));
  const Played run = play(detector, {scene}, {40});
  for (int f = 15; f < 18; ++f) {
    EXPECT_EQ(run.frames.at(0)[static_cast<std::size_t>(f)].boxes.size(), 3u) << "frame " << f;
  }
  EXPECT_EQ(run.frames.at(0)[25].boxes.size(), 2u);
}

TEST(StreamDetector, ANewPersonIsFoundBetweenKeyFramesThatAreFarApart) {
  Scene two{{480, 360}, {{60, 100, 0.5}, {380, 220, -0.5}}};
  two.rate = 30;
  StreamDetector quiet = make_detector(deterministic("packed", 0));
  const double alone = score(two, play(quiet, {two}, {330}).frames.at(0), 0.5f).recall;
  EXPECT_GE(alone, 0.95);
  int reported = 0;
  constexpr int kOffsets = 8;
  for (int offset = 0; offset < kOffsets; ++offset) {
    Scene scene = two;
    const int first = 270 + offset;
    scene.people.push_back({200, 30, 0.5, first, first + 4});
    StreamDetector detector = make_detector(deterministic("packed", 0));
    const Played run = play(detector, {scene}, {330});
    ASSERT_GT(run.streams[0].every, 4);
    EXPECT_LT(run.streams[0].key_frames, 110);
    for (int f = first; f < first + 4; ++f) {
      if (run.frames.at(0)[static_cast<std::size_t>(f)].boxes.size() < 3) continue;
      ++reported;
      break;
    }
    // Those who were not looked at beside the new one are not lost.
    scene.people.pop_back();
    EXPECT_GE(score(scene, run.frames.at(0), 0.5f).recall, alone - 0.01);
  }
  EXPECT_GE(reported, kOffsets - 1);
}

TEST(StreamDetector, AStreamMayChangeItsSize) {
  const Scene large = two_people();
  const Scene small{{320, 240}, {{60, 100, 2}}};
  StreamDetector detector = make_detector(deterministic("packed", 2));
  ASSERT_TRUE(detector.add_stream({"s", {10, 1}}).ok());
  std::vector<StreamFrameResult> frames;
  for (std::int64_t i = 0; i < 30; ++i) {
    const auto whole = detector.add_frame(0, i < 14 ? large.draw(i) : small.draw(i));
    ASSERT_TRUE(whole.ok()) << whole.error().to_string();
    if (i == 29) {
      ASSERT_TRUE(detector.end_stream(0).ok());
    }
    if (!*whole && i < 29) continue;
    auto window = detector.finish_window();
    ASSERT_TRUE(window.ok()) << window.error().to_string();
    for (StreamFrameResult& f : window->frames) frames.push_back(std::move(f));
  }
  ASSERT_EQ(frames.size(), 30u);
  const std::vector<StreamFrameResult> before(frames.begin(), frames.begin() + 14);
  const std::vector<StreamFrameResult> after(frames.begin() + 14, frames.end());
  EXPECT_GE(score(large, before).recall, 0.9);
  EXPECT_GE(score(small, after).recall, 0.9);
  for (const StreamFrameResult& f : after) {
    for (const FilledBox& b : f.boxes) EXPECT_LE(b.detection.box.x1, 320);
  }
}

class Watcher : public StreamObserver {
 public:
  Status on_canvas(const CanvasReport& canvas) override {
    ++canvases;
    EXPECT_EQ(canvas.pixels.size(), 3u * static_cast<std::size_t>(canvas.size.width) *
                                        static_cast<std::size_t>(canvas.size.height));
    for (const CanvasRegion& r : canvas.regions) {
      EXPECT_GE(r.place.x, 0);
      EXPECT_LE(r.place.x + r.place.width, canvas.size.width);
      EXPECT_LE(r.place.y + r.place.height, canvas.size.height);
    }
    return canvases == fail_at ? Status(Error{ErrorCode::kOutput, "file 'x'", "disk is full", ""})
                               : Status();
  }
  Status on_window(const WindowReport& window,
                   const std::function<const VideoFrame*(int, std::int64_t)>& picture) override {
    for (const FrameReport& f : window.frames) {
      const VideoFrame* view = picture(f.stream, f.frame);
      EXPECT_EQ(view != nullptr, f.key);
      if (view != nullptr) {
        EXPECT_NE(view->planes[0].data, nullptr);
      }
      ++frames;
    }
    return {};
  }
  int canvases = 0;
  int frames = 0;
  int fail_at = -1;
};

// As a library does that runs out of memory.
class Thrower : public StreamObserver {
 public:
  Status on_canvas(const CanvasReport&) override {
    if (on_canvases) throw std::runtime_error("out of memory");
    return {};
  }
  Status on_window(const WindowReport&,
                   const std::function<const VideoFrame*(int, std::int64_t)>&) override {
    if (!on_canvases) throw std::runtime_error("out of memory");
    return {};
  }
  bool on_canvases = true;
};

TEST(StreamDetector, AnObserverSeesCanvasesAndFrames) {
  StreamDetector detector = make_detector(deterministic("packed", 2));
  Watcher watcher;
  detector.set_observer(&watcher);
  const Played run = play(detector, {two_people()}, {25});
  EXPECT_EQ(watcher.canvases, run.totals.canvases);
  EXPECT_EQ(watcher.frames, 25);
}

TEST(StreamDetector, AnObserversErrorEndsTheWindowNotTheDetector) {
  StreamDetector detector = make_detector(deterministic("packed", 1));
  Watcher watcher;
  watcher.fail_at = 1;
  detector.set_observer(&watcher);
  const Scene scene = two_people();
  ASSERT_TRUE(detector.add_stream({"s", {10, 1}}).ok());
  ASSERT_TRUE(detector.add_frame(0, scene.draw(0)).ok());
  const auto failed = detector.finish_window();
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().code, ErrorCode::kOutput);
  ASSERT_TRUE(detector.add_frame(0, scene.draw(1)).ok());
  EXPECT_TRUE(detector.finish_window().ok());
}

TEST(StreamDetector, AnExceptionIsAnErrorAndTheNextWindowWorks) {
  for (const bool on_canvases : {true, false}) {
    StreamDetector detector = make_detector(deterministic("frame", 1));
    Thrower thrower;
    thrower.on_canvases = on_canvases;
    detector.set_observer(&thrower);
    const Scene scene = two_people();
    ASSERT_TRUE(detector.add_stream({"s", {10, 1}}).ok());
    for (std::int64_t i = 0; i < 4; ++i) ASSERT_TRUE(detector.add_frame(0, scene.draw(i)).ok());
    const auto failed = detector.finish_window();
    ASSERT_FALSE(failed.ok());
    EXPECT_EQ(failed.error().code, ErrorCode::kInternal);
    EXPECT_THAT(failed.error().to_string(), HasSubstr("out of memory"));
    detector.set_observer(nullptr);
    ASSERT_TRUE(detector.add_frame(0, scene.draw(4)).ok());
    const auto next = detector.finish_window();
    ASSERT_TRUE(next.ok()) << next.error().to_string();
    EXPECT_EQ(next->frames.at(0).boxes.size(), 2u);
  }
}

TEST(StreamDetector, WhatTheNetworkGivesInVainIsCounted) {
  std::vector<Processor> all;
  all.push_back(make_processor("fake", 1, 100, {.max_detections = 1}, true));
  auto detector = StreamDetector::create(std::move(all), deterministic("frame", 1)).value();
  const Played run = play(detector, {two_people()}, {10});
  ASSERT_EQ(run.totals.dropped_detections.size(), 1u);
  EXPECT_EQ(run.totals.dropped_detections[0].reason, "not finite");
  EXPECT_EQ(run.totals.dropped_detections[0].count, run.totals.canvases);
  EXPECT_EQ(run.totals.full_canvases, run.totals.canvases) << "two people, one is kept";
}

TEST(StreamDetector, RefusesBadInput) {
  StreamOptions options;
  options.mode = "best";
  std::vector<Processor> one;
  one.push_back(make_processor("fake"));
  EXPECT_THAT(StreamDetector::create(std::move(one), options).error().to_string(),
              HasSubstr("mode"));
  EXPECT_FALSE(StreamDetector::create({}, {}).ok());
  options.mode = "tiles";
  options.tile = "640";
  std::vector<Processor> two;
  two.push_back(make_processor("fake"));
  EXPECT_THAT(StreamDetector::create(std::move(two), options).error().to_string(),
              HasSubstr("--tile: '640'"));

  StreamDetector detector = make_detector(deterministic("packed", 1));
  const Scene scene = two_people();
  EXPECT_FALSE(detector.add_frame(0, scene.draw(0)).ok()) << "no such stream";
  ASSERT_TRUE(detector.add_stream({"door", {10, 1}}).ok());
  ASSERT_TRUE(detector.add_frame(0, scene.draw(5)).ok());
  const auto late = detector.add_frame(0, scene.draw(5));
  ASSERT_FALSE(late.ok());
  EXPECT_THAT(late.error().to_string(), HasSubstr("door"));
  EXPECT_FALSE(detector.end_stream(7).ok());
}

}  // namespace
}  // namespace sparing

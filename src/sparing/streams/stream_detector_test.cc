// Detection on streams of drawn people over a fake network that finds bright rectangles: what is
// reported must be where it was drawn, in every frame of every stream, however it was packed.
#include "sparing/streams/stream_detector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <set>
#include <stdexcept>

#include "sparing/backends/fake.h"

namespace sparing {
namespace {

using ::testing::HasSubstr;

constexpr int kMostBoxes = 64;

struct Person {
  double x, y, step;
  int first = 0;
  int last = 1 << 30;
};

struct Scene {
  Size size{480, 360};
  std::vector<Person> people;

  std::vector<Box> boxes(std::int64_t frame) const {
    std::vector<Box> result;
    for (const Person& p : people) {
      if (frame < p.first || frame >= p.last) continue;
      const auto x = static_cast<float>(std::round(p.x + p.step * static_cast<double>(frame)));
      const auto y = static_cast<float>(p.y);
      result.push_back({x, y, x + 20, y + 56});
    }
    return result;
  }

  SourceFrame draw(std::int64_t index) const {
    SharedFrame frame = allocate_frame(PixelFormat::kI420, size).value();
    VideoFrame& view = frame.view();
    std::minstd_rand random(7);  // a still texture
    std::uint8_t* luma = mutable_plane(frame, 0);
    const std::ptrdiff_t stride = view.planes[0].stride;
    for (int y = 0; y < size.height; ++y) {
      for (int x = 0; x < size.width; ++x) {
        luma[y * stride + x] = static_cast<std::uint8_t>(40 + random() % 24);
      }
    }
    for (const Box& b : boxes(index)) {
      for (int y = static_cast<int>(b.y0); y < static_cast<int>(b.y1); ++y) {
        for (int x = static_cast<int>(b.x0); x < static_cast<int>(b.x1); ++x) {
          luma[y * stride + x] = static_cast<std::uint8_t>(225 + (x * 7 + y * 3) % 10);
        }
      }
    }
    for (int plane : {1, 2}) {
      std::memset(mutable_plane(frame, plane), 128,
                  static_cast<std::size_t>(view.planes[static_cast<std::size_t>(plane)].stride *
                                           ((size.height + 1) / 2)));
    }
    view.timestamp = {index, {1, 10}};
    SourceFrame source;
    source.frame = std::move(frame);
    source.index = index;
    return source;
  }
};

// The bounding boxes of what is bright: boxes grown pixel by pixel, as people do not touch.
std::vector<Box> bright_boxes(const float* pixels, int width, int height) {
  std::vector<Box> boxes;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      if (pixels[y * width + x] < 170) continue;
      const auto fx = static_cast<float>(x);
      const auto fy = static_cast<float>(y);
      Box* home = nullptr;
      for (Box& b : boxes) {
        if (fx >= b.x0 - 2 && fx <= b.x1 + 1 && fy >= b.y0 - 1 && fy <= b.y1 + 1) home = &b;
      }
      if (home == nullptr) {
        boxes.push_back({fx, fy, fx + 1, fy + 1});
      } else {
        home->x0 = std::min(home->x0, fx);
        home->x1 = std::max(home->x1, fx + 1);
        home->y1 = std::max(home->y1, fy + 1);
      }
    }
  }
  std::erase_if(boxes, [](const Box& b) { return b.width() < 3 || b.height() < 6; });
  return boxes;
}

// `damaged`: every inference also finds a box without an edge. `score`: of what the n-th inference
// finds.
Processor make_processor(const std::string& name, int streams = 1, double ns_per_pixel = 100,
                         const DetectOptions& detect = {}, bool damaged = false,
                         std::function<float(int)> score = nullptr) {
  FakeGraph graph;
  graph.inputs = {{"input", {DataType::kFloat32, {1, 3, -1, -1}}}};
  graph.outputs = {{"boxes", {DataType::kFloat32, {1, kMostBoxes, 6}}}};
  graph.run = [damaged, score, n = std::make_shared<std::atomic<int>>(0)](
                  const auto& inputs, const auto& outputs) -> Status {
    const float confidence = score ? score((*n)++) : 0.9f;
    const FakeTensor& input = inputs.at("input");
    const auto* pixels = reinterpret_cast<const float*>(input.bytes.data());
    auto* rows = reinterpret_cast<float*>(outputs.at("boxes").bytes.data());
    std::memset(rows, 0, sizeof(float) * kMostBoxes * 6);
    const auto boxes =
        bright_boxes(pixels, static_cast<int>(input.shape[3]), static_cast<int>(input.shape[2]));
    for (std::size_t i = 0; i < std::min<std::size_t>(boxes.size(), kMostBoxes); ++i) {
      const float row[6] = {boxes[i].x0, boxes[i].y0, boxes[i].x1, boxes[i].y1, confidence, 0};
      std::memcpy(rows + 6 * i, row, sizeof row);
    }
    if (damaged) {
      const float row[6] = {std::numeric_limits<float>::quiet_NaN(), 0, 9, 9, 0.9f, 0};
      std::memcpy(rows + 6 * (kMostBoxes - 1), row, sizeof row);
    }
    return {};
  };
  ContextOptions options;
  options.threads = options.streams = streams;
  Context context = create_fake_context(options, {{"net", graph}}).value();
  Model model;
  model.file = "net.onnx";
  model.manifest.name = "net";
  model.manifest.input.multiple_of = 32;
  model.manifest.head.type = HeadType::kEnd2end;
  model.manifest.head.box_format = BoxFormat::kXyxy;
  model.manifest.head.outputs.detections = "boxes";
  model.manifest.labels = {"person", "car"};
  std::vector<LatencyPoint> points;
  for (const int side : {320, 640, 1280}) {
    points.push_back({side, side, ns_per_pixel * 1e-6 * side * side});
  }
  ScaleModel scales;
  scales.model = "net";
  return {name, Detector::create(context, model, detect).value(),
          LatencyProfile::create({"net", name, 4096, 4096}, points).value(), scales};
}

Scene two_people() { return {{480, 360}, {{60, 100, 3}, {380, 220, -2}}}; }

struct Played {
  std::map<int, std::vector<StreamFrameResult>> frames;  // by stream
  std::vector<WindowReport> windows;
  DetectorTotals totals;
  std::vector<StreamStatistics> streams;
};

StreamOptions deterministic(const std::string& mode, int every) {
  StreamOptions options;
  options.mode = mode;
  options.every = every;
  options.deterministic = true;
  return options;
}

StreamDetector make_detector(const StreamOptions& options, const StreamTuning& tuning = {},
                             int processors = 1) {
  std::vector<Processor> all;
  for (int i = 0; i < processors; ++i) all.push_back(make_processor("fake:" + std::to_string(i)));
  return StreamDetector::create(std::move(all), options, tuning).value();
}

// Plays `frames` of each scene.
Played play(StreamDetector& detector, const std::vector<Scene>& scenes,
            const std::vector<std::int64_t>& frames) {
  Played run;
  std::vector<std::int64_t> next(scenes.size(), 0);
  for (std::size_t s = 0; s < scenes.size(); ++s) {
    EXPECT_EQ(detector.add_stream({"s" + std::to_string(s), {10, 1}}).value(), static_cast<int>(s));
  }
  std::set<int> ended;
  while (ended.size() < scenes.size()) {
    for (std::size_t s = 0; s < scenes.size(); ++s) {
      if (ended.contains(static_cast<int>(s))) continue;
      bool whole = false;
      while (!whole && next[s] < frames[s]) {
        const auto added = detector.add_frame(static_cast<int>(s), scenes[s].draw(next[s]++));
        EXPECT_TRUE(added.ok()) << added.error().to_string();
        if (!added.ok()) return run;
        whole = *added;
      }
      if (next[s] < frames[s]) continue;
      EXPECT_TRUE(detector.end_stream(static_cast<int>(s)).ok());
      ended.insert(static_cast<int>(s));
    }
    auto window = detector.finish_window();
    EXPECT_TRUE(window.ok()) << window.error().to_string();
    if (!window.ok()) return run;
    for (StreamFrameResult& f : window->frames) run.frames[f.stream].push_back(std::move(f));
    run.windows.push_back(std::move(window->report));
  }
  run.totals = detector.totals();
  for (std::size_t s = 0; s < scenes.size(); ++s) {
    run.streams.push_back(detector.statistics(static_cast<int>(s)));
  }
  return run;
}

struct Score {
  double recall = 0;
  double precision = 0;
};

Score score(const Scene& scene, const std::vector<StreamFrameResult>& frames,
            float overlap = 0.7f) {
  int truth = 0, found = 0, boxes = 0, right = 0;
  for (const StreamFrameResult& f : frames) {
    const std::vector<Box> drawn = scene.boxes(f.source.index);
    const auto near = [&](const Box& a, const Box& b) { return iou(a, b) >= overlap; };
    for (const Box& b : drawn) {
      ++truth;
      for (const FilledBox& r : f.boxes) {
        if (!near(r.detection.box, b)) continue;
        ++found;
        break;
      }
    }
    for (const FilledBox& r : f.boxes) {
      ++boxes;
      for (const Box& b : drawn) {
        if (!near(r.detection.box, b)) continue;
        ++right;
        break;
      }
    }
  }
  return {truth > 0 ? 1.0 * found / truth : 1, boxes > 0 ? 1.0 * right / boxes : 1};
}

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

TEST(StreamDetector, KeepsTheBudgetAndCountsWhatItDrops) {
  const Scene scene{{960, 720},
                    {{60, 100, 3}, {380, 220, -2}, {600, 500, 2}, {200, 600, 3}, {800, 300, -3}}};
  StreamDetector free = make_detector(deterministic("packed", 1));
  const Played all = play(free, {scene}, {50});
  const double needed = all.totals.planned_detector_seconds / 50;
  StreamOptions options = deterministic("packed", 1);
  options.budget = needed * 1e3 * 0.4;
  StreamDetector tight = make_detector(options);
  const Played some = play(tight, {scene}, {50});
  for (const WindowReport& w : some.windows) {
    EXPECT_LE(w.planned_seconds, w.budget_seconds * 1.0001);
  }
  EXPECT_GT(some.streams[0].dropped_regions.total(), 0);
  EXPECT_EQ(all.streams[0].dropped_regions.total(), 0);
  EXPECT_EQ(all.streams[0].unseen_key_frames, 0);
  // What it wants is about what it takes where it gets all, and more than a small budget gives.
  EXPECT_NEAR(all.totals.wanted_detector_seconds / all.totals.planned_detector_seconds, 1, 0.3);
  EXPECT_GT(some.totals.wanted_detector_seconds, 1.3 * some.totals.planned_detector_seconds);
  EXPECT_GE(score(scene, some.frames.at(0), 0.5f).recall, 0.5) << "dropped boxes are carried on";
  for (const char* mode : {"frame", "auto", "tiles"}) {
    SCOPED_TRACE(mode);
    options.mode = mode;
    options.every = 1;
    options.budget = 8;
    StreamDetector other = make_detector(options);
    const Played run = play(other, {scene}, {50});
    ASSERT_EQ(run.frames.at(0).size(), 50u);
    for (const WindowReport& w : run.windows) {
      EXPECT_LE(w.planned_seconds, w.budget_seconds * 1.0001);
    }
  }
}

TEST(StreamDetector, WhatDoesNotFitIsLeftOutByWholeKeyFrames) {
  const Scene scene{{960, 720},
                    {{60, 100, 3}, {380, 220, -2}, {600, 500, 2}, {200, 600, 3}, {800, 300, -3}}};
  StreamDetector free = make_detector(deterministic("packed", 1));
  const double needed = play(free, {scene}, {51}).totals.planned_detector_seconds / 51;
  StreamOptions options = deterministic("packed", 1);
  options.budget = needed * 1e3 * 0.25;
  StreamDetector tight = make_detector(options);
  const Played some = play(tight, {scene}, {51});
  int inspected = 0;
  int whole = 0;
  int unseen = 0;  // frames in a row
  for (const StreamFrameResult& frame : some.frames.at(0)) {
    unseen = frame.inspected ? 0 : unseen + 1;
    EXPECT_LE(unseen, 5);
    if (!frame.inspected) continue;
    ++inspected;
    whole += std::count_if(frame.boxes.begin(), frame.boxes.end(), [](const FilledBox& box) {
               return box.origin == BoxOrigin::kDetected;
             }) == 5;
  }
  EXPECT_GE(inspected, 15);
  EXPECT_LE(inspected, 40);
  // Mostly all five are looked at, or none; region by region it would be two frames of five.
  EXPECT_GE(whole, 0.5 * inspected);
}

TEST(StreamDetector, ABudgetIsPlannedForWholeWindowsThoughTheFirstOneIsShort) {
  StreamOptions options = deterministic("auto", 0);
  options.budget = 1.5;  // 15 ms a window of ten frames; a first look takes about 18
  StreamDetector detector = make_detector(options);
  const Scene scene{{480, 360}, {{60, 100, 3}, {380, 220, -2}}};
  const Played run = play(detector, {scene}, {61});
  ASSERT_EQ(run.windows.size(), 7u);
  EXPECT_GT(run.windows[0].planned_seconds, 0.0075) << "the first look is the warm-up";
  for (std::size_t w = 1; w < run.windows.size(); ++w) {
    EXPECT_LE(run.windows[w].planned_seconds, 0.015 * 1.0001) << w;
  }
  // Two small regions fit, when not on every frame: no reason to go over to tiny whole frames.
  EXPECT_EQ(run.streams[0].windows_packed, 7);
  EXPECT_GE(score(scene, run.frames.at(0), 0.5f).recall, 0.9);
}

TEST(StreamDetector, SavesUpWhereAWindowsBudgetBuysNothing) {
  for (const char* mode : {"packed", "frame", "auto"}) {
    SCOPED_TRACE(mode);
    StreamOptions options = deterministic(mode, 1);
    options.scale = std::string(mode) == "frame" ? 0.4 : 0;
    options.budget = 0.25;  // 2.5 ms a window, where the smallest canvas takes 2.56
    StreamDetector detector = make_detector(options);
    const Played run = play(detector, {two_people()}, {120});
    EXPECT_GE(run.totals.canvases, 3);
    // The first look is on top.
    const double planned =
        run.totals.planned_detector_seconds - run.windows.front().planned_seconds;
    EXPECT_LE(planned, 120 * 0.25e-3 * 1.0001);
    EXPECT_GT(run.streams[0].dropped_regions.count(DropReason::kNoTime), 0);
    EXPECT_GT(run.streams[0].unseen_key_frames, 0);
  }
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

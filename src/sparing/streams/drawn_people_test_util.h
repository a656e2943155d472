// Streams of drawn people, and a fake network that finds bright rectangles.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "sparing/backends/fake.h"
#include "sparing/streams/end2end_model_test_util.h"
#include "sparing/streams/stream_detector.h"

namespace sparing::testing {

inline constexpr int kMostBoxes = 64;

struct Person {
  double x, y, step;
  int first = 0;
  int last = 1 << 30;
};

struct Scene {
  Size size{480, 360};
  std::vector<Person> people;
  int rate = 10;                         // frames a second
  std::int64_t brighter_from = 1 << 30;  // the frame from which on there is more light

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
    const auto dark = index < brighter_from ? 40u : 90u;
    std::uint8_t* luma = mutable_plane(frame, 0);
    const std::ptrdiff_t stride = view.planes[0].stride;
    for (int y = 0; y < size.height; ++y) {
      for (int x = 0; x < size.width; ++x) {
        luma[y * stride + x] = static_cast<std::uint8_t>(dark + random() % 24);
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
    view.timestamp = {index, {1, rate}};
    SourceFrame source;
    source.frame = std::move(frame);
    source.index = index;
    return source;
  }
};

// The bounding boxes of what is bright: boxes grown pixel by pixel, as people do not touch.
inline std::vector<Box> bright_boxes(const float* pixels, int width, int height) {
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
inline Processor make_processor(const std::string& name, int streams = 1, double ns_per_pixel = 100,
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
  const Model model = end2end_model({"person", "car"});
  std::vector<LatencyPoint> points;
  for (const int side : {320, 640, 1280}) {
    points.push_back({side, side, ns_per_pixel * 1e-6 * side * side});
  }
  ScaleModel scales;
  scales.model = "net";
  return {name, Detector::create(context, model, detect).value(),
          LatencyProfile::create({"net", name, 4096, 4096}, points).value(), scales};
}

inline Scene two_people() { return {{480, 360}, {{60, 100, 3}, {380, 220, -2}}}; }

struct Played {
  std::map<int, std::vector<StreamFrameResult>> frames;  // by stream
  std::vector<WindowReport> windows;
  DetectorTotals totals;
  std::vector<StreamStatistics> streams;
};

inline StreamOptions deterministic(const std::string& mode, int every) {
  StreamOptions options;
  options.mode = mode;
  options.every = every;
  options.deterministic = true;
  return options;
}

inline StreamDetector make_detector(const StreamOptions& options, const StreamTuning& tuning = {},
                                    int processors = 1) {
  std::vector<Processor> all;
  for (int i = 0; i < processors; ++i) all.push_back(make_processor("fake:" + std::to_string(i)));
  return StreamDetector::create(std::move(all), options, tuning).value();
}

// Plays `frames` of each scene.
inline Played play(StreamDetector& detector, const std::vector<Scene>& scenes,
                   const std::vector<std::int64_t>& frames) {
  Played run;
  std::vector<std::int64_t> next(scenes.size(), 0);
  for (std::size_t s = 0; s < scenes.size(); ++s) {
    EXPECT_EQ(detector.add_stream({"s" + std::to_string(s), {scenes[s].rate, 1}}).value(),
              static_cast<int>(s));
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

inline Score score(const Scene& scene, const std::vector<StreamFrameResult>& frames,
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

}  // namespace sparing::testing

// What the tests of runs share: sources that are drawn, a network that finds the bright rectangle,
// a sink that remembers.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "sparing/backends/fake.h"
#include "sparing/streams/end2end_model_test_util.h"
#include "sparing/streams/stream_run.h"

namespace sparing::testing {

// A bright rectangle that moves over a dark picture.
inline SharedFrame draw_frame(std::int64_t index, Size size, Rational frame_time) {
  SharedFrame frame = allocate_frame(PixelFormat::kGray8, size).value();
  VideoFrame& view = frame.view();
  const int left = 4 + static_cast<int>(index % 20);
  for (int y = 0; y < size.height; ++y) {
    std::uint8_t* row = mutable_plane(frame, 0) + y * view.planes[0].stride;
    for (int x = 0; x < size.width; ++x) {
      row[x] = x >= left && x < left + 24 && y >= 16 && y < 48 ? 235 : 16;
    }
  }
  view.timestamp = {index * frame_time.num, {1, frame_time.den}};
  view.duration = {frame_time.num, {1, frame_time.den}};
  return frame;
}

// How many frames of a source exist.
struct FramesAlive {
  std::atomic<int> now{0};
  std::atomic<int> most{0};
};

// The frame, counted while anybody holds it.
inline SharedFrame counted(SharedFrame frame, const std::shared_ptr<FramesAlive>& alive) {
  if (alive == nullptr) return frame;
  alive->most = std::max(alive->most.load(), ++alive->now);
  const VideoFrame view = frame.view();
  return {view, std::shared_ptr<const SharedFrame>(new SharedFrame(std::move(frame)),
                                                   [alive](const SharedFrame* held) {
                                                     delete held;
                                                     --alive->now;
                                                   })};
}

struct DrawnOptions {
  std::int64_t frames = 50;
  Size size{96, 64};
  int rate = 25;
  std::int64_t error_at = -1;          // instead of this frame
  std::int64_t blocks_at = -1;         // before this frame, until may_go() or cancel()
  std::int64_t repeats_at = -1;        // this frame has the time of the one before
  std::shared_ptr<FramesAlive> alive;  // may be null
  std::function<bool()> may_go;
  std::shared_ptr<std::atomic<bool>> cancelled = std::make_shared<std::atomic<bool>>(false);
};

class DrawnSource final : public VideoSource {
 public:
  explicit DrawnSource(const DrawnOptions& options) : options_(options) {
    info_.name = "drawn";
    info_.frame_rate = {options.rate, 1};
    info_.frame_count = options.frames;
  }
  const SourceInfo& info() const override { return info_; }
  std::int64_t damaged_frames() const override { return 0; }
  Result<std::optional<SourceFrame>> next() override {
    if (next_ == options_.blocks_at && !wait()) {
      return Error{ErrorCode::kInterrupted, "source", "was cancelled", ""};
    }
    if (next_ == options_.error_at) {
      return Error{ErrorCode::kInput, "video 'drawn'", "is cut off", "copy it again"};
    }
    if (next_ == options_.frames) return std::optional<SourceFrame>();
    SourceFrame frame;
    frame.index = next_;
    const std::int64_t picture = next_ == options_.repeats_at ? next_ - 1 : next_;
    frame.frame = counted(draw_frame(picture, options_.size, {1, options_.rate}), options_.alive);
    ++next_;
    return std::optional<SourceFrame>(std::move(frame));
  }

 private:
  // False: cancelled. A run that never lets it go fails by the frames that are missing.
  bool wait() const {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!*options_.cancelled && std::chrono::steady_clock::now() < end) {
      if (options_.may_go && options_.may_go()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return false;
  }

  DrawnOptions options_;
  SourceInfo info_;
  std::int64_t next_ = 0;
};

inline StreamInput drawn_input(DrawnOptions options) {
  options.cancelled = std::make_shared<std::atomic<bool>>(false);
  StreamInput input;
  input.name = "drawn";
  input.source = std::make_unique<DrawnSource>(options);
  input.cancel = [cancelled = options.cancelled] { *cancelled = true; };
  input.reopen = [options]() -> Result<std::unique_ptr<VideoSource>> {
    return std::unique_ptr<VideoSource>(std::make_unique<DrawnSource>(options));
  };
  return input;
}

class RecordingSink final : public ResultSink {
 public:
  Status write(const FrameResult& result) override {
    if (written == error_at) return Error{ErrorCode::kOutput, "file 'x'", "disk is full", ""};
    frames[result.stream].push_back(result);
    ++written;
    if (on_write) on_write();
    return {};
  }
  Status finish() override {
    ++finished;
    return {};
  }
  std::string name() const override { return "recording"; }

  std::map<int, std::vector<FrameResult>> frames;  // by stream
  std::atomic<std::int64_t> written{0};
  std::int64_t error_at = -1;
  int finished = 0;
  std::function<void()> on_write;
};

// Finds the bounding box of what is bright on the canvas.
struct BrightNetwork {
  std::atomic<int> runs{0};
  int error_at = -1;
  std::chrono::milliseconds duration{0};
  std::function<void(int)> on_run;  // with the number of those before

  Status run(const FakeTensor& input, const FakeTensor& output) {
    if (on_run) on_run(runs);
    if (runs++ == error_at) return Error{ErrorCode::kInternal, "engine", "lost the device", ""};
    std::this_thread::sleep_for(duration);
    const int height = static_cast<int>(input.shape[2]);
    const int width = static_cast<int>(input.shape[3]);
    const auto* pixels = reinterpret_cast<const float*>(input.bytes.data());
    int x0 = width, y0 = height, x1 = 0, y1 = 0;
    for (int i = 0; i < width * height; ++i) {
      if (pixels[i] < 180) continue;
      x0 = std::min(x0, i % width);
      y0 = std::min(y0, i / width);
      x1 = std::max(x1, i % width + 1);
      y1 = std::max(y1, i / width + 1);
    }
    const float score = x1 > x0 ? 0.9f : 0.0f;
    const float row[6] = {static_cast<float>(x0),
                          static_cast<float>(y0),
                          static_cast<float>(x1),
                          static_cast<float>(y1),
                          score,
                          0};
    std::memcpy(output.bytes.data(), row, sizeof row);
    return {};
  }
};

inline Processor bright_processor(const std::shared_ptr<BrightNetwork>& network) {
  FakeGraph graph;
  graph.inputs = {{"input", {DataType::kFloat32, {1, 3, -1, -1}}}};
  graph.outputs = {{"boxes", {DataType::kFloat32, {1, 1, 6}}}};
  graph.run = [network](const auto& inputs, const auto& outputs) {
    return network->run(inputs.at("input"), outputs.at("boxes"));
  };
  ContextOptions options;
  options.threads = options.streams = 1;
  Context context = create_fake_context(options, {{"net", graph}}).value();
  Model model = end2end_model({"light"});
  model.manifest.nms = NmsMode::kNone;
  return {"fake", Detector::create(context, model).value(),
          nominal_profile("net", "fake", {1024, 1024}), ScaleModel{}};
}

}  // namespace sparing::testing

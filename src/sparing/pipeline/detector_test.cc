// The detector over a fake engine that finds the bright rectangle of each frame: what comes out
// must be where it was drawn, whatever the scale, the schedule and the failures.
#include "sparing/pipeline/detector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <limits>
#include <memory>
#include <thread>
#include <utility>

#include "sparing/backends/fake.h"

namespace sparing {
namespace {

using ::testing::HasSubstr;

constexpr int kRows = 4;  // detections of the fake network: [1, kRows, 6]

PixelRect drawn_box(std::int64_t frame) {
  return {8 + static_cast<int>(frame % 5) * 4, 12 + static_cast<int>(frame % 3) * 8, 24, 32};
}

SharedFrame draw_frame(std::int64_t index, Size size) {
  SharedFrame frame = allocate_frame(PixelFormat::kI420, size).value();
  VideoFrame& view = frame.view();
  const PixelRect box = drawn_box(index);
  for (int y = 0; y < size.height; ++y) {
    std::uint8_t* row = mutable_plane(frame, 0) + y * view.planes[0].stride;
    for (int x = 0; x < size.width; ++x) {
      const bool inside =
          x >= box.x && x < box.x + box.width && y >= box.y && y < box.y + box.height;
      row[x] = inside ? 235 : 16;
    }
  }
  for (int plane : {1, 2}) {
    std::memset(mutable_plane(frame, plane), 128,
                static_cast<std::size_t>(view.planes[static_cast<std::size_t>(plane)].stride *
                                         ((size.height + 1) / 2)));
  }
  view.timestamp = {index, {1, 10}};
  return frame;
}

class DrawnSource : public VideoSource {
 public:
  DrawnSource(std::int64_t frames, Size size) : frames_(frames), sizes_{size} {
    info_.name = "drawn";
  }

  const SourceInfo& info() const override { return info_; }
  std::int64_t damaged_frames() const override { return 0; }
  Result<std::optional<SourceFrame>> next() override {
    if (next_ == error_at) {
      return Error{ErrorCode::kInput, "video 'drawn'", "is cut off", "copy it again"};
    }
    if (next_ == frames_) return std::optional<SourceFrame>();
    SourceFrame frame;
    frame.index = next_;
    frame.frame = draw_frame(next_, size_of(next_));
    frame.frame.view().color_space.transfer =
        next_ % 2 == 0 ? even_transfer : ColorTransfer::kUnspecified;
    ++next_;
    return std::optional<SourceFrame>(std::move(frame));
  }
  Size size_of(std::int64_t frame) const {
    return sizes_[static_cast<std::size_t>(frame) % sizes_.size()];
  }

  std::int64_t error_at = -1;
  ColorTransfer even_transfer = ColorTransfer::kUnspecified;  // of frames 0, 2, ...
  std::vector<Size>& sizes() { return sizes_; }

 private:
  std::int64_t frames_;
  std::vector<Size> sizes_;
  std::int64_t next_ = 0;
  SourceInfo info_;
};

class RecordingSink : public ResultSink {
 public:
  Status write(const FrameResult& result) override {
    if (static_cast<std::int64_t>(frames.size()) == error_at) {
      return Error{ErrorCode::kOutput, "file 'x'", "disk is full", "make room"};
    }
    frames.push_back({result.source.index, result.detections});
    if (on_write) on_write();
    return {};
  }
  Status finish() override {
    ++finished;
    return {};
  }
  std::string name() const override { return "recording"; }

  struct Frame {
    std::int64_t index;
    std::vector<Detection> detections;
  };
  std::vector<Frame> frames;
  std::function<void()> on_write;
  std::int64_t error_at = -1;
  int finished = 0;
};

// Bounding box of the pixels above 128 in a [1,3,H,W] tensor, as row 0; row 1 is a worse box of
// another class at the same place; row 2 is far outside; row 3 is not a number.
Status find_bright(const FakeTensor& input, const FakeTensor& output) {
  const auto height = static_cast<int>(input.shape[2]);
  const auto width = static_cast<int>(input.shape[3]);
  const auto* pixels = reinterpret_cast<const float*>(input.bytes.data());
  int x0 = width, y0 = height, x1 = 0, y1 = 0;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      if (pixels[y * width + x] < 128) continue;
      x0 = std::min(x0, x);
      y0 = std::min(y0, y);
      x1 = std::max(x1, x + 1);
      y1 = std::max(y1, y + 1);
    }
  }
  const auto f = [](int value) { return static_cast<float>(value); };
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float rows[kRows][6] = {{f(x0), f(y0), f(x1), f(y1), 0.9f, 1},
                                {f(x0), f(y0), f(x1), f(y1), 0.6f, 0},
                                {f(width) * 3, 0, f(width) * 4, 10, 0.8f, 1},
                                {nan, 0, 1, 1, 0.7f, 1}};
  std::memcpy(output.bytes.data(), rows, sizeof rows);
  return {};
}

struct FakeNetwork {
  std::atomic<int> runs{0};
  int error_at = -1;
};

Context make_context(std::shared_ptr<FakeNetwork> network, int streams) {
  FakeGraph graph;
  graph.inputs = {{"input", {DataType::kFloat32, {1, 3, -1, -1}}}};
  graph.outputs = {{"boxes", {DataType::kFloat32, {1, kRows, 6}}}};
  graph.infer_shapes = [](const std::map<std::string, Shape>&) {
    return std::map<std::string, Shape>{{"boxes", {1, kRows, 6}}};
  };
  graph.run = [network](const std::map<std::string, FakeTensor>& inputs,
                        const std::map<std::string, FakeTensor>& outputs) -> Status {
    if (network->runs++ == network->error_at) {
      return Error{ErrorCode::kInternal, "engine", "lost the device", "try again"};
    }
    return find_bright(inputs.at("input"), outputs.at("boxes"));
  };
  ContextOptions options;
  options.threads = std::max(streams, 1);
  options.streams = streams;
  return create_fake_context(options, {{"finder", graph}}).value();
}

Model finder_model() {
  Model model;
  model.file = "finder.onnx";
  model.manifest.name = "finder";
  model.manifest.labels = {"shade", "light"};
  model.manifest.head.type = HeadType::kEnd2end;
  model.manifest.head.classes = 2;
  model.manifest.head.outputs.detections = "boxes";
  model.manifest.head.box_format = BoxFormat::kXyxy;
  model.manifest.nms = NmsMode::kNone;
  model.manifest.input.multiple_of = 8;
  return model;
}

class DetectorTest : public ::testing::Test {
 protected:
  Detector make(const DetectOptions& options = {}, int streams = 1) {
    return Detector::create(make_context(network, streams), model, options).value();
  }

  void expect_boxes(const RecordingSink& sink, double tolerance) {
    for (std::size_t i = 0; i < sink.frames.size(); ++i) {
      const RecordingSink::Frame& frame = sink.frames[i];
      ASSERT_EQ(frame.index, static_cast<std::int64_t>(i));
      ASSERT_FALSE(frame.detections.empty()) << i;
      const PixelRect drawn = drawn_box(frame.index);
      const Box& box = frame.detections[0].box;
      EXPECT_NEAR(box.x0, drawn.x, tolerance) << i;
      EXPECT_NEAR(box.y0, drawn.y, tolerance) << i;
      EXPECT_NEAR(box.x1, drawn.x + drawn.width, tolerance) << i;
      EXPECT_NEAR(box.y1, drawn.y + drawn.height, tolerance) << i;
    }
  }

  RunSummary run(Detector& detector, VideoSource& source, const RunControl& control = {}) {
    ResultSink* sinks[] = {&sink};
    return detector.run(source, sinks, control);
  }

  static void wait() { std::this_thread::sleep_for(std::chrono::milliseconds(3)); }

  std::shared_ptr<FakeNetwork> network = std::make_shared<FakeNetwork>();
  Model model = finder_model();
  RecordingSink sink;
};

TEST_F(DetectorTest, FindsEveryFrameInOrderWithAnyNumberOfStreams) {
  for (const int streams : {1, 2, 3}) {
    Detector detector = make({}, streams);
    sink = {};
    DrawnSource source(100, {64, 96});
    const RunSummary summary = run(detector, source);
    ASSERT_FALSE(summary.error) << summary.error->to_string();
    EXPECT_EQ(summary.frames, 100);
    ASSERT_EQ(sink.frames.size(), 100u);
    EXPECT_EQ(sink.finished, 1);
    expect_boxes(sink, 0.01);
    EXPECT_EQ(summary.input_size, (Size{64, 96}));
    EXPECT_EQ(summary.last_time->seconds(), 9.9);
    EXPECT_FALSE(summary.interrupted);
    EXPECT_TRUE(summary.dropped_frames.empty());
    ASSERT_EQ(summary.stages.size(), 5u);
    for (const StageStatistics& stage : summary.stages) {
      // The decoder is asked once more than there are frames: that call is the end.
      EXPECT_EQ(stage.count, stage.name == "decode" ? 101 : 100) << stage.name;
    }
  }
}

TEST_F(DetectorTest, CountsEachDropWithItsReason) {
  Detector detector = make();
  DrawnSource source(10, {64, 96});
  const RunSummary summary = run(detector, source);
  EXPECT_EQ(summary.detections, 20);  // two good rows a frame
  ASSERT_EQ(summary.dropped_detections.size(), 2u);
  EXPECT_EQ(summary.dropped_detections[0].reason, "not finite");
  EXPECT_EQ(summary.dropped_detections[0].count, 10);
  EXPECT_EQ(summary.dropped_detections[1].reason, "outside the frame");
  EXPECT_EQ(summary.dropped_detections[1].count, 10);
}

TEST_F(DetectorTest, MapsBoxesBackFromAnotherSizeStretchedOrLetterboxed) {
  for (const Fit fit : {Fit::kStretch, Fit::kLetterbox}) {
    for (const Anchor anchor : {Anchor::kCenter, Anchor::kTopLeft}) {
      model.manifest.input.fit = fit;
      model.manifest.input.anchor = anchor;
      model.manifest.input.pad = {0, 0, 0};
      DetectOptions options;
      options.size = "128x96";
      Detector detector = make(options);
      sink = {};
      DrawnSource source(15, {64, 96});
      const RunSummary summary = run(detector, source);
      ASSERT_FALSE(summary.error) << summary.error->to_string();
      EXPECT_EQ(summary.input_size, (Size{128, 96}));
      expect_boxes(sink, 0.51);
    }
  }
}

TEST_F(DetectorTest, FollowsAFrameSizeThatChanges) {
  Detector detector = make();
  DrawnSource source(30, {64, 96});
  source.sizes() = {{64, 96}, {120, 80}, {64, 96}, {200, 104}};
  const RunSummary summary = run(detector, source);
  ASSERT_FALSE(summary.error) << summary.error->to_string();
  EXPECT_EQ(summary.frames, 30);
  expect_boxes(sink, 0.01);
}

TEST_F(DetectorTest, ReportsChosenClassesOnly) {
  DetectOptions options;
  options.classes = {"Shade"};
  Detector detector = make(options);
  DrawnSource source(5, {64, 96});
  ASSERT_FALSE(run(detector, source).error);
  for (const auto& frame : sink.frames) {
    ASSERT_EQ(frame.detections.size(), 1u);
    EXPECT_EQ(frame.detections[0].class_id, 0);
  }
  options.classes = {"tree"};
  const auto refused = Detector::create(make_context(network, 1), model, options);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(refused.error().to_string(), HasSubstr("'tree'"));
  EXPECT_THAT(refused.error().to_string(), HasSubstr("shade, light"));
}

TEST_F(DetectorTest, ScoreAndNmsOptionsAct) {
  DetectOptions options;
  options.score = 0.7;
  {
    Detector detector = make(options);
    DrawnSource source(2, {64, 96});
    EXPECT_EQ(run(detector, source).detections, 2);
  }
  options.score = 0.1;
  for (const bool agnostic : {false, true}) {
    options.class_agnostic = agnostic;
    model.manifest.nms = NmsMode::kClassAware;
    Detector detector = make(options);
    sink = {};
    DrawnSource source(2, {64, 96});
    EXPECT_EQ(run(detector, source).detections, agnostic ? 2 : 4);
  }
  options.class_agnostic = false;
  for (const bool by_option : {false, true}) {
    model.manifest.max_detections = by_option ? 300 : 1;
    options.max_detections = by_option ? 1 : 0;
    Detector detector = make(options);
    sink = {};
    DrawnSource source(2, {64, 96});
    const RunSummary summary = run(detector, source);
    EXPECT_EQ(summary.detections, 2);
    EXPECT_EQ(summary.full_frames, 2);
    for (const auto& frame : sink.frames) EXPECT_NEAR(frame.detections[0].score, 0.9, 1e-6);
  }
}

TEST_F(DetectorTest, CountsHdrFrames) {
  for (const auto& [transfer, frames] :
       {std::pair{ColorTransfer::kPq, 3}, std::pair{ColorTransfer::kHlg, 3},
        std::pair{ColorTransfer::kSdr, 0}}) {
    Detector detector = make();
    sink = {};
    DrawnSource source(5, {64, 96});
    source.even_transfer = transfer;
    EXPECT_EQ(run(detector, source).hdr_frames, frames);
  }
}

TEST_F(DetectorTest, ASourceErrorKeepsTheFramesBeforeIt) {
  Detector detector = make();
  DrawnSource source(100, {64, 96});
  source.error_at = 37;
  const RunSummary summary = run(detector, source);
  ASSERT_TRUE(summary.error);
  EXPECT_EQ(summary.error->code, ErrorCode::kInput);
  EXPECT_EQ(summary.frames, 37);
  EXPECT_EQ(sink.frames.size(), 37u);
  EXPECT_EQ(sink.finished, 1);
  EXPECT_TRUE(summary.dropped_frames.empty());
}

TEST_F(DetectorTest, AFailingSinkEndsTheRunAndEverySinkIsFinished) {
  Detector detector = make({}, 2);
  DrawnSource source(100, {64, 96});
  sink.error_at = 20;
  RecordingSink other;
  ResultSink* sinks[] = {&other, &sink};
  const RunSummary summary = detector.run(source, sinks);
  ASSERT_TRUE(summary.error);
  EXPECT_EQ(summary.error->code, ErrorCode::kOutput);
  // The other one holds the frame, too, that this one could not take.
  EXPECT_EQ(summary.error->problem, "disk is full (at frame 20)");
  EXPECT_EQ(other.frames.size(), 21u);
  EXPECT_EQ(summary.frames, 21);
  ASSERT_EQ(summary.outputs.size(), 2u);
  EXPECT_FALSE(summary.outputs[0].error);
  EXPECT_EQ(summary.outputs[0].frames, 21);
  EXPECT_EQ(summary.outputs[1].frames, 20);
  EXPECT_EQ(sink.finished, 1);
  EXPECT_EQ(other.finished, 1);
  ASSERT_EQ(summary.dropped_frames.size(), 1u);
  EXPECT_GE(summary.dropped_frames[0].count, 1);
  EXPECT_LT(summary.dropped_frames[0].count, 40);  // bounded: what was in flight
}

TEST_F(DetectorTest, AnEngineErrorEndsTheRunAndKeepsTheFramesBeforeIt) {
  network->error_at = 12;
  Detector detector = make();
  DrawnSource source(100, {64, 96});
  sink.on_write = wait;  // so that frames are queued for it when the error comes
  const RunSummary summary = run(detector, source);
  ASSERT_TRUE(summary.error);
  EXPECT_EQ(summary.error->thing, "engine");
  EXPECT_EQ(summary.frames, 12);
  EXPECT_EQ(sink.frames.size(), static_cast<std::size_t>(summary.frames));
  EXPECT_EQ(sink.finished, 1);
}

TEST_F(DetectorTest, ARunWithoutASingleFrameLeavesTheOutputsAlone) {
  network->error_at = 0;
  Detector detector = make();
  DrawnSource source(10, {64, 96});
  EXPECT_TRUE(run(detector, source).error);
  EXPECT_EQ(sink.finished, 0);
  DrawnSource again(10, {64, 96});
  std::stop_source stop;
  stop.request_stop();
  RunControl control;
  control.stop = stop.get_token();
  const RunSummary summary = run(detector, again, control);
  EXPECT_TRUE(summary.interrupted);
  EXPECT_EQ(summary.frames, 0);
  EXPECT_EQ(sink.finished, 0);
}

TEST_F(DetectorTest, AStopRequestFinishesTheFramesInFlight) {
  Detector detector = make({}, 2);
  DrawnSource source(100000, {64, 96});
  std::stop_source stop;
  sink.on_write = [&] {
    if (sink.frames.size() == 25) stop.request_stop();
  };
  RunControl control;
  control.stop = stop.get_token();
  const RunSummary summary = run(detector, source, control);
  EXPECT_FALSE(summary.error);
  EXPECT_TRUE(summary.interrupted);
  EXPECT_GE(summary.frames, 25);
  EXPECT_LT(summary.frames, 60);
  EXPECT_EQ(sink.finished, 1);
  expect_boxes(sink, 0.01);
}

TEST_F(DetectorTest, AnEmptySourceIsAnEmptyResult) {
  Detector detector = make();
  DrawnSource source(0, {64, 96});
  const RunSummary summary = run(detector, source);
  EXPECT_FALSE(summary.error);
  EXPECT_EQ(summary.frames, 0);
  EXPECT_FALSE(summary.last_time);
  EXPECT_EQ(sink.finished, 1);
}

TEST_F(DetectorTest, ShowsTheNetworksInputAndItsErrorEndsTheRun) {
  Detector detector = make();
  DrawnSource source(10, {64, 96});
  std::vector<std::int64_t> shown;
  sink.on_write = wait;
  RunControl control;
  control.on_input = [&](std::int64_t frame, std::span<const std::int64_t> shape,
                         std::span<const float> data) -> Status {
    EXPECT_EQ(Shape(shape.begin(), shape.end()), (Shape{1, 3, 96, 64}));
    const PixelRect box = drawn_box(frame);
    EXPECT_NEAR(data[static_cast<std::size_t>((box.y + 4) * 64 + box.x + 4)], 255, 0.5);
    shown.push_back(frame);
    if (frame == 6) return Error{ErrorCode::kOutput, "dump", "failed", ""};
    return {};
  };
  const RunSummary summary = run(detector, source, control);
  ASSERT_TRUE(summary.error);
  EXPECT_EQ(summary.error->thing, "dump");
  EXPECT_EQ(shown.size(), 7u);
  EXPECT_EQ(summary.frames, 6);
}

TEST_F(DetectorTest, DetectsASingleFrame) {
  Detector detector = make();
  const SharedFrame frame = draw_frame(3, {64, 96});
  const auto detections = detector.detect(frame.view());
  ASSERT_TRUE(detections.ok()) << detections.error().to_string();
  ASSERT_EQ(detections->size(), 2u);
  EXPECT_NEAR((*detections)[0].box.x0, drawn_box(3).x, 0.01);
  VideoFrame broken = frame.view();
  broken.planes[0].data = nullptr;
  EXPECT_FALSE(detector.detect(broken).ok());
}

TEST_F(DetectorTest, RefusesSizesThatTheModelDoesNotTake) {
  for (const char* size : {"100x96", "axb", "0x8", "64", "8000x8000", "64x96x3"}) {
    DetectOptions options;
    options.size = size;
    const auto detector = Detector::create(make_context(network, 1), model, options);
    ASSERT_FALSE(detector.ok()) << size;
    EXPECT_EQ(detector.error().code, ErrorCode::kInvalidArgument) << size;
    EXPECT_THAT(detector.error().to_string(), HasSubstr("size")) << size;
  }
}

TEST_F(DetectorTest, RefusesAGraphWithoutAPictureInput) {
  model.manifest.input.name = "image";
  const auto detector = Detector::create(make_context(network, 1), model);
  ASSERT_FALSE(detector.ok());
  EXPECT_EQ(detector.error().code, ErrorCode::kModel);
  EXPECT_THAT(detector.error().to_string(), HasSubstr("'image' is missing"));
}

}  // namespace
}  // namespace sparing

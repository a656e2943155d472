#include "sparing/pipeline/segmenter.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sparing/backends/fake.h"
#include "sparing/flow/texture_test_util.h"
#include "sparing/pipeline/segment_job.h"

namespace sparing {
namespace {

using testing::Placement;
using testing::Texture;

constexpr Size kSize{96, 64};
// Where the ground is dark and the object bright, a threshold tells them apart.
constexpr int kBright = 235;

// A network whose second class is as likely as its input is bright: [1,3,h,w] to [1,2,h,w].
struct BrightNet {
  Model model;
  Context context;
  std::shared_ptr<std::vector<int>> runs = std::make_shared<std::vector<int>>();

  explicit BrightNet(int streams = 2) {
    FakeGraph graph;
    graph.inputs = {{"image", {DataType::kFloat32, {1, 3, -1, -1}}}};
    graph.outputs = {{"scores", {DataType::kFloat32, {1, 2, -1, -1}}}};
    graph.infer_shapes = [](const std::map<std::string, Shape>& inputs) {
      const Shape& in = inputs.at("image");
      return std::map<std::string, Shape>{{"scores", {1, 2, in[2], in[3]}}};
    };
    graph.run = [runs = runs, mutex = std::make_shared<std::mutex>()](
                    const auto& inputs, const auto& outputs) -> Status {
      const FakeTensor& in = inputs.at("image");
      const FakeTensor& out = outputs.at("scores");
      const auto pixels = static_cast<std::size_t>(in.shape[2] * in.shape[3]);
      std::vector<float> values(pixels * 3), scores(pixels * 2);
      std::memcpy(values.data(), in.bytes.data(), in.bytes.size());
      for (std::size_t i = 0; i < pixels; ++i) {
        const float p = std::clamp(values[i] / 255, 0.0f, 1.0f);
        scores[i] = 1 - p;
        scores[pixels + i] = p;
      }
      std::memcpy(out.bytes.data(), scores.data(), out.bytes.size());
      const std::lock_guard lock(*mutex);
      runs->push_back(1);
      return {};
    };
    ContextOptions options;
    options.threads = streams;
    options.streams = streams;
    context = create_fake_context(options, {{"bright", graph}}).value();
    model.file = "bright.onnx";
    model.manifest.name = "bright";
    model.manifest.task = ModelTask::kSegment;
    model.manifest.labels = {"background", "lamp"};
    model.manifest.segmentation.classes = 2;
  }
  Segmenter segmenter(const SegmenterOptions& options = {}) const {
    auto made = Segmenter::create(context, model, std::nullopt, options);
    EXPECT_TRUE(made.ok()) << (made.ok() ? "" : made.error().to_string());
    return std::move(made).value();
  }
};

// A dark textured ground that moves by `shift`, and a bright square on it.
SharedFrame draw(const Texture& ground, int index, Placement place, PixelRect square,
                 Size size = kSize) {
  LumaImage image = ground.draw(size, place);
  SharedFrame frame = std::move(allocate_frame(PixelFormat::kGray8, size)).value();
  for (int y = 0; y < size.height; ++y) {
    std::uint8_t* row = mutable_plane(frame, 0) + y * frame.view().planes[0].stride;
    for (int x = 0; x < size.width; ++x) {
      const bool inside = x >= square.x && x < square.x + square.width && y >= square.y &&
                          y < square.y + square.height;
      const int dark = image.row(y)[static_cast<std::size_t>(x)] / 3;
      row[x] = static_cast<std::uint8_t>(inside ? kBright : dark);
    }
  }
  frame.view().color_space.range = ColorRange::kFull;
  frame.view().timestamp = {index, {1, 25}};
  return frame;
}

// Frames of memory; may fail, or end the run, at one of them.
class ListSource final : public VideoSource {
 public:
  explicit ListSource(std::vector<SharedFrame> frames) : frames_(std::move(frames)) {
    info_.name = "list";
    info_.display_size = kSize;
  }
  const SourceInfo& info() const override { return info_; }
  Result<std::optional<SourceFrame>> next() override {
    if (at_ == fail_at) {
      return Error{ErrorCode::kInput, "video 'list'", "is cut off", "get it again"};
    }
    if (at_ == frames_.size()) return std::optional<SourceFrame>();
    SourceFrame frame;
    frame.frame = frames_[at_];
    frame.index = static_cast<std::int64_t>(at_++);
    return std::optional(std::move(frame));
  }
  std::int64_t damaged_frames() const override { return 0; }
  std::size_t fail_at = SIZE_MAX;

 private:
  std::vector<SharedFrame> frames_;
  SourceInfo info_;
  std::size_t at_ = 0;
};

struct Keeper final : SegmentConsumer {
  std::vector<LabelMap> labels;
  std::vector<LabelMap> main_labels;
  std::vector<bool> looked;
  std::vector<std::int64_t> order;
  std::size_t fail_at = SIZE_MAX;
  std::function<void(std::size_t)> on_frame;
  Status take(SegmentedFrame& frame) override {
    if (labels.size() == fail_at) {
      return Error{ErrorCode::kOutput, "output 'x'", "disk full", "free some space"};
    }
    labels.push_back(frame.labels);
    main_labels.push_back(frame.main_labels);
    looked.push_back(frame.main_looked);
    order.push_back(frame.source.index);
    if (on_frame) on_frame(labels.size());
    return {};
  }
};

// The square moves by (2, 1) a frame, the ground stands still.
std::vector<SharedFrame> moving_square(int count) {
  const Texture ground(1, 0.5);
  std::vector<SharedFrame> frames;
  for (int i = 0; i < count; ++i)
    frames.push_back(draw(ground, i, {}, {10 + 2 * i, 12 + i, 20, 16}));
  return frames;
}

double overlap(const LabelMap& labels, PixelRect square) {
  double both = 0, any = 0;
  for (int y = 0; y < labels.size.height; ++y) {
    for (int x = 0; x < labels.size.width; ++x) {
      const bool there = x >= square.x && x < square.x + square.width && y >= square.y &&
                         y < square.y + square.height;
      const bool found = labels.row(y)[static_cast<std::size_t>(x)] == 1;
      both += there && found;
      any += there || found;
    }
  }
  return both / any;
}

SegmenterOptions with_mode(const std::string& mode) {
  SegmenterOptions options;
  options.segment.mode = mode;
  options.segment.size = "96x64";
  return options;
}

TEST(SegmenterTest, LabelsLieWhereTheObjectIs) {
  const BrightNet net;
  Segmenter segmenter = net.segmenter(with_mode("main"));
  const auto result = segmenter.segment(moving_square(1)[0].view());
  ASSERT_TRUE(result.ok()) << result.error().to_string();
  EXPECT_EQ(result->labels.size, kSize);
  EXPECT_EQ(overlap(result->labels, {10, 12, 20, 16}), 1);
  EXPECT_EQ(result->motion.event, SceneEvent::kFirst);
  EXPECT_TRUE(result->main_looked);
}

TEST(SegmenterTest, ARunGivesWhatFrameByFrameGives) {
  for (const char* mode : {"main", "temporal", "ema", "emaflow"}) {
    const BrightNet net;
    const std::vector<SharedFrame> frames = moving_square(12);
    Segmenter one = net.segmenter(with_mode(mode));
    std::vector<LabelMap> expected;
    for (const SharedFrame& frame : frames) {
      auto result = one.segment(frame.view());
      ASSERT_TRUE(result.ok()) << result.error().to_string();
      expected.push_back(std::move(result->labels));
    }
    Segmenter other = net.segmenter(with_mode(mode));
    ListSource source(frames);
    Keeper keeper;
    const SegmentSummary summary = other.run(source, keeper);
    EXPECT_FALSE(summary.error) << summary.error->to_string();
    EXPECT_EQ(summary.frames, 12);
    EXPECT_EQ(summary.main_looks, 12);
    EXPECT_EQ(keeper.labels, expected) << mode;
    EXPECT_TRUE(std::is_sorted(keeper.order.begin(), keeper.order.end()));
    EXPECT_EQ(summary.input_size, kSize);
  }
}

TEST(SegmenterTest, BetweenLooksMasksMoveWithThePicture) {
  const BrightNet net;
  SegmenterOptions options = with_mode("temporal");
  options.segment.main_every = 4;
  options.motion.flow = "medium";
  Segmenter segmenter = net.segmenter(options);
  ListSource source(moving_square(9));
  Keeper keeper;
  const SegmentSummary summary = segmenter.run(source, keeper);
  ASSERT_FALSE(summary.error);
  EXPECT_EQ(summary.main_looks, 3);
  EXPECT_EQ(net.runs->size(), 3u);
  EXPECT_THAT(keeper.looked,
              ::testing::ElementsAre(true, false, false, false, true, false, false, false, true));
  for (int i = 0; i < 9; ++i) {
    EXPECT_GT(overlap(keeper.labels[static_cast<std::size_t>(i)], {10 + 2 * i, 12 + i, 20, 16}),
              0.75)
        << i;
  }
}

TEST(SegmenterTest, AfterACutMainNetLooksAtOnce) {
  const BrightNet net;
  SegmenterOptions options = with_mode("main");
  options.segment.main_every = 100;
  Segmenter segmenter = net.segmenter(options);
  std::vector<SharedFrame> frames;
  for (int i = 0; i < 3; ++i) frames.push_back(draw(Texture(1, 0.9), i, {}, {60, 30, 8, 8}));
  for (int i = 3; i < 6; ++i) frames.push_back(draw(Texture(7, 0.9), i, {}, {20, 10, 8, 8}));
  ListSource source(frames);
  Keeper keeper;
  const SegmentSummary summary = segmenter.run(source, keeper);
  ASSERT_FALSE(summary.error);
  EXPECT_EQ(summary.cuts, 1);
  EXPECT_THAT(keeper.looked, ::testing::ElementsAre(true, false, false, true, false, false));
  EXPECT_GT(overlap(keeper.labels[5], {20, 10, 8, 8}), 0.7);
}

TEST(SegmenterTest, FramesMayChangeTheirSize) {
  const BrightNet net;
  for (const char* mode : {"main", "temporal"}) {
    SegmenterOptions options = with_mode(mode);
    options.segment.main_every = 2;
    Segmenter segmenter = net.segmenter(options);
    const Texture ground(1, 0.5);
    std::vector<SharedFrame> frames;
    for (int i = 0; i < 6; ++i) {
      frames.push_back(draw(ground, i, {}, {10, 12, 20, 16}, i < 3 ? kSize : Size{130, 90}));
    }
    ListSource source(frames);
    Keeper keeper;
    const SegmentSummary summary = segmenter.run(source, keeper);
    ASSERT_FALSE(summary.error) << summary.error->to_string();
    EXPECT_EQ(keeper.labels[2].size, kSize);
    EXPECT_EQ(keeper.labels[3].size, (Size{130, 90}));
    EXPECT_TRUE(keeper.looked[3]);
    EXPECT_GT(overlap(keeper.labels[5], {10, 12, 20, 16}), 0.7);
  }
}

TEST(SegmenterTest, ALetterboxedInputGivesThePictureAlone) {
  BrightNet net;
  net.model.manifest.input.fit = Fit::kLetterbox;
  net.model.manifest.input.pad = {255, 255, 255};  // as bright as the object
  SegmenterOptions options = with_mode("main");
  options.segment.size = "96x96";  // 16 rows of border above and below
  Segmenter segmenter = net.segmenter(options);
  const auto result = segmenter.segment(moving_square(1)[0].view());
  ASSERT_TRUE(result.ok()) << result.error().to_string();
  EXPECT_EQ(result->probabilities.size, kSize);
  EXPECT_EQ(overlap(result->labels, {10, 12, 20, 16}), 1);
}

TEST(SegmenterTest, KeepsMainNetsOwnLabelsOfEveryFrame) {
  const BrightNet net;
  SegmenterOptions options = with_mode("temporal");
  options.segment.main_every = 3;
  options.keep_main = true;
  Segmenter segmenter = net.segmenter(options);
  ListSource source(moving_square(7));
  Keeper keeper;
  const SegmentSummary summary = segmenter.run(source, keeper);
  ASSERT_FALSE(summary.error);
  EXPECT_EQ(summary.main_looks, 3);
  EXPECT_EQ(net.runs->size(), 7u);
  for (int i = 0; i < 7; ++i) {
    EXPECT_EQ(
        overlap(keeper.main_labels[static_cast<std::size_t>(i)], {10 + 2 * i, 12 + i, 20, 16}), 1);
  }
}

TEST(SegmenterTest, FramesBeforeAnInputErrorAreKept) {
  const BrightNet net;
  Segmenter segmenter = net.segmenter(with_mode("temporal"));
  ListSource source(moving_square(9));
  source.fail_at = 5;
  Keeper keeper;
  const SegmentSummary summary = segmenter.run(source, keeper);
  ASSERT_TRUE(summary.error);
  EXPECT_EQ(summary.error->code, ErrorCode::kInput);
  EXPECT_EQ(keeper.labels.size(), 5u);
  EXPECT_EQ(summary.frames, 5);
}

TEST(SegmenterTest, AFailingConsumerEndsTheRun) {
  const BrightNet net;
  for (const std::size_t at : {std::size_t{0}, std::size_t{3}}) {
    Segmenter segmenter = net.segmenter(with_mode("temporal"));
    ListSource source(moving_square(30));
    Keeper keeper;
    keeper.fail_at = at;
    const SegmentSummary summary = segmenter.run(source, keeper);
    ASSERT_TRUE(summary.error);
    EXPECT_EQ(summary.error->code, ErrorCode::kOutput);
    EXPECT_EQ(summary.frames, static_cast<std::int64_t>(at));
    ASSERT_EQ(summary.dropped_frames.size(), 1u);
    EXPECT_GT(summary.dropped_frames[0].count, 0);
  }
}

TEST(SegmenterTest, AStopEndsTheRunAndKeepsTheFrames) {
  const BrightNet net;
  Segmenter segmenter = net.segmenter(with_mode("temporal"));
  std::vector<SharedFrame> frames;
  for (int i = 0; i < 200; ++i) frames.push_back(moving_square(1)[0]);
  ListSource source(frames);
  std::stop_source stop;
  Keeper keeper;
  keeper.on_frame = [&](std::size_t n) {
    if (n == 4) stop.request_stop();
  };
  SegmentControl control;
  control.stop = stop.get_token();
  const SegmentSummary summary = segmenter.run(source, keeper, control);
  EXPECT_TRUE(summary.interrupted);
  EXPECT_FALSE(summary.error);
  EXPECT_GE(summary.frames, 4);
  EXPECT_LT(summary.frames, 100);
}

TEST(SegmenterTest, AFrameThatIsNoneIsAnErrorOfItsOwn) {
  const BrightNet net;
  Segmenter segmenter = net.segmenter(with_mode("temporal"));
  EXPECT_FALSE(segmenter.segment(VideoFrame()).ok());
  EXPECT_TRUE(segmenter.segment(moving_square(1)[0].view()).ok());
}

TEST(SegmenterTest, ResetForgetsThePast) {
  const BrightNet net;
  SegmenterOptions options = with_mode("temporal");
  options.segment.main_every = 50;
  Segmenter segmenter = net.segmenter(options);
  const std::vector<SharedFrame> frames = moving_square(2);
  EXPECT_TRUE(segmenter.segment(frames[0].view())->main_looked);
  EXPECT_FALSE(segmenter.segment(frames[1].view())->main_looked);
  segmenter.reset();
  EXPECT_TRUE(segmenter.segment(frames[1].view())->main_looked);
}

TEST(SegmenterTest, RefusesWhatDoesNotFit) {
  BrightNet net;
  const auto code = [&](const SegmenterOptions& options) {
    auto made = Segmenter::create(net.context, net.model, std::nullopt, options);
    return made.ok() ? "ok" : std::string(to_string(made.error().code));
  };
  EXPECT_EQ(code(with_mode("auxadapt")), "invalid_argument");  // without an AuxNet
  EXPECT_EQ(code(with_mode("magic")), "invalid_argument");
  SegmenterOptions options = with_mode("temporal");
  options.segment.budget = 0.01;
  options.segment.main_every = 2;
  EXPECT_EQ(code(options), "invalid_argument");
  options.segment.main_every = 1;
  options.segment.deterministic = true;
  EXPECT_EQ(code(options), "invalid_argument");
  options.segment.budget = 0;
  EXPECT_EQ(code(options), "ok");
  net.model.manifest.input.fit = Fit::kCrop;
  EXPECT_EQ(code(with_mode("temporal")), "model");
  net.model.manifest.input.fit = Fit::kStretch;
  net.model.manifest.task = ModelTask::kDetect;
  EXPECT_EQ(code(with_mode("temporal")), "model");
}

TEST(SegmenterTest, ADifferentNumberOfClassesIsAnErrorOfTheModel) {
  BrightNet net;
  net.model.manifest.labels = {"a", "b", "c"};
  net.model.manifest.segmentation.classes = 3;
  const auto made = Segmenter::create(net.context, net.model, std::nullopt, with_mode("main"));
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().code, ErrorCode::kModel);
}

TEST(LookRateTest, FollowsFromProcessorTime) {
  // Looks of 90 ms, 10 ms of other work a frame, 2 cores, 20 ms of wall time: 30 ms are left for
  // looks, so every third frame.
  LookRate rate(0.020, 1, 2);
  double main = 0, process = 0;
  std::int64_t looks = 0;
  for (int i = 0; i < LookRate::kPeriod; ++i) {
    ++looks;
    main += 0.090;
    process += 0.100;
    rate.observe(looks, main, process);
  }
  EXPECT_EQ(rate.every(), 3);
  // Looks become cheap.
  for (int i = 0; i < LookRate::kPeriod; ++i) {
    if (i % 3 == 0) {
      ++looks;
      main += 0.020;
      process += 0.020;
    }
    process += 0.010;
    rate.observe(looks, main, process);
  }
  EXPECT_EQ(rate.every(), 1);
  // Other work alone is too much.
  for (int i = 0; i < LookRate::kPeriod; ++i) {
    ++looks;
    main += 0.020;
    process += 0.120;
    rate.observe(looks, main, process);
  }
  EXPECT_EQ(rate.every(), LookRate::kMostEvery);
}

TEST(LookRateTest, WithoutABudgetItStays) {
  LookRate rate(0, 4, 2);
  for (int i = 1; i < 50; ++i) rate.observe(i, i, i * 2);
  EXPECT_EQ(rate.every(), 4);
}

}  // namespace
}  // namespace sparing

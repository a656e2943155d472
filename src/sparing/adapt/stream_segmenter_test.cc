// The decision, the learning and the safeguards, over a real trained network of two branches
// (HRNet-like, 5 classes at 20x16) and MainNets that are made up.
#include "sparing/adapt/stream_segmenter.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <functional>
#include <utility>

#include <gtest/gtest.h>

namespace sparing {
namespace {

constexpr Size kGrid{20, 16};
constexpr int kClasses = 5;

std::filesystem::path branches() {
  return std::filesystem::path(SPARING_SOURCE_DIR) / "src/sparing/train/testdata/branches.onnx";
}

Model model(const char* name) {
  Model made;
  made.file = branches();
  made.manifest.name = name;
  made.manifest.task = ModelTask::kSegment;
  made.manifest.labels = {"a", "b", "c", "d", "e"};
  made.manifest.segmentation.classes = kClasses;
  made.manifest.segmentation.activation = Activation::kSoftmax;
  made.manifest.input.mean = {128, 128, 128};
  made.manifest.input.std = {64, 64, 64};
  made.manifest.input.default_size = kGrid;
  return made;
}

StreamSegmenterOptions with_mode(SegmentMode mode) {
  StreamSegmenterOptions options;
  options.mode = mode;
  options.learn.every = 1;
  options.learn.pull = 0;
  options.trainer.train = "all";
  options.trainer.rate = 1e-3;
  return options;
}

StreamSegmenter make(const StreamSegmenterOptions& options) {
  auto made = StreamSegmenter::create(options, model("main"), model("aux"));
  EXPECT_TRUE(made.ok()) << (made.ok() ? "" : made.error().to_string());
  return std::move(made).value();
}

SharedFrame picture(int seed) {
  SharedFrame frame = std::move(allocate_frame(PixelFormat::kRgb24, {40, 32})).value();
  for (int y = 0; y < 32; ++y) {
    for (int x = 0; x < 40 * 3; ++x) {
      mutable_plane(frame, 0)[y * frame.view().planes[0].stride + x] =
          static_cast<std::uint8_t>(128 + 90 * std::sin(0.2 * x + 0.5 * y + seed));
    }
  }
  return frame;
}

// A MainNet that is sure of `label(x, y)` by `sure`.
ProbabilityMap says(const std::function<int(int, int)>& label, float sure) {
  ProbabilityMap map;
  map.resize(kClasses, kGrid);
  for (int c = 0; c < kClasses; ++c) {
    for (int y = 0; y < kGrid.height; ++y) {
      for (int x = 0; x < kGrid.width; ++x) {
        map.plane(c)[static_cast<std::size_t>(y * kGrid.width + x)] =
            c == label(x, y) ? sure : (1 - sure) / (kClasses - 1);
      }
    }
  }
  return map;
}
ProbabilityMap halves(float sure) {
  return says([](int x, int) { return x < 10 ? 1 : 3; }, sure);
}

PictureMotion event(SceneEvent what) {
  PictureMotion motion;
  motion.event = what;
  return motion;
}

PictureMotion standing() {
  PictureMotion motion;
  motion.event = SceneEvent::kNone;
  motion.back.resize(kGrid);
  motion.error.assign(motion.back.dx.size(), 0);
  return motion;
}

double mean_of(const ProbabilityMap& map, int c) {
  double sum = 0;
  for (const float v : map.plane(c)) sum += v;
  return sum / static_cast<double>(map.pixels());
}

TEST(StreamSegmenterTest, TheSumIsThatOfBothProbabilities) {
  const SharedFrame frame = picture(1);
  StreamSegmenter aux = make(with_mode(SegmentMode::kAux));
  ProbabilityMap aux_map;
  ASSERT_TRUE(aux.segment(frame.view(), event(SceneEvent::kFirst), aux_map).ok());
  for (const double weight : {0.0, 0.5, 1.0, 3.0}) {
    StreamSegmenterOptions options = with_mode(SegmentMode::kEnsemble);
    options.ensemble.aux_weight = weight;
    StreamSegmenter both = make(options);
    ProbabilityMap map = halves(0.6f);
    const ProbabilityMap main = map;
    ASSERT_TRUE(both.segment(frame.view(), event(SceneEvent::kFirst), map).ok());
    for (std::size_t i = 0; i < map.values.size(); ++i) {
      ASSERT_NEAR(map.values[i], (main.values[i] + weight * aux_map.values[i]) / (1 + weight),
                  1e-6);
    }
  }
}

TEST(StreamSegmenterTest, LogitsCanBeSummed) {
  const SharedFrame frame = picture(1);
  StreamSegmenter aux = make(with_mode(SegmentMode::kAux));
  ProbabilityMap aux_map;
  ASSERT_TRUE(aux.segment(frame.view(), event(SceneEvent::kFirst), aux_map).ok());
  StreamSegmenterOptions options = with_mode(SegmentMode::kEnsemble);
  options.ensemble.aux_weight = 0.7;
  options.ensemble.sum_logits = true;
  StreamSegmenter both = make(options);
  EXPECT_TRUE(both.wants_logits());
  const ProbabilityMap main = halves(0.6f);
  ProbabilityMap map = main;
  for (float& v : map.values) v = std::log(v);
  ASSERT_TRUE(both.segment(frame.view(), event(SceneEvent::kFirst), map).ok());
  for (std::size_t i = 0; i < map.pixels(); ++i) {
    double sum = 0;
    std::array<double, kClasses> expected{};
    for (int c = 0; c < kClasses; ++c) {
      // The softmax of a sum of logits is the normalised product of powers of probabilities.
      expected[static_cast<std::size_t>(c)] =
          main.plane(c)[i] * std::pow(static_cast<double>(aux_map.plane(c)[i]), 0.7);
      sum += expected[static_cast<std::size_t>(c)];
    }
    for (int c = 0; c < kClasses; ++c) {
      ASSERT_NEAR(map.plane(c)[i], expected[static_cast<std::size_t>(c)] / sum, 1e-5);
    }
  }
}

TEST(StreamSegmenterTest, AnAuxNetOfAnotherSizeIsBroughtToMainNets) {
  const SharedFrame frame = picture(1);
  StreamSegmenterOptions options = with_mode(SegmentMode::kEnsemble);
  options.ensemble.aux_weight = 100;  // AuxNet alone, nearly
  StreamSegmenter both = make(options);
  ProbabilityMap map;
  map.resize(kClasses, {40, 32});
  std::fill(map.values.begin(), map.values.end(), 0.2f);
  ASSERT_TRUE(both.segment(frame.view(), event(SceneEvent::kFirst), map).ok());
  EXPECT_EQ(map.size, (Size{40, 32}));
  StreamSegmenter aux = make(with_mode(SegmentMode::kAux));
  ProbabilityMap small;
  ASSERT_TRUE(aux.segment(frame.view(), event(SceneEvent::kFirst), small).ok());
  for (int c = 0; c < kClasses; ++c) EXPECT_NEAR(mean_of(map, c), mean_of(small, c), 0.02);
}

TEST(StreamSegmenterTest, AuxNetLearnsWhatMainNetSays) {
  for (const SegmentMode mode : {SegmentMode::kAuxAdapt, SegmentMode::kAuxAdaptTemporal}) {
    const SharedFrame frame = picture(2);
    StreamSegmenterOptions options = with_mode(mode);
    options.trainer.rate = 0.01;
    StreamSegmenter segmenter = make(options);
    double first = 0;
    for (int i = 0; i < 40; ++i) {
      ProbabilityMap map = halves(0.9f);
      ASSERT_TRUE(
          segmenter.segment(frame.view(), i == 0 ? event(SceneEvent::kFirst) : standing(), map)
              .ok());
      ASSERT_TRUE(segmenter.learn().ok());
      if (i == 0) first = segmenter.statistics().loss;
    }
    EXPECT_EQ(segmenter.statistics().steps, 40);
    EXPECT_EQ(segmenter.statistics().refused, 0);
    EXPECT_LT(segmenter.statistics().loss, first * 0.5);
    EXPECT_GT(segmenter.statistics().distance, 0);
    segmenter.reset();
    EXPECT_EQ(segmenter.trainer()->distance(), 0);
  }
}

TEST(StreamSegmenterTest, OthersDoNotLearn) {
  for (const SegmentMode mode : {SegmentMode::kEnsemble, SegmentMode::kEnsembleTemporal,
                                 SegmentMode::kTemporal, SegmentMode::kMain}) {
    StreamSegmenter segmenter = make(with_mode(mode));
    ProbabilityMap map = halves(0.9f);
    ASSERT_TRUE(segmenter.segment(picture(1).view(), event(SceneEvent::kFirst), map).ok());
    ASSERT_TRUE(segmenter.learn().ok());
    EXPECT_EQ(segmenter.statistics().steps, 0);
    if (segmenter.trainer() != nullptr) {
      EXPECT_EQ(segmenter.trainer()->distance(), 0);
    }
  }
}

TEST(StreamSegmenterTest, LearnsOnEveryNthFrameAndNotFromBlankOnes) {
  StreamSegmenterOptions options = with_mode(SegmentMode::kAuxAdapt);
  options.learn.every = 3;
  StreamSegmenter segmenter = make(options);
  for (int i = 0; i < 7; ++i) {
    ProbabilityMap map = halves(0.9f);
    ASSERT_TRUE(segmenter
                    .segment(picture(1).view(),
                             event(i == 3 ? SceneEvent::kBlank : SceneEvent::kFirst), map)
                    .ok());
    ASSERT_TRUE(segmenter.learn().ok());
  }
  // Frames 0, 3 and 6, of which 3 was blank.
  EXPECT_EQ(segmenter.statistics().steps, 2);
  EXPECT_EQ(segmenter.statistics().blank_frames, 1);
}

TEST(StreamSegmenterTest, Safeguards) {
  const auto run = [&](const LearnOptions& learn, SceneEvent at_5) {
    StreamSegmenterOptions options = with_mode(SegmentMode::kAuxAdapt);
    options.learn = learn;
    options.trainer.rate = 0.01;
    StreamSegmenter segmenter = make(options);
    for (int i = 0; i < 10; ++i) {
      ProbabilityMap map = halves(0.9f);
      EXPECT_TRUE(
          segmenter.segment(picture(1).view(), event(i == 5 ? at_5 : SceneEvent::kFirst), map)
              .ok());
      EXPECT_TRUE(segmenter.learn().ok());
    }
    return segmenter.statistics();
  };
  LearnOptions every_frame;
  every_frame.every = 1;
  every_frame.pull = 0;
  LearnOptions learn = every_frame;
  const LearnStatistics plain = run(learn, SceneEvent::kCut);
  EXPECT_EQ(plain.resets, 0);
  learn.reset_at_cut = true;
  const LearnStatistics cut = run(learn, SceneEvent::kCut);
  EXPECT_EQ(cut.resets, 1);
  EXPECT_LT(cut.distance, plain.distance);
  learn = every_frame;
  learn.reset_every = 4;
  EXPECT_EQ(run(learn, SceneEvent::kFirst).resets, 2);
  learn = every_frame;
  learn.reset_distance = plain.distance / 2;
  EXPECT_GE(run(learn, SceneEvent::kFirst).resets, 1);
  learn = every_frame;
  learn.pull = 0.5;
  EXPECT_LT(run(learn, SceneEvent::kFirst).distance, plain.distance * 0.7);
  learn.pull = 1;
  EXPECT_LT(run(learn, SceneEvent::kFirst).distance, 1e-9);
}

TEST(StreamSegmenterTest, AStepThatExplodesIsRefusedAndSaid) {
  StreamSegmenterOptions options = with_mode(SegmentMode::kAuxAdapt);
  options.trainer.gradient_limit = 1e-9;
  StreamSegmenter segmenter = make(options);
  ProbabilityMap map = halves(0.9f);
  ASSERT_TRUE(segmenter.segment(picture(1).view(), event(SceneEvent::kFirst), map).ok());
  ASSERT_TRUE(segmenter.learn().ok());
  EXPECT_EQ(segmenter.statistics().steps, 0);
  EXPECT_EQ(segmenter.statistics().refused, 1);
  EXPECT_EQ(segmenter.trainer()->distance(), 0);
}

TEST(StreamSegmenterTest, TheResultIsFusedBeforeAuxNetLearnsFromIt) {
  // MainNet flickers between two opinions; fused, the first one prevails, and that is learnt.
  const SharedFrame frame = picture(3);
  const auto loss_after = [&](const char* teacher) {
    StreamSegmenterOptions options = with_mode(SegmentMode::kAuxAdaptTemporal);
    options.learn.teacher = teacher;
    options.learn.balance = 0;
    options.fusion.weight = 0.9;
    options.trainer.rate = 0.02;
    StreamSegmenter segmenter = make(options);
    for (int i = 0; i < 30; ++i) {
      ProbabilityMap map = halves(0.9f);
      if (i % 3 == 2) map = says([](int, int) { return 4; }, 0.9f);
      EXPECT_TRUE(
          segmenter.segment(frame.view(), i == 0 ? event(SceneEvent::kFirst) : standing(), map)
              .ok());
      EXPECT_TRUE(segmenter.learn().ok());
    }
    return segmenter.statistics().loss;
  };
  EXPECT_LT(loss_after("result"), loss_after("sum"));
}

TEST(StreamSegmenterTest, TentTrainsNormsOfMainNetsTwin) {
  StreamSegmenterOptions options = with_mode(SegmentMode::kTent);
  options.trainer.rate = 0.01;
  StreamSegmenter segmenter = make(options);
  EXPECT_FALSE(info(segmenter.mode()).main);
  for (const TrainerLayer& layer : segmenter.trainer()->layers()) {
    if (layer.trained) {
      EXPECT_GT(layer.parameters, 0);
    }
  }
  ProbabilityMap map;
  double first = 0;
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(segmenter.segment(picture(1).view(), event(SceneEvent::kFirst), map).ok());
    ASSERT_TRUE(segmenter.learn().ok());
    if (i == 0) first = segmenter.statistics().loss;
  }
  EXPECT_EQ(map.size, kGrid);
  EXPECT_LT(segmenter.statistics().loss, first);  // the entropy falls
}

TEST(StreamSegmenterTest, ChannelsMayLieInAnotherOrder) {
  const SharedFrame frame = picture(1);
  Model shuffled = model("aux");
  shuffled.manifest.segmentation.class_map = {3, 0, 4, 1, 2};
  StreamSegmenter plain = make(with_mode(SegmentMode::kAux));
  auto made = StreamSegmenter::create(with_mode(SegmentMode::kAux), model("main"), shuffled);
  ASSERT_TRUE(made.ok()) << made.error().to_string();
  ProbabilityMap expected, map;
  ASSERT_TRUE(plain.segment(frame.view(), event(SceneEvent::kFirst), expected).ok());
  ASSERT_TRUE(made->segment(frame.view(), event(SceneEvent::kFirst), map).ok());
  for (int channel = 0; channel < kClasses; ++channel) {
    const int label = shuffled.manifest.segmentation.class_map[static_cast<std::size_t>(channel)];
    EXPECT_TRUE(std::equal(map.plane(label).begin(), map.plane(label).end(),
                           expected.plane(channel).begin()));
  }
  // And it learns labels, not channels.
  StreamSegmenterOptions options = with_mode(SegmentMode::kAuxAdapt);
  options.trainer.rate = 0.02;
  auto learner = StreamSegmenter::create(options, model("main"), shuffled);
  ASSERT_TRUE(learner.ok());
  double first = 0;
  for (int i = 0; i < 40; ++i) {
    ProbabilityMap says_halves = halves(0.95f);
    ASSERT_TRUE(learner->segment(frame.view(), event(SceneEvent::kFirst), says_halves).ok());
    ASSERT_TRUE(learner->learn().ok());
    if (i == 0) first = learner->statistics().loss;
  }
  EXPECT_LT(learner->statistics().loss, first * 0.5);
}

TEST(StreamSegmenterTest, RefusesWhatDoesNotFit) {
  const auto code = [](const StreamSegmenterOptions& options, const std::optional<Model>& aux) {
    auto made = StreamSegmenter::create(options, model("main"), aux);
    return made.ok() ? std::string("ok") : std::string(to_string(made.error().code));
  };
  const StreamSegmenterOptions learns = with_mode(SegmentMode::kAuxAdapt);
  EXPECT_EQ(code(learns, std::nullopt), "invalid_argument");
  Model other = model("aux");
  other.manifest.labels[2] = "x";
  EXPECT_EQ(code(learns, other), "model");
  Model few = model("aux");
  few.manifest.labels = {"a", "b"};
  few.manifest.segmentation.classes = 2;
  EXPECT_EQ(code(learns, few), "model");
  Model twice = model("aux");
  twice.manifest.segmentation.class_map = {0, 1, 2, 3, 3};
  EXPECT_EQ(code(learns, twice), "model");
  Model missing = model("aux");
  missing.file = "/no/such/file.onnx";
  EXPECT_EQ(code(learns, missing), "input");
  Model nhwc = model("aux");
  nhwc.manifest.input.layout = Layout::kNhwc;
  EXPECT_EQ(code(learns, nhwc), "model");
  StreamSegmenterOptions options = learns;
  options.learn.every = 0;
  EXPECT_EQ(code(options, model("aux")), "invalid_argument");
  options = learns;
  options.ensemble.aux_weight = -1;
  EXPECT_EQ(code(options, model("aux")), "invalid_argument");
  EXPECT_EQ(code(with_mode(SegmentMode::kAuto), std::nullopt), "ok");

  StreamSegmenter segmenter = make(with_mode(SegmentMode::kEnsemble));
  ProbabilityMap wrong;
  wrong.resize(3, kGrid);
  const Status status = segmenter.segment(picture(1).view(), event(SceneEvent::kFirst), wrong);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kInvalidArgument);
}

TEST(StreamSegmenterTest, AutoFollowsFromTheNetworks) {
  EXPECT_EQ(make(with_mode(SegmentMode::kAuto)).mode(), SegmentMode::kAuxAdaptTemporal);
  auto alone = StreamSegmenter::create(with_mode(SegmentMode::kAuto), model("main"), std::nullopt);
  ASSERT_TRUE(alone.ok());
  EXPECT_EQ(alone->mode(), SegmentMode::kTemporal);
}

TEST(SegmentModesTest, TableIsInOrderAndNamesAreFound) {
  for (std::size_t i = 0; i < kSegmentModes.size(); ++i) {
    EXPECT_EQ(static_cast<std::size_t>(kSegmentModes[i].mode), i);
    EXPECT_EQ(segment_mode_from_name(kSegmentModes[i].name), kSegmentModes[i].mode);
  }
  EXPECT_FALSE(segment_mode_from_name("AuxAdapt"));
}

}  // namespace
}  // namespace sparing

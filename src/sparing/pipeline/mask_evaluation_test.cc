#include "sparing/pipeline/mask_evaluation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "sparing/flow/texture_test_util.h"

namespace sparing {
namespace {

using ::testing::HasSubstr;
using testing::Texture;

LabelClasses classes_of(int count, std::vector<std::uint8_t> ignored = {}) {
  const auto classes = LabelClasses::create(count, ignored);
  EXPECT_TRUE(classes.ok());
  return *classes;
}

// A texture of grey, moved by (dx, dy).
SharedFrame frame_of(const Texture& texture, Size size, double dx, double dy) {
  const LumaImage image = texture.draw(size, {1, dx, dy});
  auto frame = allocate_frame(PixelFormat::kGray8, size);
  EXPECT_TRUE(frame.ok());
  for (int y = 0; y < size.height; ++y) {
    const auto row = image.row(y);
    std::copy(row.begin(), row.end(),
              mutable_plane(*frame, 0) + y * frame->view().planes[0].stride);
  }
  return *frame;
}

// Class 1 left of `border`, class 0 right of it.
LabelMap halves(Size size, double border) {
  LabelMap map;
  map.resize(size);
  for (int y = 0; y < size.height; ++y) {
    for (int x = 0; x < size.width; ++x) {
      map.row(y)[static_cast<std::size_t>(x)] = x + 0.5 < border ? 1 : 0;
    }
  }
  return map;
}

PicturePair must_analyse(PictureAnalysis& analysis, const SharedFrame& frame) {
  PicturePair pair;
  const Status status = analysis.add(frame.view(), pair);
  EXPECT_TRUE(status.ok()) << (status.ok() ? "" : status.error().to_string());
  return pair;
}

constexpr Size kSize{160, 128};

TEST(PictureAnalysis, KnowsThePairFromTheSecondFrameOn) {
  const Texture texture(1);
  PictureAnalysisOptions options;
  options.occlusion = true;
  PictureAnalysis analysis(options);
  const PicturePair first = must_analyse(analysis, frame_of(texture, kSize, 0, 0));
  EXPECT_FALSE(first.follows);
  EXPECT_EQ(first.size, kSize);
  EXPECT_FALSE(first.before);
  ASSERT_TRUE(first.features);
  const PicturePair second = must_analyse(analysis, frame_of(texture, kSize, 4, -2));
  ASSERT_TRUE(second.follows);
  EXPECT_EQ(second.before, first.features);
  EXPECT_EQ(second.flow.size, kSize);
  EXPECT_EQ(second.visible.size(), second.flow.dx.size());
  const std::size_t middle = 64 * 160 + 80;
  EXPECT_NEAR(second.flow.dx[middle], 4, 0.5) << "from the frame before to this one";
  EXPECT_NEAR(second.flow.dy[middle], -2, 0.5);
  EXPECT_EQ(second.visible[middle], 1);
  EXPECT_EQ(second.visible[64 * 160 + 159], 0) << "has left the picture";
  EXPECT_EQ(second.still[middle], 0);
  const PicturePair third = must_analyse(analysis, frame_of(texture, kSize, 4, -2));
  EXPECT_EQ(third.still[middle], 1);
  const PicturePair other = must_analyse(analysis, frame_of(texture, {96, 64}, 0, 0));
  EXPECT_FALSE(other.follows) << "another size";
  EXPECT_FALSE(other.before);
}

TEST(PictureAnalysis, LeavesOutWhatIsNotAskedFor) {
  const Texture texture(1);
  PictureAnalysisOptions options;
  options.perceptual = false;
  PictureAnalysis analysis(options);
  must_analyse(analysis, frame_of(texture, kSize, 0, 0));
  const PicturePair pair = must_analyse(analysis, frame_of(texture, kSize, 1, 0));
  EXPECT_TRUE(pair.follows);
  EXPECT_TRUE(pair.visible.empty());
  EXPECT_FALSE(pair.features || pair.before);
}

TEST(PictureAnalysis, ReducesLargePictures) {
  const Texture texture(1);
  for (const auto& [size, reduced] : {std::pair{Size{1024, 64}, Size{1024, 64}},
                                      {{1026, 64}, {513, 32}},
                                      {{128, 2052}, {32, 513}}}) {
    PictureAnalysis analysis;
    must_analyse(analysis, frame_of(texture, size, 0, 0));
    EXPECT_EQ(must_analyse(analysis, frame_of(texture, size, 0, 0)).flow.size, reduced);
  }
}

TEST(PictureAnalysis, RefusesPicturesThatAreTooSmall) {
  const Texture texture(1);
  PictureAnalysis analysis;
  PicturePair pair;
  const SharedFrame small = frame_of(texture, {40, 20}, 0, 0);
  ASSERT_TRUE(analysis.add(small.view(), pair).ok()) << "no pair yet";
  const Status status = analysis.add(small.view(), pair);
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().to_string(), HasSubstr("40x20"));
}

// The picture moves by (4, 0) a frame; labels that move along are steady, those that stay are not.
TEST(MaskEvaluation, FollowsTheMotionAtAnySizeOfTheLabels) {
  const Texture texture(2);
  for (const Size labels : {kSize, Size{80, 64}, Size{320, 256}}) {
    const double scale = static_cast<double>(labels.width) / kSize.width;
    PictureAnalysis analysis;
    MaskEvaluation moving(classes_of(2)), staying(classes_of(2));
    for (int i = 0; i < 4; ++i) {
      const PicturePair pair = must_analyse(analysis, frame_of(texture, kSize, 4 * i, 0));
      const LabelMap truth = halves(labels, (60 + 4 * i) * scale);
      ASSERT_TRUE(moving.add(pair, truth, &truth).ok());
      ASSERT_TRUE(staying.add(pair, halves(labels, 60 * scale), &truth).ok());
    }
    const MaskFigures steady = moving.total();
    EXPECT_EQ(steady.frames, 4);
    EXPECT_EQ(steady.truth_frames, 4);
    EXPECT_EQ(steady.pairs, 3);
    EXPECT_EQ(*steady.scores.miou, 1);
    EXPECT_GT(*steady.ftc, 0.985);
    // Columns 60 to 63, 67 and 71 of 160 change sides, of those that stay in the picture.
    const MaskFigures unsteady = staying.total();
    const double left = 60, right = 160 - 60 - 4;
    const double expected = ((left - 4) / left + right / (right + 4)) / 2;
    EXPECT_NEAR(*unsteady.ftc, expected, 0.015);
    EXPECT_LT(*unsteady.scores.miou, 0.97);
  }
}

TEST(MaskEvaluation, CountsFlickerWhereThePictureStands) {
  const Texture texture(3);
  PictureAnalysis analysis;
  MaskEvaluation evaluation(classes_of(3, {9}));
  const SharedFrame frame = frame_of(texture, kSize, 0, 0);
  ASSERT_TRUE(evaluation.add(must_analyse(analysis, frame), halves(kSize, 80), nullptr).ok());
  const MaskFigures first = evaluation.last();
  EXPECT_EQ(first.pairs, 0);
  EXPECT_FALSE(first.ftc || first.pc || first.flicker || first.scores.miou);
  // 16 of 160 columns change, and at once the truth is known of this frame.
  const LabelMap truth = halves(kSize, 80);
  ASSERT_TRUE(evaluation.add(must_analyse(analysis, frame), halves(kSize, 96), &truth).ok());
  const MaskFigures second = evaluation.last();
  EXPECT_NEAR(*second.flicker, 0.1, 1e-9);
  EXPECT_NEAR(*second.ftc, (80.0 / 96 + 64.0 / 80) / 2, 1e-9);
  EXPECT_NEAR(*second.scores.miou, (80.0 / 96 + 64.0 / 80) / 2, 1e-9);
  EXPECT_EQ(evaluation.total().truth_frames, 1);
  EXPECT_LT(*second.pc, 1);
  const double pc = *second.pc;
  ASSERT_TRUE(evaluation.add(must_analyse(analysis, frame), halves(kSize, 96), nullptr).ok());
  EXPECT_NEAR(*evaluation.last().pc, 1, 1e-6);
  EXPECT_NEAR(*evaluation.total().pc, (1 + pc) / 2, 1e-6);
  EXPECT_NEAR(*evaluation.total().flicker, 0.05, 1e-9);
}

TEST(MaskEvaluation, ComparesAcrossNoGap) {
  const Texture texture(4);
  PictureAnalysis analysis;
  MaskEvaluation evaluation(classes_of(2));
  const SharedFrame frame = frame_of(texture, kSize, 0, 0);
  const LabelMap labels = halves(kSize, 80);
  ASSERT_TRUE(evaluation.add(must_analyse(analysis, frame), labels, nullptr).ok());
  must_analyse(analysis, frame);
  evaluation.skip();
  ASSERT_TRUE(evaluation.add(must_analyse(analysis, frame), labels, nullptr).ok());
  EXPECT_EQ(evaluation.total().pairs, 0);
  EXPECT_EQ(evaluation.total().frames, 2);
  ASSERT_TRUE(evaluation.add(must_analyse(analysis, frame), halves({80, 64}, 40), nullptr).ok());
  EXPECT_EQ(evaluation.total().pairs, 0) << "labels of another size";
  ASSERT_TRUE(evaluation.add(must_analyse(analysis, frame), halves({80, 64}, 40), nullptr).ok());
  EXPECT_EQ(evaluation.total().pairs, 1);
}

TEST(MaskEvaluation, UsesTheCallersThreadsWithTheSameResult) {
  const Texture texture(5);
  PictureAnalysis analysis;
  MaskEvaluation alone(classes_of(2)), together(classes_of(2));
  int calls = 0;
  const auto backwards = [&](int count, const std::function<void(int)>& body) {
    ++calls;
    for (int i = count - 1; i >= 0; --i) body(i);
  };
  for (int i = 0; i < 2; ++i) {
    const PicturePair pair = must_analyse(analysis, frame_of(texture, kSize, i, 0));
    const LabelMap labels = halves(kSize, 70 + 9 * i);
    ASSERT_TRUE(alone.add(pair, labels, nullptr).ok());
    ASSERT_TRUE(together.add(pair, labels, nullptr, backwards).ok());
  }
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(*alone.total().pc, *together.total().pc);
}

TEST(MaskEvaluation, RefusesWhatDoesNotFitAndCountsNothingOfIt) {
  const Texture texture(6);
  PictureAnalysis analysis;
  MaskEvaluation evaluation(classes_of(2));
  const PicturePair pair = must_analyse(analysis, frame_of(texture, kSize, 0, 0));
  LabelMap labels = halves(kSize, 80);
  const LabelMap other = halves({80, 64}, 40);
  const Status sizes = evaluation.add(pair, labels, &other);
  ASSERT_FALSE(sizes.ok());
  EXPECT_THAT(sizes.error().to_string(), HasSubstr("160x128"));
  labels.labels[7] = 2;
  const Status label = evaluation.add(pair, labels, nullptr);
  ASSERT_FALSE(label.ok());
  EXPECT_THAT(label.error().to_string(), HasSubstr("label 2 at (7, 0)"));
  EXPECT_EQ(evaluation.total().frames, 0);
}

}  // namespace
}  // namespace sparing

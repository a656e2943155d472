// The figures of segmentations on a real drive whose every frame is labelled: CamVid's validation
// sequence, where somebody has put it (SPARING_CAMVID: its folder, with val and val_labels).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "sparing/base/thread_pool.h"
#include "sparing/io/masks.h"
#include "sparing/io/source.h"
#include "sparing/pipeline/mask_evaluation.h"

namespace sparing {
namespace {

namespace fs = std::filesystem;

using Change = std::function<void(LabelMap& labels, int frame)>;

// What becomes of the true labels after each change, in the first frames (0: all).
std::vector<MaskFigures> evaluate(const fs::path& folder, const std::vector<Change>& changes,
                                  std::int64_t frames, bool perceptual) {
  const std::vector<std::uint8_t> ignored{11};
  const auto classes = LabelClasses::create(11, ignored);
  SourceOptions reading;
  reading.max_frames = frames;
  auto source = open_source((folder / "val").string(), reading);
  EXPECT_TRUE(source.ok() && classes.ok());
  if (!source.ok() || !classes.ok()) return {};
  auto truth = open_masks(folder / "val_labels", (*source)->info());
  EXPECT_TRUE(truth.ok());
  if (!truth.ok()) return {};
  ThreadPool pool({.name = "test", .threads = 1});
  const auto parallel = [&](int count, const std::function<void(int)>& body) {
    pool.parallel_for(count, body);
  };
  PictureAnalysisOptions options;
  options.perceptual = perceptual;
  PictureAnalysis analysis(options);
  PicturePair picture;
  std::vector<MaskEvaluation> evaluations;
  for (std::size_t i = 0; i < changes.size(); ++i) evaluations.emplace_back(*classes);
  for (int index = 0;; ++index) {
    auto frame = (*source)->next();
    EXPECT_TRUE(frame.ok());
    if (!frame.ok() || !frame->has_value()) break;
    auto labels = (*truth)->next(**frame);
    EXPECT_TRUE(labels.ok() && labels->has_value());
    if (!labels.ok() || !labels->has_value()) break;
    EXPECT_TRUE(analysis.add((*frame)->frame.view(), picture).ok());
    for (std::size_t i = 0; i < changes.size(); ++i) {
      LabelMap changed = **labels;
      changes[i](changed, index);
      EXPECT_TRUE(evaluations[i].add(picture, changed, &**labels, parallel).ok());
    }
  }
  std::vector<MaskFigures> figures;
  for (const MaskEvaluation& evaluation : evaluations) figures.push_back(evaluation.total());
  return figures;
}

// Squares of 16 pixels, of which every tenth gets another class.
void flip_squares(LabelMap& labels, unsigned seed) {
  std::mt19937 random(seed);
  for (int y = 0; y < labels.size.height; y += 16) {
    for (int x = 0; x < labels.size.width; x += 16) {
      if (random() % 10 != 0) continue;
      const auto label = static_cast<std::uint8_t>(random() % 11);
      for (int v = y; v < std::min(y + 16, labels.size.height); ++v) {
        for (int u = x; u < std::min(x + 16, labels.size.width); ++u) {
          labels.row(v)[static_cast<std::size_t>(u)] = label;
        }
      }
    }
  }
}

// The folder; empty, and the test skipped, where there is none.
fs::path camvid() {
  const char* folder = std::getenv("SPARING_CAMVID");
  return folder != nullptr && fs::is_directory(fs::path(folder) / "val_labels") ? folder : "";
}

TEST(CamVid, TheLabelsOwnConsistencyIsThatOfOpenCvsOwnCalls) {
  if (camvid().empty()) GTEST_SKIP() << "no CamVid: set SPARING_CAMVID to its folder";
  const std::vector<MaskFigures> figures = evaluate(camvid(), {[](LabelMap&, int) {}}, 0, false);
  ASSERT_EQ(figures.size(), 1u);
  const MaskFigures& truth = figures[0];
  EXPECT_EQ(truth.frames, 51);
  EXPECT_EQ(truth.truth_frames, 51);
  EXPECT_EQ(truth.pairs, 50);
  ASSERT_TRUE(truth.scores.miou && truth.ftc && truth.flicker);
  EXPECT_EQ(*truth.scores.miou, 1);
  EXPECT_EQ(*truth.scores.pixel_accuracy, 1);
  EXPECT_FALSE(truth.pc);
  // cv2 4.14: DISOpticalFlow.calc of the grey pictures, remap of the labels with INTER_NEAREST,
  // sums over the pixels with a class in both. Another version of OpenCV, another decoder.
  EXPECT_NEAR(*truth.ftc, 0.8721, 0.003);
  EXPECT_LT(*truth.flicker, 0.01);
}

TEST(CamVid, TheFiguresTellChangesThatFlickerFromThoseThatStay) {
  if (camvid().empty()) GTEST_SKIP() << "no CamVid: set SPARING_CAMVID to its folder";
  const std::vector<Change> changes{
      [](LabelMap&, int) {},  // the truth
      [](LabelMap& labels, int frame) { flip_squares(labels, static_cast<unsigned>(frame)); },
      [](LabelMap& labels, int) { flip_squares(labels, 1); },  // the same in every frame
      [](LabelMap& labels, int) {
        std::fill(labels.labels.begin(), labels.labels.end(), std::uint8_t{3});
      },
  };
  const std::vector<MaskFigures> figures = evaluate(camvid(), changes, 8, true);
  ASSERT_EQ(figures.size(), changes.size());
  for (const MaskFigures& f : figures) {
    ASSERT_TRUE(f.scores.miou && f.ftc && f.pc && f.flicker);
    std::printf("mIoU %.2f  F-TC %.2f  PC %.2f  flicker %.2f\n", 100 * *f.scores.miou, 100 * *f.ftc,
                100 * *f.pc, 100 * *f.flicker);
  }
  const MaskFigures &truth = figures[0], &flickering = figures[1], &steady = figures[2],
                    &road = figures[3];
  EXPECT_GT(*truth.pc, 0.99);
  EXPECT_LT(*flickering.pc, *truth.pc - 0.01);
  EXPECT_LT(*flickering.ftc, *steady.ftc - 0.1);
  EXPECT_GT(*flickering.flicker, *steady.flicker + 0.1);
  EXPECT_NEAR(*flickering.scores.miou, *steady.scores.miou, 0.1) << "as wrong as each other";
  // All one class is as steady as can be, and wrong: why none of them is shown without mIoU.
  EXPECT_EQ(*road.ftc, 1);
  EXPECT_NEAR(*road.pc, 1, 1e-9);
  EXPECT_EQ(*road.flicker, 0);
  EXPECT_LT(*road.scores.miou, 0.05);
}

}  // namespace
}  // namespace sparing

// The figures of segmentations on a real drive whose every frame is labelled: CamVid's validation
// sequence, where somebody has put it (SPARING_CAMVID: its folder, with val and val_labels).
#include <gtest/gtest.h>

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

// What becomes of the true labels after each change.
std::vector<MaskFigures> evaluate(const fs::path& folder, const std::vector<Change>& changes) {
  const std::vector<std::uint8_t> ignored{11};
  const auto classes = LabelClasses::create(11, ignored);
  auto source = open_source((folder / "val").string());
  EXPECT_TRUE(source.ok() && classes.ok());
  if (!source.ok() || !classes.ok()) return {};
  auto truth = open_masks(folder / "val_labels", (*source)->info());
  EXPECT_TRUE(truth.ok());
  if (!truth.ok()) return {};
  ThreadPool pool({.name = "test", .threads = 1});
  const auto parallel = [&](int count, const std::function<void(int)>& body) {
    pool.parallel_for(count, body);
  };
  PictureAnalysis analysis;
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

TEST(CamVid, TheFiguresSayWhatWasDoneToTheLabels) {
  const char* folder = std::getenv("SPARING_CAMVID");
  if (folder == nullptr || !fs::is_directory(fs::path(folder) / "val_labels")) {
    GTEST_SKIP() << "no CamVid: set SPARING_CAMVID to its folder";
  }
  const std::vector<Change> changes{
      [](LabelMap&, int) {},  // the truth
      [](LabelMap& labels, int frame) { flip_squares(labels, static_cast<unsigned>(frame)); },
      [](LabelMap& labels, int) { flip_squares(labels, 1); },  // the same in every frame
      [](LabelMap& labels, int) { std::fill(labels.labels.begin(), labels.labels.end(), 3); },
  };
  const std::vector<MaskFigures> figures = evaluate(folder, changes);
  ASSERT_EQ(figures.size(), changes.size());
  for (const MaskFigures& f : figures) {
    ASSERT_TRUE(f.scores.miou && f.ftc && f.pc && f.flicker);
    std::printf("mIoU %.2f  F-TC %.2f  PC %.2f  flicker %.2f  pixel accuracy %.2f\n",
                100 * *f.scores.miou, 100 * *f.ftc, 100 * *f.pc, 100 * *f.flicker,
                100 * *f.scores.pixel_accuracy);
  }
  const MaskFigures& truth = figures[0];
  EXPECT_EQ(truth.frames, 51);
  EXPECT_EQ(truth.truth_frames, 51);
  EXPECT_EQ(truth.pairs, 50);
  EXPECT_EQ(*truth.scores.miou, 1);
  EXPECT_EQ(*truth.scores.pixel_accuracy, 1);
}

}  // namespace
}  // namespace sparing

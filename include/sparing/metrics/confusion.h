// Segmentation against ground truth: intersection over union by class, and accuracies of pixels.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sparing/base/class_map.h"
#include "sparing/base/result.h"
#include "sparing/metrics/label_classes.h"

namespace sparing {

// Shares in [0, 1].
struct SegmentationScores {
  // Mean of `iou` over the classes that have one: those that occur in the truth or in what was
  // predicted where the truth is known (the convention of CamVid and Cityscapes). None: no pixel.
  std::optional<double> miou;
  std::vector<std::optional<double>> iou;  // by class: intersection over union of its pixels
  std::optional<double> pixel_accuracy;    // of the pixels whose truth is known
  std::optional<double> mean_accuracy;     // mean over the classes of the truth of the share found
  std::int64_t pixels = 0;                 // whose truth is known
};

// Counts pixels by their true and their predicted class, summed over frames: the mIoU of many
// frames is that of the sums, not the mean of the frames'. Not thread-safe; reading from several
// threads is.
class ConfusionMatrix {
 public:
  explicit ConfusionMatrix(const LabelClasses& classes);

  // Pixels whose truth is ignored count nowhere. A prediction that is ignored is a miss of the true
  // class, and no other's mistake. kInvalidArgument: as LabelClasses::check, sizes that differ;
  // nothing was counted then.
  Status add(const LabelMap& truth, const LabelMap& predicted);
  // Precondition: of as many classes.
  void add(const ConfusionMatrix& other);
  // One pixel of the true class that was predicted as `predicted`, or as nothing
  // (classes().count()). Precondition: both in range.
  void count(int truth, int predicted, std::int64_t pixels = 1) {
    counts_[index(truth, predicted)] += pixels;
  }

  const LabelClasses& classes() const { return classes_; }
  // Pixels of class `truth` that were predicted as `predicted`; classes().count() is "as nothing".
  std::int64_t pixels(int truth, int predicted) const { return counts_[index(truth, predicted)]; }
  SegmentationScores scores() const;

 private:
  std::size_t index(int truth, int predicted) const {
    return static_cast<std::size_t>(truth) * static_cast<std::size_t>(classes_.count() + 1) +
           static_cast<std::size_t>(predicted);
  }

  LabelClasses classes_;
  std::vector<std::int64_t> counts_;
};

}  // namespace sparing

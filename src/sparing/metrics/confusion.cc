#include "sparing/metrics/confusion.h"

#include <string>

#include "sparing/base/check.h"
#include "sparing/metrics/same_size.h"

namespace sparing {
namespace {

std::optional<double> share(std::int64_t part, std::int64_t whole) {
  if (whole == 0) return std::nullopt;
  return static_cast<double>(part) / static_cast<double>(whole);
}

// Of the values that are there.
class Mean {
 public:
  void add(const std::optional<double>& value) {
    if (!value) return;
    sum_ += *value;
    ++count_;
  }
  std::optional<double> value() const {
    if (count_ == 0) return std::nullopt;
    return sum_ / count_;
  }

 private:
  double sum_ = 0;
  int count_ = 0;
};

}  // namespace

ConfusionMatrix::ConfusionMatrix(const LabelClasses& classes)
    : classes_(classes),
      counts_(static_cast<std::size_t>(classes.count()) *
              static_cast<std::size_t>(classes.count() + 1)) {}

Status ConfusionMatrix::add(const LabelMap& truth, const LabelMap& predicted) {
  SPARING_RETURN_IF_ERROR(classes_.check(truth, "true labels"));
  SPARING_RETURN_IF_ERROR(classes_.check(predicted, "predicted labels"));
  SPARING_RETURN_IF_ERROR(
      check_same_size(truth.size, "true labels", predicted.size, "predicted labels"));
  const int none = classes_.count();
  for (std::size_t i = 0; i < truth.labels.size(); ++i) {
    if (classes_.is_ignored(truth.labels[i])) continue;
    count(truth.labels[i], classes_.is_class(predicted.labels[i]) ? predicted.labels[i] : none);
  }
  return {};
}

void ConfusionMatrix::add(const ConfusionMatrix& other) {
  SPARING_CHECK(other.counts_.size() == counts_.size());
  for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
}

SegmentationScores ConfusionMatrix::scores() const {
  const int classes = classes_.count();
  SegmentationScores result;
  Mean miou, accuracy;
  std::int64_t right = 0;
  for (int c = 0; c < classes; ++c) {
    std::int64_t of_class = 0, as_class = 0;
    for (int other = 0; other <= classes; ++other) of_class += pixels(c, other);
    for (int other = 0; other < classes; ++other) as_class += pixels(other, c);
    const std::int64_t both = pixels(c, c);
    result.iou.push_back(share(both, of_class + as_class - both));
    miou.add(result.iou.back());
    accuracy.add(share(both, of_class));
    right += both;
    result.pixels += of_class;
  }
  result.miou = miou.value();
  result.mean_accuracy = accuracy.value();
  result.pixel_accuracy = share(right, result.pixels);
  return result;
}

}  // namespace sparing

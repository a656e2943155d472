#include "sparing/roi/redundancy.h"

#include <gtest/gtest.h>

namespace sparing::roi {
namespace {

Roi roi(RoiSource source, Rect rect) {
  Roi result;
  result.source = source;
  result.rect = rect;
  return result;
}

TEST(Redundancy, TheEarlierOfTwoAlikeStays) {
  std::vector<Roi> rois{roi(RoiSource::kFlow, {0, 0, 20, 40}),
                        roi(RoiSource::kDifference, {2, 0, 20, 44}),    // IoU 0.75
                        roi(RoiSource::kDifference, {100, 0, 30, 30}),  // elsewhere
                        roi(RoiSource::kBackground, {100, 0, 28, 30}),
                        roi(RoiSource::kBackground, {5, 5, 4, 4})};  // inside the first
  EXPECT_EQ(remove_redundant(rois), 3);
  ASSERT_EQ(rois.size(), 2u);
  EXPECT_EQ(rois[0].source, RoiSource::kFlow);
  EXPECT_EQ(rois[1].rect, (Rect{100, 0, 30, 30}));
}

TEST(Redundancy, TheLimitIsAnIouOfOneHalf) {
  std::vector<Roi> half{roi(RoiSource::kDifference, {0, 0, 20, 10}),
                        roi(RoiSource::kBackground, {0, 0, 40, 10})};
  EXPECT_EQ(remove_redundant(half), 0);
  half[1].rect.width = 39;
  EXPECT_EQ(remove_redundant(half), 1);
}

TEST(Redundancy, FollowedObjectsStayEvenOneUponTheOther) {
  std::vector<Roi> two{roi(RoiSource::kFlow, {0, 0, 20, 40}),
                       roi(RoiSource::kFlow, {1, 0, 20, 40})};
  EXPECT_EQ(remove_redundant(two), 0);
  EXPECT_EQ(two.size(), 2u);
}

}  // namespace
}  // namespace sparing::roi

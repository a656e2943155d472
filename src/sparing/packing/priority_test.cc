#include "sparing/packing/priority.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace sparing {
namespace {

using testing::ElementsAre;

RoiRequest request(RoiSource source, double side, float confidence = 0.9f) {
  RoiRequest result;
  result.roi.rect = {0, 0, side, side};
  result.roi.source = source;
  result.roi.confidence = confidence;
  return result;
}

TEST(DrawnSize, IsRoundedAndNeverEmpty) {
  RoiRequest roi = request(RoiSource::kFlow, 10);
  roi.roi.rect.height = 21;
  roi.scale = 0.5;
  EXPECT_EQ(drawn_size(roi), (Size{5, 11}));
  roi.scale = 0.01;
  EXPECT_EQ(drawn_size(roi), (Size{1, 1}));
  roi.scale = 2;
  EXPECT_EQ(drawn_size(roi), (Size{20, 42}));
}

TEST(PriorityOf, FollowsTheTable) {
  EXPECT_EQ(priority_of(request(RoiSource::kFlow, 10)), RoiPriority::kFollowed);
  EXPECT_EQ(priority_of(request(RoiSource::kFlow, 10, 0.4f)), RoiPriority::kFollowed);
  EXPECT_EQ(priority_of(request(RoiSource::kFlow, 10, 0.39f)), RoiPriority::kUnsure);
  EXPECT_EQ(priority_of(request(RoiSource::kDifference, 10)), RoiPriority::kUnsure);
  EXPECT_EQ(priority_of(request(RoiSource::kBackground, 10)), RoiPriority::kUnsure);
  RoiRequest last = request(RoiSource::kFlow, 10);
  last.last_frame = true;
  EXPECT_EQ(priority_of(last), RoiPriority::kLastFrame);
  last.probe = true;
  EXPECT_EQ(priority_of(last), RoiPriority::kProbe);
}

TEST(PriorityOrder, ClassThenDropsThenSizeThenAsGiven) {
  std::vector<RoiRequest> requests = {
      request(RoiSource::kFlow, 50),        // 0
      request(RoiSource::kFlow, 20),        // 1: dropped often
      request(RoiSource::kDifference, 10),  // 2
      request(RoiSource::kDifference, 30),  // 3
      request(RoiSource::kFlow, 5),         // 4: last frame
      request(RoiSource::kFlow, 50),        // 5
      request(RoiSource::kFlow, 1),         // 6: probe
      request(RoiSource::kFlow, 60),        // 7: smaller than 0 when drawn
  };
  requests[1].consecutive_drops = 2;
  requests[4].last_frame = true;
  requests[6].probe = true;
  requests[7].scale = 0.5;
  EXPECT_THAT(priority_order(requests), ElementsAre(6, 4, 3, 2, 1, 0, 5, 7));
}

TEST(DropReasons, TablesAreOrderedAndNamesDiffer) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < kDropReasons.size(); ++i) {
    EXPECT_EQ(static_cast<std::size_t>(kDropReasons[i].reason), i);
    EXPECT_EQ(to_string(kDropReasons[i].reason), kDropReasons[i].name);
    names.insert(kDropReasons[i].name);
  }
  EXPECT_EQ(names.size(), kDropReasons.size());
  for (std::size_t i = 0; i < kRoiPriorities.size(); ++i) {
    EXPECT_EQ(static_cast<std::size_t>(kRoiPriorities[i].priority), i);
  }
}

TEST(DropTally, CountsByReason) {
  DropTally tally, other;
  tally.add(DropReason::kBudget);
  other.add(DropReason::kBudget, 3);
  other.add(DropReason::kNoTime);
  tally.merge(other);
  EXPECT_EQ(tally.count(DropReason::kBudget), 4);
  EXPECT_EQ(tally.count(DropReason::kNoRoom), 0);
  EXPECT_EQ(tally.count(DropReason::kNoTime), 1);
  EXPECT_EQ(tally.total(), 5);
}

TEST(DropHistory, CountsInARowByObjectAndStream) {
  DropHistory history;
  history.dropped(0, 7);
  history.dropped(0, 7);
  history.dropped(1, 7);
  history.dropped(0, -1);
  EXPECT_EQ(history.consecutive_drops(0, 7), 2);
  EXPECT_EQ(history.consecutive_drops(1, 7), 1);
  EXPECT_EQ(history.consecutive_drops(0, -1), 0);
  history.looked_at(0, 7);
  EXPECT_EQ(history.consecutive_drops(0, 7), 0);
  history.dropped(0, 7);
  EXPECT_EQ(history.consecutive_drops(0, 7), 1);
  history.dropped(0, 8);
  history.forget_stream(0);
  EXPECT_EQ(history.consecutive_drops(0, 8), 0);
  EXPECT_EQ(history.consecutive_drops(1, 7), 1);
  EXPECT_EQ(history.size(), 1u);
}

TEST(DropHistory, MemoryIsBounded) {
  DropHistory history;
  history.dropped(0, 0);
  history.dropped(0, 1);
  for (std::int64_t id = 2; id < 65536; ++id) history.dropped(3, id);
  history.dropped(0, 0);  // fresh again
  history.dropped(3, 70000);
  EXPECT_EQ(history.size(), 65536u);
  EXPECT_EQ(history.consecutive_drops(0, 0), 2);
  EXPECT_EQ(history.consecutive_drops(0, 1), 0);  // the least recent one
  EXPECT_EQ(history.consecutive_drops(3, 2), 1);
}

}  // namespace
}  // namespace sparing

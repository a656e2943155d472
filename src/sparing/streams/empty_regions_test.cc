#include "sparing/streams/empty_regions.h"

#include <gtest/gtest.h>

namespace sparing {
namespace {

Roi moving(Rect rect) {
  Roi roi;
  roi.rect = rect;
  return roi;
}

Timestamp at(int milliseconds) { return {milliseconds, {1, 1000}}; }

TEST(EmptyRegions, RestLongerTheOftenerTheyWereEmpty) {
  EmptyRegions empty;
  const Roi roi = moving({10, 10, 40, 40});
  EXPECT_FALSE(empty.skips(roi, at(0)));
  empty.looked_at(roi, true, at(0));
  EXPECT_TRUE(empty.skips(roi, at(240)));
  EXPECT_FALSE(empty.skips(roi, at(250)));
  empty.looked_at(roi, true, at(250));
  EXPECT_TRUE(empty.skips(roi, at(740)));
  EXPECT_FALSE(empty.skips(roi, at(750)));
  for (int i = 0; i < 10; ++i) empty.looked_at(roi, true, at(1000));
  EXPECT_TRUE(empty.skips(roi, at(4990)));
  EXPECT_FALSE(empty.skips(roi, at(5000))) << "never longer than four seconds";
  EXPECT_EQ(empty.skipped(), 3);
}

TEST(EmptyRegions, WhatWasFoundIsLookedAtAgain) {
  EmptyRegions empty;
  const Roi roi = moving({10, 10, 40, 40});
  for (int i = 0; i < 5; ++i) empty.looked_at(roi, true, at(0));
  empty.looked_at(moving({12, 10, 40, 40}), false, at(10));
  EXPECT_FALSE(empty.skips(roi, at(20)));
}

TEST(EmptyRegions, OtherPlacesAndKnownObjectsAreNotSkipped) {
  EmptyRegions empty;
  empty.looked_at(moving({10, 10, 40, 40}), true, at(0));
  EXPECT_FALSE(empty.skips(moving({60, 10, 40, 40}), at(10)));
  EXPECT_FALSE(empty.skips(moving({10, 10, 100, 100}), at(10))) << "much more than that place";
  Roi known = moving({10, 10, 40, 40});
  known.object_id = 3;
  EXPECT_FALSE(empty.skips(known, at(10)));
  empty.looked_at(known, true, at(10));
  Roi whole = moving({10, 10, 40, 40});
  whole.source = RoiSource::kWholeFrame;
  EXPECT_FALSE(empty.skips(whole, at(10)));
}

TEST(EmptyRegions, MemoryIsBounded) {
  EmptyRegions empty;
  for (int i = 0; i < 1000; ++i) empty.looked_at(moving({i * 50.0, 0, 40, 40}), true, at(0));
  int skipped = 0;
  for (int i = 0; i < 1000; ++i) skipped += empty.skips(moving({i * 50.0, 0, 40, 40}), at(10));
  EXPECT_EQ(skipped, 256) << "the newest";
  EXPECT_TRUE(empty.skips(moving({999 * 50.0, 0, 40, 40}), at(10)));
}

}  // namespace
}  // namespace sparing

#include "sparing/track/filler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <set>

namespace sparing {
namespace {

using ::testing::HasSubstr;
using Boxes = std::vector<std::vector<FilledBox>>;

constexpr Size kFrame{800, 600};

Timestamp ms(std::int64_t ticks) { return {ticks, {1, 1000}}; }
TrackedDetection object(std::int64_t id, float x, float score = 0.8f, int class_id = 0) {
  return {{{x, 100, x + 20, 140}, score, class_id}, id};
}
FrameRecord seen(std::int64_t time, std::vector<TrackedDetection> detections,
                 std::vector<std::int64_t> dropped = {}) {
  return {ms(time), true, std::move(detections), std::move(dropped)};
}
FrameRecord skipped(std::int64_t time) { return {ms(time), false, {}, {}}; }
BoxFiller filler(const FillOptions& options = {}) {
  return BoxFiller::create(kFrame, options).value();
}
Boxes fill(BoxFiller& f, const std::vector<FrameRecord>& window) {
  auto boxes = f.fill(window);
  EXPECT_TRUE(boxes.ok()) << (boxes.ok() ? "" : boxes.error().to_string());
  EXPECT_EQ(boxes.value().size(), window.size());
  return boxes.value();
}
float x_of(const FilledBox& box) { return box.detection.box.x0; }

TEST(BoxFiller, SkippedFramesAreInterpolatedByTheirTimes) {
  BoxFiller f = filler();
  const Boxes boxes = fill(f, {seen(0, {object(3, 100, 0.4f)}), skipped(40), skipped(300),
                               seen(400, {object(3, 200, 0.8f)})});
  ASSERT_EQ(boxes[1].size(), 1u);
  const FilledBox& first = boxes[1][0];
  EXPECT_EQ(first.id, 3);
  EXPECT_EQ(first.origin, BoxOrigin::kInterpolated);
  EXPECT_FLOAT_EQ(x_of(first), 110);
  EXPECT_FLOAT_EQ(first.detection.score, 0.44f);
  EXPECT_DOUBLE_EQ(first.age, 0.04);
  ASSERT_EQ(boxes[2].size(), 1u);
  EXPECT_FLOAT_EQ(x_of(boxes[2][0]), 175);
  EXPECT_DOUBLE_EQ(boxes[2][0].age, 0.1);
  EXPECT_EQ(boxes[3][0].origin, BoxOrigin::kDetected);
  EXPECT_EQ(boxes[3][0].detection, object(3, 200, 0.8f).detection);
  EXPECT_EQ(f.counters(), (FillCounters{.detected = 2, .interpolated = 2}));
}

TEST(BoxFiller, DroppedObjectsAreInterpolatedWhereOthersWereDetected) {
  BoxFiller f = filler({.max_miss = 0});
  const Boxes boxes =
      fill(f, {seen(0, {object(0, 100), object(1, 300)}), seen(40, {object(0, 110)}, {1}),
               seen(80, {object(1, 320)}), seen(120, {object(0, 130), object(1, 330)})});
  ASSERT_EQ(boxes[1].size(), 2u);
  EXPECT_EQ(boxes[1][1].id, 1);
  EXPECT_FLOAT_EQ(x_of(boxes[1][1]), 310);
  EXPECT_EQ(boxes[2].size(), 1u) << "0 was looked for in vain, and max_miss is 0";
}

TEST(BoxFiller, MissesAreFilledWithinTheirOwnLimit) {
  const std::vector<FrameRecord> window{seen(0, {object(0, 100)}),
                                        seen(40, {}),
                                        seen(80, {object(0, 120)}),
                                        seen(120, {}),
                                        seen(300, {}),
                                        seen(500, {object(0, 140)})};
  BoxFiller f = filler({.max_miss = 0.1});
  const Boxes boxes = fill(f, window);
  ASSERT_EQ(boxes[1].size(), 1u);
  EXPECT_EQ(boxes[1][0].origin, BoxOrigin::kInterpolated);
  EXPECT_FLOAT_EQ(x_of(boxes[1][0]), 110);
  EXPECT_TRUE(boxes[3].empty());
  EXPECT_TRUE(boxes[4].empty());
}

TEST(BoxFiller, LongGapsAreNotBridgedButCarriedOn) {
  BoxFiller f = filler({.max_interpolation = 0.3, .max_miss = 0.1, .max_propagation = 0.1});
  const Boxes boxes = fill(f, {seen(0, {object(0, 100)}), seen(50, {object(0, 110)}), skipped(100),
                               skipped(150), skipped(200), seen(400, {object(0, 300)})});
  ASSERT_EQ(boxes[2].size(), 1u);
  EXPECT_EQ(boxes[2][0].origin, BoxOrigin::kPropagated);
  EXPECT_FLOAT_EQ(x_of(boxes[2][0]), 120);
  EXPECT_EQ(boxes[3].size(), 1u);
  EXPECT_TRUE(boxes[4].empty()) << ".15 s after the last detection";
  EXPECT_EQ(f.counters().too_long, 1);
}

TEST(BoxFiller, TheScoreOfACarriedBoxFalls) {
  BoxFiller f = filler({.max_propagation = 0.4, .end_score = 0.25});
  const Boxes boxes = fill(f, {seen(0, {object(0, 100, 0.8f)}), skipped(200), skipped(400)});
  EXPECT_FLOAT_EQ(boxes[1][0].detection.score, 0.8f * 0.625f);
  EXPECT_FLOAT_EQ(boxes[2][0].detection.score, 0.8f * 0.25f);
  EXPECT_DOUBLE_EQ(boxes[2][0].age, 0.4);
}

TEST(BoxFiller, AnObjectThatWasLookedForInVainIsNotCarriedOn) {
  BoxFiller f = filler();
  Boxes boxes = fill(f, {seen(0, {object(0, 100)}), skipped(40), seen(80, {}), skipped(120)});
  EXPECT_EQ(boxes[1].size(), 1u);
  EXPECT_TRUE(boxes[2].empty());
  EXPECT_TRUE(boxes[3].empty());
  boxes = fill(f, {skipped(160), seen(200, {}, {0})});
  EXPECT_TRUE(boxes[0].empty()) << "nor in the next window";
  EXPECT_TRUE(boxes[1].empty());
  // Found again: it is carried on again.
  boxes = fill(f, {seen(240, {object(0, 160)}), skipped(280)});
  EXPECT_EQ(boxes[1].size(), 1u);
}

TEST(BoxFiller, WindowsAreJoined) {
  const std::vector<FrameRecord> all{seen(0, {object(0, 100)}),
                                     skipped(40),
                                     seen(80, {object(0, 120)}),
                                     skipped(120),
                                     skipped(160),
                                     seen(200, {object(0, 150)})};
  BoxFiller whole = filler();
  const Boxes expected = fill(whole, all);
  BoxFiller parts = filler();
  fill(parts, {all.begin(), all.begin() + 3});
  const Boxes last = fill(parts, {all.begin() + 3, all.end()});
  for (std::size_t i = 0; i < 3; ++i) {
    ASSERT_EQ(last[i].size(), 1u);
    EXPECT_EQ(last[i][0].detection, expected[i + 3][0].detection);
    EXPECT_EQ(last[i][0].origin, expected[i + 3][0].origin);
  }
}

TEST(BoxFiller, CarriedBoxesAreClippedAndLeaveTheFrame) {
  BoxFiller f = filler({.max_propagation = 1, .min_visible = 0.5});
  const Boxes boxes = fill(f, {seen(0, {object(0, 760)}), seen(100, {object(0, 770)}), skipped(200),
                               skipped(300), skipped(400)});
  EXPECT_EQ(boxes[2][0].detection.box, (Box{780, 100, 800, 140}));
  EXPECT_EQ(boxes[3][0].detection.box, (Box{790, 100, 800, 140})) << "a half is visible";
  EXPECT_TRUE(boxes[4].empty());
  EXPECT_EQ(f.counters().outside, 1);
}

TEST(BoxFiller, AFilledBoxGivesWayToADetectedOne) {
  // The tracker lost object 0 and started object 1 where it is.
  const auto window = [](int class_id) {
    return std::vector<FrameRecord>{seen(0, {object(0, 100)}),
                                    seen(40, {object(1, 102, 0.8f, class_id)}, {0})};
  };
  BoxFiller f = filler();
  EXPECT_EQ(fill(f, window(0))[1].size(), 1u);
  EXPECT_EQ(f.counters().covered, 1);
  BoxFiller other = filler();
  EXPECT_EQ(fill(other, window(7))[1].size(), 2u) << "of another class";
}

TEST(BoxFiller, WhatIsNotFollowedPassesThrough) {
  BoxFiller f = filler();
  const Boxes boxes = fill(
      f, {seen(0, {object(-1, 100), object(-1, 300)}), skipped(40), seen(80, {object(-1, 100)})});
  EXPECT_EQ(boxes[0].size(), 2u);
  EXPECT_TRUE(boxes[1].empty());
  EXPECT_EQ(f.size(), 0u);
}

TEST(BoxFiller, MemoryIsBounded) {
  BoxFiller f = filler({.max_tracks = 5});
  for (int w = 0; w < 20; ++w) {
    std::vector<TrackedDetection> objects;
    for (int i = 0; i < 8; ++i) objects.push_back(object(8 * w + i, static_cast<float>(90 * i)));
    fill(f, {seen(40 * w, objects)});
    EXPECT_LE(f.size(), 5u);
  }
  EXPECT_EQ(f.counters().evicted, 155);
  fill(f, {seen(10000, {})});
  EXPECT_EQ(f.size(), 0u) << "all too long ago";
}

TEST(BoxFiller, ResetForgetsTheTime) {
  BoxFiller f = filler();
  fill(f, {seen(1000, {object(0, 100)})});
  f.reset();
  EXPECT_TRUE(fill(f, {skipped(0)})[0].empty());
}

TEST(BoxFiller, RefusesBadInputAndTakesNothingIn) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  BoxFiller f = filler();
  fill(f, {seen(100, {object(0, 100)})});
  const auto error_of = [&](const std::vector<FrameRecord>& window) {
    const auto result = f.fill(window);
    return result.ok() ? std::string() : result.error().to_string();
  };
  EXPECT_THAT(error_of({seen(100, {})}), HasSubstr("frame 0 of the window: time 0.1"));
  EXPECT_THAT(error_of({seen(200, {}), seen(200, {})}), HasSubstr("frame 1"));
  EXPECT_THAT(error_of({seen(200, {object(0, kNan)})}), HasSubstr("not finite"));
  EXPECT_THAT(error_of({seen(200, {object(0, 0, 2)})}), HasSubstr("score 2"));
  EXPECT_THAT(error_of({seen(200, {object(4, 0), object(4, 9)})}), HasSubstr("object 4"));
  EXPECT_THAT(error_of({{ms(200), false, {object(4, 0)}, {}}}), HasSubstr("inspected"));
  EXPECT_EQ(f.counters(), (FillCounters{.detected = 1}));
  EXPECT_FALSE(BoxFiller::create({0, 10}).ok());
  EXPECT_FALSE(BoxFiller::create(kFrame, {.max_interpolation = -1}).ok());
  EXPECT_TRUE(fill(f, {}).empty());
}

// Whatever is skipped or dropped of objects on straight paths, what is interpolated lies on them.
TEST(BoxFillerProperties, StraightPathsComeBackWhateverIsDropped) {
  std::mt19937 random(7);
  for (int run = 0; run < 50; ++run) {
    BoxFiller f = filler({.max_interpolation = 10, .max_miss = 0});
    const auto place = [](std::int64_t id, std::int64_t time) {
      return object(id, static_cast<float>(80 * id) + 0.02f * static_cast<float>(time));
    };
    std::vector<FrameRecord> window;
    std::int64_t time = 0;
    for (int i = 0; i < 40; ++i) {
      time += 1 + static_cast<std::int64_t>(random() % 60);
      FrameRecord frame = seen(time, {});
      frame.inspected = i == 0 || i == 39 || random() % 3 == 0;
      for (std::int64_t id = 0; frame.inspected && id < 8; ++id) {
        if (i == 0 || i == 39 || random() % 2 == 0) {
          frame.detections.push_back(place(id, time));
        } else {
          frame.dropped.push_back(id);
        }
      }
      window.push_back(frame);
    }
    const Boxes boxes = fill(f, window);
    for (std::size_t i = 0; i < window.size(); ++i) {
      ASSERT_EQ(boxes[i].size(), 8u);
      std::set<std::int64_t> ids;
      for (const FilledBox& box : boxes[i]) {
        ids.insert(box.id);
        ASSERT_NEAR(x_of(box), x_of({place(box.id, window[i].time.ticks).detection}), 1e-3);
        ASSERT_NE(box.origin, BoxOrigin::kPropagated);
      }
      ASSERT_EQ(ids.size(), 8u);
    }
  }
}

}  // namespace
}  // namespace sparing

// Events are what they are called, and are judged by the frames and people that they are about.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "events_cases.h"
#include "scene_test_material.h"

namespace sparing::bench {
namespace {

using testing::block_material;

// A detector that sees everybody, whole and exactly, in frames that `looks` accepts.
template <class Looks>
SceneBoxes perfect(const EventCase& one, Looks&& looks) {
  SceneBoxes boxes(static_cast<std::size_t>(one.scene.options().frames));
  for (int frame = 0; frame < one.scene.options().frames; ++frame) {
    if (!looks(frame)) continue;
    for (const SceneTruth& person : one.scene.truth(frame)) {
      boxes[static_cast<std::size_t>(frame)].push_back({person.box, 0.9f, 0});
    }
  }
  return boxes;
}

constexpr auto always = [](int) { return true; };

bool has(const EventCase& one, int frame, int actor) {
  const auto people = one.scene.truth(frame);
  return std::any_of(people.begin(), people.end(),
                     [&](const SceneTruth& person) { return person.actor == actor; });
}

TEST(EventsTest, AFlashIsThereForThreeFramesOnly) {
  for (const int rate : {10, 30}) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      const EventCase one = flash_case(block_material(), rate, seed);
      ASSERT_EQ(one.actors.size(), 1u);
      EXPECT_EQ(one.last - one.first, 3);
      for (int frame = 0; frame < one.scene.options().frames; ++frame) {
        ASSERT_EQ(has(one, frame, one.actors[0]), frame >= one.first && frame < one.last)
            << "frame " << frame << " at " << rate << " fps, seed " << seed;
      }
      // Before it there is time to learn the scene, and after it for whoever reports late.
      EXPECT_GE(one.first, rate * 3 / 2);
      EXPECT_LE(one.last, rate * 4);
    }
  }
}

TEST(EventsTest, OneOfItsFramesIsEnoughForAFlash) {
  const EventCase one = flash_case(block_material(), 10, 1);
  EXPECT_EQ(count_reported(one, perfect(one, always)).share(), 1);
  const auto only = [&](int wanted) { return [wanted](int frame) { return frame == wanted; }; };
  EXPECT_EQ(count_reported(one, perfect(one, only(one.first + 2))).found, 1);
  const EventCount late = count_reported(one, perfect(one, only(one.last)));
  EXPECT_EQ(late.found, 0);
  EXPECT_EQ(late.total, 1);
}

TEST(EventsTest, OthersDoNotStandForTheOneThatIsLookedFor) {
  const EventCase one = flash_case(block_material(), 10, 2);
  SceneBoxes boxes = perfect(one, always);
  for (int frame = one.first; frame < one.last; ++frame) {
    for (const SceneTruth& person : one.scene.truth(frame)) {
      if (person.actor != one.actors[0]) continue;
      std::erase_if(boxes[static_cast<std::size_t>(frame)],
                    [&](const Detection& d) { return d.box == person.box; });
    }
  }
  EXPECT_EQ(count_reported(one, boxes).found, 0);
}

TEST(EventsTest, PeopleStandForThirtySecondsAndTheLastTwentyAreJudged) {
  const EventCase one = standing_case(block_material(), 1);
  ASSERT_EQ(one.actors.size(), 3u);
  const SceneOptions& options = one.scene.options();
  EXPECT_EQ(one.last, options.frames);
  EXPECT_EQ(one.last - one.first, 20 * options.frame_rate);
  int shown = 0;
  Box where;
  for (int frame = 0; frame < options.frames; ++frame) {
    for (const SceneTruth& person : one.scene.truth(frame)) {
      if (person.actor != one.actors[0]) continue;
      if (shown > 0) {
        ASSERT_EQ(person.box, where);
      }
      ++shown;
      where = person.box;
    }
  }
  EXPECT_EQ(shown, 30 * options.frame_rate);
  const EventCount all = count_found(one, perfect(one, always));
  EXPECT_EQ(all.found, all.total);
  EXPECT_GT(all.total, 200);
  const auto early = [&](int frame) { return frame < one.first + 50; };
  EXPECT_NEAR(count_found(one, perfect(one, early)).share(), 0.25, 0.02);
}

TEST(EventsTest, DisturbancesAreJudgedFromAWindowAfterThem) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const EventCase light = light_case(block_material(80), seed);
    const double since = light.scene.seconds(light.first) - light.scene.options().light.start;
    EXPECT_NEAR(since, kEventWindow, 1e-9);
    EXPECT_EQ(light.scene.options().light.gain > 1, seed % 2 == 1);
    const EventCase shake = shake_case(block_material(80), seed);
    const CameraShake& push = shake.scene.options().shake;
    EXPECT_NEAR(shake.scene.seconds(shake.first) - push.start, kEventWindow, 1e-9);
    EXPECT_NEAR(std::hypot(push.shift.x, push.shift.y), 10, 0.75);
  }
}

TEST(EventsTest, TheUndisturbedRunHasTheSamePeople) {
  const EventCase shake = shake_case(block_material(80), 1);  // pushed for good
  const EventCase calm = undisturbed(shake);
  EXPECT_EQ(calm.first, shake.first);
  EXPECT_EQ(calm.last, shake.last);
  const Point shift = shake.scene.options().shake.shift;
  ASSERT_EQ(calm.scene.actors().size(), shake.scene.actors().size());
  for (std::size_t i = 0; i < calm.scene.actors().size(); ++i) {
    EXPECT_EQ(calm.scene.actors()[i].offset, shake.scene.actors()[i].offset);
  }
  const auto before = calm.scene.truth(0);
  const auto same = shake.scene.truth(0);
  ASSERT_EQ(before.size(), same.size());
  for (std::size_t i = 0; i < before.size(); ++i) EXPECT_EQ(before[i].box, same[i].box);
  const int frame = shake.first;
  for (const SceneTruth& person : shake.scene.truth(frame)) {
    for (const SceneTruth& other : calm.scene.truth(frame)) {
      if (other.actor != person.actor || other.box.x0 < 10 || other.box.x1 > 758) continue;
      EXPECT_NEAR(person.box.x0 - other.box.x0, shift.x, 1e-3);
    }
  }
}

TEST(EventsTest, SharesOfWhatOthersHaveAreOfThoseAlone) {
  const EventCase one = standing_case(block_material(), 2);
  const SceneBoxes all = perfect(one, always);
  const SceneBoxes half = perfect(one, [](int frame) { return frame % 20 < 10; });
  EXPECT_EQ(count_found_of(one, all, half, 1).share(), 1);
  EXPECT_NEAR(count_found_of(one, half, all, 1).share(), 0.5, 0.02);
  // Every 20th of those judged: frames 115, 135, ..., of which `half` has none.
  ASSERT_EQ(one.first % 20, 15);
  EXPECT_EQ(count_found_of(one, half, all, 20).share(), 0);
  EXPECT_EQ(count_found_of(one, all, SceneBoxes(all.size()), 1).total, 0);
}

TEST(EventsTest, ABoxNextToSomebodyIsNotHim) {
  const Box person{100, 100, 140, 200};
  const Detection near{{105, 104, 142, 203}, 0.5f, 0};
  const Detection off{{122, 100, 162, 200}, 0.9f, 0};
  EXPECT_TRUE(is_found(person, std::vector{near}));
  EXPECT_FALSE(is_found(person, std::vector{off}));
  EXPECT_FALSE(is_found(person, {}));
}

}  // namespace
}  // namespace sparing::bench

#include "sparing/track/tracker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <set>

namespace sparing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Ids = std::vector<std::int64_t>;

Timestamp ms(std::int64_t ticks) { return {ticks, {1, 1000}}; }
Detection at(float x, float y, float width = 20, float height = 40, int class_id = 0) {
  return {{x, y, x + width, y + height}, 0.9f, class_id};
}
Tracker tracker(const TrackerOptions& options = {}) { return Tracker::create(options).value(); }
Ids update(Tracker& t, std::int64_t time, const std::vector<Detection>& detections) {
  auto ids = t.update(ms(time), detections);
  EXPECT_TRUE(ids.ok());
  return ids.value();
}

TEST(Tracker, KeepsIdsOfObjectsThatMove) {
  Tracker t = tracker();
  EXPECT_THAT(update(t, 0, {at(0, 0), at(100, 0)}), ElementsAre(0, 1));
  EXPECT_THAT(update(t, 40, {at(103, 0), at(4, 1)}), ElementsAre(1, 0));
  EXPECT_THAT(update(t, 80, {at(8, 2), at(106, 0), at(300, 300)}), ElementsAre(0, 1, 2));
  EXPECT_EQ(t.counters(), (TrackerCounters{.started = 3, .by_overlap = 4}));
}

TEST(Tracker, ObjectsThatCrossKeepTheirIdsByTheirMotion) {
  Tracker t = tracker();
  // Towards one another at 10 px a frame; they pass in frame 5, where the boxes are the same.
  for (int f = 0; f <= 10; ++f) {
    const auto x = static_cast<float>(10 * f);
    const Ids ids = update(t, 40 * f, {at(x, 0), at(100 - x, 3)});
    EXPECT_THAT(ids, ElementsAre(0, 1)) << "frame " << f;
  }
}

TEST(Tracker, AFastSmallObjectIsFoundByDistanceThenByItsMotion) {
  Tracker t = tracker();
  EXPECT_THAT(update(t, 0, {at(0, 0, 20, 20)}), ElementsAre(0));
  EXPECT_THAT(update(t, 100, {at(19, 0, 20, 20)}), ElementsAre(0)) << "hardly any overlap";
  EXPECT_THAT(update(t, 200, {at(38, 0, 20, 20)}), ElementsAre(0));
  EXPECT_EQ(t.counters().by_distance, 1);
  EXPECT_EQ(t.counters().by_overlap, 1);

  Tracker strict = tracker({.max_distance = 0});
  EXPECT_THAT(update(strict, 0, {at(0, 0, 20, 20)}), ElementsAre(0));
  EXPECT_THAT(update(strict, 100, {at(19, 0, 20, 20)}), ElementsAre(1));
}

TEST(Tracker, DistanceDoesNotPairObjectsOfOtherSizes) {
  Tracker t = tracker();
  EXPECT_THAT(update(t, 0, {at(0, 0, 20, 20)}), ElementsAre(0));
  EXPECT_THAT(update(t, 40, {at(-15, -15, 50, 50)}), ElementsAre(1)) << "overlap .16, 6 times";
  Tracker other = tracker();
  EXPECT_THAT(update(other, 0, {at(0, 0, 20, 20)}), ElementsAre(0));
  EXPECT_THAT(update(other, 40, {at(15, 0, 30, 30)}), ElementsAre(0)) << "overlap .08, 2 times";
}

TEST(Tracker, ClassesMustAgreeUnlessToldOtherwise) {
  Tracker t = tracker();
  EXPECT_THAT(update(t, 0, {at(0, 0, 20, 40, 1)}), ElementsAre(0));
  EXPECT_THAT(update(t, 40, {at(0, 0, 20, 40, 2)}), ElementsAre(1));
  Tracker agnostic = tracker({.class_agnostic = true});
  EXPECT_THAT(update(agnostic, 0, {at(0, 0, 20, 40, 1)}), ElementsAre(0));
  EXPECT_THAT(update(agnostic, 40, {at(0, 0, 20, 40, 2)}), ElementsAre(0));
}

TEST(Tracker, UnsureDetectionsContinueObjectsButStartNone) {
  const auto unsure = [](float x, float score) {
    Detection d = at(x, 0);
    d.score = score;
    return d;
  };
  Tracker t = tracker({.start_score = 0.5, .continue_score = 0.2, .continue_iou = 0.4});
  EXPECT_THAT(update(t, 0, {unsure(0, 0.6f), unsure(100, 0.4f)}), ElementsAre(0, -1));
  EXPECT_THAT(update(t, 40, {unsure(2, 0.3f)}), ElementsAre(0)) << "the known object";
  EXPECT_THAT(update(t, 80, {unsure(4, 0.1f)}), ElementsAre(-1)) << "too unsure";
  EXPECT_THAT(update(t, 120, {unsure(19, 0.3f)}), ElementsAre(-1)) << "too far for an unsure one";
  EXPECT_THAT(update(t, 160, {unsure(9, 0.3f), unsure(12, 0.7f)}), ElementsAre(-1, 0))
      << "sure ones choose first";
  EXPECT_EQ(t.counters(), (TrackerCounters{.started = 1, .by_overlap = 1, .unsure = 1}));
  // Without a score to start from, all are alike.
  Tracker any = tracker();
  EXPECT_THAT(update(any, 0, {unsure(0, 0.05f)}), ElementsAre(0));
}

TEST(Tracker, TimeAndNotFramesDecidesWhenAnObjectIsForgotten) {
  Tracker t = tracker({.max_lost = 0.5});
  EXPECT_THAT(update(t, 0, {at(0, 0)}), ElementsAre(0));
  for (int f = 1; f < 50; ++f) update(t, 10 * f, {});
  EXPECT_THAT(update(t, 500, {at(0, 0)}), ElementsAre(0)) << "50 frames, but half a second";
  EXPECT_THAT(update(t, 1001, {at(0, 0)}), ElementsAre(1)) << "one frame, but more";
  EXPECT_EQ(t.counters().expired, 1);
}

TEST(Tracker, PredictsWhereObjectsAre) {
  Tracker t = tracker();
  update(t, 0, {at(0, 0), at(500, 0)});
  update(t, 100, {at(10, 0), at(500, 0)});
  const std::vector<TrackedDetection> expected = t.predict(ms(150));
  ASSERT_EQ(expected.size(), 2u);
  EXPECT_EQ(expected[0].id, 0);
  EXPECT_EQ(expected[0].detection, at(15, 0));
  EXPECT_EQ(expected[1].id, 1);
  EXPECT_EQ(expected[1].detection, at(500, 0));
}

TEST(Tracker, MemoryIsBounded) {
  Tracker t = tracker({.max_tracks = 3});
  std::vector<Detection> many;
  for (int i = 0; i < 10; ++i) {
    many.push_back(at(static_cast<float>(100 * i), 0));
    many.back().score = static_cast<float>(i) / 10;
  }
  update(t, 0, many);
  EXPECT_EQ(t.counters().evicted, 7);
  const auto kept = t.predict(ms(0));
  ASSERT_EQ(kept.size(), 3u);
  EXPECT_EQ(kept[0].id, 7) << "the surest stay";
  // Those seen last push out the rest.
  EXPECT_THAT(update(t, 40, {at(0, 500), at(100, 500)}), ElementsAre(10, 11));
  const auto next = t.predict(ms(40));
  ASSERT_EQ(next.size(), 3u);
  EXPECT_EQ(next[0].id, 9);
  EXPECT_EQ(next[1].id, 10);
}

// --- bad input ---------------------------------------------------------------------------------

TEST(Tracker, RefusesBadOptions) {
  const auto result = Tracker::create({.min_iou = 0});
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(result.error().to_string(), HasSubstr("--track-min-iou: 0 is out of range"));
}

TEST(Tracker, RefusesBadInputAndTakesNothingIn) {
  Tracker t = tracker();
  update(t, 100, {at(0, 0)});
  const auto error_of = [&](const Timestamp& time, const Detection& detection) {
    const auto result = t.update(time, std::vector<Detection>{at(5, 5), detection});
    return result.ok() ? std::string() : result.error().to_string();
  };
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(error_of(ms(100), at(0, 0)), HasSubstr("not later"));
  EXPECT_THAT(error_of(ms(60), at(0, 0)), HasSubstr("0.06"));
  EXPECT_THAT(error_of({200, {1, 0}}, at(0, 0)), HasSubstr("time base 1/0"));
  EXPECT_THAT(error_of({200, {-1, 1000}}, at(0, 0)), HasSubstr("time base"));
  EXPECT_THAT(error_of(ms(200), at(kNan, 0)), HasSubstr("detection 1"));
  EXPECT_THAT(error_of(ms(200), {{0, 0, 1, 1}, 1.5f, 0}), HasSubstr("score 1.5"));
  EXPECT_THAT(error_of(ms(200), {{0, 0, 1, 1}, kNan, 0}), HasSubstr("score"));
  EXPECT_EQ(t.counters(), (TrackerCounters{.started = 1}));
  EXPECT_THAT(update(t, 140, {at(0, 0)}), ElementsAre(0)) << "the frame before is still 100 ms";
}

// --- properties --------------------------------------------------------------------------------

struct Scene {
  std::vector<Detection> detections;
};

std::vector<Scene> random_scenes(unsigned seed, int frames) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> unit(0, 1);
  struct Mover {
    float x, y, vx, vy, size;
  };
  std::vector<Mover> movers;
  std::vector<Scene> scenes(static_cast<std::size_t>(frames));
  for (Scene& scene : scenes) {
    while (movers.size() < 12 || unit(random) < 0.2f) {
      movers.push_back({unit(random) * 800, unit(random) * 600, unit(random) * 20 - 10,
                        unit(random) * 20 - 10, 10 + unit(random) * 60});
    }
    if (unit(random) < 0.2f) movers.erase(movers.begin());
    for (Mover& m : movers) {
      m.x += m.vx;
      m.y += m.vy;
      if (unit(random) < 0.15f) continue;  // missed
      const float jitter = unit(random) * 3;
      scene.detections.push_back(
          {{m.x + jitter, m.y, m.x + m.size, m.y + m.size * 2}, unit(random), 0});
    }
    std::shuffle(scene.detections.begin(), scene.detections.end(), random);
  }
  return scenes;
}

TEST(TrackerProperties, IdsAreUniqueInAFrameAndNeverReused) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    Tracker t = tracker({.max_lost = 0.1, .max_tracks = 10});
    std::map<std::int64_t, std::int64_t> last_seen;
    std::int64_t newest = -1;
    std::int64_t time = 0;
    for (const Scene& scene : random_scenes(seed, 100)) {
      time += 40;
      const Ids ids = update(t, time, scene.detections);
      ASSERT_EQ(ids.size(), scene.detections.size());
      ASSERT_EQ(std::set<std::int64_t>(ids.begin(), ids.end()).size(), ids.size());
      std::int64_t largest = newest;
      for (const std::int64_t id : ids) {
        ASSERT_GE(id, 0);
        if (id <= newest) {
          ASSERT_TRUE(last_seen.contains(id));
          ASSERT_LE(time - last_seen[id], 100) << "came back after it was forgotten";
        }
        largest = std::max(largest, id);
        last_seen[id] = time;
      }
      newest = largest;
      ASSERT_LE(t.predict(ms(time)).size(), 10u);
    }
    EXPECT_GT(t.counters().by_overlap, 0);
    EXPECT_EQ(newest + 1, t.counters().started);
  }
}

TEST(TrackerProperties, TheOrderOfDetectionsDoesNotMatter) {
  std::mt19937 random(9);
  for (unsigned seed = 0; seed < 10; ++seed) {
    Tracker a = tracker();
    Tracker b = tracker();
    std::map<std::int64_t, std::int64_t> same;  // new ids depend on the order; the objects do not
    std::int64_t time = 0;
    for (const Scene& scene : random_scenes(seed, 60)) {
      time += 40;
      std::vector<std::size_t> order(scene.detections.size());
      std::iota(order.begin(), order.end(), 0u);
      std::shuffle(order.begin(), order.end(), random);
      std::vector<Detection> shuffled;
      for (const std::size_t i : order) shuffled.push_back(scene.detections[i]);
      const Ids first = update(a, time, scene.detections);
      const Ids second = update(b, time, shuffled);
      for (std::size_t i = 0; i < order.size(); ++i) {
        const auto [it, is_new] = same.try_emplace(first[order[i]], second[i]);
        ASSERT_EQ(it->second, second[i]) << "at " << time << " ms";
      }
    }
  }
}

TEST(TrackerProperties, ChoosesTheGreatestSumOfOverlaps) {
  // Against every permutation: 6 objects that stand, detected where they overlap one another.
  std::mt19937 random(11);
  std::uniform_real_distribution<float> place(0, 40);
  for (int i = 0; i < 200; ++i) {
    std::vector<Detection> before, after;
    for (int k = 0; k < 6; ++k) {
      before.push_back(at(place(random), place(random)));
      after.push_back(at(place(random), place(random)));
    }
    Tracker t = tracker({.max_distance = 0});
    update(t, 0, before);
    const Ids ids = update(t, 40, after);
    double chosen = 0;
    for (std::size_t k = 0; k < 6; ++k) {
      if (ids[k] < 6) chosen += iou(before[static_cast<std::size_t>(ids[k])].box, after[k].box);
    }
    std::vector<std::size_t> permutation{0, 1, 2, 3, 4, 5};
    double best = 0;
    do {
      double sum = 0;
      for (std::size_t k = 0; k < 6; ++k) {
        const double overlap = iou(before[permutation[k]].box, after[k].box);
        if (overlap >= 0.2) sum += overlap;
      }
      best = std::max(best, sum);
    } while (std::next_permutation(permutation.begin(), permutation.end()));
    ASSERT_NEAR(chosen, best, 1e-9) << "case " << i;
  }
}

}  // namespace
}  // namespace sparing

#include "sparing/packing/packer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <random>

namespace sparing {
namespace {

PackOptions with(std::string_view algorithm, int gap = 0, int border = 0) {
  PackOptions options;
  options.algorithm = algorithm;
  options.gap = gap;
  options.border = border;
  return options;
}

class EachAlgorithm : public testing::TestWithParam<PackAlgorithmInfo> {
 protected:
  std::string_view name() const { return GetParam().name; }
};
INSTANTIATE_TEST_SUITE_P(Packing, EachAlgorithm, testing::ValuesIn(kPackAlgorithms),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_P(EachAlgorithm, FillsACanvasToTheLastPixel) {
  const std::vector<Size> items(16, Size{32, 16});
  const auto packing = pack_rects(items, std::vector{Size{64, 128}}, with(name()));
  ASSERT_TRUE(packing.ok());
  EXPECT_EQ(packing->fill, 1);
  EXPECT_EQ(packing->used_heights[0], 128);
  // One more has no room.
  const auto full =
      pack_rects(std::vector<Size>(17, Size{32, 16}), std::vector{Size{64, 128}}, with(name()));
  ASSERT_TRUE(full.ok());
  EXPECT_FALSE(full->placements[16].placed());
  EXPECT_TRUE(full->placements[16].rect.empty());
}

TEST_P(EachAlgorithm, GapsAreBetweenItemsOnlyAndBordersAtTheEdges) {
  // Two of 30 and a gap of 4 are exactly 64.
  const std::vector<Size> items(4, Size{30, 30});
  auto packing = pack_rects(items, std::vector{Size{64, 64}}, with(name(), 4));
  ASSERT_TRUE(packing.ok());
  for (const Placement& place : packing->placements) EXPECT_TRUE(place.placed());
  packing = pack_rects(items, std::vector{Size{64, 63}}, with(name(), 4));
  ASSERT_TRUE(packing.ok());
  EXPECT_EQ(std::count_if(packing->placements.begin(), packing->placements.end(),
                          [](const Placement& place) { return place.placed(); }),
            2);
  packing = pack_rects(items, std::vector{Size{68, 68}}, with(name(), 4, 2));
  ASSERT_TRUE(packing.ok());
  for (const Placement& place : packing->placements) {
    ASSERT_TRUE(place.placed());
    EXPECT_TRUE(place.rect.x >= 2 && place.rect.y >= 2 && place.rect.x <= 36);
  }
  EXPECT_EQ(packing->used_heights[0], 68);
}

TEST_P(EachAlgorithm, TheFullestCanvasWithRoomIsTaken) {
  // The first item fits the small canvas only just; the second goes where less is left.
  const auto packing = pack_rects(std::vector{Size{50, 50}, Size{40, 40}, Size{60, 60}},
                                  std::vector{Size{100, 100}, Size{60, 60}}, with(name()));
  ASSERT_TRUE(packing.ok());
  EXPECT_EQ(packing->placements[0].canvas, 1);
  EXPECT_EQ(packing->placements[1].canvas, 0);
  EXPECT_EQ(packing->placements[2].canvas, 0);
}

TEST_P(EachAlgorithm, SmallerItemsAreTriedAfterOneWithoutRoom) {
  const auto packing = pack_rects(std::vector{Size{10, 10}, Size{95, 95}, Size{5, 5}},
                                  std::vector{Size{100, 100}}, with(name()));
  ASSERT_TRUE(packing.ok());
  EXPECT_FALSE(packing->placements[1].placed());
  EXPECT_TRUE(packing->placements[2].placed());
}

bool apart(const PixelRect& a, const PixelRect& b, int gap) {
  return a.x + a.width + gap <= b.x || b.x + b.width + gap <= a.x || a.y + a.height + gap <= b.y ||
         b.y + b.height + gap <= a.y;
}

void expect_sound(const std::vector<Size>& items, const std::vector<Size>& canvases,
                  const PackOptions& options, const Packing& packing) {
  ASSERT_EQ(packing.placements.size(), items.size());
  double placed_area = 0, canvas_area = 0;
  for (const Size& size : canvases) canvas_area += 1.0 * size.width * size.height;
  std::vector<int> heights(canvases.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    const Placement& a = packing.placements[i];
    if (!a.placed()) continue;
    const auto canvas = static_cast<std::size_t>(a.canvas);
    ASSERT_LT(canvas, canvases.size());
    ASSERT_EQ((Size{a.rect.width, a.rect.height}), items[i]);
    ASSERT_GE(std::min(a.rect.x, a.rect.y), options.border);
    ASSERT_LE(a.rect.x + a.rect.width + options.border, canvases[canvas].width);
    ASSERT_LE(a.rect.y + a.rect.height + options.border, canvases[canvas].height);
    heights[canvas] = std::max(heights[canvas], a.rect.y + a.rect.height + options.border);
    placed_area += 1.0 * a.rect.width * a.rect.height;
    for (std::size_t j = 0; j < i; ++j) {
      const Placement& b = packing.placements[j];
      ASSERT_TRUE(b.canvas != a.canvas || apart(a.rect, b.rect, options.gap))
          << "items " << j << " and " << i;
    }
  }
  ASSERT_EQ(heights, packing.used_heights);
  ASSERT_NEAR(packing.fill, placed_area / canvas_area, 1e-12);
}

TEST_P(EachAlgorithm, NeverOverlapsOnTensOfThousandsOfRandomCases) {
  std::mt19937 random(7);
  const auto any = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  for (int round = 0; round < 12000; ++round) {
    std::vector<Size> canvases(static_cast<std::size_t>(any(1, 3)));
    for (Size& size : canvases) size = {any(1, 160), any(1, 160)};
    std::vector<Size> items(static_cast<std::size_t>(any(0, 30)));
    const int largest = any(1, 90);
    for (Size& size : items) size = {any(1, largest), any(1, largest)};
    const PackOptions options = with(name(), any(0, 4), any(0, 3));
    const auto packing = pack_rects(items, canvases, options);
    ASSERT_TRUE(packing.ok());
    ASSERT_NO_FATAL_FAILURE(expect_sound(items, canvases, options, *packing)) << round;
    // An item without room on an empty canvas is the only reason to have placed none.
    const bool any_placed = std::any_of(packing->placements.begin(), packing->placements.end(),
                                        [](const Placement& place) { return place.placed(); });
    const bool any_fits = std::any_of(items.begin(), items.end(), [&](const Size& item) {
      return std::any_of(canvases.begin(), canvases.end(), [&](const Size& canvas) {
        return item.width + 2 * options.border <= canvas.width &&
               item.height + 2 * options.border <= canvas.height;
      });
    });
    ASSERT_EQ(any_placed, any_fits) << round;
  }
}

// Sizes as packed.md's settings make them: people of 56 px (PETS) with 16 px of context and more.
std::vector<Size> people(int count, unsigned seed) {
  std::mt19937 random(seed);
  std::lognormal_distribution<double> height(std::log(56.0), 0.25);
  std::uniform_real_distribution<double> aspect(0.35, 0.6), joined(0, 1);
  std::vector<Size> items;
  for (int i = 0; i < count; ++i) {
    const double h = height(random);
    const double w = h * aspect(random) * (joined(random) < 0.25 ? 2.2 : 1.0);
    const double pad = std::max(16.0, 0.3 * std::sqrt(w * h));
    items.push_back({static_cast<int>(w + 2 * pad), static_cast<int>(h + 2 * pad)});
  }
  std::sort(items.begin(), items.end(), [](const Size& a, const Size& b) {
    return a.height != b.height ? a.height > b.height : a.width > b.width;
  });
  return items;
}

TEST_P(EachAlgorithm, PeopleFillMostOfTheUsedRows) {
  double placed = 0, used = 0;
  const auto start = std::chrono::steady_clock::now();
  constexpr int kRounds = 50;
  for (unsigned seed = 0; seed < kRounds; ++seed) {
    const std::vector<Size> items = people(300, seed);
    const std::vector<Size> canvases(8, Size{640, 640});
    const auto packing = pack_rects(items, canvases, with(name(), 3));
    ASSERT_TRUE(packing.ok());
    for (const int rows : packing->used_heights) used += 640.0 * rows;
    for (const Placement& place : packing->placements) {
      ASSERT_TRUE(place.placed());
      placed += 1.0 * place.rect.width * place.rect.height;
    }
  }
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  std::printf("%s: fill %.3f of the used rows, %.3f ms for 300 regions\n",
              std::string(name()).c_str(), placed / used, took.count() / kRounds);
  EXPECT_GE(placed / used, 0.78);  // gaps count as empty; the paper: 80 to 90 %
}

TEST(PackRects, BadInputIsNamed) {
  const auto empty = pack_rects(std::vector{Size{10, 10}, Size{0, 5}}, std::vector{Size{50, 50}});
  ASSERT_FALSE(empty.ok());
  EXPECT_THAT(empty.error().to_string(), testing::HasSubstr("item 1"));
  EXPECT_FALSE(pack_rects({}, std::vector{Size{-1, 5}}).ok());
  EXPECT_FALSE(pack_rects({}, {}, with("best")).ok());
  EXPECT_FALSE(pack_rects({}, {}, with("skyline", -1)).ok());
  EXPECT_TRUE(pack_rects({}, {}).ok());
}

}  // namespace
}  // namespace sparing

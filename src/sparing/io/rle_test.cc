#include "sparing/io/rle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace sparing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

LabelMap map_of(Size size, std::vector<int> labels) {
  LabelMap map;
  map.size = size;
  map.labels.assign(labels.begin(), labels.end());
  return map;
}

LabelMap blank(Size size) {
  LabelMap map;
  map.resize(size);
  std::fill(map.labels.begin(), map.labels.end(), kIgnoreLabel);
  return map;
}

// The texts are pycocotools'.
TEST(Rle, WritesWhatPycocotoolsWrites) {
  EXPECT_THAT(encode_masks(map_of({5, 3}, {0, 0, 1, 1, 2, 0, 1, 1, 255, 2, 0, 0, 0, 1, 2})),
              ElementsAre(Pair(0, "041M104"), Pair(1, "41110O002"), Pair(2, "<3")));
  LabelMap large = blank({70, 100});
  for (int y = 10; y < 90; ++y) std::fill_n(large.row(y).begin() + 5, 55, std::uint8_t{7});
  large.row(40)[30] = kIgnoreLabel;
  const auto masks = encode_masks(large);
  ASSERT_EQ(masks.size(), 1u);
  EXPECT_EQ(masks[0].first, 7);
  EXPECT_EQ(masks[0].second,
            "n?`2d0000000000000000000000000000000000000000000000000^N]Oc0c0o0000000"
            "00000000000000000000000000000000000000000000000000nn0");
}

TEST(Rle, HasNoMaskWhereNothingHasAClass) { EXPECT_THAT(encode_masks(blank({3, 2})), IsEmpty()); }

TEST(Rle, ReadsBackRandomMapsOfManyShapes) {
  std::mt19937 random(6);
  for (const Size size : {Size{1, 1}, {1, 40}, {40, 1}, {17, 13}, {64, 48}, {300, 200}}) {
    for (const unsigned change : {1u, 3u, 50u, 100000u}) {  // runs from short to whole
      LabelMap map = blank(size);
      std::uint8_t label = 0;
      for (auto& value : map.labels) {
        if (random() % change == 0) label = static_cast<std::uint8_t>(random() % 256);
        value = label;
      }
      LabelMap back = blank(size);
      for (const auto& [id, counts] : encode_masks(map)) {
        ASSERT_EQ(decode_mask(counts, id, back), "");
      }
      EXPECT_EQ(back, map);
    }
  }
}

TEST(Rle, NamesWhatIsWrongWithAText) {
  const auto problem = [](const std::string& text) {
    LabelMap map = blank({3, 2});
    return decode_mask(text, 1, map);
  };
  EXPECT_EQ(problem("06"), "");  // all of it
  EXPECT_EQ(problem("6"), "");   // nothing of it
  EXPECT_EQ(problem("222"), "");
  EXPECT_THAT(problem(""), HasSubstr("cover 0 of 6"));
  EXPECT_THAT(problem("22"), HasSubstr("cover 4 of 6"));
  EXPECT_THAT(problem("07"), HasSubstr("longer than the picture"));
  EXPECT_THAT(problem("0o"), HasSubstr("run 1 is not a number"));  // more is to come
  EXPECT_THAT(problem("0/"), HasSubstr("run 1 is not a number"));
  EXPECT_THAT(problem("0p"), HasSubstr("run 1 is not a number"));
  EXPECT_THAT(problem("0\xff"), HasSubstr("run 1 is not a number"));
  EXPECT_THAT(problem("oooooooooooooooo0"), HasSubstr("run 0 is not a number"));
  EXPECT_THAT(problem("O6"), HasSubstr("run 0 is negative"));
  EXPECT_THAT(problem("1111O"), HasSubstr("cover 5 of 6"));  // runs of 1, 1, 1, 2 and 0
  EXPECT_THAT(problem("1111N"), HasSubstr("run 4 is negative"));
  EXPECT_THAT(problem("oooooo?6"), HasSubstr("longer than the picture"));
}

TEST(Rle, RefusesPixelsOfTwoClasses) {
  LabelMap map = blank({3, 2});
  ASSERT_EQ(decode_mask("132", 4, map), "");
  EXPECT_EQ(decode_mask("312", 5, map), "pixel (1, 1) is of class 4 already");
}

}  // namespace
}  // namespace sparing

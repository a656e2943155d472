#include "sparing/base/color.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sparing {
namespace {

TEST(Color, HexadecimalDigits) {
  EXPECT_EQ(parse_color("#00b140"), (Rgb{0, 177, 64}));
  EXPECT_EQ(parse_color("#FFffFF"), (Rgb{255, 255, 255}));
  EXPECT_EQ(parse_color("#1a2B3c"), (Rgb{26, 43, 60}));
  EXPECT_EQ(parse_color("#f80"), (Rgb{255, 136, 0}));
}

TEST(Color, Names) {
  EXPECT_EQ(parse_color("black"), (Rgb{0, 0, 0}));
  EXPECT_EQ(parse_color("Navy"), (Rgb{0, 0, 128}));
  EXPECT_EQ(parse_color("gray"), parse_color("grey"));
  EXPECT_EQ(parse_color("orange"), (Rgb{255, 165, 0}));
  EXPECT_THAT(color_names(), ::testing::HasSubstr("white, maroon"));
}

TEST(Color, AnythingElseIsNone) {
  for (const char* text : {"", "#", "#12", "#1234", "#12345", "#1234567", "#12345g", "00b140",
                           "whit", "white ", "whiteblack", "# 12345", "#-12345"}) {
    EXPECT_FALSE(parse_color(text)) << text;
  }
}

}  // namespace
}  // namespace sparing

#include "sparing/base/duration.h"

#include <gtest/gtest.h>

namespace sparing {
namespace {

TEST(ParseDuration, WithoutAUnitItIsInTheOnesThatIsAskedFor) {
  EXPECT_EQ(parse_duration("25", "ms"), 25);
  EXPECT_EQ(parse_duration("0.5", "s"), 0.5);
  EXPECT_EQ(parse_duration("+2", "s"), 2);
  EXPECT_EQ(parse_duration("1e3", "ms"), 1000);
}

TEST(ParseDuration, ConvertsEachUnit) {
  EXPECT_EQ(parse_duration("25ms", "ms"), 25);
  EXPECT_EQ(parse_duration("25ms", "s"), 0.025);
  EXPECT_EQ(parse_duration("1s", "ms"), 1000);
  EXPECT_EQ(parse_duration("1.5 s", "ms"), 1500);
  EXPECT_EQ(parse_duration("500us", "ms"), 0.5);
  EXPECT_EQ(parse_duration("2min", "s"), 120);
  EXPECT_EQ(parse_duration("2h", "min"), 120);
  EXPECT_EQ(parse_duration("-3ms", "ms"), -3);  // a range's to refuse
}

TEST(ParseDuration, RefusesWhatIsNone) {
  for (const char* text : {"", "ms", "25m", "25MS", "25 sec", "25  ms", "25ms ", " 25ms", "1,5s",
                           "0x10ms", "nan", "nanms", "++1s", "1s2", "1s 500ms"}) {
    EXPECT_EQ(parse_duration(text, "ms"), std::nullopt) << text;
  }
  EXPECT_EQ(parse_duration("25", "frames"), std::nullopt);
}

TEST(IsDurationUnit, KnowsThem) {
  for (const char* unit : {"us", "ms", "s", "min", "h"}) EXPECT_TRUE(is_duration_unit(unit));
  for (const char* unit : {"", "frames", "S", "m", "fps"}) EXPECT_FALSE(is_duration_unit(unit));
}

}  // namespace
}  // namespace sparing

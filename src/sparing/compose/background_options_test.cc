#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sparing/compose/background.h"

namespace sparing {
namespace {

using ::testing::HasSubstr;

BackgroundOptions parsed(std::string_view text) {
  const auto options = parse_background(text);
  EXPECT_TRUE(options.ok()) << options.error().to_string();
  return options.ok() ? *options : BackgroundOptions{};
}

TEST(BackgroundOptions, KnowsEveryEffect) {
  EXPECT_EQ(parsed("none").effect, BackgroundEffect::kNone);
  EXPECT_EQ(parsed("blur").effect, BackgroundEffect::kBlur);
  EXPECT_EQ(parsed("colour").effect, BackgroundEffect::kColor);
  EXPECT_EQ(parsed("color").effect, BackgroundEffect::kColor);
  EXPECT_EQ(parsed("cutout").effect, BackgroundEffect::kCutout);
  for (const BackgroundEffectInfo& row : background_effects()) {
    const std::string text =
        std::string(row.name) + (row.effect == BackgroundEffect::kReplace ? "=/dev/null" : "");
    EXPECT_EQ(parsed(text).effect, row.effect);
  }
}

TEST(BackgroundOptions, ReadsArguments) {
  EXPECT_DOUBLE_EQ(parsed("blur").blur_radius, 0.04);
  EXPECT_DOUBLE_EQ(parsed("blur:24").blur_radius, 24);
  EXPECT_DOUBLE_EQ(parsed("blur:24px").blur_radius, 24);
  EXPECT_DOUBLE_EQ(parsed("blur:0.08").blur_radius, 0.08);
  EXPECT_DOUBLE_EQ(parsed("blur:5%").blur_radius, 0.05);
  EXPECT_DOUBLE_EQ(parsed("blur=12").blur_radius, 12);
  EXPECT_EQ(parsed("colour=#ff8000").color, (Rgb{255, 128, 0}));
  EXPECT_EQ(parsed("color=navy").color, (Rgb{0, 0, 128}));
  EXPECT_EQ(parsed("replace=/dev/null").replacement, "/dev/null");
  // The first sign alone ends the name.
  EXPECT_EQ(parsed(std::string("replace=") + SPARING_SOURCE_DIR).replacement, SPARING_SOURCE_DIR);
}

TEST(BackgroundOptions, SaysWhatIsWrong) {
  const auto problem = [](std::string_view text) {
    const auto options = parse_background(text);
    EXPECT_FALSE(options.ok()) << text;
    return options.ok() ? "" : options.error().to_string();
  };
  EXPECT_EQ(problem("sepia"),
            "background 'sepia': there is no such effect; give one of blur[:RADIUS], "
            "replace=PATH, colour[=COLOUR], cutout, none");
  EXPECT_THAT(problem(""), HasSubstr("no such effect"));
  for (const char* text : {"blur:", "blur:0", "blur:-3", "blur:x", "blur:3x", "blur:1e9",
                           "blur:nan", "blur:150%", "blur:0.5px"}) {
    EXPECT_THAT(problem(text), HasSubstr("is no radius")) << text;
  }
  EXPECT_THAT(problem("colour=#12"), HasSubstr("'#12' is no colour; give #rrggbb or one of black"));
  EXPECT_THAT(problem("cutout=1"), HasSubstr("takes nothing"));
  EXPECT_THAT(problem("replace"), HasSubstr("names no file"));
  EXPECT_THAT(problem("replace="), HasSubstr("names no file"));
  EXPECT_THAT(problem("replace=/nowhere/a.png"), HasSubstr("'/nowhere/a.png': no such file"));
  EXPECT_EQ(parse_background("replace=/nowhere").error().code, ErrorCode::kInput);
}

}  // namespace
}  // namespace sparing

#include "sparing/streams/tile_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sparing {
namespace {

using ::testing::HasSubstr;

constexpr Size kSmall{768, 576};
constexpr Size kLarge{7680, 4320};
constexpr Size kUnknown{};

std::string problem_of(const StreamOptions& options, std::vector<Size> frames) {
  const Status status = check_tiles(options, frames);
  if (status.ok()) return "none";
  EXPECT_EQ(status.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(status.error().thing, "--tile");
  return status.error().problem + "; " + status.error().fix;
}

TEST(TileCheck, TheDefaultsDoForAnyFrame) {
  StreamOptions options;
  for (const char* mode : {"auto", "packed", "frame", "tiles"}) {
    options.mode = mode;
    EXPECT_EQ(problem_of(options, {kSmall, kLarge, kUnknown}), "none") << mode;
  }
}

TEST(TileCheck, TilesAreNoSmallerThanWhatShowsAnObject) {
  StreamOptions options;
  for (const char* mode : {"auto", "tiles"}) {
    options.mode = mode;
    for (const char* tile : {"10x10", "63x640", "640x63"}) {
      options.tile = tile;
      EXPECT_THAT(problem_of(options, {}), HasSubstr(std::string("'") + tile)) << mode;
    }
    options.tile = "64x64";
    EXPECT_EQ(problem_of(options, {kSmall}), "none") << mode;
  }
}

TEST(TileCheck, NamesTheNumberThatIsTooLargeAndTilesThatDo) {
  StreamOptions options;
  options.mode = "tiles";
  options.tile = "64x64";
  options.tile_overlap = 0;
  // 120 by 68 of them; 60 by 34.
  EXPECT_THAT(problem_of(options, {kUnknown, kSmall, kLarge}),
              AllOf(HasSubstr("makes 8160 tiles of a frame of 7680x4320"), HasSubstr("4096"),
                    HasSubstr("--tile 128x128 ")));
  options.tile = "128x128";
  EXPECT_EQ(problem_of(options, {kLarge}), "none");
  // Twice as large a picture: the same as half as large tiles.
  options.scale = 2;
  EXPECT_THAT(problem_of(options, {kLarge}), HasSubstr("makes 8160 tiles"));
  // Not every frame is cut.
  options.mode = "auto";
  EXPECT_EQ(problem_of(options, {kLarge}), "none");
}

// 10^8 of them would not fit into memory, and are not made.
TEST(TileCheck, CountsWithoutMakingThem) {
  StreamOptions options;
  options.mode = "tiles";
  options.tile = "64x64";
  options.tile_overlap = 0.9;
  options.scale = 8;
  EXPECT_THAT(problem_of(options, {{65536, 65536}}), HasSubstr("tiles of a frame of 65536x65536"));
}

}  // namespace
}  // namespace sparing

// Cropping, padding, orientation: what of the source is shown where, and the map that says so.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "sparing/kernels/import.h"
#include "sparing/kernels/import_test_util.h"

namespace sparing {
namespace {

using test::TestFrame;
using test::TestTensor;
using ::testing::Each;
using ::testing::ElementsAre;

// Sample (x, y) is 10 y + x.
TestFrame counted(Size size) {
  TestFrame frame(PixelFormat::kGray8, size);
  for (int y = 0; y < size.height; ++y) {
    for (int x = 0; x < size.width; ++x) frame.at(0, x, y) = static_cast<std::uint8_t>(10 * y + x);
  }
  return frame;
}

struct Drawn {
  TestTensor tensor;
  Affine map;

  std::vector<float> row(int y) const {
    std::vector<float> values;
    for (int x = 0; x < tensor.view().width; ++x) values.push_back(tensor.get<float>(0, 0, y, x));
    return values;
  }
};

Drawn draw(TestFrame& frame, Size size, const ImportOptions& options) {
  TestTensor tensor(DataType::kFloat32, {1, 1, size.height, size.width}, Layout::kNchw);
  const Result<Affine> map = import_frame_reference(frame.view(), options, tensor.view());
  EXPECT_TRUE(map.ok());
  return {std::move(tensor), map.ok() ? *map : Affine{}};
}

ImportOptions with(Fit fit, Anchor anchor = Anchor::kCenter) {
  ImportOptions options;
  options.fit = fit;
  options.anchor = anchor;
  return options;
}

TEST(ImportFit, CropTakesTheMiddleOfAWideSource) {
  TestFrame frame = counted({8, 4});
  const Drawn drawn = draw(frame, {4, 4}, with(Fit::kCrop));
  EXPECT_THAT(drawn.row(0), ElementsAre(2, 3, 4, 5));
  EXPECT_THAT(drawn.row(3), ElementsAre(32, 33, 34, 35));
  EXPECT_EQ(drawn.map, (Affine{1, 0, 2, 0, 1, 0}));
}

TEST(ImportFit, CropOfATallSourceAndFromTheTopLeft) {
  TestFrame tall = counted({4, 8});
  EXPECT_EQ(draw(tall, {2, 2}, with(Fit::kCrop)).map, (Affine{2, 0, 0, 0, 2, 2}));
  const Drawn corner = draw(tall, {4, 2}, with(Fit::kCrop, Anchor::kTopLeft));
  EXPECT_EQ(corner.map, Affine{});
  EXPECT_THAT(corner.row(1), ElementsAre(10, 11, 12, 13));
  TestFrame wide = counted({8, 4});
  EXPECT_EQ(draw(wide, {2, 2}, with(Fit::kCrop, Anchor::kTopLeft)).map, (Affine{2, 0, 0, 0, 2, 0}));
}

TEST(ImportFit, CropOfARectangleIntoPartOfTheTensor) {
  TestFrame frame = counted({9, 9});
  ImportOptions options = with(Fit::kCrop);
  options.visible_rect = {1, 2, 6, 3};
  options.destination = {{3, 1, 4, 4}};
  const Drawn drawn = draw(frame, {8, 6}, options);
  // 3 x 3 of 6 x 3: columns 2.5 to 5.5, each pixel .75 samples.
  EXPECT_EQ(drawn.map, (Affine{0.75, 0, 2.5 - 3 * 0.75, 0, 0.75, 2 - 0.75}));
  EXPECT_FLOAT_EQ(drawn.tensor.get<float>(0, 0, 2, 4),
                  10 * (2 + 1.5f * 0.75f - 0.5f) + 2.5f + 1.5f * 0.75f - 0.5f);
}

TEST(ImportFit, CropOfTheDestinationsShapeIsTheWholeSource) {
  TestFrame frame = counted({8, 6});
  for (const Size size : {Size{4, 3}, Size{12, 9}, Size{8, 6}}) {
    EXPECT_EQ(draw(frame, size, with(Fit::kCrop)).tensor.bytes(),
              draw(frame, size, with(Fit::kStretch)).tensor.bytes());
  }
}

ImportOptions padded(const Rect& rect) {
  ImportOptions options;
  options.visible_rect = rect;
  options.outside = Outside::kPad;
  options.pad = {200, 200, 200};
  return options;
}

TEST(ImportOutside, PadsAllFourSides) {
  TestFrame frame = counted({3, 2});
  const Drawn drawn = draw(frame, {6, 5}, padded({-2, -1, 6, 5}));
  EXPECT_THAT(drawn.row(0), Each(200));
  EXPECT_THAT(drawn.row(1), ElementsAre(200, 200, 0, 1, 2, 200));
  EXPECT_THAT(drawn.row(2), ElementsAre(200, 200, 10, 11, 12, 200));
  EXPECT_THAT(drawn.row(3), Each(200));
  EXPECT_THAT(drawn.row(4), Each(200));
  EXPECT_EQ(drawn.map, (Affine{1, 0, -2, 0, 1, -1}));  // of the full picture
}

TEST(ImportOutside, OnlyPixelsWhoseCentreIsOutsideArePadded) {
  TestFrame frame = counted({4, 1});
  const auto row = [&](double x, double width, int pixels) {
    return draw(frame, {pixels, 1}, padded({x, 0, width, 1})).row(0);
  };
  // Centres at -.25, .75, ...: what is half outside is drawn, clamped.
  EXPECT_THAT(row(-0.75, 3, 3), ElementsAre(200, 0.25, 1.25));
  EXPECT_THAT(row(-0.25, 3, 3), ElementsAre(0, 0.75, 1.75));
  EXPECT_THAT(row(2.25, 3, 3), ElementsAre(2.25, 3, 200));
  // A centre on the edge: the beginning is inside, the end is not.
  EXPECT_THAT(row(-0.5, 2, 2), ElementsAre(0, 0.5));
  EXPECT_THAT(row(2.5, 2, 2), ElementsAre(2.5, 200));
}

TEST(ImportOutside, DrawnPixelsAreThoseOfClamp) {
  TestFrame frame = counted({5, 4});
  ImportOptions options = padded({-3.3, 1.2, 11.9, 6.1});
  options.filter = Filter::kTriangle;
  const Drawn pad = draw(frame, {7, 9}, options);
  options.outside = Outside::kClamp;
  const Drawn clamp = draw(frame, {7, 9}, options);
  EXPECT_EQ(pad.map, clamp.map);
  int drawn = 0;
  for (int y = 0; y < 9; ++y) {
    for (int x = 0; x < 7; ++x) {
      const Point display = pad.map({x + 0.5, y + 0.5});
      const bool inside = display.x >= 0 && display.x < 5 && display.y >= 0 && display.y < 4;
      const float value = pad.tensor.get<float>(0, 0, y, x);
      EXPECT_NEAR(value, inside ? clamp.tensor.get<float>(0, 0, y, x) : 200, 1e-4);
      drawn += inside;
    }
  }
  EXPECT_GT(drawn, 5);
  EXPECT_LT(drawn, 50);
}

TEST(ImportOutside, PadsWithinALetterbox) {
  TestFrame frame = counted({2, 2});
  ImportOptions options = padded({-1, 0, 4, 2});
  options.fit = Fit::kLetterbox;
  const Drawn drawn = draw(frame, {4, 4}, options);
  EXPECT_THAT(drawn.row(0), Each(200));
  EXPECT_THAT(drawn.row(1), ElementsAre(200, 0, 1, 200));
  EXPECT_THAT(drawn.row(2), ElementsAre(200, 10, 11, 200));
  EXPECT_THAT(drawn.row(3), Each(200));
  EXPECT_EQ(drawn.map, (Affine{1, 0, -1, 0, 1, -1}));
}

TEST(ImportOutside, NothingInsideIsAllBorder) {
  TestFrame frame = counted({4, 4});
  // Both centres lie outside, though the rectangle overlaps the frame.
  const Drawn ends = draw(frame, {2, 1}, padded({-8, 0, 20, 4}));
  EXPECT_THAT(ends.row(0), ElementsAre(200, 200));
  EXPECT_EQ(ends.map, (Affine{10, 0, -8, 0, 4, 0}));
  // The middle of the rectangle, which crop keeps, is off the frame.
  ImportOptions options = padded({-1, 3, 41, 1});
  options.fit = Fit::kCrop;
  const Drawn middle = draw(frame, {3, 1}, options);
  EXPECT_THAT(middle.tensor.channel(0), Each(200));
  options.outside = Outside::kClamp;
  EXPECT_THAT(draw(frame, {3, 1}, options).tensor.channel(0), Each(33));
}

TEST(ImportOutside, TheVisibleRectangleCountsNotTheCodedOne) {
  TestFrame frame = counted({6, 1});
  frame.view().visible_rect = {1, 0, 3, 1};
  EXPECT_THAT(draw(frame, {5, 1}, padded({-1, 0, 5, 1})).row(0), ElementsAre(200, 1, 2, 3, 200));
}

TEST(ImportOrientation, ReplacesTheFramesOwnAndItsCoordinates) {
  TestFrame frame = counted({4, 2});
  frame.view().rotation = Rotation::k90;
  frame.view().flip = true;
  ImportOptions options;
  options.orientation = Orientation{};  // as coded
  EXPECT_THAT(draw(frame, {4, 2}, options).row(1), ElementsAre(10, 11, 12, 13));
  options.visible_rect = {3, 0, 1, 2};  // within 4 x 2, not within 2 x 4
  EXPECT_THAT(draw(frame, {1, 2}, options).tensor.channel(0), ElementsAre(3, 13));
  options.orientation = Orientation{Rotation::k270, false};
  const TestTensor tensor(DataType::kFloat32, {1, 1, 2, 1}, Layout::kNchw);
  EXPECT_FALSE(import_frame_reference(frame.view(), options, tensor.view()).ok());
  options.visible_rect = {0, 3, 2, 1};  // the last row of the turned picture is the first column
  EXPECT_THAT(draw(frame, {2, 1}, options).row(0), ElementsAre(0, 10));
  options.orientation->flip = true;
  EXPECT_THAT(draw(frame, {2, 1}, options).row(0), ElementsAre(10, 0));
}

// Wherever in the tensor it lies, the picture is the same to the last bit.
TEST(ImportFit, PositionInTheTensorDoesNotMatter) {
  TestFrame frame = counted({20, 12});
  for (const Fit fit : {Fit::kStretch, Fit::kLetterbox, Fit::kCrop}) {
    for (const Outside outside : {Outside::kClamp, Outside::kPad}) {
      ImportOptions options = with(fit);
      options.visible_rect = {-1.3, 2.7, 17.9, 13.1};
      options.outside = outside;
      options.filter = Filter::kTriangle;
      const Drawn alone = draw(frame, {7, 5}, options);
      options.destination = {{1001, 13, 7, 5}};
      const Drawn canvas = draw(frame, {1009, 19}, options);
      for (int y = 0; y < 5; ++y) {
        for (int x = 0; x < 7; ++x) {
          EXPECT_EQ(canvas.tensor.get<float>(0, 0, 13 + y, 1001 + x),
                    alone.tensor.get<float>(0, 0, y, x));
        }
      }
      const Point moved = canvas.map({1001, 13});
      EXPECT_NEAR(moved.x, alone.map({0, 0}).x, 1e-9);
      EXPECT_NEAR(moved.y, alone.map({0, 0}).y, 1e-9);
    }
  }
}

}  // namespace
}  // namespace sparing

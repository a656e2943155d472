// The filters of the reference against values worked out by hand and against recomputations that
// share nothing with it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <random>
#include <vector>

#include "sparing/kernels/import.h"
#include "sparing/kernels/import_test_util.h"

namespace sparing {
namespace {

using test::TestFrame;
using test::TestTensor;
using ::testing::ElementsAre;
using ::testing::FloatEq;

ImportOptions with(Filter filter, std::optional<Rect> rect = std::nullopt) {
  ImportOptions options;
  options.filter = filter;
  options.visible_rect = rect;
  return options;
}

TestTensor run(TestFrame& frame, int channels, Size size, const ImportOptions& options) {
  TestTensor tensor(DataType::kFloat32, {1, channels, size.height, size.width}, Layout::kNchw);
  EXPECT_TRUE(import_frame_reference(frame.view(), options, tensor.view()).ok());
  return tensor;
}

TestFrame gray_row(std::initializer_list<int> values) {
  TestFrame frame(PixelFormat::kGray8, {static_cast<int>(values.size()), 1});
  int x = 0;
  for (const int value : values) frame.at(0, x++, 0) = static_cast<std::uint8_t>(value);
  return frame;
}

std::vector<float> gray_values(TestFrame& frame, int width, const ImportOptions& options) {
  return run(frame, 1, {width, 1}, options).channel(0);
}

TEST(ImportFilter, NearestTakesTheSampleUnderTheCentre) {
  TestFrame frame = gray_row({10, 20, 30, 40, 50, 60});
  EXPECT_THAT(gray_values(frame, 12, with(Filter::kNearest)),
              ElementsAre(10, 10, 20, 20, 30, 30, 40, 40, 50, 50, 60, 60));
  // Centres at 1, 3, 5: between two samples, the second one is it.
  EXPECT_THAT(gray_values(frame, 3, with(Filter::kNearest)), ElementsAre(20, 40, 60));
  // Centres at 1.2, 3.6, and outside.
  EXPECT_THAT(gray_values(frame, 3, with(Filter::kNearest, Rect{0, 0, 7.2, 1})),
              ElementsAre(20, 40, 60));
  EXPECT_THAT(gray_values(frame, 4, with(Filter::kNearest, Rect{-3, 0, 12, 1})),
              ElementsAre(10, 20, 50, 60));
}

TEST(ImportFilter, AreaCountsSamplesByTheCoveredPart) {
  TestFrame frame = gray_row({10, 20, 30, 40, 50, 60});
  EXPECT_THAT(gray_values(frame, 2, with(Filter::kArea)), ElementsAre(20, 50));
  // 1.5 samples each: (10 + 20/2) / 1.5 and so on.
  EXPECT_THAT(
      gray_values(frame, 4, with(Filter::kArea)),
      ElementsAre(FloatEq(20 / 1.5f), FloatEq(40 / 1.5f), FloatEq(65 / 1.5f), FloatEq(85 / 1.5f)));
  EXPECT_THAT(gray_values(frame, 1, with(Filter::kArea, Rect{1.25, 0, 2.5, 1})),
              ElementsAre(FloatEq((0.75f * 20 + 30 + 0.75f * 40) / 2.5f)));
}

TEST(ImportFilter, AreaBelowOneSampleIsLinear) {
  TestFrame frame = gray_row({0, 100});
  EXPECT_THAT(gray_values(frame, 4, with(Filter::kArea)), ElementsAre(0, 25, 75, 100));
}

TEST(ImportFilter, TriangleReachesOnePixelToBothSides) {
  TestFrame frame = gray_row({0, 80, 160, 240});
  // Centre 2, support 2: weights 1/4, 3/4, 3/4, 1/4.
  EXPECT_THAT(gray_values(frame, 1, with(Filter::kTriangle, Rect{1, 0, 2, 1})),
              ElementsAre((80 * 0.75f + 160 * 0.75f + 240 * 0.25f) / 2));
  // Centres 1 and 3, support 2: weights 3/4, 3/4, 1/4 and their mirror image; what would lie before
  // the first sample does not count.
  EXPECT_THAT(gray_values(frame, 2, with(Filter::kTriangle)),
              ElementsAre(FloatEq((80 * 0.75f + 160 * 0.25f) / 1.75f),
                          FloatEq((80 * 0.25f + 160 * 0.75f + 240 * 0.75f) / 1.75f)));
  // Upscaling it is linear interpolation.
  EXPECT_THAT(gray_values(frame, 8, with(Filter::kTriangle)),
              ElementsAre(0, 20, 60, 100, 140, 180, 220, 240));
}

TEST(ImportFilter, WhatSeesNoSampleShowsTheNearest) {
  TestFrame frame = gray_row({10, 20, 30, 40});
  for (const Filter filter :
       {Filter::kBilinear, Filter::kNearest, Filter::kArea, Filter::kTriangle}) {
    const std::vector<float> wide = gray_values(frame, 11, with(filter, Rect{-20, 0, 44, 1}));
    EXPECT_EQ(wide.front(), 10) << static_cast<int>(filter);
    EXPECT_EQ(wide.back(), 40) << static_cast<int>(filter);
    EXPECT_THAT(gray_values(frame, 8, with(filter, Rect{-2, 0, 8, 1})),
                ElementsAre(10, 10, 10, 20, 30, 40, 40, 40))
        << static_cast<int>(filter);
  }
}

// Codec padding does not weigh in, however wide the filter.
TEST(ImportFilter, PaddingBeyondTheVisibleRectangleNeverShows) {
  TestFrame frame = gray_row({255, 255, 10, 20, 30, 40, 255, 255});
  frame.view().visible_rect = {2, 0, 4, 1};
  TestFrame visible = gray_row({10, 20, 30, 40});
  for (const Filter filter :
       {Filter::kBilinear, Filter::kNearest, Filter::kArea, Filter::kTriangle, Filter::kAuto}) {
    for (const Rect& rect : {Rect{0, 0, 4, 1}, Rect{-1, 0, 7, 1}}) {
      for (const int width : {1, 2, 3, 7}) {
        EXPECT_EQ(gray_values(frame, width, with(filter, rect)),
                  gray_values(visible, width, with(filter, rect)))
            << static_cast<int>(filter);
      }
    }
  }
}

TEST(ImportFilter, AutoIsBilinearDownToOneHalfAndAreaBelowForEachAxis) {
  TestFrame frame(PixelFormat::kGray8, {37, 41});
  std::mt19937 random(3);
  frame.fill_random(random);
  const auto values = [&](Filter filter, Rect rect, Size size) {
    return run(frame, 1, size, with(filter, rect)).channel(0);
  };
  const Rect half{0, 0, 36, 40};
  EXPECT_EQ(values(Filter::kAuto, half, {18, 20}), values(Filter::kBilinear, half, {18, 20}));
  // A third of .6 is not exactly .2: such a ratio of 1:2 still counts as one.
  const Rect inexact{0, 0, 0.6, 0.2 * 3};
  EXPECT_EQ(values(Filter::kAuto, inexact, {1, 1}), values(Filter::kBilinear, inexact, {1, 1}));
  const Rect more{0, 0, 36.1, 40.1};
  EXPECT_EQ(values(Filter::kAuto, more, {18, 20}), values(Filter::kArea, more, {18, 20}));
  EXPECT_NE(values(Filter::kAuto, more, {18, 20}), values(Filter::kBilinear, more, {18, 20}));
  // Three times fewer columns, as many rows: each row is the area filter of that row.
  const std::vector<float> mixed = values(Filter::kAuto, {0, 0, 36, 41}, {12, 41});
  for (int y = 0; y < 41; ++y) {
    const float mean =
        static_cast<float>(frame.at(0, 3, y) + frame.at(0, 4, y) + frame.at(0, 5, y)) / 3;
    EXPECT_FLOAT_EQ(mixed[static_cast<std::size_t>(y * 12 + 1)], mean);
  }
}

// --- recomputed another way ----------------------------------------------------------------------

// The mean of a picture of squares over a rectangle, by sampling every 1/8 x 1/8 of it: exact when
// all edges are on that lattice. `at(x, y)` gives the sample under a coded position, or less than 0
// where there is none.
template <class At>
double mean_of_cells(const Rect& rect, const At& at) {
  double sum = 0;
  int cells = 0;
  for (double y = rect.y + 1.0 / 16; y < rect.bottom(); y += 1.0 / 8) {
    for (double x = rect.x + 1.0 / 16; x < rect.right(); x += 1.0 / 8) {
      const double value = at(x, y);
      if (value < 0) continue;
      sum += value;
      ++cells;
    }
  }
  return sum / cells;
}

struct Lattice {
  Rect source;
  Size size;
};
// Pixels of n/8 samples, from a corner on the lattice, some reaching outside.
constexpr Lattice kLattices[] = {{{0, 0, 24, 18}, {12, 6}},      {{0.125, 1.25, 22.5, 15}, {10, 8}},
                                 {{-3.5, -2, 27.5, 21}, {5, 6}}, {{4.625, 0, 21, 17.5}, {8, 7}},
                                 {{0, 0, 24, 18}, {24, 18}},     {{-1, -0.5, 27, 19.5}, {2, 2}}};

TEST(ImportFilter, AreaIsTheMeanOfThePictureOverThePixel) {
  TestFrame frame(PixelFormat::kGray8, {24, 18});
  std::mt19937 random(5);
  frame.fill_random(random);
  const auto at = [&](double x, double y) {
    return x < 0 || y < 0 || x >= 24 || y >= 18
               ? -1.0
               : frame.at(0, static_cast<int>(x), static_cast<int>(y));
  };
  for (const Lattice& job : kLattices) {
    const TestTensor tensor = run(frame, 1, job.size, with(Filter::kArea, job.source));
    const double w = job.source.width / job.size.width;
    const double h = job.source.height / job.size.height;
    for (int j = 0; j < job.size.height; ++j) {
      for (int i = 0; i < job.size.width; ++i) {
        const Rect pixel{job.source.x + i * w, job.source.y + j * h, w, h};
        EXPECT_NEAR(tensor.get<float>(0, 0, j, i), mean_of_cells(pixel, at), 1e-4);
      }
    }
  }
}

// Chroma samples are squares of their own, centred where the siting says.
TEST(ImportFilter, AreaOfChroma) {
  TestFrame frame(PixelFormat::kI420, {24, 18});
  std::mt19937 random(6);
  frame.fill_random(random);
  frame.fill_plane(0, 90);
  frame.fill_plane(1, 128);
  for (int y = 0; y < 9; ++y) {  // nothing is clamped to 0..255
    for (int x = 0; x < 12; ++x) frame.at(2, x, y) = static_cast<std::uint8_t>(100 + random() % 60);
  }
  for (const ChromaSiting siting :
       {ChromaSiting::kLeft, ChromaSiting::kCenter, ChromaSiting::kTopLeft}) {
    frame.view().color_space = {ColorMatrix::kBt601, ColorRange::kFull, {}, {}, siting};
    // Luma columns that the sample of column 0 covers begin here.
    const double left = siting == ChromaSiting::kCenter ? 0 : -0.5;
    const double top = siting == ChromaSiting::kTopLeft ? -0.5 : 0;
    const auto cr_at = [&](double x, double y) {
      const int column = static_cast<int>(std::floor((x - left) / 2));
      const int row = static_cast<int>(std::floor((y - top) / 2));
      return column < 0 || row < 0 || column >= 12 || row >= 9 ? -1.0 : frame.at(2, column, row);
    };
    const Rect source{1.25, 0.5, 22.5, 17.5};
    const TestTensor tensor = run(frame, 3, {9, 7}, with(Filter::kArea, source));
    for (int j = 0; j < 7; ++j) {
      for (int i = 0; i < 9; ++i) {
        const Rect pixel{source.x + i * 2.5, source.y + j * 2.5, 2.5, 2.5};
        const double red = 90 + 1.402 * (mean_of_cells(pixel, cr_at) - 128);
        EXPECT_NEAR(tensor.get<float>(0, 0, j, i), red, 1e-4) << i << "," << j;
      }
    }
  }
}

// One axis of PIL's resize with its BILINEAR filter (a triangle that widens with the reduction),
// from `begin` over `extent` samples to `count`, written from its documentation.
std::vector<std::vector<double>> pil_weights(int samples, double begin, double extent, int count) {
  std::vector<std::vector<double>> rows;
  const double scale = extent / count;
  const double support = std::max(scale, 1.0);
  for (int i = 0; i < count; ++i) {
    const double center = begin + (i + 0.5) * scale;
    std::vector<double> weights(static_cast<std::size_t>(samples));
    const int low = std::max(0, static_cast<int>(center - support + 0.5));
    const int high = std::min(samples, static_cast<int>(center + support + 0.5));
    double sum = 0;
    for (int k = low; k < high; ++k) {
      const double t = std::abs((k - center + 0.5) / support);
      sum += weights[static_cast<std::size_t>(k)] = t < 1 ? 1 - t : 0;
    }
    for (double& weight : weights) weight /= sum;
    rows.push_back(weights);
  }
  return rows;
}

TEST(ImportFilter, TriangleIsPilsBilinear) {
  const Size from{23, 17};
  TestFrame frame(PixelFormat::kGray8, from);
  std::mt19937 random(7);
  frame.fill_random(random);
  for (const Rect& source : {Rect{0, 0, 23, 17}, Rect{1.3, 2.7, 20.1, 9.9}}) {
    for (const Size& size : {Size{5, 4}, Size{11, 30}, Size{40, 3}, Size{1, 1}, Size{22, 16}}) {
      const TestTensor tensor = run(frame, 1, size, with(Filter::kTriangle, source));
      const auto columns = pil_weights(from.width, source.x, source.width, size.width);
      const auto rows = pil_weights(from.height, source.y, source.height, size.height);
      for (std::size_t j = 0; j < rows.size(); ++j) {
        for (std::size_t i = 0; i < columns.size(); ++i) {
          double sum = 0;
          for (int y = 0; y < from.height; ++y) {
            for (int x = 0; x < from.width; ++x) {
              sum += rows[j][static_cast<std::size_t>(y)] *
                     columns[i][static_cast<std::size_t>(x)] * frame.at(0, x, y);
            }
          }
          EXPECT_NEAR(tensor.get<float>(0, 0, static_cast<int>(j), static_cast<int>(i)), sum, 1e-4);
        }
      }
    }
  }
}

// --- turned --------------------------------------------------------------------------------------

// An RGB picture turned clockwise, then mirrored, sample by sample.
TestFrame turned(TestFrame& frame, Rotation rotation, bool flip) {
  const Size size = frame.view().coded_size;
  const bool quarter = rotation == Rotation::k90 || rotation == Rotation::k270;
  const Size upright = quarter ? Size{size.height, size.width} : size;
  TestFrame result(PixelFormat::kRgb24, upright);
  for (int y = 0; y < size.height; ++y) {
    for (int x = 0; x < size.width; ++x) {
      int to_x = x, to_y = y;
      for (int degrees = 0, w = size.width, h = size.height; degrees < static_cast<int>(rotation);
           degrees += 90, std::swap(w, h)) {
        const int old_x = to_x;
        to_x = h - 1 - to_y;
        to_y = old_x;
      }
      if (flip) to_x = upright.width - 1 - to_x;
      for (int c = 0; c < 3; ++c) result.at(0, 3 * to_x + c, to_y) = frame.at(0, 3 * x + c, y);
    }
  }
  return result;
}

// A turned frame with a rectangle and a filter gives what the upright picture gives.
TEST(ImportFilter, EveryOrientationOfEveryFilter) {
  TestFrame frame(PixelFormat::kRgb24, {13, 10});
  std::mt19937 random(8);
  frame.fill_random(random);
  for (int turn = 0; turn < 8; ++turn) {
    const auto rotation = static_cast<Rotation>(turn / 2 * 90);
    const bool flip = turn % 2 == 1;
    TestFrame upright = turned(frame, rotation, flip);
    for (const Filter filter :
         {Filter::kBilinear, Filter::kNearest, Filter::kArea, Filter::kTriangle, Filter::kAuto}) {
      for (const Outside outside : {Outside::kClamp, Outside::kPad}) {
        ImportOptions options = with(filter, Rect{-1.37, 0.81, 12.13, 8.71});
        options.fit = Fit::kLetterbox;
        options.outside = outside;
        const Size size{7, 3};
        const TestTensor expected = run(upright, 3, size, options);
        frame.view().rotation = rotation;
        frame.view().flip = flip;
        const TestTensor by_frame = run(frame, 3, size, options);
        options.orientation = Orientation{rotation, flip};
        frame.view().rotation = Rotation::k180;  // does not matter now
        frame.view().flip = true;
        const TestTensor by_option = run(frame, 3, size, options);
        EXPECT_EQ(by_frame.bytes(), by_option.bytes());
        for (int c = 0; c < 3; ++c) {
          EXPECT_THAT(by_frame.channel(c),
                      ::testing::Pointwise(::testing::FloatNear(1e-3f), expected.channel(c)))
              << turn << " " << static_cast<int>(filter);
        }
      }
    }
  }
}

}  // namespace
}  // namespace sparing

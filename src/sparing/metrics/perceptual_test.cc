#include "sparing/metrics/perceptual.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace sparing {
namespace {

using ::testing::HasSubstr;

struct Frame {
  int channels = 0;
  Size cells;
  std::vector<float> values;
  LabelMap labels;
  LabelledFeatures view() const { return {{channels, cells, values}, labels}; }
};

LabelMap map_of(Size size, std::initializer_list<int> labels) {
  LabelMap map;
  map.size = size;
  for (const int label : labels) map.labels.push_back(static_cast<std::uint8_t>(label));
  return map;
}

LabelClasses classes_of(int count, std::vector<std::uint8_t> ignored = {}) {
  auto classes = LabelClasses::create(count, ignored);
  EXPECT_TRUE(classes.ok());
  return *classes;
}

PerceptualConsistency consistency(const Frame& a, const Frame& b, const LabelClasses& classes) {
  const auto result = perceptual_consistency(a.view(), b.view(), classes);
  EXPECT_TRUE(result.ok() && result->has_value());
  return result.ok() ? result->value_or(PerceptualConsistency{}) : PerceptualConsistency{};
}

// Every cell with every cell, in double precision, straight from equations 1 to 3.
double direction(const Frame& a, const Frame& b, const LabelClasses& classes) {
  const auto label = [](const Frame& f, int x, int y) {
    const double u = (x + 0.5) * f.labels.size.width / f.cells.width;
    const double v = (y + 0.5) * f.labels.size.height / f.cells.height;
    return f.labels.row(static_cast<int>(v))[static_cast<std::size_t>(u)];
  };
  const auto unit = [](const Frame& f, int x, int y) {
    std::vector<double> vector;
    double square = 0;
    for (int c = 0; c < f.channels; ++c) {
      const auto i = static_cast<std::size_t>((c * f.cells.height + y) * f.cells.width + x);
      vector.push_back(f.values[i]);
      square += vector.back() * vector.back();
    }
    for (double& v : vector) v = square > 0 ? v / std::sqrt(square) : 0;
    return vector;
  };
  double sum = 0;
  int count = 0;
  for (int y = 0; y < a.cells.height; ++y) {
    for (int x = 0; x < a.cells.width; ++x) {
      if (!classes.is_class(label(a, x, y))) continue;
      const std::vector<double> own = unit(a, x, y);
      double all = -2, same = -2, total = 0;
      int others = 0;
      for (int v = 0; v < b.cells.height; ++v) {
        for (int u = 0; u < b.cells.width; ++u) {
          if (!classes.is_class(label(b, u, v))) continue;
          const std::vector<double> other = unit(b, u, v);
          double product = 0;
          for (std::size_t c = 0; c < own.size(); ++c) product += own[c] * other[c];
          all = std::max(all, product);
          if (label(b, u, v) == label(a, x, y)) same = std::max(same, product);
          total += product;
          ++others;
        }
      }
      const double mean = total / others;
      ++count;
      if (all - mean < 1e-5) {  // all look the same
        sum += same == -2 ? 0 : 1;
        continue;
      }
      if (same == -2) same = 0;
      sum += (same - mean) / (all - mean);
    }
  }
  return sum / count;
}

Frame random_frame(Size cells, Size labels, int channels, std::mt19937& random, int classes) {
  std::uniform_real_distribution<float> value(-0.3f, 1);
  Frame frame;
  frame.channels = channels;
  frame.cells = cells;
  frame.values.resize(static_cast<std::size_t>(channels * cells.width * cells.height));
  for (float& v : frame.values) v = value(random);
  frame.labels.resize(labels);
  for (auto& label : frame.labels.labels) {
    label = static_cast<std::uint8_t>(random() % static_cast<unsigned>(classes));
  }
  return frame;
}

// Two looks, along the axes of two channels. The mean correlation of a cell is the share of cells
// that look like it.
//   looks   before  A A B B     classes  before  0 0 1 1
//           after   A A A B              after   0 1 0 1
TEST(PerceptualConsistency, IsWholeWhereEveryLookHasItsClass) {
  const Frame before{2, {4, 1}, {1, 1, 0, 0, 0, 0, 3, 3}, map_of({4, 1}, {0, 0, 1, 1})};
  const Frame after{2, {4, 1}, {2, 1, 1, 0, 0, 0, 0, 1}, map_of({4, 1}, {0, 1, 0, 1})};
  const PerceptualConsistency result = consistency(before, after, classes_of(2));
  EXPECT_DOUBLE_EQ(result.before, 1);  // each finds its look in its class
  // The second cell after looks like A, but A has no class 1 before: its best there is B's 0, its
  // mean 1/2: (0 - 1/2) / (1 - 1/2) = -1. The others have 1.
  EXPECT_DOUBLE_EQ(result.after, (1 - 1 + 1 + 1) / 4.0);
  EXPECT_DOUBLE_EQ(result.value, 0.5);
  const PerceptualConsistency back = consistency(after, before, classes_of(2));
  EXPECT_DOUBLE_EQ(back.before, result.after);
  EXPECT_DOUBLE_EQ(back.after, result.before);
  EXPECT_DOUBLE_EQ(back.value, 0.5);
}

TEST(PerceptualConsistency, OfAFrameWithItselfIsOne) {
  std::mt19937 random(8);
  const Frame frame = random_frame({9, 7}, {18, 14}, 12, random, 3);
  const PerceptualConsistency result = consistency(frame, frame, classes_of(3));
  EXPECT_DOUBLE_EQ(result.value, 1);
}

TEST(PerceptualConsistency, AgreesWithThePlainDefinition) {
  std::mt19937 random(21);
  const LabelClasses classes = classes_of(5, {3, 11});
  for (const auto& [a_cells, b_cells, channels] : {std::tuple{Size{1, 1}, Size{5, 1}, 3},
                                                   {Size{7, 5}, Size{7, 5}, 1 + 4},
                                                   {Size{23, 17}, Size{19, 21}, 33},
                                                   {Size{25, 20}, Size{25, 20}, 8}}) {
    Frame a = random_frame(a_cells, {64, 48}, channels, random, 3);
    Frame b = random_frame(b_cells, {31, 57}, channels, random, 5);
    a.values[0] = 0;
    if (b_cells.width > 6) {
      // A class that the other frame has not, ignored labels, a cell without looks.
      for (std::size_t i = 0; i < 400; ++i) b.labels.labels[i] = i % 2 == 0 ? 255 : 4;
      for (int c = 0; c < channels; ++c) {
        b.values[static_cast<std::size_t>(c * b_cells.width * b_cells.height) + 25] = 0;
      }
    }
    const PerceptualConsistency result = consistency(a, b, classes);
    EXPECT_NEAR(result.before, direction(a, b, classes), 2e-5);
    EXPECT_NEAR(result.after, direction(b, a, classes), 2e-5);
    EXPECT_EQ(result.value, std::min(result.before, result.after));
  }
}

TEST(PerceptualConsistency, DoesNotDependOnTheThreads) {
  std::mt19937 random(4);
  const Frame a = random_frame({31, 23}, {62, 46}, 20, random, 4);
  const Frame b = random_frame({31, 23}, {62, 46}, 20, random, 4);
  const PerceptualConsistency expected = consistency(a, b, classes_of(4));
  int calls = 0;
  const auto threads = [&](int count, const std::function<void(int)>& body) {
    ++calls;
    std::vector<std::thread> all;
    for (int i = count - 1; i >= 0; --i) all.emplace_back([&body, i] { body(i); });
    for (std::thread& thread : all) thread.join();
  };
  const auto result = perceptual_consistency(a.view(), b.view(), classes_of(4), threads);
  ASSERT_TRUE(result.ok() && result->has_value());
  EXPECT_EQ((*result)->before, expected.before);
  EXPECT_EQ((*result)->after, expected.after);
  EXPECT_EQ(calls, 1);
}

TEST(PerceptualConsistency, WhereAllLooksAlikeItIsWhetherThereIsTheClass) {
  const Frame before{1, {2, 1}, {1, 1}, map_of({2, 1}, {0, 1})};
  const Frame after{1, {2, 1}, {5, 5}, map_of({2, 1}, {0, 0})};
  const PerceptualConsistency result = consistency(before, after, classes_of(2));
  EXPECT_DOUBLE_EQ(result.before, 0.5);
  EXPECT_DOUBLE_EQ(result.after, 1);
}

TEST(PerceptualConsistency, IsNoneWithoutACellThatCounts) {
  const Frame known{1, {2, 1}, {1, 1}, map_of({2, 1}, {0, 1})};
  const Frame unknown{1, {2, 1}, {1, 1}, map_of({2, 1}, {255, 255})};
  for (const auto& result : {perceptual_consistency(known.view(), unknown.view(), classes_of(2)),
                             perceptual_consistency(unknown.view(), known.view(), classes_of(2))}) {
    ASSERT_TRUE(result.ok());
    EXPECT_FALSE(result->has_value());
  }
}

TEST(PerceptualConsistency, RefusesWhatDoesNotFit) {
  const Frame good{1, {2, 1}, {1, 1}, map_of({2, 1}, {0, 1})};
  const auto text = [&](const Frame& bad) {
    const auto result = perceptual_consistency(good.view(), bad.view(), classes_of(2));
    EXPECT_FALSE(result.ok());
    if (result.ok()) return std::string();
    EXPECT_EQ(result.error().code, ErrorCode::kInvalidArgument);
    return result.error().to_string();
  };
  Frame bad = good;
  bad.values.pop_back();
  EXPECT_THAT(text(bad), HasSubstr("are 1 values; give channels * width * height, 2"));
  bad = good;
  bad.values[1] = std::numeric_limits<float>::infinity();
  EXPECT_THAT(text(bad), HasSubstr("not finite"));
  bad = good;
  bad.channels = 2;
  bad.values.resize(4);
  EXPECT_THAT(text(bad), HasSubstr("2 channels, those before 1"));
  bad = good;
  bad.cells = {0, 1};
  EXPECT_THAT(text(bad), HasSubstr("are empty"));
  bad = good;
  bad.labels.labels[0] = 3;
  EXPECT_THAT(text(bad), HasSubstr("label 3 at (0, 0)"));
}

}  // namespace
}  // namespace sparing

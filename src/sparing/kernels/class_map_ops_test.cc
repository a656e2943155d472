#include "sparing/kernels/class_map_ops.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <thread>
#include <vector>

#include "sparing/kernels/class_map_simd.h"
#include "sparing/kernels/import_targets_test_util.h"

namespace sparing {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Threads of its own for each call.
const ParallelFor kThreads = [](int count, const std::function<void(int)>& body) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back([&body, i] { body(i); });
  for (std::thread& thread : threads) thread.join();
};

ProbabilityMap random_map(int classes, Size size, float spread, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal(0, spread);
  ProbabilityMap map;
  map.resize(classes, size);
  for (float& value : map.values) value = normal(generator);
  return map;
}

double at(const ProbabilityMap& map, int c, int x, int y) {
  return map.plane(c)[static_cast<std::size_t>(y) * static_cast<std::size_t>(map.size.width) +
                      static_cast<std::size_t>(x)];
}

// The definition: half-pixel centres, the edges repeated.
double bilinear(const ProbabilityMap& map, int c, Size to, int x, int y) {
  const double sx = (x + 0.5) * map.size.width / to.width - 0.5;
  const double sy = (y + 0.5) * map.size.height / to.height - 0.5;
  double sum = 0;
  for (int dy = 0; dy < 2; ++dy) {
    for (int dx = 0; dx < 2; ++dx) {
      const double column = std::floor(sx) + dx;
      const double row = std::floor(sy) + dy;
      const double weight = (1 - std::abs(sx - column)) * (1 - std::abs(sy - row));
      const auto inside = [](double v, int n) {
        return static_cast<int>(std::clamp(v, 0.0, n - 1.0));
      };
      sum += weight * at(map, c, inside(column, map.size.width), inside(row, map.size.height));
    }
  }
  return sum;
}

// Each label has, in the exact planes, no less than the greatest but for rounding.
void expect_argmax(const ProbabilityMap& map, const LabelMap& labels, double tolerance) {
  int close = 0;
  for (int y = 0; y < labels.size.height; ++y) {
    for (int x = 0; x < labels.size.width; ++x) {
      double best = -1e30;
      int best_class = 0;
      for (int c = 0; c < map.classes; ++c) {
        const double value = bilinear(map, c, labels.size, x, y);
        if (value > best) {
          best = value;
          best_class = c;
        }
      }
      const int label = labels.row(y)[static_cast<std::size_t>(x)];
      ASSERT_LT(label, map.classes);
      if (label == best_class) continue;
      ++close;
      ASSERT_NEAR(bilinear(map, label, labels.size, x, y), best, tolerance) << x << "," << y;
    }
  }
  EXPECT_LE(close, labels.size.width * labels.size.height / 1000 + 1);
}

struct Case {
  int classes;
  Size from;
  Size to;
};
// Enlarged, reduced, one way each; odd sizes, narrower than a vector and wider than a tile.
constexpr Case kCases[] = {
    {11, {60, 45}, {120, 90}}, {11, {40, 30}, {161, 119}}, {2, {64, 64}, {300, 170}},
    {3, {1, 1}, {37, 5}},      {4, {2, 3}, {33, 33}},      {5, {17, 9}, {18, 10}},
    {3, {133, 70}, {70, 133}}, {7, {301, 33}, {33, 67}},   {255, {9, 7}, {71, 20}},
    {1, {20, 20}, {31, 31}},   {6, {15, 16}, {1, 1}},      {2, {15, 40}, {640, 41}},
};

TEST(ArgmaxResized, IsTheArgmaxOfPlanesResizedInDoublePrecision) {
  unsigned seed = 1;
  for (const Case& shape : kCases) {
    const ProbabilityMap map = random_map(shape.classes, shape.from, 1, seed++);
    LabelMap first;
    test::for_each_target([&] {
      LabelMap labels;
      argmax_resized(map, shape.to, labels);
      ASSERT_EQ(labels.size, shape.to);
      LabelMap threaded;
      argmax_resized(map, shape.to, threaded, kThreads);
      EXPECT_EQ(threaded, labels);
      if (first.labels.empty()) {
        expect_argmax(map, labels, 1e-6);
        first = labels;
      }
      EXPECT_EQ(labels, first) << "instruction sets differ";
    });
  }
}

TEST(ResizeBilinear, IsTheDefinition) {
  unsigned seed = 100;
  for (const Case& shape : kCases) {
    const ProbabilityMap map = random_map(shape.classes, shape.from, 1, seed++);
    ProbabilityMap first;
    test::for_each_target([&] {
      ProbabilityMap out;
      resize_bilinear(map, shape.to, out, seed % 2 == 0 ? kThreads : ParallelFor());
      ASSERT_EQ(out.size, shape.to);
      ASSERT_EQ(out.classes, shape.classes);
      if (first.values.empty()) {
        first = out;
        for (int c = 0; c < shape.classes; ++c) {
          for (int y = 0; y < shape.to.height; ++y) {
            for (int x = 0; x < shape.to.width; ++x) {
              ASSERT_NEAR(at(out, c, x, y), bilinear(map, c, shape.to, x, y), 2e-6);
            }
          }
        }
      }
      EXPECT_EQ(out.values, first.values) << "instruction sets differ";
    });
  }
}

// Two columns, 1 to 4: the outer halves of a pixel repeat the edge, the others are a quarter and
// three quarters of the way.
TEST(ResizeBilinear, ByHand) {
  ProbabilityMap map;
  map.resize(1, {2, 1});
  map.values = {0, 8};
  ProbabilityMap out;
  resize_bilinear(map, {4, 2}, out);
  EXPECT_EQ(out.values, (std::vector<float>{0, 2, 6, 8, 0, 2, 6, 8}));
}

TEST(Argmax, GreatestOfEachPixel) {
  for (const int classes : {1, 2, 11, 255}) {
    for (const Size size : {Size{1, 1}, Size{7, 3}, Size{16, 2}, Size{301, 119}}) {
      const ProbabilityMap map = random_map(classes, size, 1, 7);
      test::for_each_target([&] {
        LabelMap labels;
        argmax(map, labels);
        ASSERT_EQ(labels.size, size);
        for (int y = 0; y < size.height; ++y) {
          for (int x = 0; x < size.width; ++x) {
            int best = 0;
            for (int c = 1; c < classes; ++c) {
              if (at(map, c, x, y) > at(map, best, x, y)) best = c;
            }
            ASSERT_EQ(labels.row(y)[static_cast<std::size_t>(x)], best);
          }
        }
        LabelMap threaded;
        argmax(map, threaded, kThreads);
        EXPECT_EQ(threaded, labels);
      });
    }
  }
}

TEST(Argmax, TiesGoToTheLowerClassAndNaNNeverWins) {
  ProbabilityMap map;
  map.resize(3, {5, 1});
  map.values = {1, kNaN, kNaN, -kInfinity, 2,  //
                2, -3,   kNaN, -kInfinity, 2,  //
                2, -3,   kNaN, -kInfinity, kNaN};
  test::for_each_target([&] {
    LabelMap labels;
    argmax(map, labels);
    EXPECT_EQ(labels.labels, (std::vector<std::uint8_t>{1, 1, 0, 0, 0}));
  });
  // Where all planes are the same, so they are between the pixels.
  ProbabilityMap same = random_map(1, {23, 19}, 1, 3);
  same.classes = 4;
  const std::vector<float> plane = same.values;
  for (int c = 1; c < 4; ++c) same.values.insert(same.values.end(), plane.begin(), plane.end());
  test::for_each_target([&] {
    LabelMap labels;
    argmax_resized(same, {77, 60}, labels);
    EXPECT_EQ(std::count(labels.labels.begin(), labels.labels.end(), 0), 77 * 60);
  });
}

TEST(Argmax, KeepsMemoryThatIsThere) {
  const ProbabilityMap map = random_map(3, {20, 10}, 1, 1);
  LabelMap labels;
  argmax_resized(map, {80, 40}, labels);
  const std::uint8_t* const memory = labels.labels.data();
  argmax(map, labels);
  argmax_resized(map, {80, 40}, labels);
  EXPECT_EQ(labels.labels.data(), memory);
}

// The definition, pixel by pixel.
void expect_softmax(const ProbabilityMap& logits, const ProbabilityMap& found) {
  const std::size_t pixels = logits.pixels();
  const auto classes = static_cast<std::size_t>(logits.classes);
  for (std::size_t i = 0; i < pixels; ++i) {
    double sum = 0;
    double greatest = -1e30;
    double total = 0;
    for (std::size_t c = 0; c < classes; ++c) {
      greatest = std::max<double>(greatest, logits.values[c * pixels + i]);
    }
    for (std::size_t c = 0; c < classes; ++c) {
      sum += std::exp(logits.values[c * pixels + i] - greatest);
    }
    for (std::size_t c = 0; c < classes; ++c) {
      const double below = greatest - logits.values[c * pixels + i];
      const double exact = std::exp(-below) / sum;
      ASSERT_NEAR(found.values[c * pixels + i], exact, (2e-6 + 1e-7 * below) * exact + 1e-37);
      total += found.values[c * pixels + i];
    }
    ASSERT_NEAR(total, 1, 2e-6);
  }
}

TEST(Softmax, IsTheDefinitionInDoublePrecision) {
  unsigned seed = 50;
  for (const int classes : {1, 2, 11, 255}) {
    const Size size = classes <= 2 ? Size{137, 131} : Size{61, 37};
    for (const float spread : {0.1f, 3.0f, 30.0f, 1e4f}) {
      const ProbabilityMap logits = random_map(classes, size, spread, seed++);
      ProbabilityMap first;
      test::for_each_target([&] {
        ProbabilityMap map = logits;
        EXPECT_EQ(softmax(map, seed % 2 == 0 ? kThreads : ParallelFor()), 0);
        if (first.values.empty()) {
          expect_softmax(logits, map);
          first = map;
        }
        EXPECT_EQ(map.values, first.values) << "instruction sets differ";
      });
    }
  }
}

TEST(Softmax, PixelsWithoutAnAnswerAreEvenAndCounted) {
  ProbabilityMap logits = random_map(4, {41, 1}, 1, 9);
  const auto set = [&](int c, int x, float value) {
    logits.plane(c)[static_cast<std::size_t>(x)] = value;
  };
  set(2, 3, kNaN);
  set(0, 17, kInfinity);
  for (int c = 0; c < 4; ++c) set(c, 40, -kInfinity);
  set(1, 5, -kInfinity);  // this one is an answer
  test::for_each_target([&] {
    ProbabilityMap map = logits;
    EXPECT_EQ(softmax(map), 3);
    for (int c = 0; c < 4; ++c) {
      for (const int x : {3, 17, 40}) EXPECT_EQ(at(map, c, x, 0), 0.25);
    }
    EXPECT_LT(at(map, 1, 5, 0), 1e-30);
    EXPECT_NEAR(at(map, 0, 5, 0) + at(map, 2, 5, 0) + at(map, 3, 5, 0), 1, 1e-6);
  });
}

}  // namespace
}  // namespace sparing

#include "sparing/base/geometry.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <random>

namespace sparing {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr double kNanD = std::numeric_limits<double>::quiet_NaN();

TEST(Rect, IsEmptyWithoutExtent) {
  EXPECT_TRUE(Rect{}.empty());
  EXPECT_TRUE((Rect{1, 1, 0, 5}.empty()));
  EXPECT_TRUE((Rect{1, 1, 5, -1}.empty()));
  EXPECT_TRUE((Rect{1, 1, kNanD, 5}.empty()));
  EXPECT_FALSE((Rect{1, 1, 1e-9, 5}.empty()));
  EXPECT_EQ((Rect{1, 1, -2, -3}.area()), 0);
  EXPECT_EQ((Rect{1, 1, 2, 3}.area()), 6);
  EXPECT_EQ((Rect{1, 2, 3, 4}.right()), 4);
  EXPECT_EQ((Rect{1, 2, 3, 4}.bottom()), 6);
}

TEST(Rect, Intersects) {
  EXPECT_EQ(intersect({0, 0, 10, 10}, {5, 6, 10, 10}), (Rect{5, 6, 5, 4}));
  EXPECT_EQ(intersect({5, 6, 10, 10}, {0, 0, 10, 10}), (Rect{5, 6, 5, 4}));
  EXPECT_EQ(intersect({0, 0, 10, 10}, {10, 0, 5, 5}), Rect{}) << "shared edges are no overlap";
  EXPECT_EQ(intersect({0, 0, 10, 10}, {20, 20, 5, 5}), Rect{});
  EXPECT_EQ(intersect({0, 0, 10, 10}, {5, 5, -2, 3}), Rect{});
  EXPECT_EQ(intersect({-1e9, -1e9, 2e9, 2e9}, {-3, 4, 5, 6}), (Rect{-3, 4, 5, 6}));
}

TEST(Rect, IntersectionKeepsWhatLiesInsideToTheLastBit) {
  const Rect frame{0, 0, 768, 576};
  // .1 + .2 - .1 is not .2 in binary.
  const Rect inner{0.1, 0.1, 0.2, 0.2};
  EXPECT_EQ(intersect(frame, inner), inner);
  EXPECT_EQ(intersect(inner, frame), inner);
  EXPECT_EQ(intersect(inner, inner), inner);
  EXPECT_EQ(intersect({0.1, 0.1, 5, 5}, inner), inner);
  EXPECT_EQ(intersect(inner, {0.1, 0.1, 5, 5}), inner);
}

TEST(Rect, IntersectionWithWhatIsNotFiniteIsEmpty) {
  EXPECT_EQ(intersect({0, 0, 10, 10}, {kNanD, 0, 5, 5}), Rect{});
  EXPECT_EQ(intersect({0, kNanD, 10, 10}, {0, 0, 5, 5}), Rect{});
  EXPECT_EQ(intersect({0, 0, kInf, 10}, {0, 0, 5, 5}), Rect{});
}

TEST(Rect, Finite) {
  EXPECT_TRUE(is_finite(Rect{1, 2, -3, 4}));
  EXPECT_FALSE(is_finite(Rect{kNanD, 2, 3, 4}));
  EXPECT_FALSE(is_finite(Rect{1, kInf, 3, 4}));
  EXPECT_FALSE(is_finite(Rect{1, 2, -kInf, 4}));
  EXPECT_FALSE(is_finite(Rect{1, 2, 3, kNanD}));
}

TEST(Box, Finite) {
  EXPECT_TRUE(is_finite(Box{1, 2, 3, 4}));
  EXPECT_FALSE(is_finite(Box{kNan, 2, 3, 4}));
  EXPECT_FALSE(is_finite(Box{1, kInf, 3, 4}));
  EXPECT_FALSE(is_finite(Box{1, 2, -kInf, 4}));
  EXPECT_FALSE(is_finite(Box{1, 2, 3, kNan}));
}

TEST(Box, AreaOfInvertedBoxesIsZero) {
  EXPECT_EQ((Box{1, 1, 3, 4}.area()), 6);
  EXPECT_EQ((Box{3, 1, 1, 4}.area()), 0);
  EXPECT_EQ((Box{3, 4, 1, 1}.area()), 0);
}

TEST(Iou, KnownValues) {
  const Box box{0, 0, 10, 10};
  EXPECT_FLOAT_EQ(iou(box, box), 1);
  EXPECT_FLOAT_EQ(iou(box, {5, 0, 15, 10}), 50.0f / 150.0f);
  EXPECT_FLOAT_EQ(iou(box, {0, 0, 5, 5}), 0.25f);
  EXPECT_FLOAT_EQ(iou({0, 0, 5, 5}, box), 0.25f);
  EXPECT_EQ(iou(box, {10, 0, 20, 10}), 0) << "shared edges";
  EXPECT_EQ(iou(box, {20, 20, 30, 30}), 0);
}

TEST(Iou, BoxesWithoutAreaHaveNone) {
  const Box box{0, 0, 10, 10};
  EXPECT_EQ(iou(box, {5, 5, 5, 5}), 0);
  EXPECT_EQ(iou({5, 5, 5, 5}, {5, 5, 5, 5}), 0);
  EXPECT_EQ(iou(box, {5, 0, 5, 10}), 0);
  EXPECT_EQ(iou(box, {8, 8, 2, 2}), 0) << "inverted";
  EXPECT_EQ(iou({8, 8, 2, 2}, {8, 8, 2, 2}), 0);
}

TEST(Iou, ExtremeSizesNeitherOverflowNorVanish) {
  const float huge = 1e30f;
  EXPECT_FLOAT_EQ(iou({0, 0, huge, huge}, {0, 0, huge, huge / 2}), 0.5f);
  EXPECT_FLOAT_EQ(iou({-3e38f, -3e38f, 3e38f, 3e38f}, {-3e38f, -3e38f, 3e38f, 3e38f}), 1);
  const float tiny = 1e-30f;
  EXPECT_FLOAT_EQ(iou({0, 0, tiny, tiny}, {0, 0, tiny, tiny}), 1);
}

TEST(Iou, IsSymmetricAndAtMostOne) {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> near(0, 4);
  for (int i = 0; i < 10000; ++i) {
    Box a{near(random), near(random), 0, 0};
    Box b{near(random), near(random), 0, 0};
    a.x1 = a.x0 + near(random);
    a.y1 = a.y0 + near(random);
    b.x1 = b.x0 + near(random);
    b.y1 = b.y0 + near(random);
    const float value = iou(a, b);
    EXPECT_EQ(value, iou(b, a));
    EXPECT_GE(value, 0);
    EXPECT_LE(value, 1);
    EXPECT_EQ(iou(a, a), a.area() > 0 ? 1 : 0);
  }
}

TEST(Clip, KeepsWhatIsInside) {
  EXPECT_EQ(clip({-5, -6, 700, 500}, 640, 480), (Box{0, 0, 640, 480}));
  EXPECT_EQ(clip({1, 2, 3, 4}, 640, 480), (Box{1, 2, 3, 4}));
  EXPECT_EQ(clip({700, 2, 800, 4}, 640, 480).area(), 0);
  EXPECT_EQ(clip({-9, -9, -1, -1}, 640, 480), (Box{0, 0, 0, 0}));
  EXPECT_EQ(clip({1, 2, 3, 4}, 0, 0), (Box{0, 0, 0, 0}));
  EXPECT_EQ(clip({-kInf, 0, kInf, 4}, 640, 480), (Box{0, 0, 640, 4}));
}

TEST(ClipDeathTest, NegativeExtentsAreABug) {
  EXPECT_DEATH_IF_SUPPORTED((void)clip({}, -1, 5), "invariant");
}

Affine rotation(double degrees, double scale, double tx, double ty) {
  const double c = scale * std::cos(degrees * std::numbers::pi / 180);
  const double s = scale * std::sin(degrees * std::numbers::pi / 180);
  return {c, -s, tx, s, c, ty};
}

void expect_near(const Affine& a, const Affine& b, double tolerance) {
  EXPECT_NEAR(a.a, b.a, tolerance);
  EXPECT_NEAR(a.b, b.b, tolerance);
  EXPECT_NEAR(a.tx, b.tx, tolerance);
  EXPECT_NEAR(a.c, b.c, tolerance);
  EXPECT_NEAR(a.d, b.d, tolerance);
  EXPECT_NEAR(a.ty, b.ty, tolerance);
}

TEST(Affine, MapsPoints) {
  EXPECT_EQ(Affine{}({3, 4}), (Point{3, 4}));
  EXPECT_EQ((Affine{2, 3, 5, 7, 11, 13}({1, 10})), (Point{2 + 30 + 5, 7 + 110 + 13}));
  EXPECT_EQ((Affine{2, 3, 5, 7, 11, 13}.determinant()), 1);
}

TEST(Affine, ComposesFirstTheRightOne) {
  const Affine scale{2, 0, 0, 0, 2, 0};
  const Affine shift{1, 0, 10, 0, 1, 20};
  EXPECT_EQ(compose(shift, scale)({1, 1}), (Point{12, 22}));
  EXPECT_EQ(compose(scale, shift)({1, 1}), (Point{22, 42}));
  std::mt19937 random(2);
  std::uniform_real_distribution<double> any(-3, 3);
  const auto next = [&] { return any(random); };
  for (int i = 0; i < 1000; ++i) {
    const Affine f{next(), next(), next(), next(), next(), next()};
    const Affine g{next(), next(), next(), next(), next(), next()};
    const Point p{next(), next()};
    const Point expected = g(f(p));
    const Point actual = compose(g, f)(p);
    EXPECT_NEAR(actual.x, expected.x, 1e-12);
    EXPECT_NEAR(actual.y, expected.y, 1e-12);
  }
}

TEST(Affine, InverseUndoesRotationsAndShears) {
  for (const double degrees : {0.0, 33.0, 90.0, 180.0, 270.0, 301.5}) {
    const Affine map = rotation(degrees, 1.7, 12.5, -300);
    expect_near(compose(map, inverse(map)), Affine{}, 1e-12);
    expect_near(compose(inverse(map), map), Affine{}, 1e-12);
  }
  const Affine mirror{-1, 0.25, 640, 0.5, 3, 0};
  expect_near(compose(inverse(mirror), mirror), Affine{}, 1e-12);
}

TEST(Affine, InverseOfIdentityIsIdentity) { expect_near(inverse(Affine{}), Affine{}, 0); }

TEST(AffineDeathTest, SingularMapsHaveNoInverse) {
  EXPECT_DEATH_IF_SUPPORTED((void)inverse({1, 2, 0, 2, 4, 0}), "invariant");
}

TEST(MapBox, ScalesAndShifts) {
  EXPECT_EQ(map_box({2, 0, 10, 0, 3, 20}, {1, 2, 3, 4}), (Box{12, 26, 16, 32}));
}

// A quarter turn clockwise of an image 480 high: (x, y) -> (480 - y, x).
TEST(MapBox, QuarterTurns) {
  const Box box{10, 20, 30, 60};
  EXPECT_EQ(map_box({0, -1, 480, 1, 0, 0}, box), (Box{420, 10, 460, 30}));
  EXPECT_EQ(map_box({-1, 0, 640, 0, -1, 480}, box), (Box{610, 420, 630, 460}));
  EXPECT_EQ(map_box({0, 1, 0, -1, 0, 640}, box), (Box{20, 610, 60, 630}));
}

TEST(MapBox, MirrorsKeepCornersInOrder) {
  EXPECT_EQ(map_box({-1, 0, 640, 0, 1, 0}, {10, 20, 30, 60}), (Box{610, 20, 630, 60}));
}

TEST(MapBox, HoldsTheTurnedBox) {
  const Box turned = map_box(rotation(45, 1, 0, 0), {-1, -1, 1, 1});
  const float root = std::sqrt(2.0f);
  EXPECT_FLOAT_EQ(turned.x0, -root);
  EXPECT_FLOAT_EQ(turned.y0, -root);
  EXPECT_FLOAT_EQ(turned.x1, root);
  EXPECT_FLOAT_EQ(turned.y1, root);
}

}  // namespace
}  // namespace sparing

#include "sparing/base/timestamp.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <random>
#include <vector>

namespace sparing {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();

// The independent check: schoolbook integers of any size, which only multiply, add and compare,
// where the code under test divides.
class Big {
 public:
  Big(std::int64_t value)  // NOLINT: implicit, so that formulas read as such
      : negative_(value < 0) {
    auto rest =
        negative_ ? ~static_cast<std::uint64_t>(value) + 1 : static_cast<std::uint64_t>(value);
    for (; rest > 0; rest >>= 32) limbs_.push_back(static_cast<std::uint32_t>(rest));
  }

  friend Big operator*(const Big& a, const Big& b) {
    Big r(0);
    r.limbs_.assign(a.limbs_.size() + b.limbs_.size() + 1, 0);
    for (std::size_t i = 0; i < a.limbs_.size(); ++i) {
      std::uint64_t carry = 0;
      for (std::size_t j = 0; j <= b.limbs_.size(); ++j) {
        const std::uint64_t factor = j < b.limbs_.size() ? b.limbs_[j] : 0;
        carry += r.limbs_[i + j] + a.limbs_[i] * factor;
        r.limbs_[i + j] = static_cast<std::uint32_t>(carry);
        carry >>= 32;
      }
    }
    r.trim();
    r.negative_ = !r.limbs_.empty() && a.negative_ != b.negative_;
    return r;
  }

  friend Big operator-(const Big& a, const Big& b) {
    Big minus = b;
    minus.negative_ = !b.negative_ && !b.limbs_.empty();
    return add(a, minus);
  }

  friend int compare(const Big& a, const Big& b) {
    if (a.negative_ != b.negative_) return a.negative_ ? -1 : 1;
    const int size = compare_sizes(a, b);
    return a.negative_ ? -size : size;
  }

  Big magnitude() const {
    Big r = *this;
    r.negative_ = false;
    return r;
  }

 private:
  static int compare_sizes(const Big& a, const Big& b) {
    if (a.limbs_.size() != b.limbs_.size()) return a.limbs_.size() < b.limbs_.size() ? -1 : 1;
    for (std::size_t i = a.limbs_.size(); i-- > 0;) {
      if (a.limbs_[i] != b.limbs_[i]) return a.limbs_[i] < b.limbs_[i] ? -1 : 1;
    }
    return 0;
  }

  static Big add(const Big& a, const Big& b) {
    const Big& big = compare_sizes(a, b) >= 0 ? a : b;
    const Big& small = compare_sizes(a, b) >= 0 ? b : a;
    const std::int64_t sign = a.negative_ == b.negative_ ? 1 : -1;
    Big r(0);
    std::int64_t carry = 0;
    for (std::size_t i = 0; i <= big.limbs_.size(); ++i) {
      if (i < big.limbs_.size()) carry += big.limbs_[i];
      if (i < small.limbs_.size()) carry += sign * static_cast<std::int64_t>(small.limbs_[i]);
      r.limbs_.push_back(static_cast<std::uint32_t>(carry));
      carry >>= 32;
    }
    r.trim();
    r.negative_ = !r.limbs_.empty() && big.negative_;
    return r;
  }

  void trim() {
    while (!limbs_.empty() && limbs_.back() == 0) limbs_.pop_back();
  }

  bool negative_;
  std::vector<std::uint32_t> limbs_;  // least first
};

int sign(std::strong_ordering order) { return order < 0 ? -1 : order > 0 ? 1 : 0; }

int expected_order(const Timestamp& a, const Timestamp& b) {
  return compare(Big(a.ticks) * a.time_base.num * b.time_base.den,
                 Big(b.ticks) * b.time_base.num * a.time_base.den);
}

// Numbers of all magnitudes, the ends of int64 among them.
std::int64_t any_integer(std::mt19937_64& random) {
  switch (random() % 8) {
    case 0: return kMax - static_cast<std::int64_t>(random() % 3);
    case 1: return kMin + static_cast<std::int64_t>(random() % 3);
    case 2: return static_cast<std::int64_t>(random() % 5) - 2;
    default: return static_cast<std::int64_t>(random()) >> (random() % 64);
  }
}

std::int64_t any_positive(std::mt19937_64& random) {
  const std::int64_t value = any_integer(random);
  if (value > 0) return value;
  return value == 0 ? 1 : value == kMin ? kMax : -value;
}

TEST(Big, AgreesWithKnownProducts) {
  EXPECT_EQ(compare(Big(kMin) * kMin, Big(1LL << 62) * (1LL << 62) * 4), 0);
  EXPECT_EQ(compare(Big(-7) * 6, Big(-42)), 0);
  EXPECT_EQ(compare(Big(5) - Big(-7), Big(12)), 0);
  EXPECT_EQ(compare(Big(kMin) - Big(kMax), Big(kMax) * -2 - Big(1)), 0);
  EXPECT_LT(compare(Big(kMin) * kMax, Big(kMin)), 0);
}

TEST(Rational, ComparesByValue) {
  EXPECT_EQ((Rational{1, 2}), (Rational{2, 4}));
  EXPECT_EQ((Rational{0, 5}), (Rational{0, 7}));
  EXPECT_LT((Rational{1, 3}), (Rational{1, 2}));
  EXPECT_LT((Rational{-1, 2}), (Rational{-1, 3}));
  EXPECT_LT((Rational{-1, 2}), (Rational{1, 3}));
  EXPECT_GT((Rational{30000, 1001}), (Rational{2997, 100}));
  EXPECT_LT((Rational{kMax - 1, kMax}), (Rational{kMax, kMax}));
  EXPECT_GT((Rational{kMax, kMax - 1}), (Rational{kMax - 1, kMax - 2 + 1}));
  EXPECT_EQ((Rational{kMin, 2}), (Rational{kMin / 2, 1}));
  EXPECT_DOUBLE_EQ((Rational{30000, 1001}.value()), 30000.0 / 1001.0);
}

TEST(Rational, NeighboursThatDoubleCannotTellApart) {
  const Rational a{kMax - 1, kMax};
  const Rational b{kMax - 2, kMax - 1};
  ASSERT_EQ(a.value(), b.value());
  EXPECT_GT(a, b);
  EXPECT_NE(a, b);
}

TEST(Timestamp, ComparesAcrossTimeBases) {
  EXPECT_EQ((Timestamp{90000, {1, 90000}}), (Timestamp{1000, {1, 1000}}));
  EXPECT_LT((Timestamp{3003, {1, 90000}}), (Timestamp{34, {1, 1000}}));
  EXPECT_GT((Timestamp{3003, {1, 90000}}), (Timestamp{33, {1, 1000}}));
  EXPECT_EQ((Timestamp{1, {1001, 30000}}), (Timestamp{3003, {1, 90000}}));
  EXPECT_LT((Timestamp{-1, {1, 1000}}), (Timestamp{0, {1, 90000}}));
  EXPECT_EQ((Timestamp{0, {1, 1000}}), (Timestamp{0, {7, 90000}}));
}

TEST(Timestamp, ComparesExactlyAtTheEndsOfInt64) {
  std::mt19937_64 random(3);
  std::array<int, 3> seen{};
  for (int i = 0; i < 20000; ++i) {
    const Timestamp a{any_integer(random), {any_positive(random), any_positive(random)}};
    Timestamp b{any_integer(random), {any_positive(random), any_positive(random)}};
    if (i % 4 == 0) b = {a.time_base.num, {a.ticks, a.time_base.den}};  // the same value
    if (i % 4 == 1)
      b = {a.ticks, {a.time_base.num, std::max<std::int64_t>(1, a.time_base.den - 1)}};
    const int expected = expected_order(a, b);
    ++seen[static_cast<std::size_t>(expected + 1)];
    ASSERT_EQ(sign(a <=> b), expected)
        << a.ticks << " * " << a.time_base.num << " / " << a.time_base.den << " and " << b.ticks
        << " * " << b.time_base.num << " / " << b.time_base.den;
    ASSERT_EQ(sign(b <=> a), -expected);
    ASSERT_EQ(a == b, expected == 0);
  }
  for (const int count : seen) EXPECT_GT(count, 1000);
}

TEST(Timestamp, Seconds) {
  EXPECT_DOUBLE_EQ((Timestamp{90000 * 7, {1, 90000}}.seconds()), 7);
  EXPECT_DOUBLE_EQ((Timestamp{-3, {1, 2}}.seconds()), -1.5);
  EXPECT_DOUBLE_EQ((Timestamp{2, {1001, 30000}}.seconds()), 2 * 1001 / 30000.0);
}

TEST(Rescale, IsExactWhenRepresentable) {
  EXPECT_EQ(rescale({3003, {1, 90000}}, {1001, 30000}).ticks, 1);
  EXPECT_EQ(rescale({25, {1, 25}}, {1, 90000}).ticks, 90000);
  EXPECT_EQ(rescale({kMax, {1, 1000}}, {1, 1000}).ticks, kMax);
  EXPECT_EQ(rescale({kMin, {1, 1000}}, {1, 1000}).ticks, kMin);
  EXPECT_EQ(rescale({kMin, {kMax, kMax}}, {kMax - 1, kMax - 1}).ticks, kMin);
  // Numerator and denominator of the ratio far above 2^63, the result small.
  EXPECT_EQ(rescale({3, {kMax, kMax - 1}}, {kMax, kMax - 1}).ticks, 3);
  const Timestamp t = rescale({1, {1, 25}}, {1, 90000});
  EXPECT_EQ(t.time_base.num, 1);
  EXPECT_EQ(t.time_base.den, 90000);
}

TEST(Rescale, TiesGoToEven) {
  const Rational half{1, 2};
  const Rational one{1, 1};
  const std::int64_t expected[] = {-4, -4, -3, -2, -2, -2, -1, 0, 0, 0, 1, 2, 2, 2, 3, 4, 4};
  for (std::int64_t halves = -8; halves <= 8; ++halves) {
    EXPECT_EQ(rescale({halves, half}, one).ticks, expected[halves + 8]) << halves << "/2";
  }
}

TEST(Rescale, RoundsToNearestOnBothSidesOfZero) {
  EXPECT_EQ(rescale({10, {1, 3}}, {1, 1}).ticks, 3);
  EXPECT_EQ(rescale({11, {1, 3}}, {1, 1}).ticks, 4);
  EXPECT_EQ(rescale({-10, {1, 3}}, {1, 1}).ticks, -3);
  EXPECT_EQ(rescale({-11, {1, 3}}, {1, 1}).ticks, -4);
}

TEST(Rescale, SaturatesAtTheEnds) {
  EXPECT_EQ(rescale({kMax, {1, 1}}, {1, 2}).ticks, kMax);
  EXPECT_EQ(rescale({kMin, {1, 1}}, {1, 2}).ticks, kMin);
  EXPECT_EQ(rescale({kMax, {kMax, 1}}, {1, kMax}).ticks, kMax);
  EXPECT_EQ(rescale({kMin, {kMax, 1}}, {1, kMax}).ticks, kMin);
  EXPECT_EQ(rescale({kMax / 2 + 1, {1, 1}}, {1, 2}).ticks, kMax) << "2^63, one too many";
  EXPECT_EQ(rescale({kMin / 2, {1, 1}}, {1, 2}).ticks, kMin) << "just fits";
  EXPECT_EQ(rescale({kMin / 2 - 1, {1, 1}}, {1, 2}).ticks, kMin);
}

// |2 (value - ticks)| <= 1 tick, and an even tick when equal.
TEST(Rescale, IsTheNearestTickForAnyNumbers) {
  std::mt19937_64 random(4);
  int saturated = 0;
  int in_range = 0;
  for (int i = 0; i < 20000; ++i) {
    const Timestamp t{any_integer(random), {any_positive(random), any_positive(random)}};
    Rational to{any_positive(random), any_positive(random)};
    if (i % 3 == 0) to = {t.time_base.num, std::max<std::int64_t>(1, t.time_base.den / 2)};
    const Timestamp got = rescale(t, to);
    // value = p / d ticks of the new time base.
    const Big p = Big(t.ticks) * t.time_base.num * to.den;
    const Big d = Big(t.time_base.den) * to.num;
    const int distance = compare((p * 2 - Big(got.ticks) * d * 2).magnitude(), d);
    if (got.ticks == kMax || got.ticks == kMin) {
      const Big past =
          p * 2 - Big(got.ticks) * d * 2;  // the value lies beyond, or rounds to the end
      ASSERT_TRUE(distance <= 0 || (compare(past, Big(0)) > 0) == (got.ticks == kMax));
      ++saturated;
    } else {
      ASSERT_TRUE(distance < 0 || (distance == 0 && got.ticks % 2 == 0))
          << t.ticks << " * " << t.time_base.num << " / " << t.time_base.den << " in " << to.num
          << " / " << to.den << " gave " << got.ticks;
      ++in_range;
    }
  }
  EXPECT_GT(saturated, 1000);
  EXPECT_GT(in_range, 1000);
}

TEST(SecondsBetween, KnownValues) {
  const Rational ms{1, 1000};
  EXPECT_DOUBLE_EQ(seconds_between({1000, ms}, {1040, ms}), 0.04);
  EXPECT_DOUBLE_EQ(seconds_between({1040, ms}, {1000, ms}), -0.04);
  EXPECT_DOUBLE_EQ(seconds_between({-500, ms}, {3, {1, 2}}), 2.0);
  EXPECT_EQ(seconds_between({2, {1, 4}}, {1, {1, 2}}), 0.0);
  EXPECT_DOUBLE_EQ(seconds_between({1001, {1001, 30000}}, {1002, {1001, 30000}}), 1001 / 30000.0);
}

TEST(SecondsBetween, IsExactFarFromZero) {
  const Rational ns{1, 1000000000};
  const std::int64_t epoch = 1700000000000000000;
  EXPECT_DOUBLE_EQ(seconds_between({epoch, ns}, {epoch + 1, ns}), 1e-9);
  EXPECT_DOUBLE_EQ(seconds_between({kMin, ns}, {kMax, ns}), 18446744073.709551615);
}

TEST(SecondsBetween, HasTheSignOfTheComparison) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 5000; ++i) {
    const Timestamp a{any_integer(random), {any_positive(random), any_positive(random)}};
    Timestamp b{any_integer(random), {any_positive(random), any_positive(random)}};
    if (i % 3 == 0) b = {a.ticks == kMax ? a.ticks - 1 : a.ticks + 1, a.time_base};
    const double seconds = seconds_between(a, b);
    ASSERT_EQ(seconds > 0, a < b);
    ASSERT_EQ(seconds<0, a> b);
    ASSERT_EQ(seconds_between(a, a), 0);
  }
}

TEST(TimestampDeathTest, ADenominatorOfZeroIsABug) {
  EXPECT_DEATH_IF_SUPPORTED((void)(Rational{1, 0} == Rational{1, 1}), "invariant");
  EXPECT_DEATH_IF_SUPPORTED((void)rescale({1, {1, 1}}, {0, 1}), "invariant");
}

}  // namespace
}  // namespace sparing

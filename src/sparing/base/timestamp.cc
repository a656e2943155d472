#include "sparing/base/timestamp.h"

#include <algorithm>
#include <limits>

#include "sparing/base/check.h"

namespace sparing {
namespace {

using Wide = __int128;  // products of two int64 are exact

// Compares a/b with c/d for b, d > 0 and numerators of up to 127 bits, by comparing whole parts and
// recursing on the reciprocals of the remainders (no overflow, unlike cross-multiplication).
std::strong_ordering compare_ratios(Wide a, Wide b, Wide c, Wide d) {
  bool swapped = false;
  while (true) {
    Wide qa = a / b, ra = a % b;
    Wide qc = c / d, rc = c % d;
    if (ra < 0) {
      ra += b;
      --qa;
    }
    if (rc < 0) {
      rc += d;
      --qc;
    }
    if (qa != qc)
      return ((qa < qc) != swapped) ? std::strong_ordering::less : std::strong_ordering::greater;
    if (ra == 0 && rc == 0) return std::strong_ordering::equal;
    if (ra == 0) return swapped ? std::strong_ordering::greater : std::strong_ordering::less;
    if (rc == 0) return swapped ? std::strong_ordering::less : std::strong_ordering::greater;
    a = b;
    b = ra;
    c = d;
    d = rc;
    swapped = !swapped;
  }
}

struct Quotient {
  Wide quotient;
  Wide remainder;
};

// part * factor / d for 0 <= part < d < 2^126 and factor >= 0. The product may have 190 bits, so
// it is made and divided bit by bit.
Quotient multiply_divide(Wide part, std::int64_t factor, Wide d) {
  using Unsigned = unsigned __int128;
  const auto divisor = static_cast<Unsigned>(d);
  Unsigned quotient = 0;
  Unsigned remainder = 0;
  for (int bit = 62; bit >= 0; --bit) {
    quotient *= 2;
    remainder *= 2;
    if ((factor >> bit) & 1) remainder += static_cast<Unsigned>(part);
    while (remainder >= divisor) {
      remainder -= divisor;
      ++quotient;
    }
  }
  return {static_cast<Wide>(quotient), static_cast<Wide>(remainder)};
}

}  // namespace

bool operator==(const Rational& a, const Rational& b) { return (a <=> b) == 0; }
std::strong_ordering operator<=>(const Rational& a, const Rational& b) {
  SPARING_CHECK(a.den > 0 && b.den > 0);
  return compare_ratios(a.num, a.den, b.num, b.den);
}

double Timestamp::seconds() const {
  return static_cast<double>(static_cast<long double>(ticks) * time_base.num / time_base.den);
}

bool operator==(const Timestamp& a, const Timestamp& b) { return (a <=> b) == 0; }
std::strong_ordering operator<=>(const Timestamp& a, const Timestamp& b) {
  SPARING_CHECK(a.time_base.den > 0 && b.time_base.den > 0);
  return compare_ratios(static_cast<Wide>(a.ticks) * a.time_base.num, a.time_base.den,
                        static_cast<Wide>(b.ticks) * b.time_base.num, b.time_base.den);
}

double seconds_between(const Timestamp& from, const Timestamp& to) {
  const std::strong_ordering order = from <=> to;
  if (order == 0) return 0;
  double difference = 0;
  if (from.time_base.num == to.time_base.num && from.time_base.den == to.time_base.den) {
    const Wide ticks = static_cast<Wide>(to.ticks) - from.ticks;
    difference = static_cast<double>(static_cast<long double>(ticks) * from.time_base.num /
                                     from.time_base.den);
  } else {
    const auto seconds = [](const Timestamp& t) {
      return static_cast<long double>(t.ticks) * t.time_base.num / t.time_base.den;
    };
    difference = static_cast<double>(seconds(to) - seconds(from));
  }
  // Times that differ by less than the arithmetic can tell still come one after the other.
  constexpr double kLeast = std::numeric_limits<double>::min();
  return order < 0 ? std::max(difference, kLeast) : std::min(difference, -kLeast);
}

Timestamp rescale(const Timestamp& t, Rational time_base) {
  SPARING_CHECK(time_base.num > 0 && time_base.den > 0 && t.time_base.den > 0);
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
  // ticks * num / den seconds are p * factor / d of the new ticks.
  const Wide p = static_cast<Wide>(t.ticks) * t.time_base.num;
  const Wide d = static_cast<Wide>(t.time_base.den) * time_base.num;
  const std::int64_t factor = time_base.den;
  Wide whole = p / d;
  Wide part = p % d;
  if (part < 0) {
    part += d;
    --whole;
  }
  if (whole > kMax) return {kMax, time_base};
  if (whole < kMin) return {kMin, time_base};
  const auto [rest, remainder] = multiply_divide(part, factor, d);
  Wide ticks = whole * factor + rest;
  const Wide missing = d - remainder;
  if (remainder > missing || (remainder == missing && ticks % 2 != 0)) ++ticks;
  if (ticks > kMax) return {kMax, time_base};
  if (ticks < kMin) return {kMin, time_base};
  return {static_cast<std::int64_t>(ticks), time_base};
}

}  // namespace sparing

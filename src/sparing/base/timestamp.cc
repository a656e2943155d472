#include "sparing/base/timestamp.h"

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
    if (ra < 0) { ra += b; --qa; }
    if (rc < 0) { rc += d; --qc; }
    if (qa != qc) return ((qa < qc) != swapped) ? std::strong_ordering::less : std::strong_ordering::greater;
    if (ra == 0 && rc == 0) return std::strong_ordering::equal;
    if (ra == 0) return swapped ? std::strong_ordering::greater : std::strong_ordering::less;
    if (rc == 0) return swapped ? std::strong_ordering::less : std::strong_ordering::greater;
    a = b; b = ra;
    c = d; d = rc;
    swapped = !swapped;
  }
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

Timestamp rescale(const Timestamp& t, Rational time_base) {
  SPARING_CHECK(time_base.num > 0 && time_base.den > 0 && t.time_base.den > 0);
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
  // t.ticks * n / d with n/d reduced; a container's time bases keep n below 2^62.
  Wide n = static_cast<Wide>(t.time_base.num) * time_base.den;
  Wide d = static_cast<Wide>(t.time_base.den) * time_base.num;
  for (Wide x = n, y = d; true;) {
    if (y == 0) {
      if (x != 0) { n /= x; d /= x; }
      break;
    }
    const Wide r = x % y;
    x = y;
    y = r;
  }
  if (d < 0) { n = -n; d = -d; }
  // Whole and fractional parts apart, so that the product stays within 128 bits.
  Wide ticks = 0;
  if (n > kMax || n < kMin) {
    const double value = static_cast<double>(t.ticks) * static_cast<double>(n) / static_cast<double>(d);
    if (value >= 9.2e18) return {kMax, time_base};
    if (value <= -9.2e18) return {kMin, time_base};
    ticks = static_cast<Wide>(value);
  } else {
    const Wide product = static_cast<Wide>(t.ticks) * n;
    Wide q = product / d;
    Wide r = product % d;
    if (r < 0) { r += d; --q; }
    const Wide rest = d - r;
    if (r > rest || (r == rest && (q % 2) != 0)) ++q;
    ticks = q;
  }
  if (ticks > kMax) return {kMax, time_base};
  if (ticks < kMin) return {kMin, time_base};
  return {static_cast<std::int64_t>(ticks), time_base};
}

}  // namespace sparing

// Exact presentation time.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

namespace sparing {

// A ratio of two integers with den > 0, e.g. a container's time base or a frame rate.
struct Rational {
  std::int64_t num = 0;
  std::int64_t den = 1;
  double value() const { return static_cast<double>(num) / static_cast<double>(den); }
};
// Compares the values exactly (1/2 == 2/4).
bool operator==(const Rational& a, const Rational& b);
std::strong_ordering operator<=>(const Rational& a, const Rational& b);

// ticks * time_base seconds. Two timestamps compare exactly, whatever their time bases.
// Precondition of all that follows: denominators > 0.
struct Timestamp {
  std::int64_t ticks = 0;
  Rational time_base{1, 1000000000};
  double seconds() const;
};
bool operator==(const Timestamp& a, const Timestamp& b);
std::strong_ordering operator<=>(const Timestamp& a, const Timestamp& b);

// How much later `to` is than `from`, in seconds; negative when it is earlier. Equal timestamps
// give exactly 0, and the sign agrees with the comparison above. For durations and rates; whether
// one time comes before another is asked with the comparison.
double seconds_between(const Timestamp& from, const Timestamp& to);

// The nearest tick in another time base (ties to even), computed exactly; saturates at the ends of
// int64. Precondition: time_base.num > 0 and both denominators > 0.
Timestamp rescale(const Timestamp& t, Rational time_base);

}  // namespace sparing

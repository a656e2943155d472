// Random numbers that are the same on every machine and with every standard library.
#pragma once

#include <cstdint>

namespace sparing::bench {

// SplitMix64 (Steele, Lea, Flood 2014).
class SceneRandom {
 public:
  explicit SceneRandom(std::uint64_t seed) : state_(seed) {}

  std::uint64_t bits() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  // In [low, high).
  double uniform(double low, double high) {
    return low + (high - low) * static_cast<double>(bits() >> 11) * 0x1p-53;
  }
  // In [0, count). Precondition: count > 0.
  int below(int count) { return static_cast<int>(bits() % static_cast<std::uint64_t>(count)); }
  // Mean 0, deviation 1, within 6 of it: the sum of 12 uniform numbers.
  double normal() {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += uniform(0, 1);
    return sum;
  }

 private:
  std::uint64_t state_;
};

}  // namespace sparing::bench

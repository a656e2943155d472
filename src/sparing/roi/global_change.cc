#include "sparing/roi/global_change.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>

namespace sparing::roi {
namespace {

constexpr int kGrid = 3;            // every third pixel of every third row speaks for the picture
constexpr int kDifferenceCap = 40;  // grey levels

LumaImage halved(const LumaImage& image) {
  LumaImage out;
  out.fill({std::max(image.width() / 2, 1), std::max(image.height() / 2, 1)}, 1, 0);
  for (int y = 0; y < out.height(); ++y) {
    const auto p = image.row(std::min(2 * y, image.height() - 1));
    const auto q = image.row(std::min(2 * y + 1, image.height() - 1));
    const auto to = out.row(y);
    for (std::size_t x = 0; x < to.size(); ++x) {
      const std::size_t left = std::min(2 * x, p.size() - 1);
      const std::size_t right = std::min(2 * x + 1, p.size() - 1);
      to[x] = static_cast<std::uint8_t>((p[left] + p[right] + q[left] + q[right] + 2) >> 2);
    }
  }
  return out;
}

// Mean difference of the pictures where they overlap with `to` moved back by (dx, dy), on a grid.
// It counts up to a limit, so that what moves by itself weighs little. Infinite for less than half
// the picture.
double shift_cost(const LumaImage& from, const LumaImage& to, int dx, int dy, int grid) {
  const int left = std::max(0, -dx), right = std::min(from.width(), from.width() - dx);
  const int top = std::max(0, -dy), bottom = std::min(from.height(), from.height() - dy);
  if (2 * (right - left) < from.width() || 2 * (bottom - top) < from.height()) {
    return std::numeric_limits<double>::infinity();
  }
  std::int64_t sum = 0, count = 0;
  for (int y = top; y < bottom; y += grid) {
    const std::uint8_t* p = from.row(y).data();
    const std::uint8_t* q = to.row(y + dy).data() + dx;
    for (int x = left; x < right; x += grid) sum += std::min(std::abs(p[x] - q[x]), kDifferenceCap);
    count += (right - left + grid - 1) / grid;
  }
  return static_cast<double>(sum) / static_cast<double>(count);
}

struct WholeShift {
  int x = 0;
  int y = 0;
};

WholeShift search(const LumaImage& from, const LumaImage& to, WholeShift start, int reach,
                  int grid) {
  WholeShift best = start;
  double least = shift_cost(from, to, start.x, start.y, grid);
  for (int dy = start.y - reach; dy <= start.y + reach; ++dy) {
    for (int dx = start.x - reach; dx <= start.x + reach; ++dx) {
      const double cost = shift_cost(from, to, dx, dy, grid);
      if (cost < least) {
        least = cost;
        best = {dx, dy};
      }
    }
  }
  return best;
}

// Where the cost is least between whole shifts: absolute differences grow linearly on both sides.
double fraction(double left, double middle, double right) {
  const double slope = std::max(left, right) - middle;
  if (!std::isfinite(slope) || !(slope > 0)) return 0;
  return std::clamp(0.5 * (left - right) / slope, -0.5, 0.5);
}

float sample(const LumaImage& image, double x, double y) {
  const double left = std::clamp(std::floor(x), 0.0, image.width() - 1.0);
  const double top = std::clamp(std::floor(y), 0.0, image.height() - 1.0);
  const auto fx = static_cast<float>(std::clamp(x - left, 0.0, 1.0));
  const auto fy = static_cast<float>(std::clamp(y - top, 0.0, 1.0));
  const auto x0 = static_cast<std::size_t>(left);
  const auto x1 = std::min(x0 + 1, static_cast<std::size_t>(image.width() - 1));
  const auto p = image.row(static_cast<int>(top));
  const auto q = image.row(std::min(static_cast<int>(top) + 1, image.height() - 1));
  const auto mix = [](float a, float b, float f) { return a + (b - a) * f; };
  return mix(mix(p[x0], p[x1], fx), mix(q[x0], q[x1], fx), fy);
}

}  // namespace

std::array<float, 256> tone_curve(const LumaImage& from, const LumaImage& to) {
  std::array<std::int64_t, 256> sum{}, count{};
  for (int y = 0; y < from.height(); y += kGrid) {
    const auto p = from.row(y);
    const auto q = to.row(y);
    for (std::size_t x = 0; x < p.size(); x += kGrid) {
      sum[p[x]] += q[x];
      ++count[p[x]];
    }
  }
  // Neighbouring levels share their evidence: a level with a pixel or two says little.
  constexpr int kHalf = 4;
  std::array<float, 256> curve{};
  int known = -1;
  for (int v = 0; v < 256; ++v) {
    const auto first = static_cast<std::size_t>(std::max(v - kHalf, 0));
    const auto last = static_cast<std::size_t>(std::min(v + kHalf + 1, 256));
    const std::int64_t n =
        std::accumulate(count.begin() + static_cast<std::ptrdiff_t>(first),
                        count.begin() + static_cast<std::ptrdiff_t>(last), std::int64_t{0});
    if (n == 0) continue;
    const std::int64_t s =
        std::accumulate(sum.begin() + static_cast<std::ptrdiff_t>(first),
                        sum.begin() + static_cast<std::ptrdiff_t>(last), std::int64_t{0});
    const auto value = static_cast<float>(static_cast<double>(s) / static_cast<double>(n));
    for (int gap = known + 1; gap < v; ++gap) {
      const float share =
          known < 0 ? 1.0f : static_cast<float>(gap - known) / static_cast<float>(v - known);
      const float before = known < 0 ? value : curve[static_cast<std::size_t>(known)];
      curve[static_cast<std::size_t>(gap)] = before + (value - before) * share;
    }
    curve[static_cast<std::size_t>(v)] = value;
    known = v;
  }
  for (int v = known + 1; v < 256; ++v) {
    curve[static_cast<std::size_t>(v)] = known < 0 ? 0 : curve[static_cast<std::size_t>(known)];
  }
  return curve;
}

Shift camera_shift(const LumaImage& from, const LumaImage& to) {
  const LumaImage from2 = halved(from), to2 = halved(to);
  const LumaImage from4 = halved(from2), to4 = halved(to2);
  WholeShift best = search(from4, to4, {}, kMaxShift / 4, 2);
  best = search(from2, to2, {2 * best.x, 2 * best.y}, 1, 2);
  best = search(from, to, {2 * best.x, 2 * best.y}, 1, kGrid);
  const auto cost = [&](int dx, int dy) {
    return shift_cost(from, to, best.x + dx, best.y + dy, kGrid);
  };
  const double middle = cost(0, 0);
  return {best.x + fraction(cost(-1, 0), middle, cost(1, 0)),
          best.y + fraction(cost(0, -1), middle, cost(0, 1))};
}

Explanation explain(const LumaImage& from, const LumaImage& to, double threshold) {
  Explanation result;
  result.curve = tone_curve(from, to);
  result.shift = camera_shift(from, to);
  const auto limit = static_cast<float>(threshold);
  std::int64_t plain = 0, tone = 0, shifted = 0, count = 0;
  for (int y = 0; y < from.height(); y += kGrid) {
    const auto p = from.row(y);
    const auto q = to.row(y);
    for (std::size_t x = 0; x < p.size(); x += kGrid) {
      const float now = q[x];
      plain += std::abs(now - static_cast<float>(p[x])) > limit;
      tone += std::abs(now - result.curve[p[x]]) > limit;
      const float before =
          sample(from, static_cast<double>(x) - result.shift.x, y - result.shift.y);
      shifted += std::abs(now - before) > limit;
      ++count;
    }
  }
  const auto share = [&](std::int64_t n) {
    return static_cast<double>(n) / static_cast<double>(std::max<std::int64_t>(count, 1));
  };
  result.plain = share(plain);
  result.tone = share(tone);
  result.shifted = share(shifted);
  return result;
}

}  // namespace sparing::roi

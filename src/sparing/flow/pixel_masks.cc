#include "sparing/flow/pixel_masks.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>

namespace sparing {
namespace {

constexpr int kMaxRadius = 64;
constexpr float kRelative = 0.01f;
constexpr float kAbsolute = 0.5f;  // square pixels

Error invalid(std::string thing, std::string problem, std::string fix) {
  return Error{ErrorCode::kInvalidArgument, std::move(thing), std::move(problem), std::move(fix)};
}

// Bilinear between pixel centres, the nearest at the edges. Precondition: (x, y) is inside.
float sample(const std::vector<float>& plane, Size size, float x, float y) {
  const float u = std::clamp(x - 0.5f, 0.0f, static_cast<float>(size.width - 1));
  const float v = std::clamp(y - 0.5f, 0.0f, static_cast<float>(size.height - 1));
  const auto left = static_cast<std::size_t>(u);
  const auto top = static_cast<std::size_t>(v);
  const auto width = static_cast<std::size_t>(size.width);
  const std::size_t right = std::min(left + 1, width - 1);
  const std::size_t bottom = std::min(top + 1, static_cast<std::size_t>(size.height) - 1);
  const auto mix = [](float a, float b, float weight) { return a + (b - a) * weight; };
  const float wx = u - static_cast<float>(left);
  const float above = mix(plane[top * width + left], plane[top * width + right], wx);
  const float below = mix(plane[bottom * width + left], plane[bottom * width + right], wx);
  return mix(above, below, v - static_cast<float>(top));
}

}  // namespace

Status find_visible(const FlowField& forward, const FlowField& backward,
                    std::vector<std::uint8_t>& visible) {
  if (forward.empty() || !(forward.size == backward.size) ||
      forward.dx.size() != backward.dx.size()) {
    return invalid("flow fields there and back", "are empty or of different sizes",
                   "compute both between the same two pictures");
  }
  const Size size = forward.size;
  visible.assign(forward.dx.size(), 0);
  std::size_t i = 0;
  for (int y = 0; y < size.height; ++y) {
    for (int x = 0; x < size.width; ++x, ++i) {
      const float fx = forward.dx[i];
      const float fy = forward.dy[i];
      const float to_x = static_cast<float>(x) + 0.5f + fx;
      const float to_y = static_cast<float>(y) + 0.5f + fy;
      // False for NaN, too.
      const bool inside = to_x >= 0 && to_y >= 0 && to_x < static_cast<float>(size.width) &&
                          to_y < static_cast<float>(size.height);
      if (!inside) continue;
      const float bx = sample(backward.dx, size, to_x, to_y);
      const float by = sample(backward.dy, size, to_x, to_y);
      const float gap = (fx + bx) * (fx + bx) + (fy + by) * (fy + by);
      const float length = fx * fx + fy * fy + bx * bx + by * by;
      visible[i] = gap <= kRelative * length + kAbsolute ? 1 : 0;
    }
  }
  return {};
}

Status find_still(const LumaImage& before, const LumaImage& after, std::vector<std::uint8_t>& still,
                  const StillOptions& options) {
  if (before.empty() || after.empty() || !(before.size() == after.size())) {
    return invalid("luma pictures to compare", "are empty or of different sizes",
                   "extract both from frames of one size");
  }
  if (options.radius < 0 || options.radius > kMaxRadius) {
    return invalid("radius of the window", std::to_string(options.radius) + " is out of range",
                   "give 0 to " + std::to_string(kMaxRadius) + " pixels");
  }
  if (!(options.most_difference >= 0 && options.most_difference <= 255)) {
    return invalid("difference of static pixels", "is out of range", "give 0 to 255 grey levels");
  }
  const int width = before.width();
  const int height = before.height();
  // sums[y][x]: of the differences above and left of (x, y).
  const auto stride = static_cast<std::size_t>(width) + 1;
  std::vector<std::uint64_t> sums(stride * (static_cast<std::size_t>(height) + 1));
  for (int y = 0; y < height; ++y) {
    const auto a = before.row(y);
    const auto b = after.row(y);
    const std::uint64_t* above = sums.data() + static_cast<std::size_t>(y) * stride;
    std::uint64_t* below = sums.data() + static_cast<std::size_t>(y + 1) * stride;
    std::uint64_t line = 0;
    for (std::size_t x = 0; x < a.size(); ++x) {
      line += static_cast<std::uint64_t>(std::abs(a[x] - b[x]));
      below[x + 1] = above[x + 1] + line;
    }
  }
  still.resize(static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
  std::size_t i = 0;
  for (int y = 0; y < height; ++y) {
    const int top = std::max(y - options.radius, 0);
    const int bottom = std::min(y + options.radius + 1, height);
    const std::uint64_t* above = sums.data() + static_cast<std::size_t>(top) * stride;
    const std::uint64_t* below = sums.data() + static_cast<std::size_t>(bottom) * stride;
    for (int x = 0; x < width; ++x, ++i) {
      const auto left = static_cast<std::size_t>(std::max(x - options.radius, 0));
      const auto right = static_cast<std::size_t>(std::min(x + options.radius + 1, width));
      const std::uint64_t sum = below[right] + above[left] - below[left] - above[right];
      const double pixels = static_cast<double>(right - left) * static_cast<double>(bottom - top);
      still[i] = static_cast<double>(sum) <= options.most_difference * pixels ? 1 : 0;
    }
  }
  return {};
}

}  // namespace sparing

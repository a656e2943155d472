#include "sparing/streams/model_canvas.h"

#include <algorithm>
#include <cmath>

namespace sparing {

Size scaled(Size size, double scale) {
  const auto side = [scale](int s) {
    return std::max(1, static_cast<int>(std::lround(s * scale)));
  };
  return {side(size.width), side(size.height)};
}

Size canvas_for(const ModelInput& input, int stride, Size drawn) {
  if (input.fixed_size) return input.default_size;
  const int unit = std::max(input.multiple_of, stride);
  const auto side = [&](int s) {
    const int most = input.max_size / unit * unit;
    const int least = (std::max(input.min_size, 1) + unit - 1) / unit * unit;
    return std::clamp((s + unit - 1) / unit * unit, least, std::max(least, most));
  };
  return {side(drawn.width), side(drawn.height)};
}

}  // namespace sparing

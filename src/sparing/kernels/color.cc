#include "sparing/kernels/color.h"

#include <cmath>

namespace sparing::internal {

LumaWeights luma_weights(ColorMatrix matrix) {
  switch (matrix) {
    case ColorMatrix::kUnspecified:
    case ColorMatrix::kBt601: break;
    case ColorMatrix::kBt709: return {0.2126, 0.0722};
    case ColorMatrix::kBt2020: return {0.2627, 0.0593};
  }
  return {0.299, 0.114};
}

RangeScale luma_scale(ColorRange range, int bits) {
  const double unit = std::ldexp(1.0, bits - 8);
  if (range == ColorRange::kLimited) return {16 * unit, 255 / (219 * unit)};
  return {0, 255 / (std::ldexp(1.0, bits) - 1)};
}

RangeScale chroma_scale(ColorRange range, int bits) {
  const double unit = std::ldexp(1.0, bits - 8);
  if (range == ColorRange::kLimited) return {128 * unit, 255 / (224 * unit)};
  return {128 * unit, 255 / (std::ldexp(1.0, bits) - 1)};
}

ChromaGains chroma_gains(const LumaWeights& weights) {
  const double r_v = 2 * (1 - weights.kr);
  const double b_u = 2 * (1 - weights.kb);
  return {r_v, -b_u * weights.kb / weights.kg(), -r_v * weights.kr / weights.kg(), b_u};
}

}  // namespace sparing::internal

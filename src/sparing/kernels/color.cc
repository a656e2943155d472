#include "sparing/kernels/color.h"

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

RangeScale luma_scale(ColorRange range) {
  if (range == ColorRange::kLimited) return {16, 255.0 / 219};
  return {0, 1};
}

RangeScale chroma_scale(ColorRange range) {
  if (range == ColorRange::kLimited) return {128, 255.0 / 224};
  return {128, 1};
}

ChromaGains chroma_gains(const LumaWeights& weights) {
  const double r_v = 2 * (1 - weights.kr);
  const double b_u = 2 * (1 - weights.kb);
  return {r_v, -b_u * weights.kb / weights.kg(), -r_v * weights.kr / weights.kg(), b_u};
}

}  // namespace sparing::internal

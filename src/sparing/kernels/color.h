// From component samples to RGB and luma on the full 0..255 scale.
#pragma once

#include "sparing/frame/video_frame.h"

namespace sparing::internal {

// Luma = kr R + (1 - kr - kb) G + kb B.
struct LumaWeights {
  double kr;
  double kb;
  double kg() const { return 1 - kr - kb; }
};

// An unspecified matrix (as RGB pictures have) counts as BT.601, the weights of every common
// RGB-to-grey conversion that networks are trained with.
LumaWeights luma_weights(ColorMatrix matrix);

// sample -> (sample - offset) * scale, on 0..255 for luma, R, G, B; chroma is centred on 0. Samples
// are of `bits` bits.
struct RangeScale {
  double offset;
  double scale;
};
RangeScale luma_scale(ColorRange range, int bits);
RangeScale chroma_scale(ColorRange range, int bits);

// R = y + r_v v, G = y + g_u u + g_v v, B = y + b_u u, with y, u, v scaled as above.
struct ChromaGains {
  double r_v;
  double g_u;
  double g_v;
  double b_u;
};
ChromaGains chroma_gains(const LumaWeights& weights);

}  // namespace sparing::internal

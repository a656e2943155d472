// Import: one call brings a decoded frame into a tensor (crop, scale, colour conversion, cast,
// normalise, layout) in one pass over the pixels. The behaviour follows the WebNN "Import Video
// Frame to Tensor" explainer; extensions default to the explainer's behaviour.
#pragma once

#include <array>
#include <optional>

#include "sparing/base/geometry.h"
#include "sparing/base/result.h"
#include "sparing/base/tensor_view.h"
#include "sparing/frame/video_frame.h"

namespace sparing {

enum class ChannelOrder { kRgb, kBgr };

enum class Fit {
  kStretch,  // the rectangle fills the destination; aspect ratio may change (the explainer)
  // Aspect ratio kept (to the nearest whole pixel of the tensor), placed by `anchor`, the border
  // filled with `pad`.
  kLetterbox,
};

// Where a letterboxed picture lies in the destination.
enum class Anchor {
  kCenter,   // an odd pixel of border goes right or below
  kTopLeft,  // all border right or below
};

struct ImportOptions {
  // Source rectangle in display coordinates (upright, origin at the visible rectangle's corner),
  // fractional allowed; default the whole visible rectangle. It may reach outside the visible
  // rectangle, but not lie outside: what is there is the nearest sample that the visible rectangle
  // touches. Codec padding beyond it never shows, not even through interpolation.
  // At most 1e9 in position and extent.
  std::optional<Rect> visible_rect;
  // value = (pixel - mean[c]) / std[c] on 0..255, c in the order of the tensor's channels. std may
  // be negative, not 0. The explainer requires both; here they default to 0 and 1.
  std::array<float, 3> mean{0, 0, 0};
  std::array<float, 3> std{1, 1, 1};
  ChannelOrder order = ChannelOrder::kRgb;
  Fit fit = Fit::kStretch;
  // Pixel value (0..255, before normalisation) of letterbox borders, in the order of the tensor's
  // channels.
  std::array<float, 3> pad{114, 114, 114};
  Anchor anchor = Anchor::kCenter;  // of a letterboxed picture
  // Where in the tensor to draw: image index and rectangle; default the whole of image 0. Nothing
  // outside the rectangle is touched.
  int batch_index = 0;
  std::optional<PixelRect> destination;
};

// A tensor of 3 channels gets red, green, blue (or the reverse); one of 1 channel gets luma on the
// full 0..255 range: Y' of a YUV or grey picture, Kr R + Kg G + Kb B of an RGB picture (BT.601
// unless its colour space says otherwise). Colour by frame.color_space, completed by resolve().
// Transfer functions are not applied, and alpha is ignored.
//
// Draws `frame` into `destination` and returns the map from tensor pixel coordinates to display
// coordinates of the frame (both with pixel centres at .5), through which boxes come back.
// Values are rounded once, half to even; integer types saturate. Works in memory of the caller
// only; allocates nothing; may be called from any thread, and from several at once on disjoint
// destinations. The result does not depend on the position in the tensor or on alignment.
// Fast today: I420 and NV12, not rotated or flipped, to 3-channel float32 with dense rows (NCHW).
// Anything else is as right, but as slow as the reference.
// Errors, before anything is written: kInvalidArgument (frame, rectangle, shape, stride shorter
// than an element, std of 0, channel count other than 1 or 3), kNotSupported (a frame on a device).
Result<Affine> import_frame(const VideoFrame& frame, const ImportOptions& options,
                            const TensorView& destination);

// The same by the plain double-precision definition of docs/import.md, for any format, type and
// layout: what every fast path is compared with. Orders of magnitude slower.
Result<Affine> import_frame_reference(const VideoFrame& frame, const ImportOptions& options,
                                      const TensorView& destination);

// Name of the SIMD target that import_frame uses on this machine, e.g. "AVX3_ZEN4".
const char* import_simd_target();

}  // namespace sparing

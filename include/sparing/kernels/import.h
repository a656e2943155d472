// Import: one call brings a decoded frame into a tensor (crop, scale, colour conversion, cast,
// normalise, layout) in one pass over the pixels. The behaviour follows the WebNN "Import Video
// Frame to Tensor" explainer; extensions default to the explainer's behaviour. docs/import.md has
// the exact definition.
#pragma once

#include <array>
#include <functional>
#include <optional>

#include "sparing/base/geometry.h"
#include "sparing/base/result.h"
#include "sparing/base/tensor_view.h"
#include "sparing/frame/video_frame.h"

namespace sparing {

enum class ChannelOrder { kRgb, kBgr };

// How the source rectangle's shape becomes the destination's.
enum class Fit {
  kStretch,  // it fills the destination; aspect ratio may change (the explainer)
  // Aspect ratio kept (to the nearest whole pixel of the tensor), placed by `anchor`, the border
  // filled with `pad`.
  kLetterbox,
  // Aspect ratio kept: the largest part of the source rectangle that has the destination's shape,
  // taken from where `anchor` says, fills the destination.
  kCrop,
};

// Where a letterboxed picture lies in the destination, and which part of the source kCrop keeps.
enum class Anchor {
  kCenter,   // letterbox: an odd pixel of border goes right or below
  kTopLeft,  // letterbox: all border right or below
};

// What one tensor pixel sees of the source, in each direction on its own.
enum class Filter {
  kBilinear,  // the two nearest samples, linearly; what WebNN users expect. Aliases below 1:2
  kNearest,   // the sample under the pixel's centre
  // The mean of what the pixel covers, samples counted by the covered part. Linear interpolation
  // where the pixel covers less than one sample.
  kArea,
  // A triangle of one pixel's width to both sides (at least one sample's): PIL's BILINEAR and
  // others' "antialias".
  kTriangle,
  kAuto,  // kBilinear down to 1:2, kArea below, for each axis
};

// What a source rectangle that reaches outside the visible rectangle shows there.
enum class Outside {
  kClamp,  // the nearest visible sample
  kPad,    // `pad`, on pixels whose centre lies outside
};

// How chroma of fewer samples than luma is brought to luma's.
enum class ChromaUpsampling {
  kInterpolate,  // sampled at its true place (the colour space's siting)
  // Each chroma sample holds for all its luma samples, before any scaling: what OpenCV's cvtColor
  // and many training pipelines do. Siting is ignored.
  kReplicate,
};

// Integer tensors: stored = round(value / scale) + zero_point, saturated.
struct Quantization {
  float scale = 1;  // finite, not 0
  int zero_point = 0;
  friend bool operator==(const Quantization&, const Quantization&) = default;
};

// The turn that brings a coded picture upright: clockwise, then mirrored left to right.
struct Orientation {
  Rotation rotation = Rotation::k0;
  bool flip = false;
  friend bool operator==(const Orientation&, const Orientation&) = default;
};

struct ImportOptions {
  // Source rectangle in display coordinates (upright, origin at the visible rectangle's corner),
  // fractional allowed; default the whole visible rectangle. It may reach outside the visible
  // rectangle, but not lie outside. Codec padding beyond the visible rectangle never shows, not
  // even through interpolation. At most 1e9 in position and extent.
  std::optional<Rect> visible_rect;
  // value = (pixel - mean[c]) / std[c] on 0..255, c in the order of the tensor's channels. std may
  // be negative, not 0. The explainer requires both; here they default to 0 and 1.
  std::array<float, 3> mean{0, 0, 0};
  std::array<float, 3> std{1, 1, 1};
  ChannelOrder order = ChannelOrder::kRgb;
  Fit fit = Fit::kStretch;
  // Pixel value (0..255, before normalisation) of borders, in the order of the tensor's channels.
  std::array<float, 3> pad{114, 114, 114};
  Anchor anchor = Anchor::kCenter;
  // Where in the tensor to draw: image index and rectangle; default the whole of image 0. Nothing
  // outside the rectangle is touched.
  int batch_index = 0;
  std::optional<PixelRect> destination;

  Filter filter = Filter::kBilinear;
  Outside outside = Outside::kClamp;
  ChromaUpsampling chroma = ChromaUpsampling::kInterpolate;
  Quantization quantization;
  // Value of the fourth channel of a 4-channel tensor, border too; it is not normalised.
  float alpha = 255;
  // In place of the frame's own rotation and flip; Orientation{} shows the picture as coded.
  // Display coordinates are then those of this orientation.
  std::optional<Orientation> orientation;
  // Its specified fields replace the frame's, before resolve() completes the rest.
  ColorSpace color_space;
};

// A tensor of 3 channels gets red, green, blue (or the reverse); one of 4 those and `alpha`; one of
// 1 channel gets luma on the full 0..255 range: Y' of a YUV or grey picture, Kr R + Kg G + Kb B of
// an RGB picture (BT.601 unless its colour space says otherwise). Colour by frame.color_space,
// completed by resolve(). Transfer functions are not applied (is_hdr() tells where that shows), and
// the frame's alpha is ignored.
//
// Draws `frame` into `destination` and returns the map from tensor pixel coordinates to display
// coordinates of the frame (both with pixel centres at .5), through which boxes come back.
// Values are rounded once, half to even; integer types saturate. Works in memory of the caller
// only; allocates nothing; may be called from any thread, and from several at once on disjoint
// destinations; elements of one tensor must not overlap. The result does not depend on the position
// in the tensor or on alignment. Errors, before anything is written: kInvalidArgument (frame,
// rectangle, shape, stride shorter than an element, std of 0, channel count other than 1, 3 or 4),
// kNotSupported (a frame on a device).
Result<Affine> import_frame(const VideoFrame& frame, const ImportOptions& options,
                            const TensorView& destination);

// Calls body(0) .. body(count - 1), on whichever threads, and returns when all are done.
using ParallelFor = std::function<void(int count, const std::function<void(int)>& body)>;

// The same, the destination's rows cut into at most `bands` (1..1024) bands for the caller's
// threads. The result is the same to the last bit.
Result<Affine> import_frame(const VideoFrame& frame, const ImportOptions& options,
                            const TensorView& destination, int bands,
                            const ParallelFor& parallel_for);

// The same by the plain double-precision definition of docs/import.md: what every fast path is
// compared with. Orders of magnitude slower.
Result<Affine> import_frame_reference(const VideoFrame& frame, const ImportOptions& options,
                                      const TensorView& destination);

// Name of the SIMD target that import_frame uses on this machine, e.g. "AVX3".
const char* import_simd_target();

}  // namespace sparing

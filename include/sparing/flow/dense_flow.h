// Dense optical flow on luma: where every pixel of one picture lies in another. The method is DIS
// (Kroeger, Timofte, Dai, Van Gool: "Fast Optical Flow using Dense Inverse Search", ECCV 2016).
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "sparing/base/geometry.h"
#include "sparing/base/result.h"
#include "sparing/flow/luma_image.h"

namespace sparing {

// From the fastest and coarsest to the slowest and finest; kMedium also refines variationally.
enum class DenseFlowPreset { kUltrafast, kFast, kMedium };

// Stable lower-case name: "ultrafast", "fast", "medium".
std::string_view to_string(DenseFlowPreset preset);

// A displacement per pixel of one picture (`from`), in its pixels: what is at the centre of pixel
// (x, y) of `from` is dx to the right and dy below that place in `to`. Row by row, dense.
struct FlowField {
  Size size;
  std::vector<float> dx, dy;  // size.width * size.height each

  void resize(Size to) {
    size = to;
    const auto pixels = static_cast<std::size_t>(to.width) * static_cast<std::size_t>(to.height);
    dx.resize(pixels);
    dy.resize(pixels);
  }
  bool empty() const { return dx.empty(); }
};

// Computes flow fields and keeps the memory for the next one. Not thread-safe; several objects may
// work at once in different threads. The same two pictures (and, with a warm start, the same field
// before) give the same field to the last bit, whatever else runs.
//
// The work is done on the calling thread. One exception, which OpenCV leaves no way to rule out: if
// OpenCV is at work in another thread when the call begins, parts of it may run on OpenCV's own
// threads; that changes no result.
class DenseFlow {
 public:
  // Neither side of a picture may be smaller.
  static constexpr int kMinExtent = 32;

  explicit DenseFlow(DenseFlowPreset preset = DenseFlowPreset::kMedium);
  DenseFlow(DenseFlow&&) noexcept;
  DenseFlow& operator=(DenseFlow&&) noexcept;
  ~DenseFlow();

  DenseFlowPreset preset() const { return preset_; }

  // The flow from `from` to `to` into `out`, whose memory is used again. With `warm_start` the
  // search begins at what `out` holds (the field of the pair before, or a guess); it must then have
  // the pictures' size and finite values. kInvalidArgument: a picture that is empty or smaller than
  // kMinExtent, sizes that differ, a warm start from a field of another size or with values that
  // are not finite; `out` is then as it was. kInternal: no memory.
  Status compute(const LumaImage& from, const LumaImage& to, FlowField& out,
                 bool warm_start = false);

 private:
  struct Impl;
  DenseFlowPreset preset_;
  std::unique_ptr<Impl> impl_;
};

// The field on a grid of another size, bilinear between the centres of its pixels (the nearest at
// the edges), its vectors scaled along: from flow on reduced luma to flow on the picture.
// Preconditions: neither size is empty; `out` is not `from`.
void resize_flow(const FlowField& from, Size to, FlowField& out);

}  // namespace sparing
